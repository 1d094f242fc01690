// Layout and loads of pairs.
#include "engine/cpu/product/pair_picture.h"

#include <algorithm>
#include <cstring>

#include "engine/cpu/parallel.h"
#include "engine/cpu/wide_registers.h"

namespace dmlconform::cpu::product {

PairPicture::PairPicture(const IntegerConvolution& given, const UnfoldedAxes& axes)
    : axes_(axes), groups_(given.convolution.groups), size_(pairs_of(given.convolution) * axes.size()) {
    const Convolution& convolution = given.convolution;
    const std::int64_t pairs = pairs_of(convolution);
    for (std::int64_t k = 0; k < pairs * axes.taps(); ++k) {
        offsets_.push_back(k / axes.taps() * axes.size() + axes.of_tap(k % axes.taps()));
    }
    const std::int64_t batches = convolution.batches * convolution.groups;
    const std::int64_t all = batches * size_;
    // Each of them is stored once: vectors would store zeros before.
    pairs_.reset(new Pair[static_cast<std::size_t>(all + columns_behind_a_tile)]);
    std::fill_n(pairs_.get() + all, columns_behind_a_tile, 0);
    parallel_for(batches * pairs, axes.size(), [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t i = first; i < last; ++i) {
            const std::int64_t low = i / pairs * convolution.channels + i % pairs;
            const bool is_alone = i % pairs + pairs >= convolution.channels;
            axes.lay_out(pairs_.get() + i * axes.size(), [&](std::int64_t element, std::int64_t step,
                                                             std::int64_t count, Pair* to) {
                given.picture.load_pairs({low * axes.elements() + element, step, count},
                                         is_alone ? 0 : pairs * axes.elements(), given.picture_zero_point, to);
            });
        }
    });
}

std::vector<PairPicture::Stretch> PairPicture::stretches(std::int64_t group, std::int64_t column,
                                                         std::int64_t count) const {
    const std::int64_t width = axes_.width.places;
    std::vector<Stretch> stretches;
    for (std::int64_t done = 0; done < count;) {
        const std::int64_t place = (column + done) % axes_.places();
        const std::int64_t batch = (column + done) / axes_.places() * groups_ + group;
        Stretch next{batch * size_ + axes_.of_row(place / width) + place % width, done,
                     std::min(width - place % width, count - done)};
        done += next.count;
        if (!stretches.empty() && stretches.back().from + stretches.back().count == next.from) {
            stretches.back().count += next.count;
        } else {
            stretches.push_back(next);
        }
    }
    return stretches;
}

/// 16 pairs at a time, those behind a stretch with them: what they overwrite is stored later.
void PairPicture::load(const std::vector<Stretch>& stretches, std::int64_t k, std::int64_t count, Pair* to) const {
    in_wide_registers([from = pairs_.get(), offsets = offsets_.data() + k, begin = stretches.data(),
                       end = stretches.data() + stretches.size(), count, to] {
        for (std::int64_t i = 0; i < count; ++i) {
            for (const Stretch* stretch = begin; stretch != end; ++stretch) {
                const Pair* const source = from + offsets[i] + stretch->from;
                Pair* const target = to + i * integer_tile_columns + stretch->to;
                for (std::int64_t done = 0; done < stretch->count; done += columns_behind_a_tile) {
                    std::memcpy(target + done, source + done, columns_behind_a_tile * sizeof(Pair));
                }
            }
        }
    });
}

}  // namespace dmlconform::cpu::product
