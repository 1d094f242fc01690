// Selects the elements to show, in a separate pass over an output that differs.
#include "engine/compare/shown_elements.h"

#include <cstring>

#include "engine/compare/element_difference.h"
#include "engine/compare/element_pairs.h"

namespace dmlconform::compare {

std::vector<ShownElement> shown_elements(const core::Tensor& expected, const core::Tensor& actual,
                                         const Criteria& tolerance, const core::ElementSlack* slack) {
    if (core::bytes_of(expected.desc.data_type) == 0) {
        return shown_elements(core::widened_copy(expected), core::widened_copy(actual), tolerance, slack);
    }
    std::vector<ShownElement> shown;
    const bool whole = core::element_count(expected.desc.sizes).value_or(most_shown_whole + 1) <= most_shown_whole;
    for_each_pair(expected, actual, [&]<class T>(const T& wanted, const T& found, std::uint64_t index) {
        if (!whole && shown.size() == most_shown_beyond) {
            return;
        }
        const bool beyond = is_beyond(wanted, found, tolerance, slack, index);
        if (whole || beyond) {
            ShownElement& element = shown.emplace_back(ShownElement{index, 0, 0, beyond});
            std::memcpy(&element.expected_bits, &wanted, sizeof(T));
            std::memcpy(&element.actual_bits, &found, sizeof(T));
        }
    });
    return shown;
}

}  // namespace dmlconform::compare
