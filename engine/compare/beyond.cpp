// One more pass over an output that differs.
#include "engine/compare/beyond.h"

#include "engine/compare/element_difference.h"
#include "engine/core/strided.h"

namespace dmlconform::compare {

std::vector<std::uint64_t> elements_beyond(const core::Tensor& expected, const core::Tensor& actual,
                                           const core::Tolerance& tolerance, const core::ElementSlack* slack) {
    if (core::bytes_of(expected.desc.data_type) == 0) {
        return elements_beyond(core::widened_copy(expected), core::widened_copy(actual), tolerance, slack);
    }
    std::vector<std::uint64_t> beyond;
    const core::StridedRuns<2> runs(expected.desc.sizes,
                                    {core::signed_strides(expected.desc), core::signed_strides(actual.desc)});
    core::with_type(expected.desc.data_type, [&]<class T>() {
        const T* const wanted = expected.as<T>().data();
        const T* const found = actual.as<T>().data();
        std::uint64_t index = 0;
        runs.for_each_element([&](const auto& offsets) {
            const T& a = wanted[offsets[0]];
            const T& b = found[offsets[1]];
            if (!is_equal(a, b) &&
                !(difference_of(a, b, tolerance, slack, static_cast<std::size_t>(index)).used <= 1)) {
                beyond.push_back(index);
            }
            ++index;
        });
    });
    return beyond;
}

}  // namespace dmlconform::compare
