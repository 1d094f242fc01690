// TOP_K1 and TOP_K: selects and sorts the first K of each sequence, as unsigned keys. Equals definitions/top_k1.cpp.
#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <numeric>
#include <type_traits>
#include <vector>

#include "engine/cpu/kernel.h"
#include "engine/cpu/parallel.h"
#include "engine/cpu/wide_registers.h"
#include "engine/operators/enumerators.h"

namespace dmlconform::cpu::top_k1_kernels {
namespace {

/// True if an element of up to 32 bits and its index fit one 64-bit key.
template <class T>
using KeyOf = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;

/// Converts an element to an unsigned key; elements that come first have smaller keys. Depends on the direction; +0
/// equals -0, and NaN is last.
template <class T>
KeyOf<T> key_of(T element, bool decreasing) {
    using Key = KeyOf<T>;
    using Bits =
        std::conditional_t<sizeof(T) == 1, std::uint8_t, std::conditional_t<sizeof(T) == 2, std::uint16_t, KeyOf<T>>>;
    constexpr int digits = std::numeric_limits<Bits>::digits;
    constexpr Bits sign = static_cast<Bits>(Bits{1} << (digits - 1));
    const auto bits = std::bit_cast<Bits>(element);
    Bits ordered = bits;
    bool is_nan = false;
    if constexpr (std::is_integral_v<T>) {
        ordered = std::is_signed_v<T> ? static_cast<Bits>(bits ^ sign) : bits;
    } else {
        constexpr Bits infinity = static_cast<Bits>(sizeof(T) == 2   ? 0x7c00
                                                    : sizeof(T) == 4 ? 0x7f800000
                                                                     : 0x7ff0000000000000);
        const auto magnitude = static_cast<Bits>(bits & ~sign);
        is_nan = magnitude > infinity;
        const bool is_negative = (bits & sign) != 0 && magnitude != 0;
        ordered = static_cast<Bits>(is_negative ? ~bits : magnitude | sign);
    }
    const auto directed = static_cast<Bits>(decreasing ? ~ordered : ordered);
    return is_nan ? std::numeric_limits<Key>::max() : Key{directed};
}

/// A key and the index of its element, which breaks ties.
template <class Key>
struct Entry {
    Key key = 0;
    std::uint32_t index = 0;

    bool operator<(const Entry& other) const { return key != other.key ? key < other.key : index < other.index; }
};

/// From this number of entries on, radix sort is faster than a comparison sort.
constexpr std::size_t many_entries = 192;

/// Sorts entries by radix, one byte of the keys at a time. Their indices must be ascending.
template <class Key>
void sort_by_bytes(std::vector<Entry<Key>>& entries, std::vector<Entry<Key>>& room) {
    constexpr std::size_t values = 256;
    std::array<std::array<std::uint32_t, values>, sizeof(Key)> counts{};
    for (const Entry<Key>& entry : entries) {
        for (std::size_t byte = 0; byte < sizeof(Key); ++byte) {
            ++counts[byte][entry.key >> (8 * byte) & 0xff];
        }
    }
    room.resize(entries.size());
    for (std::size_t byte = 0; byte < sizeof(Key); ++byte) {
        std::array<std::uint32_t, values>& positions = counts[byte];
        if (positions[entries[0].key >> (8 * byte) & 0xff] == entries.size()) {
            continue;
        }
        std::exclusive_scan(positions.begin(), positions.end(), positions.begin(), 0u);
        for (const Entry<Key>& entry : entries) {
            room[positions[entry.key >> (8 * byte) & 0xff]++] = entry;
        }
        entries.swap(room);
    }
}

/// Selects the first k of sequences of keys.
template <class Key>
class Selection {
public:
    Selection(std::size_t length, std::size_t k) : k_(k), groups_(std::bit_ceil(group_factor * k)) {
        is_few_ = groups_ * group_factor <= length;
        minima_.resize(is_few_ ? groups_ : 0);
    }

    /// Returns them in order.
    std::span<const Entry<Key>> first_of(std::span<const Key> keys) {
        entries_.clear();
        if (is_few_) {
            collect(keys, threshold_of(keys));
        } else {
            for (std::size_t i = 0; i < keys.size(); ++i) {
                entries_.push_back({keys[i], static_cast<std::uint32_t>(i)});
            }
        }
        if (entries_.size() >= many_entries) {
            sort_by_bytes(entries_, room_);
        } else {
            std::sort(entries_.begin(), entries_.end());
        }
        return std::span(entries_).first(k_);
    }

private:
    /// The elements are distributed over groups, at most this multiple of k.
    static constexpr std::size_t group_factor = 4;
    static constexpr std::size_t block = 16;

    /// A key such that at least k keys, and hardly more, do not come after it: the k-th of the first keys of all
    /// groups.
    Key threshold_of(std::span<const Key> keys) {
        std::copy_n(keys.begin(), groups_, minima_.begin());
        in_wide_registers([minima = minima_.data(), groups = groups_, keys] {
            for (std::size_t first = groups; first + groups <= keys.size(); first += groups) {
                const Key* const from = keys.data() + first;
                for (std::size_t group = 0; group < groups; ++group) {
                    minima[group] = minima[group] < from[group] ? minima[group] : from[group];
                }
            }
        });
        const auto last = minima_.begin() + static_cast<std::ptrdiff_t>(k_ - 1);
        std::nth_element(minima_.begin(), last, minima_.end());
        return *last;
    }

