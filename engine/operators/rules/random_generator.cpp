// Rules of RANDOM_GENERATOR, from its documentation, and its cost.
#include <fmt/format.h>

#include <algorithm>

#include "engine/operators/rules.h"

namespace dmlconform::operators::random_generator_rules {
namespace {

/// A counter of four 32-bit words and a key of two.
constexpr std::uint32_t state_words = 6;

ExplainedRules explained() {
    return {{"stateSizes",
             "InputStateTensor, and so OutputStateTensor, has 6 elements in the last dimension: a counter of four "
             "32-bit words and a key of two. All other sizes are 1."}};
}

/// Both states have the input state's number of dimensions.
std::vector<TensorSizes> state_sizes(const Descriptor& descriptor) {
    std::vector<std::uint64_t> sizes(descriptor.sizes("InputStateTensor").size(), 1);
    sizes.back() = state_words;
    return {{"InputStateTensor", sizes}, {"OutputStateTensor", sizes}};
}

/// Six elements along the last dimension. DirectML 1.15.4 rejects {2, 3} and {1, 1, 6, 1}.
Verdict check(const Descriptor& descriptor, core::FeatureLevel /*level*/) {
    const core::Dimensions& sizes = descriptor.sizes("InputStateTensor");
    if (!std::ranges::equal(sizes, state_sizes(descriptor).front().sizes)) {
        return broken_rule(descriptor, "stateSizes",
                           fmt::format("InputStateTensor has sizes {}; the last one must be 6, and the others 1",
                                       core::to_string(sizes)));
    }
    return {};
}

/// Ten rounds make four elements. Each round has two multiplications, four exclusive ors, and two additions to the key.
double operations(const Descriptor& descriptor) {
    const auto elements = static_cast<double>(*core::element_count(descriptor.sizes("OutputTensor")));
    return 20 * elements;
}

}  // namespace

RulesRows rules() {
    return {{.name = "RANDOM_GENERATOR",
             .validate = check,
             .rules = explained(),
             .sizes = state_sizes,
             .operations = operations}};
}

}  // namespace dmlconform::operators::random_generator_rules
