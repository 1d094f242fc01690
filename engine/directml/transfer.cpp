// Copies through a staging buffer, which is submitted when it is full.
#if defined(_WIN32)

#include "engine/directml/transfer.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "engine/core/guard.h"

namespace dmlconform::directml {
namespace {

constexpr std::uint64_t staging_bytes = std::uint64_t{16} << 20;

/// A segment of a buffer, and its offset in the staging buffer.
struct Segment {
    std::size_t item = 0;
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
    std::uint64_t staged = 0;
};

/// Splits items of the given sizes into segments, and calls move(segments) for as many at a time as fit the staging
/// buffer.
template <class Move>
core::Result<void> in_batches(const std::vector<std::uint64_t>& sizes, Move&& move) {
    std::vector<Segment> batch;
    std::uint64_t used = 0;
    for (std::size_t item = 0; item < sizes.size(); ++item) {
        for (std::uint64_t offset = 0; offset < sizes[item];) {
            const std::uint64_t bytes = std::min(sizes[item] - offset, staging_bytes - used);
            batch.push_back({item, offset, bytes, used});
            offset += bytes;
            // Copies are faster if they are aligned to 16 bytes.
            used = std::min(staging_bytes, (used + bytes + 15) / 16 * 16);
            if (used == staging_bytes) {
                if (auto moved = move(batch); !moved) {
                    return moved;
                }
                batch.clear();
                used = 0;
            }
        }
    }
    return batch.empty() ? core::Result<void>() : move(batch);
}

std::uint64_t staging_for(const std::vector<std::uint64_t>& sizes) {
    std::uint64_t total = 0;
    for (const std::uint64_t size : sizes) {
        total = std::min(staging_bytes, total + std::min(staging_bytes, (size + 15) / 16 * 16));
    }
    return std::max<std::uint64_t>(total, 1);
}

/// Copies the bytes [offset, offset + bytes) of an upload to the staging buffer.
void stage(const Upload& upload, std::uint64_t offset, std::span<std::byte> to) {
    const std::uint64_t given = std::min<std::uint64_t>(upload.bytes.size(), offset + to.size());
    const std::size_t copied = given > offset ? static_cast<std::size_t>(given - offset) : 0;
    if (copied > 0) {
        std::memcpy(to.data(), upload.bytes.data() + offset, copied);
    }
    std::ranges::fill(to.subspan(copied), core::untouched);
}

}  // namespace

core::Result<void> upload(Device& device, std::span<const Upload> uploads) {
    std::vector<std::uint64_t> sizes;
    for (const Upload& item : uploads) {
        sizes.push_back(item.bytes.size() + item.untouched);
    }
    auto staging = device.buffers.acquire(d3d12::Heap::upload, staging_for(sizes));
    if (!staging) {
        return tl::unexpected(staging.error());
    }
    return in_batches(sizes, [&](const std::vector<Segment>& batch) {
        for (const Segment& segment : batch) {
            stage(uploads[segment.item], segment.offset,
                  {staging->mapped() + segment.staged, static_cast<std::size_t>(segment.bytes)});
        }
        return device.run("upload", [&](ID3D12GraphicsCommandList& list) {
            for (const Segment& segment : batch) {
                list.CopyBufferRegion(uploads[segment.item].to, segment.offset, staging->resource(), segment.staged,
                                      segment.bytes);
            }
        });
    });
}

core::Result<void> download(Device& device, std::span<const Download> downloads) {
    std::vector<std::uint64_t> sizes;
    for (const Download& item : downloads) {
        sizes.push_back(item.bytes.size());
    }
    auto staging = device.buffers.acquire(d3d12::Heap::readback, staging_for(sizes));
    if (!staging) {
        return tl::unexpected(staging.error());
    }
    return in_batches(sizes, [&](const std::vector<Segment>& batch) {
        auto copied = device.run("download", [&](ID3D12GraphicsCommandList& list) {
            for (const Segment& segment : batch) {
                list.CopyBufferRegion(staging->resource(), segment.staged, downloads[segment.item].from, segment.offset,
                                      segment.bytes);
            }
        });
        for (const Segment& segment : batch) {
            if (copied) {
                std::memcpy(downloads[segment.item].bytes.data() + segment.offset, staging->mapped() + segment.staged,
                            static_cast<std::size_t>(segment.bytes));
            }
        }
        return copied;
    });
}

}  // namespace dmlconform::directml

#endif
