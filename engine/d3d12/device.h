// Everything that the executables of one engine share, and what they share with those of another on the same device.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "engine/d3d12/adapters.h"
#include "engine/d3d12/buffer_pool.h"
#include "engine/d3d12/commands.h"
#include "engine/d3d12/pipeline_cache.h"

namespace dmlconform::d3d12 {

struct Device {
    Device(const std::shared_ptr<PipelineCache>& cache, std::unique_ptr<Commands> queue, const Addressable& most)
        : commands(std::move(queue)), buffers(cache->device()), pipelines(cache), addressable(most) {}

    std::unique_ptr<Commands> commands;
    BufferPool buffers;
    /// Shared with other engines.
    std::shared_ptr<PipelineCache> pipelines;
    /// Filled with core::untouched; made when first needed.
    PooledBuffer untouched;
    /// Whether shaders may convert between FLOAT16 and FP32 by the device's own instructions; empty until that has been
    /// looked at.
    std::optional<bool> half_conversions;
    /// Whether shaders can read elements of typed buffers that are larger than a word.
    bool reads_units = false;
    /// Of one buffer, by a shader.
    Addressable addressable;
};

}  // namespace dmlconform::d3d12
