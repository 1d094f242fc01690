// Reads the tolerances of a case.
#include "engine/cases/tolerance_reader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <limits>

#include "engine/cases/element_reader.h"
#include "engine/cases/tensor_desc_reader.h"
#include "engine/cpu/kernel.h"

namespace dmlconform::cases {
namespace {

const std::array<std::string, 5> tolerance_keys{"ulp", "abs", "rel", "exact", "halfPrecision"};

std::optional<double> read_bound(const JsonValue& object, const std::string& key, ProblemSink& problems) {
    const JsonValue* value = object.find(key);
    if (value == nullptr) {
        return std::nullopt;
    }
    const auto number = number_of(*value);
    if (!number || *number < 0) {
        problems.add(value->offset, fmt::format("\"{}\" must be a number of at least 0", key));
        return std::nullopt;
    }
    return number;
}

/// True if partial sums may be FLOAT16.
bool read_half_precision(const JsonValue& value, const operators::Descriptor& descriptor, ProblemSink& problems) {
    if (value.boolean() == nullptr || !*value.boolean()) {
        problems.add(value.offset, "\"halfPrecision\" can only be true");
        return false;
    }
    const auto outputs = descriptor.outputs();
    const bool is_float16 =
        !outputs.empty() && outputs[0].desc != nullptr && outputs[0].desc->data_type == core::DataType::float16;
    const cpu::Kernel* kernel = cpu::find_kernel(descriptor.schema->short_name());
    if (kernel == nullptr || !kernel->counts_float16_sums || !is_float16) {
        problems.add(value.offset,
                     fmt::format("\"halfPrecision\" is for FLOAT16 tensors of {}",
                                 fmt::join(cpu::operators_that_count_float16_sums(), " and ")),
                     "give a bound with \"ulp\", \"abs\" or \"rel\"");
        return false;
    }
    return true;
}

std::optional<core::Tolerance> read_tolerance(const JsonValue& value, const operators::Descriptor& descriptor,
                                              ProblemSink& problems) {
    const auto* members = value.object();
    if (members == nullptr || members->empty()) {
        problems.add(value.offset,
                     R"(a tolerance is an object with one or more of "ulp", "abs", "rel", "exact", "halfPrecision")",
                     R"(for example { "ulp": 2 })");
        return std::nullopt;
    }
    check_keys(value, tolerance_keys, "a tolerance", problems);
    core::Tolerance tolerance;
    if (const JsonValue* ulp = value.find("ulp")) {
        tolerance.ulp = read_unsigned(*ulp, "ulp", std::numeric_limits<std::uint64_t>::max(), problems);
    }
    tolerance.abs = read_bound(value, "abs", problems);
    tolerance.rel = read_bound(value, "rel", problems);
    if (const JsonValue* exact = value.find("exact")) {
        tolerance.exact = exact->boolean() != nullptr && *exact->boolean();
        if (!tolerance.exact) {
            problems.add(exact->offset, "\"exact\" can only be true");
        }
    }
    if (tolerance.exact && members->size() > 1) {
        problems.add(value.offset, "\"exact\" means that all bits are equal, so it allows no other key beside it",
                     R"({ "exact": true }, or the bounds without it)");
    }
    if (const JsonValue* half = value.find("halfPrecision")) {
        tolerance.half_precision = read_half_precision(*half, descriptor, problems);
        tolerance.element_slack = tolerance.half_precision;
        tolerance.slack_formula = "one FLOAT16 rounding of the sum of all magnitudes for each operation, in any order";
    }
    return tolerance;
}

}  // namespace

std::vector<std::optional<core::Tolerance>> read_tolerances(const JsonValue* value,
                                                            const operators::Descriptor& descriptor,
                                                            ProblemSink& problems) {
    const auto slots = descriptor.outputs();
    std::vector<std::optional<core::Tolerance>> result(slots.size());
    if (value == nullptr) {
        return result;
    }
    if (value->object() == nullptr) {
        problems.add(value->offset, fmt::format("\"tolerance\" must be an object; this is {}", value->kind_name()),
                     R"(for example { "OutputTensor": { "ulp": 2 } }, or "*" for all outputs)");
        return result;
    }
    std::vector<std::string> names{"*"};
    for (const operators::TensorSlot& slot : slots) {
        names.push_back(slot.name);
    }
    check_keys(*value, names, "the tolerances", problems);
    // Checked even if each output has its own tolerance, so that mistakes in it are reported.
    const JsonValue* all = value->find("*");
    const auto for_all = all == nullptr ? std::nullopt : read_tolerance(*all, descriptor, problems);
    for (std::size_t i = 0; i < slots.size(); ++i) {
        const JsonValue* own = value->find(slots[i].name);
        result[i] = own == nullptr ? for_all : read_tolerance(*own, descriptor, problems);
    }
    return result;
}

}  // namespace dmlconform::cases
