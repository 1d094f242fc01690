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

/// Few of many: each element is compared with the last of those that are kept, and hardly ever takes a place.
constexpr std::int64_t few = 32;
constexpr std::int64_t many = 256;

/// The k first of `length` candidates in order, from `begin` on. candidate(i) is the i-th.
template <class V, class Make>
void keep_few(Candidate<V>* begin, std::int64_t k, std::int64_t length, const Before<V>& before,
              const Make& candidate) {
    for (std::int64_t kept = 0; kept < k; ++kept) {
        const Candidate<V> next = candidate(kept);
        Candidate<V>* const place = std::upper_bound(begin, begin + kept, next, before);
        std::move_backward(place, begin + kept, begin + kept + 1);
        *place = next;
    }
    for (std::int64_t i = k; i < length; ++i) {
        const Candidate<V> next = candidate(i);
        const V last = begin[k - 1].value;
        // An equal one that comes later is not before it, and neither is NaN.
        if (is_nan(last) ? is_nan(next.value) : !(before.decreasing ? last < next.value : next.value < last)) {
            continue;
        }
        Candidate<V>* const place = std::upper_bound(begin, begin + k - 1, next, before);
        std::move_backward(place, begin + k - 1, begin + k);
        *place = next;
    }
}

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
            const T* const sequence_start = source + start;
            const auto candidate = [&](std::int64_t i) {
                return Candidate<Comparable<T>>{static_cast<Comparable<T>>(sequence_start[i * step]), i};
            };
            Candidate<Comparable<T>>* const begin = candidates.data();
            if (k <= few && length >= many) {
                keep_few(begin, k, length, before, candidate);
            } else {
                for (std::int64_t i = 0; i < length; ++i) {
                    begin[i] = candidate(i);
                }
                if (k < length) {
                    std::nth_element(begin, begin + k, begin + length, before);
                }
                std::sort(begin, begin + k, before);
            }
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
