// Executes moves, run by run of the innermost dimension.
#include "engine/cpu/movement/move.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "engine/cpu/wide_registers.h"

namespace dmlconform::cpu::movement {
namespace {

/// Longer runs are split, so that threads can share them.
constexpr std::int64_t longest_piece = 1 << 16;

bool is_affine(const Axis& axis) {
    return axis.offsets.empty();
}

/// Replaces equidistant target offsets by a stride.
void find_stride(Axis& axis) {
    const auto& offsets = axis.to_offsets;
    if (offsets.empty()) {
        return;
    }
    const std::int64_t stride = offsets.size() < 2 ? 0 : offsets[1] - offsets[0];
    for (std::size_t i = 0; i < offsets.size(); ++i) {
        if (offsets[i] != static_cast<std::int64_t>(i) * stride) {
            return;
        }
    }
    axis.to_stride = stride;
    axis.to_offsets.clear();
}

/// True if a step beyond the end of the inner dimension is a step along the outer one.
bool are_one(const Axis& outer, const Axis& inner) {
    return is_affine(outer) && is_affine(inner) && outer.to_offsets.empty() && inner.to_offsets.empty() &&
           outer.to_stride == inner.to_stride * inner.size && outer.from_stride == inner.from_stride * inner.size;
}

/// Removes dimensions of size 1 and merges dimensions that continue each other. The last dimension is the run.
void simplify(Move& move) {
    std::vector<Axis> axes;
    for (Axis& axis : move.axes) {
        find_stride(axis);
        // A dimension of size 1 must stay if its coordinate maps to `nowhere`.
        if (axis.size == 1 && (is_affine(axis) || axis.offsets[0] != nowhere)) {
            move.from_start += is_affine(axis) ? 0 : axis.offsets[0];
            move.to_start += axis.to_offsets.empty() ? 0 : axis.to_offsets[0];
        } else if (!axes.empty() && are_one(axes.back(), axis)) {
            axis.size *= axes.back().size;
            axes.back() = std::move(axis);
        } else {
            axes.push_back(std::move(axis));
        }
    }
    // The elements of a run are written at constant distances.
    if (axes.empty() || !axes.back().to_offsets.empty()) {
        axes.emplace_back();
    }
    move.axes = std::move(axes);
}

/// How many copies of each element are written in succession because of the second-last dimension, which then needs no
/// runs of its own. Otherwise 1.
std::int64_t copies_of(const Move& move) {
    if (move.axes.size() < 2 || move.from == nullptr) {
        return 1;
    }
    const Axis& copies = move.axes.back();
    const Axis& run = move.axes[move.axes.size() - 2];
    const bool repeats = is_affine(copies) && copies.from_stride == 0 && copies.to_stride == 1 && copies.size <= 4;
    return repeats && is_affine(run) && run.to_offsets.empty() && run.to_stride == copies.size ? copies.size : 1;
}

Move without_copies(Move move, std::int64_t copies) {
    if (copies > 1) {
        move.axes.pop_back();
    }
    return move;
}

/// Copies elements that are `stride` apart, each `copies` times.
template <std::int64_t copies, class Element>
void repeat(const Element* source, std::int64_t stride, Element* target, std::int64_t count) {
    in_wide_registers([&] {
        for (std::int64_t i = 0; i < count; ++i) {
            for (std::int64_t c = 0; c < copies; ++c) {
                target[i * copies + c] = source[i * stride];
            }
        }
    });
}

std::int64_t plus(std::int64_t so_far, const Axis& axis, std::int64_t coordinate) {
    if (so_far == nowhere || is_affine(axis)) {
        return so_far == nowhere ? nowhere : so_far + coordinate * axis.from_stride;
    }
    const auto offset = axis.offsets[static_cast<std::size_t>(coordinate)];
    return offset == nowhere ? nowhere : so_far + offset;
}

/// A segment of a run whose source elements are equidistant, or are all the constant.
struct Segment {
    std::int64_t first = 0;
    std::int64_t count = 0;
    std::int64_t offset = 0;
    std::int64_t stride = 0;
};

std::vector<Segment> segments_of(const Axis& run) {
    if (is_affine(run)) {
        return {{0, run.size, 0, run.from_stride}};
    }
    std::vector<Segment> segments;
    const auto& offsets = run.offsets;
    for (std::size_t i = 0; i < offsets.size();) {
        Segment segment{static_cast<std::int64_t>(i), 1, offsets[i], 0};
        const bool leads = offsets[i] != nowhere;
        if (leads && i + 1 < offsets.size() && offsets[i + 1] != nowhere) {
            segment.stride = offsets[i + 1] - offsets[i];
        }
        for (++i; i < offsets.size(); ++i, ++segment.count) {
            const bool goes_on =
                leads ? offsets[i] != nowhere && offsets[i] - offsets[i - 1] == segment.stride : offsets[i] == nowhere;
            if (!goes_on) {
                break;
            }
        }
        segments.push_back(segment);
    }
    return segments;
}

template <class Element>
class Carrier {
public:
    /// Each element of a run is written `copies` times in succession.
    Carrier(const Move& move, std::int64_t copies)
        : move_(move),
          copies_(copies),
          run_(move.axes.back()),
          segments_(segments_of(run_)),
          one_by_one_(run_.size < 8 * static_cast<std::int64_t>(segments_.size())),
          read_(move.from == nullptr ? nullptr : move.from->as<Element>().data()),
          written_(move.to->as<Element>().data()) {}

