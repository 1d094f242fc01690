// One more pass over an output that differs.
#include "engine/compare/shown_elements.h"

#include <cstring>

#include "engine/compare/element_difference.h"
#include "engine/core/strided.h"

namespace dmlconform::compare {

std::vector<ShownElement> shown_elements(const core::Tensor& expected, const core::Tensor& actual,
                                         const core::Tolerance& tolerance, const core::ElementSlack* slack) {
    if (core::bytes_of(expected.desc.data_type) == 0) {
        return shown_elements(core::widened_copy(expected), core::widened_copy(actual), tolerance, slack);
    }
    std::vector<ShownElement> shown;
    const bool whole = core::element_count(expected.desc.sizes).value_or(most_shown_whole + 1) <= most_shown_whole;
    const core::StridedRuns<2> runs(expected.desc.sizes,
                                    {core::signed_strides(expected.desc), core::signed_strides(actual.desc)});
    core::with_type(expected.desc.data_type, [&]<class T>() {
        const T* const wanted = expected.as<T>().data();
        const T* const found = actual.as<T>().data();
        std::uint64_t index = 0;
        runs.for_each_element([&](const auto& offsets) {
            if (!whole && shown.size() == most_shown_beyond) {
                return;
            }
            const T& a = wanted[offsets[0]];
            const T& b = found[offsets[1]];
            const bool beyond =
                !is_equal(a, b) && !(difference_of(a, b, tolerance, slack, static_cast<std::size_t>(index)).used <= 1);
            if (whole || beyond) {
                ShownElement& element = shown.emplace_back(ShownElement{index, 0, 0, beyond});
                std::memcpy(&element.expected_bits, &a, sizeof(T));
                std::memcpy(&element.actual_bits, &b, sizeof(T));
            }
            ++index;
        });
    });
    return shown;
}

}  // namespace dmlconform::compare
