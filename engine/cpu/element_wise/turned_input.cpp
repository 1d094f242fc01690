// Gathers elements of transposed inputs cache line by cache line, and prefetches.
#include "engine/cpu/element_wise/turned_input.h"

#include <algorithm>
#include <cstdlib>

#include "engine/cpu/movement/move.h"
#include "engine/cpu/wide_registers.h"

namespace dmlconform::cpu::element_wise {
namespace {

/// Limit for the length of a run, so that all pieces stay in the L2 cache.
constexpr std::int64_t longest_run = 8192;
/// The minimum number of adjacent runs for which gathering pays.
constexpr std::int64_t least_width = 4;

/// Prefetches memory. The hardware prefetcher does not recognise accesses this far apart.
void will_be_read(const void* memory) {
#if defined(__GNUC__)
    __builtin_prefetch(memory);
#else
    (void)memory;
#endif
}

}  // namespace

TurnedInput::TurnedInput(const core::Tensor& input, const Runs& runs, std::size_t t, std::size_t longest_piece)
    : input_(input), longest_piece_(static_cast<std::int64_t>(longest_piece)) {
    const std::int64_t length = runs.run_length();
    const auto bytes = static_cast<std::int64_t>(core::bytes_of(input.desc.data_type));
    constexpr auto line = static_cast<std::int64_t>(register_bytes);
    // Elements that share bytes, whose size is 0, are never far apart.
    if (length > longest_run || std::abs(runs.run_strides()[t]) * bytes < line) {
        return;
    }
    const std::int64_t most = std::min(line / bytes, runs.run_count());
    const std::int64_t first = runs.offsets_of(0)[t];
    std::int64_t width = 1;
    while (width < most && runs.offsets_of(width * length)[t] == first + width) {
        ++width;
    }
    if (width >= least_width) {
        width_ = width;
        pieces_.resize(static_cast<std::size_t>((length + longest_piece_ - 1) / longest_piece_));
    }
}

TurnedInput::Source TurnedInput::source_of(const Segment& from, std::int64_t i, std::size_t count) {
    Piece& piece = pieces_[static_cast<std::size_t>(i / longest_piece_)];
    if (from.first < piece.first || from.first >= piece.first + piece.runs) {
        gather(from, count, piece);
    }
    return {piece.memory, {from.type, (from.first - piece.first) * static_cast<std::int64_t>(count), 1}};
}

void TurnedInput::gather(const Segment& from, std::size_t count, Piece& piece) const {
    const auto length = static_cast<std::int64_t>(count);
    movement::with_width(from.type, [&]<class Element>() {
        const std::span<const Element> elements = input_.as<Element>();
        // There may be fewer runs left, with no memory beyond them.
        const std::int64_t furthest = std::max(from.first, from.first + (length - 1) * from.stride);
        piece.first = from.first;
        piece.runs = std::min(width_, static_cast<std::int64_t>(elements.size()) - furthest);
        piece.memory.resize(static_cast<std::size_t>(width_ * length) * sizeof(Element));
        auto* const to = reinterpret_cast<Element*>(piece.memory.data());
        const auto last = static_cast<std::int64_t>(elements.size()) - 1;
        for (std::int64_t i = 0; i < length; ++i) {
            const std::int64_t at = from.first + i * from.stride;
            const Element* const source = elements.data() + at;
            // Read by the next runs.
            will_be_read(elements.data() + std::min(at + width_, last));
            for (std::int64_t run = 0, runs = piece.runs; run < runs; ++run) {
                to[run * length + i] = source[run];
            }
        }
    });
}

}  // namespace dmlconform::cpu::element_wise
