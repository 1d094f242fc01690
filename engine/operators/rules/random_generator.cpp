// Rules of RANDOM_GENERATOR, from its documentation, and its cost.
#include <fmt/format.h>

#include <algorithm>

#include "engine/operators/rules.h"

namespace dmlconform::operators {
namespace {

/// A counter of four 32-bit words and a key of two.
constexpr std::uint32_t state_words = 6;

ExplainedRules explained() {
    return {{"stateSizes",
             "InputStateTensor, and so OutputStateTensor, has 6 elements in the last dimension: a counter of four "
             "32-bit words and a key of two. All other sizes are 1."}};
}

/// Six elements along the last dimension. DirectML 1.15.4 rejects {2, 3} and {1, 1, 6, 1}.
Verdict check(const Descriptor& descriptor, core::FeatureLevel /*level*/) {
    const core::Dimensions& sizes = descriptor.tensor("InputStateTensor")->sizes;
    const bool is_row = std::all_of(sizes.begin(), sizes.end() - 1, [](std::uint32_t size) { return size == 1; });
    if (!is_row || sizes.back() != state_words) {
        return broken_rule(descriptor, "stateSizes",
                           fmt::format("InputStateTensor has sizes {}; the last one must be 6, and the others 1",
                                       core::to_string(sizes)));
    }
    return {};
}

/// Ten rounds make four elements. Each round has two multiplications, four exclusive ors, and two additions to the key.
Cost cost(const Descriptor& descriptor) {
    const auto elements = static_cast<double>(*core::element_count(descriptor.tensor("OutputTensor")->sizes));
    return {.bytes = element_bytes(descriptor), .operations = 20 * elements};
}

}  // namespace

RulesRows random_generator_rules() {
    return {{.name = "RANDOM_GENERATOR", .validate = check, .rules = explained(), .cost = cost}};
}

}  // namespace dmlconform::operators
