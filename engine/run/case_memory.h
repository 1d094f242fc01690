// How much memory a case takes, known before any of it is allocated.
#pragma once

#include <cstdint>

#include "engine/cases/case.h"

namespace dmlconform::run {

/// What more there is of a case's tensors than running it takes.
struct MoreCopies {
    /// The engine is in a process of its own: tensors are sent there and back.
    bool sent = false;
    /// A failure keeps copies (CaseSettings::keep_evidence).
    bool evidence = false;
    /// An engine's outputs are kept for the others to be compared with (CaseSettings::against).
    bool answer = false;
};

/// Bytes, roughly: each input once here and once in the engine, each output twice as much (the engine's and what is
/// read back; expected values and the reference's), and 16 bytes for each element of an output that is compared within
/// bounds of its own. Elements of an input that is not packed are made packed first: where strides are 0 they are far
/// more than the tensor. Stays at the greatest number there is instead of overflowing. The descriptor must be legal.
[[nodiscard]] std::uint64_t memory_needed(const cases::Case& subject, const MoreCopies& more = {});

}  // namespace dmlconform::run
