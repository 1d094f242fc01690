// Memory behind an output, or behind an engine's temporary, by which writes beyond its end are seen.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "engine/core/tensor.h"

namespace dmlconform::core {

/// What an engine's memory for an output, and for the guard behind it, is filled with before the operator runs.
inline constexpr std::byte untouched{0xcd};

/// Bytes of a guard: as far as 16 threads that write 16 bytes each can stray.
inline constexpr std::uint64_t guard_bytes = 256;

/// Where an output's guard begins, in bytes: at its total size, rounded up to the words of 4 bytes in which buffers
/// are accessed. Throws std::bad_alloc for a size that no memory has.
[[nodiscard]] std::uint64_t guard_offset(const TensorDesc& desc);

/// A tensor with a guard behind its total size, all of it untouched.
[[nodiscard]] Tensor output_tensor(const TensorDesc& desc);

/// The guard of a tensor made by output_tensor.
[[nodiscard]] std::span<const std::byte> guard_of(const Tensor& output);

struct StrayWrite {
    /// Of the first byte that was written, from the guard's beginning.
    std::uint64_t offset = 0;
    /// How many bytes of the guard have changed.
    std::uint64_t bytes = 0;

    bool operator==(const StrayWrite&) const = default;
};

/// What has been written into a guard.
[[nodiscard]] std::optional<StrayWrite> find_stray_write(std::span<const std::byte> guard);

/// What has been written behind the end of a tensor made by output_tensor.
[[nodiscard]] std::optional<StrayWrite> find_stray_write(const Tensor& output);

}  // namespace dmlconform::core
