// Reading of tolerances.
#include "engine/cases/tolerance_reader.h"

#include <fmt/format.h>

#include <array>
#include <limits>

#include "engine/cases/element_reader.h"
#include "engine/cases/tensor_desc_reader.h"

namespace dmlconform::cases {
namespace {

const std::array<std::string, 4> keys{"ulp", "abs", "rel", "exact"};

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

std::optional<core::Tolerance> read_tolerance(const JsonValue& value, ProblemSink& problems) {
    const auto* members = value.object();
    if (members == nullptr || members->empty()) {
        problems.add(value.offset, "a tolerance is an object with one or more of \"ulp\", \"abs\", \"rel\", \"exact\"",
                     R"(for example { "ulp": 2 })");
        return std::nullopt;
    }
    check_keys(value, keys, "a tolerance", problems);
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
    // Read even where each output has its own, so that a mistake in it is seen.
    const JsonValue* all = value->find("*");
    const auto for_all = all == nullptr ? std::nullopt : read_tolerance(*all, problems);
    for (std::size_t i = 0; i < slots.size(); ++i) {
        const JsonValue* own = value->find(slots[i].name);
        result[i] = own == nullptr ? for_all : read_tolerance(*own, problems);
    }
    return result;
}

}  // namespace dmlconform::cases