    void collect(std::span<const Key> keys, Key threshold) {
        starts_.clear();
        const std::size_t whole = keys.size() / block * block;
        starts_.resize(keys.size() / block + 1);
        std::size_t count = 0;
        in_wide_registers([&count, starts = starts_.data(), keys = keys.data(), whole, threshold] {
            std::size_t found = 0;
            for (std::size_t first = 0; first < whole; first += block) {
                std::uint32_t any = 0;
                for (std::size_t i = 0; i < block; ++i) {
                    any |= keys[first + i] <= threshold ? 1 : 0;
                }
                starts[found] = first;
                found += any;
            }
            count = found;
        });
        const auto take = [&](std::size_t first, std::size_t last) {
            for (std::size_t i = first; i < last; ++i) {
                if (keys[i] <= threshold) {
                    entries_.push_back({keys[i], static_cast<std::uint32_t>(i)});
                }
            }
        };
        for (std::size_t i = 0; i < count; ++i) {
            take(starts_[i], starts_[i] + block);
        }
        take(whole, keys.size());
    }

    std::size_t k_;
    std::size_t groups_;
    bool is_few_ = false;
    std::vector<Key> minima_;
    std::vector<std::size_t> starts_;
    std::vector<Entry<Key>> entries_;
    std::vector<Entry<Key>> room_;
};

/// Sequences with adjacent elements are loaded together.
constexpr std::int64_t together = 16;

/// Loads keys of `count` adjacent sequences. Neighbours within a sequence are `step` elements apart.
template <class T>
void load_keys(const T* from, std::int64_t length, std::int64_t step, std::int64_t count, bool decreasing,
               KeyOf<T>* to) {
    if (count == 1 && step == 1) {
        in_wide_registers([=] {
            for (std::int64_t i = 0; i < length; ++i) {
                to[i] = key_of(from[i], decreasing);
            }
        });
        return;
    }
    for (std::int64_t i = 0; i < length; ++i) {
        for (std::int64_t sequence = 0; sequence < count; ++sequence) {
            to[sequence * length + i] = key_of(from[i * step + sequence], decreasing);
        }
    }
}

/// TOP_K, which has no direction, takes the largest elements.
bool is_decreasing(const operators::Descriptor& descriptor) {
    using Direction = operators::AxisDirection;
    return !descriptor.has_field("AxisDirection") ||
           enumerator<Direction>(descriptor, "AxisDirection") == Direction::decreasing;
}

template <class T, class Index>
void select(const operators::Descriptor& descriptor, const core::Tensor& input, core::Tensor& values,
            core::Tensor& indices) {
    const std::uint32_t axis = descriptor.uint("Axis");
    core::Strides from = core::signed_strides(input.desc);
    core::Strides to_value = core::signed_strides(values.desc);
    core::Strides to_index = core::signed_strides(indices.desc);
    const std::int64_t step = from[axis];
    const std::int64_t value_step = to_value[axis];
    const std::int64_t index_step = to_index[axis];
    const std::int64_t length = input.desc.sizes[axis];

    core::Dimensions sequences = input.desc.sizes;
    sequences[axis] = 1;
    const core::StridedRuns<3> starts(sequences, {from, to_value, to_index});
    const T* source = input.as<T>().data();
    T* const value_target = values.as<T>().data();
    Index* const index_target = indices.as<Index>().data();
    const bool decreasing = is_decreasing(descriptor);
    const std::int64_t in_a_run = starts.run_length();
    const bool side_by_side = starts.run_strides()[0] == 1;

    parallel_for(starts.run_count() * in_a_run, length * 4, [&](std::int64_t first, std::int64_t last) {
        Selection<KeyOf<T>> selection(static_cast<std::size_t>(length), descriptor.uint("K"));
        std::vector<KeyOf<T>> keys(static_cast<std::size_t>(length * together));
        for (std::int64_t sequence = first; sequence < last;) {
            const std::int64_t count =
                side_by_side ? std::min({together, last - sequence, in_a_run - sequence % in_a_run}) : 1;
            load_keys(source + starts.offsets_of(sequence)[0], length, step, count, decreasing, keys.data());
            for (std::int64_t i = 0; i < count; ++i, ++sequence) {
                const auto [start, value_start, index_start] = starts.offsets_of(sequence);
                const std::span here(keys.data() + i * length, static_cast<std::size_t>(length));
                std::int64_t rank = 0;
                for (const auto& entry : selection.first_of(std::span<const KeyOf<T>>(here))) {
                    // Copied from the input, to keep NaN payloads and signs of zero.
                    value_target[value_start + rank * value_step] = source[start + entry.index * step];
                    index_target[index_start + rank * index_step] = static_cast<Index>(entry.index);
                    ++rank;
                }
            }
        }
    });
}

void compute(const KernelArguments& arguments) {
    const core::Tensor& input = *arguments.inputs[0];
    core::Tensor& values = *arguments.outputs[0];
    core::Tensor& indices = *arguments.outputs[1];
    core::with_type(input.desc.data_type, [&]<class T>() {
        if (indices.desc.data_type == core::DataType::uint64) {
            select<T, std::uint64_t>(arguments.descriptor, input, values, indices);
        } else {
            select<T, std::uint32_t>(arguments.descriptor, input, values, indices);
        }
    });
}

}  // namespace

Kernels kernels() {
    return {{.name = "TOP_K1", .compute = compute, .tolerance = exact_tolerance},
            {.name = "TOP_K", .compute = compute, .tolerance = exact_tolerance}};
}

}  // namespace dmlconform::cpu::top_k1_kernels
