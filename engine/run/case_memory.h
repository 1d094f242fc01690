// Estimates the memory that a case needs, before any of it is allocated.
#pragma once

#include <cstdint>

#include "engine/cases/case.h"

namespace dmlconform::run {

/// Copies of a case's tensors beyond those that running it needs.
struct MoreCopies {
    /// The engine is in another process, so tensors are sent there and back.
    bool sent = false;
    /// A failure keeps copies (CaseSettings::keep_evidence).
    bool evidence = false;
    /// An engine's outputs are kept for comparison with the others (CaseSettings::against).
    bool answer = false;
};

/// The estimate in bytes: each input once here and once in the engine; each output twice in the engine and here (the
/// engine's buffer and what is read back, the expected and the reference's values); and 26 bytes for each element of an
/// output with bounds. Inputs that are not packed are made packed first, which with strides of 0 takes far more than
/// the tensor. Saturates instead of overflowing. The descriptor must be legal.
[[nodiscard]] std::uint64_t memory_needed(const cases::Case& subject, const MoreCopies& more = {});

/// What the values that the cases of a graph's nodes share may take in memory: what the graph's own case leaves of the
/// limit, and at least the 64 MiB that memory_needed counts. The rest goes to a temporary file.
[[nodiscard]] std::uint64_t memory_for_values(const cases::Case& subject, std::uint64_t max_memory);

}  // namespace dmlconform::run
