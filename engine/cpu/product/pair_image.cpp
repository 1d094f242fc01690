// Layout of paired channels, and loading of tile columns.
#include "engine/cpu/product/pair_image.h"

#include <algorithm>
#include <cstring>

#include "engine/cpu/parallel.h"
#include "engine/cpu/wide_registers.h"

namespace dmlconform::cpu::product {

PairImage::PairImage(const IntegerConvolution& given, const UnfoldedAxes& axes)
    : axes_(axes), groups_(given.convolution.groups), size_(pairs_of(given.convolution) * axes.size()) {
    const Convolution& convolution = given.convolution;
    const std::int64_t pairs = pairs_of(convolution);
    for (std::int64_t k = 0; k < pairs * axes.taps(); ++k) {
        offsets_.push_back(k / axes.taps() * axes.size() + axes.of_tap(k % axes.taps()));
    }
    const std::int64_t batches = convolution.batches * convolution.groups;
    const std::int64_t all = batches * size_;
    // Uninitialised, because each element is stored below; a vector would write zeros first.
    pairs_.reset(new Pair[static_cast<std::size_t>(all + columns_behind_a_tile)]);
    std::fill_n(pairs_.get() + all, columns_behind_a_tile, 0);
    parallel_for(batches * pairs, axes.size(), [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t i = first; i < last; ++i) {
            const std::int64_t low = i / pairs * convolution.channels + i % pairs;
            const bool is_alone = i % pairs + pairs >= convolution.channels;
            axes.lay_out(pairs_.get() + i * axes.size(),
                         [&](std::int64_t element, std::int64_t step, std::int64_t count, Pair* to) {
                             given.image.load_pairs({low * axes.elements() + element, step, count},
                                                    is_alone ? 0 : pairs * axes.elements(), given.image_zero_point, to);
                         });
        }
    });
}

std::vector<PairImage::Segment> PairImage::segments(std::int64_t group, std::int64_t column, std::int64_t count) const {
    const std::int64_t width = axes_.width.positions;
    std::vector<Segment> segments;
    for (std::int64_t done = 0; done < count;) {
        const std::int64_t position = (column + done) % axes_.positions();
        const std::int64_t batch = (column + done) / axes_.positions() * groups_ + group;
        Segment next{batch * size_ + axes_.of_row(position / width) + position % width, done,
                     std::min(width - position % width, count - done)};
        done += next.count;
        if (!segments.empty() && segments.back().from + segments.back().count == next.from) {
            segments.back().count += next.count;
        } else {
            segments.push_back(next);
        }
    }
    return segments;
}

/// Loads 16 pairs at a time, including some beyond the end of a segment, which are overwritten later.
void PairImage::load(const std::vector<Segment>& segments, std::int64_t k, std::int64_t count, Pair* to) const {
    in_wide_registers([from = pairs_.get(), offsets = offsets_.data() + k, begin = segments.data(),
                       end = segments.data() + segments.size(), count, to] {
        for (std::int64_t i = 0; i < count; ++i) {
            for (const Segment* segment = begin; segment != end; ++segment) {
                const Pair* const source = from + offsets[i] + segment->from;
                Pair* const target = to + i * integer_tile_columns + segment->to;
                for (std::int64_t done = 0; done < segment->count; done += columns_behind_a_tile) {
                    std::memcpy(target + done, source + done, columns_behind_a_tile * sizeof(Pair));
                }
            }
        }
    });
}

}  // namespace dmlconform::cpu::product