    void carry() const {
        const std::int64_t pieces = (run_.size + longest_piece - 1) / longest_piece;
        std::int64_t runs = 1;
        for (std::size_t a = 0; a + 1 < move_.axes.size(); ++a) {
            runs *= move_.axes[a].size;
        }
        parallel_for(runs * pieces, std::min(run_.size, longest_piece), [&](std::int64_t first, std::int64_t last) {
            Position position(move_, first / pieces);
            for (std::int64_t piece = first; piece < last; ++piece) {
                const std::int64_t begin = piece % pieces * longest_piece;
                carry_piece(position.from(), position.to(), begin, std::min(run_.size, begin + longest_piece));
                if (piece % pieces + 1 == pieces) {
                    position.advance();
                }
            }
        });
    }

private:
    /// The addresses at the beginning of a run, in both tensors.
    class Position {
    public:
        Position(const Move& move, std::int64_t run)
            : axes_(move.axes.data(), move.axes.size() - 1),
              index_(axes_.size()),
              from_(axes_.size() + 1, move.from == nullptr ? nowhere : move.from_start),
              to_(axes_.size() + 1, move.to_start) {
            for (std::size_t a = axes_.size(); a-- > 0;) {
                index_[a] = run % axes_[a].size;
                run /= axes_[a].size;
            }
            add_from(0);
        }

        [[nodiscard]] std::int64_t from() const { return from_.back(); }
        [[nodiscard]] std::int64_t to() const { return to_.back(); }

        void advance() {
            for (std::size_t a = axes_.size(); a-- > 0;) {
                if (++index_[a] < axes_[a].size) {
                    return add_from(a);
                }
                index_[a] = 0;
            }
        }

    private:
        /// Recomputes the address sums from this dimension on. Those of outer dimensions are up to date.
        void add_from(std::size_t a) {
            for (; a < axes_.size(); ++a) {
                from_[a + 1] = plus(from_[a], axes_[a], index_[a]);
                to_[a + 1] =
                    to_[a] + (axes_[a].to_offsets.empty() ? index_[a] * axes_[a].to_stride
                                                          : axes_[a].to_offsets[static_cast<std::size_t>(index_[a])]);
            }
        }

        std::span<const Axis> axes_;
        std::vector<std::int64_t> index_;
        std::vector<std::int64_t> from_;
        std::vector<std::int64_t> to_;
    };

