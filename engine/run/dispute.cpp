// Compares the outputs of engines with each other.
#include "engine/run/dispute.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "engine/compare/comparison.h"

namespace dmlconform::run {
namespace {

/// Limit for the outputs that are kept. People do not write expected values of that size.
constexpr std::uint64_t most_bytes = std::uint64_t{16} << 20;

}  // namespace

core::Tensor copy_of(const core::Tensor& tensor) {
    core::Tensor copy = tensor.buffer.is_in_file() ? core::tensor_in_file(tensor.desc) : core::Tensor(tensor.desc);
    std::ranges::copy(tensor.buffer.bytes().first(copy.buffer.bytes().size()), copy.buffer.bytes().begin());
    tensor.buffer.leave_memory();
    copy.buffer.leave_memory();
    return copy;
}

void Dispute::hear(std::size_t engine, bool differs, std::span<const core::Tensor> outputs) {
    agreeing_.erase(engine);
    dissenting_.erase(engine);
    std::uint64_t bytes = 0;
    for (const core::Tensor& output : outputs) {
        bytes += output.buffer.bytes().size();
    }
    if (!differs || bytes > most_bytes) {
        dissenting_.insert(engine);
        return;
    }
    if (outputs_.empty()) {
        for (const core::Tensor& output : outputs) {
            outputs_.push_back(output.buffer.bytes().empty() ? core::Tensor() : copy_of(output));
        }
    }
    (agree(outputs) ? agreeing_ : dissenting_).insert(engine);
}

bool Dispute::agree(std::span<const core::Tensor> outputs) {
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        if (!outputs_[i].buffer.bytes().empty() &&
            !compare::compare(outputs_[i], outputs[i], values_.tolerance(i), values_.slack(i)).passed()) {
            return false;
        }
    }
    return true;
}

std::string Dispute::verdict(const operators::Descriptor& descriptor,
                             std::span<const std::unique_ptr<Engine>> engines) {
    if (agreeing_.empty() || !dissenting_.empty()) {
        return {};
    }
    std::vector<std::string> names;
    for (const std::size_t engine : agreeing_) {
        names.push_back(engines[engine]->info().name);
    }
    if (names.size() > 1) {
        return fmt::format("suspect the expected values: {} agree with each other", fmt::join(names, " and "));
    }
    const bool is_reference = engines[*agreeing_.begin()]->info().is_reference;
    if (is_reference || !cpu::has_reference(descriptor) || !agree(values_.reference().outputs)) {
        return {};
    }
    return fmt::format("suspect the expected values: {} agrees with the reference", names.front());
}

}  // namespace dmlconform::run
