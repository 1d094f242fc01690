// Rules of TOP_K1 and TOP_K, from their documentation. What comments say about DirectML 1.15.4 was measured on it.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "engine/operators/rules.h"

namespace dmlconform::operators::top_k1_rules {

namespace {

/// The sizes that both outputs must have, and what they follow from.
struct TopK1 {
    explicit TopK1(const Descriptor& descriptor)
        : input(*descriptor.tensor("InputTensor")), axis(descriptor.uint("Axis")), k(descriptor.uint("K")) {}

    const core::TensorDesc& input;
    std::uint32_t axis = 0;
    std::uint32_t k = 0;
};

/// TOP_K has no rule "axis", because its catalogue entry has one.
ExplainedRules explained(bool with_axis) {
    ExplainedRules rules{{"k", "K is at least 1 and at most InputTensor[Axis]."},
                         {"outputSizes",
                          "OutputValueTensor and OutputIndexTensor have the sizes of InputTensor, with K along Axis.",
                          {"OutputValueTensor[Axis] = OutputIndexTensor[Axis] = K",
                           "OutputValueTensor[d] = OutputIndexTensor[d] = InputTensor[d] for all other dimensions d"}}};
    if (with_axis) {
        rules.push_back({"axis", "Axis is less than the number of dimensions of InputTensor."});
    }
    return rules;
}

/// Both outputs have the input's sizes, with K along the axis.
std::vector<TensorSizes> top_k_sizes(const Descriptor& descriptor) {
    const TopK1 op(descriptor);
    if (op.axis >= op.input.sizes.size()) {
        return {};
    }
    std::vector<std::uint64_t> sizes(op.input.sizes.begin(), op.input.sizes.end());
    sizes[op.axis] = op.k;
    return {{"OutputValueTensor", sizes}, {"OutputIndexTensor", sizes}};
}

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
    for (const auto& [field, expected, may_have_more] : top_k_sizes(descriptor)) {
        const core::Dimensions& actual = descriptor.sizes(field);
        if (!std::ranges::equal(actual, expected)) {
            return broken_rule(
                descriptor, "outputSizes",
                fmt::format("{} has sizes {}; they must be [{}], those of InputTensor with K along axis {}", field,
                            core::to_string(actual), fmt::join(expected, ","), op.axis));
        }
    }
    return {};
}

/// One operation for each element of the input, and a comparison sort of the K results.
double top_k_operations(const Descriptor& descriptor) {
    const TopK1 op(descriptor);
    const auto elements = static_cast<double>(*core::element_count(op.input.sizes));
    const double k = op.k;
    const double sequences = elements / op.input.sizes[op.axis];
    return elements + sequences * k * std::log2(k);
}

}  // namespace

RulesRows rules() {
    return {{.name = "TOP_K1",
             .validate = validate_top_k,
             .rules = explained(true),
             .sizes = top_k_sizes,
             .operations = top_k_operations},
            {.name = "TOP_K",
             .validate = validate_top_k,
             .rules = explained(false),
             .sizes = top_k_sizes,
             .operations = top_k_operations}};
}

}  // namespace dmlconform::operators::top_k1_rules