    void carry_piece(std::int64_t from, std::int64_t to, std::int64_t begin, std::int64_t end) const {
        Element* const target = written_ + to;
        if (from == nowhere) {
            return fill(target, begin, end);
        }
        if (one_by_one_ && !is_affine(run_)) {
            for (std::int64_t i = begin; i < end; ++i) {
                const std::int64_t offset = run_.offsets[static_cast<std::size_t>(i)];
                target[i * run_.to_stride] =
                    offset == nowhere ? static_cast<Element>(move_.constant) : read_[from + offset];
            }
            return;
        }
        for (const Segment& segment : segments_) {
            const std::int64_t first = std::max(begin, segment.first);
            const std::int64_t last = std::min(end, segment.first + segment.count);
            if (first >= last) {
                continue;
            }
            if (segment.offset == nowhere) {
                fill(target, first, last);
            } else {
                copy(read_ + (from + segment.offset + (first - segment.first) * segment.stride), segment.stride,
                     target + first * run_.to_stride, last - first);
            }
        }
    }

    void fill(Element* target, std::int64_t first, std::int64_t last) const {
        const auto constant = static_cast<Element>(move_.constant);
        if (run_.to_stride == copies_) {
            std::fill(target + first * copies_, target + last * copies_, constant);
            return;
        }
        for (std::int64_t i = first; i < last; ++i) {
            target[i * run_.to_stride] = constant;
        }
    }

    void copy(const Element* source, std::int64_t stride, Element* target, std::int64_t count) const {
        switch (copies_) {
            case 2:
                return repeat<2>(source, stride, target, count);
            case 3:
                return repeat<3>(source, stride, target, count);
            case 4:
                return repeat<4>(source, stride, target, count);
            default:
                break;
        }
        if (stride == 1 && run_.to_stride == 1) {
            std::memcpy(target, source, static_cast<std::size_t>(count) * sizeof(Element));
            return;
        }
        for (std::int64_t i = 0; i < count; ++i) {
            target[i * run_.to_stride] = source[i * stride];
        }
    }

    const Move& move_;
    std::int64_t copies_;
    const Axis& run_;
    std::vector<Segment> segments_;
    /// Segments are too short to be worth detecting.
    bool one_by_one_;
    const Element* read_;
    Element* written_;
};

}  // namespace

void carry_out(Move move) {
    simplify(move);
    const std::int64_t copies = copies_of(move);
    const Move runs = without_copies(std::move(move), copies);
    with_width(runs.to->desc.data_type, [&]<class Element>() { Carrier<Element>(runs, copies).carry(); });
}

Move first_to_first(const KernelArguments& arguments) {
    Move move;
    move.from = arguments.inputs[0];
    move.to = arguments.outputs[0];
    move.axes = axes_of(move.to->desc);
    return move;
}

Move all_of_first(const KernelArguments& arguments) {
    Move move = first_to_first(arguments);
    const core::Strides strides = core::signed_strides(move.from->desc);
    for (std::size_t d = 0; d < strides.size(); ++d) {
        move.axes[d].from_stride = strides[d];
    }
    return move;
}

Kernel moving(std::string_view name, Move (*move)(const KernelArguments& arguments)) {
    return {.name = name,
            .compute = [move](const KernelArguments& arguments) { carry_out(move(arguments)); },
            .tolerance = exact_tolerance};
}

std::vector<Axis> axes_of(const core::TensorDesc& output) {
    std::vector<Axis> axes;
    const core::Strides strides = core::signed_strides(output);
    for (std::size_t d = 0; d < output.sizes.size(); ++d) {
        axes.push_back({.size = output.sizes[d], .to_stride = strides[d]});
    }
    return axes;
}

Rows::Rows(const core::TensorDesc& desc)
    : sizes_(desc.sizes.begin(), desc.sizes.end()), strides_(core::signed_strides(desc)) {
    for (std::size_t d = 0; d + 1 < sizes_.size(); ++d) {
        count_ *= sizes_[d];
    }
}

std::int64_t Rows::start_of(std::int64_t row, std::vector<std::int64_t>& coordinates) const {
    std::int64_t address = 0;
    coordinates.back() = 0;
    for (std::size_t d = sizes_.size() - 1; d-- > 0;) {
        coordinates[d] = row % sizes_[d];
        row /= sizes_[d];
        address += coordinates[d] * strides_[d];
    }
    return address;
}

}  // namespace dmlconform::cpu::movement
