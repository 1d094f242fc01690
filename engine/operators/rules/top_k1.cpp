// Rules of TOP_K1 and TOP_K, from their documentation. What comments say about DirectML 1.15.4 was measured on it.
#include "engine/operators/rules/top_k1.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "engine/operators/rules.h"

namespace dmlconform::operators {

TopK1::TopK1(const Descriptor& descriptor)
    : input(*descriptor.tensor("InputTensor")),
      output_value(*descriptor.tensor("OutputValueTensor")),
      output_index(*descriptor.tensor("OutputIndexTensor")),
      axis(descriptor.uint("Axis")),
      k(descriptor.uint("K")),
      direction(descriptor.schema->short_name() == "TOP_K"
                    ? AxisDirection::decreasing
                    : static_cast<AxisDirection>(descriptor.uint("AxisDirection"))) {}

namespace {

constexpr std::array<std::string_view, 3> names{"axis", "k", "outputSizes"};

Verdict validate_top_k(const Descriptor& descriptor, core::FeatureLevel /*level*/) {
    const TopK1 op(descriptor);
    const auto& sizes = op.input.sizes;
    if (op.axis >= sizes.size()) {
        return broken_rule(descriptor, "axis",
                           fmt::format("Axis is {}, but InputTensor has {} dimensions", op.axis, sizes.size()));
    }
    // The documentation says "less than" the size. DirectML 1.15.4 accepts equality, and ONNX needs it.
    if (op.k < 1 || op.k > sizes[op.axis]) {
        return broken_rule(descriptor, "k",
                           fmt::format("K is {}; it must be at least 1 and at most the {} elements along axis {}", op.k,
                                       sizes[op.axis], op.axis));
    }
    core::Dimensions expected = sizes;
    expected[op.axis] = op.k;
    for (const char* name : {"OutputValueTensor", "OutputIndexTensor"}) {
        if (descriptor.tensor(name)->sizes != expected) {
            return broken_rule(
                descriptor, "outputSizes",
                fmt::format("{} has sizes {}; InputTensor's with K along axis {} are {}", name,
                            core::to_string(descriptor.tensor(name)->sizes), op.axis, core::to_string(expected)));
        }
    }
    return {};
}

/// One operation for each element of the input, and a comparison sort of the K results.
Cost top_k_cost(const Descriptor& descriptor) {
    const TopK1 op(descriptor);
    const auto elements = static_cast<double>(*core::element_count(op.input.sizes));
    const double k = op.k;
    const double sequences = elements / op.input.sizes[op.axis];
    return {.bytes = element_bytes(descriptor), .operations = elements + sequences * k * std::log2(k)};
}

}  // namespace

RulesRows top_k1_rules() {
    return {{.name = "TOP_K1", .validate = validate_top_k, .names = names, .cost = top_k_cost},
            {.name = "TOP_K", .validate = validate_top_k, .names = std::span(names).subspan(1), .cost = top_k_cost}};
}

}  // namespace dmlconform::operators
