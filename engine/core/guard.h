// Guards: memory behind an output or a temporary of an engine, which reveals writes beyond its end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "engine/core/tensor.h"

namespace dmlconform::core {

/// Fill byte of outputs and their guards before an operator runs.
inline constexpr std::byte untouched{0xcd};

/// Size of a guard: 16 threads that each write 16 bytes past the end stay within it.
inline constexpr std::uint64_t guard_bytes = 256;

/// Offset of an output's guard in bytes: the output's total size, rounded up to the 4-byte words in which buffers are
/// accessed. Throws std::bad_alloc if the sum with the guard's size overflows.
[[nodiscard]] std::uint64_t guard_offset(const TensorDesc& desc);

/// Allocates a tensor followed by a guard. All bytes are `untouched`.
[[nodiscard]] Tensor output_tensor(const TensorDesc& desc);

/// The guard of a tensor made by output_tensor.
[[nodiscard]] std::span<const std::byte> guard_of(const Tensor& output);

struct StrayWrite {
    /// Offset of the first changed byte from the beginning of the guard.
    std::uint64_t offset = 0;
    /// The number of changed bytes.
    std::uint64_t bytes = 0;

    bool operator==(const StrayWrite&) const = default;
};

/// Finds what was written into a guard; empty if nothing was.
[[nodiscard]] std::optional<StrayWrite> find_stray_write(std::span<const std::byte> guard);

/// Finds what was written behind the end of a tensor that output_tensor made.
[[nodiscard]] std::optional<StrayWrite> find_stray_write(const Tensor& output);

}  // namespace dmlconform::core
