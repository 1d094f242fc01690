// Finds the elements beyond a tolerance, in a separate pass over an output that differs.
#include "engine/compare/beyond.h"

#include "engine/compare/element_difference.h"
#include "engine/compare/element_pairs.h"

namespace dmlconform::compare {

std::vector<std::uint64_t> elements_beyond(const core::Tensor& expected, const core::Tensor& actual,
                                           const Criteria& tolerance, const core::ElementSlack* slack) {
    if (core::bytes_of(expected.desc.data_type) == 0) {
        return elements_beyond(core::widened_copy(expected), core::widened_copy(actual), tolerance, slack);
    }
    std::vector<std::uint64_t> beyond;
    for_each_pair(expected, actual, [&](const auto& wanted, const auto& found, std::uint64_t index) {
        if (is_beyond(wanted, found, tolerance, slack, index)) {
            beyond.push_back(index);
        }
    });
    return beyond;
}

}  // namespace dmlconform::compare
