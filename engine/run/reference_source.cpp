// Starts a reference process for each thread that needs one. On Linux such a process ends together with the thread that
// started it.
#include "engine/run/reference_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "engine/cpu/graph_reference.h"
#include "engine/cpu/variants.h"
#include "engine/engine_lost.h"
#include "engine/operators/descriptor_json.h"
#include "engine/run/reference_message.h"
#include "engine/worker/connection.h"
#include "engine/worker/messages.h"

namespace dmlconform::run {
namespace {

using nlohmann::json;
using worker::Connection;

/// Generous limit for the time that the reference may take.
constexpr std::chrono::minutes reference_limit{10};

/// Messages are limited to 2 GiB. References of nearly that size are computed in this process.
constexpr std::uint64_t most_message_bytes = std::uint64_t{2000} << 20;

/// A thread's process, and the Processes that it belongs to.
struct OwnProcess {
    std::uint64_t of = 0;
    std::shared_ptr<Connection> connection;
};

thread_local OwnProcess own;

class Processes {
public:
    Processes(worker::WorkerCommand command, const worker::WorkerSettings& settings)
        : command_(std::move(command)), settings_(settings) {}

    /// Empty if the descriptor cannot be sent, so that only this process can compute it.
    std::optional<cpu::Reference> compute(const operators::Descriptor& descriptor,
                                          std::span<const core::Tensor* const> inputs, const ReferenceWish& wish) {
        try {
            return ask(running(), descriptor, inputs, wish);
        } catch (const EngineLost& lost) {
            switch (lost.kind()) {
                case EngineLost::Kind::interrupted:
                    throw;
                case EngineLost::Kind::crashed:
                    throw ReferenceLost(fmt::format("the reference crashed: {}", lost.what()));
                default:
                    throw ReferenceLost(fmt::format("the reference gave no values: {}", lost.what()));
            }
        }
    }

private:
    /// This thread's process; started if there is none, or if the last one was lost.
    Connection& running() {
        if (own.of != number_ || own.connection == nullptr || !own.connection->is_usable()) {
            own = {};
            auto opened = Connection::open(command_, {settings_.start_limit, settings_.interrupted});
            if (!opened) {
                throw ReferenceLost("the reference cannot be started: " + opened.error().message);
            }
            own = {number_, std::move(*opened)};
        }
        return *own.connection;
    }

    static std::optional<cpu::Reference> ask(Connection& connection, const operators::Descriptor& descriptor,
                                             std::span<const core::Tensor* const> inputs, const ReferenceWish& wish) {
        connection.set_time(reference_limit);
        const auto compiled = connection.queue("compile", operators::descriptor_to_json(descriptor));
        if (!compiled || connection.answer(*compiled).value("accepted", json()) != json(true)) {
            return std::nullopt;
        }
        json binding{{"executable", *compiled}, {"inputs", json::array()}};
        for (const core::Tensor* input : inputs) {
            binding["inputs"].push_back(input == nullptr ? json() : binary(input->buffer.bytes()));
        }
        if (!connection.queue("bind", std::move(binding))) {
            return std::nullopt;
        }
        const auto asked = connection.queue("reference",
                                            {{"executable", *compiled},
                                             {"halfPrecision", wish.accumulation == cpu::Accumulation::float16},
                                             {"runs", wish.runs},
                                             {"variant", wish.variant}},
                                            std::numeric_limits<std::uint32_t>::max());
        const json answer = connection.answer(*asked);
        (void)connection.queue("release", {{"executable", *compiled}});
        if (const auto error = answer.find("error"); error != answer.end()) {
            throw ReferenceLost("the reference gave no values: " + worker::error_from_json(*error).message);
        }
        auto reference = reference_from_json(answer, descriptor);
        if (!reference) {
            throw ReferenceLost(reference.error().message);
        }
        return std::move(*reference);
    }

    static json binary(std::span<const std::byte> bytes) {
        const auto* data = reinterpret_cast<const std::uint8_t*>(bytes.data());
        return json::binary(std::vector<std::uint8_t>(data, data + bytes.size()));
    }

    worker::WorkerCommand command_;
    worker::WorkerSettings settings_;
    const std::uint64_t number_ = ++count;
    static inline std::uint64_t count = 0;
};

/// Null if references are computed in this process.
std::shared_ptr<Processes> processes;

std::function<bool()> end_requested;

cpu::Reference compute_here(const operators::Descriptor& descriptor, std::span<const core::Tensor* const> inputs,
                            const ReferenceWish& wish) {
    if (!wish.variant.empty()) {
        return cpu::compute_variant(descriptor, inputs, wish.accumulation, wish.variant);
    }
    return descriptor.graph == nullptr
               ? cpu::compute_reference(descriptor, inputs, wish.accumulation)
               : cpu::compute_graph_reference(*descriptor.graph, inputs, wish.accumulation, wish.runs, end_requested);
}

bool can_be_sent(const operators::Descriptor& descriptor, std::span<const core::Tensor* const> inputs) {
    std::uint64_t bytes = 0;
    for (const core::Tensor* input : inputs) {
        bytes += input == nullptr ? 0 : input->buffer.bytes().size();
    }
    for (const operators::TensorSlot& output : descriptor.outputs()) {
        // Bytes of an element and its bounds.
        constexpr std::uint64_t most_of_an_element = 8 + 3 * sizeof(double) + 2;
        bytes += output.desc == nullptr ? 0 : core::element_count(output.desc->sizes).value_or(0) * most_of_an_element;
    }
    return bytes <= most_message_bytes;
}

}  // namespace

void isolate_references(worker::WorkerCommand command, const worker::WorkerSettings& settings) {
    processes = std::make_shared<Processes>(std::move(command), settings);
}

void compute_references_here() {
    processes.reset();
    own = {};
}

bool references_are_isolated() {
    return processes != nullptr;
}

void end_references_if(std::function<bool()> stop_requested) {
    end_requested = std::move(stop_requested);
}

const std::function<bool()>& end_of_references() {
    return end_requested;
}

cpu::Reference reference_for(const operators::Descriptor& descriptor, std::span<const core::Tensor* const> inputs,
                             const ReferenceWish& wish) {
    if (processes != nullptr && can_be_sent(descriptor, inputs)) {
        if (auto reference = processes->compute(descriptor, inputs, wish)) {
            return std::move(*reference);
        }
    }
    return compute_here(descriptor, inputs, wish);
}

json answer_reference(const operators::Descriptor& descriptor, std::span<const core::Tensor* const> inputs,
                      const json& request) {
    ReferenceWish wish;
    wish.accumulation =
        request.value("halfPrecision", json()) == json(true) ? cpu::Accumulation::float16 : cpu::Accumulation::fp32;
    constexpr std::uint64_t most_runs = 1000;
    wish.runs = static_cast<std::size_t>(std::min(worker::unsigned_member(request, "runs").value_or(0), most_runs));
    const auto variant = request.find("variant");
    if (variant != request.end() && variant->is_string() &&
        cpu::find_variant(*descriptor.schema, variant->get<std::string>()) != nullptr) {
        wish.variant = variant->get<std::string>();
    }
    return to_json(compute_here(descriptor, inputs, wish));
}

}  // namespace dmlconform::run
