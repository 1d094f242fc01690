// The objects that all executables of an engine share, and those that all engines on a device share.
#pragma once

#include <memory>
#include <optional>
#include <utility>

#include "engine/d3d12/device/adapters.h"
#include "engine/d3d12/device/buffer_pool.h"
#include "engine/d3d12/device/commands.h"
#include "engine/d3d12/device/pipeline_cache.h"

namespace dmlconform::d3d12 {

struct Device {
    Device(const std::shared_ptr<PipelineCache>& cache, std::unique_ptr<Commands> queue, const Addressable& most)
        : commands(std::move(queue)), buffers(cache->device()), pipelines(cache), addressable(most) {}

    std::unique_ptr<Commands> commands;
    BufferPool buffers;
    /// Shared with other engines.
    std::shared_ptr<PipelineCache> pipelines;
    /// Filled with core::untouched; created on first use.
    PooledBuffer untouched;
    /// True if shaders may use the device's own conversions between FLOAT16 and FP32; empty until that has been
    /// checked.
    std::optional<bool> half_conversions;
    /// True if shaders can read elements of typed buffers that are larger than a word.
    bool reads_units = false;
    /// What a shader can access of one buffer.
    Addressable addressable;
};

}  // namespace dmlconform::d3d12
