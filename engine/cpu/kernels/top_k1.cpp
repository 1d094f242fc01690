// TOP_K1 and TOP_K: selects, then sorts the K first elements of each sequence.
#include "engine/operators/rules/top_k1.h"

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "engine/cpu/kernel.h"
#include "engine/cpu/parallel.h"
#include "engine/cpu/xtensor.h"

namespace dmlconform::cpu {
namespace {

/// What elements of T are compared as.
template <class T>
using Comparable = std::conditional_t<std::is_same_v<T, core::Float16>, double, T>;

template <class V>
bool is_nan(V value) {
    if constexpr (std::is_floating_point_v<V>) {
        return std::isnan(value);
    } else {
        return false;
    }
}

template <class V>
struct Candidate {
    V value;
    std::int64_t index;
};

/// The operator's order: NaN after every number, then by direction, equal values (+0 and -0 are) by index.
template <class V>
struct Before {
    bool decreasing;

    bool operator()(const Candidate<V>& a, const Candidate<V>& b) const {
        if (is_nan(a.value) != is_nan(b.value)) {
            return is_nan(b.value);
        }
        if (a.value < b.value || b.value < a.value) {
            return decreasing ? b.value < a.value : a.value < b.value;
        }
        return a.index < b.index;
    }
};

template <class T, class Index>
void select(const operators::TopK1& op, const core::Tensor& input, core::Tensor& values, core::Tensor& indices) {
    core::Strides from = core::signed_strides(op.input);
    core::Strides to_value = core::signed_strides(op.output_value);
    core::Strides to_index = core::signed_strides(op.output_index);
    const std::int64_t step = from[op.axis];
    const std::int64_t value_step = to_value[op.axis];
    const std::int64_t index_step = to_index[op.axis];
    const std::int64_t length = op.input.sizes[op.axis];
    const std::int64_t k = op.k;

    core::Dimensions sequences = op.input.sizes;
    sequences[op.axis] = 1;
    const core::StridedRuns<3> starts(sequences, {from, to_value, to_index});
    const T* source = input.as<T>().data();
    T* const value_target = values.as<T>().data();
    Index* const index_target = indices.as<Index>().data();
    const Before<Comparable<T>> before{op.direction == operators::AxisDirection::decreasing};

    parallel_for(starts.run_count() * starts.run_length(), length * 4, [&](std::int64_t first, std::int64_t last) {
        auto candidates = xt::xtensor<Candidate<Comparable<T>>, 1>::from_shape({static_cast<std::size_t>(length)});
        for (std::int64_t sequence = first; sequence < last; ++sequence) {
            const auto [start, value_start, index_start] = starts.offsets_of(sequence);
            for (std::int64_t i = 0; i < length; ++i) {
                candidates.data()[i] = {static_cast<Comparable<T>>(source[start + i * step]), i};
            }
            Candidate<Comparable<T>>* const begin = candidates.data();
            if (k < length) {
                std::nth_element(begin, begin + k, begin + length, before);
            }
            std::sort(begin, begin + k, before);
            for (std::int64_t i = 0; i < k; ++i) {
                // From the source, so that a NaN's payload and the sign of a zero are the element's own.
                value_target[value_start + i * value_step] = source[start + begin[i].index * step];
                index_target[index_start + i * index_step] = static_cast<Index>(begin[i].index);
            }
        }
    });
}

void compute(const KernelArguments& arguments) {
    const operators::TopK1 op(arguments.descriptor);
    const core::Tensor& input = *arguments.inputs[0];
    core::Tensor& values = *arguments.outputs[0];
    core::Tensor& indices = *arguments.outputs[1];
    core::with_type(op.input.data_type, [&]<class T>() {
        if (op.output_index.data_type == core::DataType::uint64) {
            select<T, std::uint64_t>(op, input, values, indices);
        } else {
            select<T, std::uint32_t>(op, input, values, indices);
        }
    });
}

}  // namespace

Kernels top_k1_kernels() {
    return {{.name = "TOP_K1", .compute = compute}, {.name = "TOP_K", .compute = compute}};
}

}  // namespace dmlconform::cpu
