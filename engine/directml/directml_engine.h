// The DirectML engine: Microsoft's implementation, as DirectML.dll has it. On Windows, which Wine counts as.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "engine/core/error.h"
#include "engine/engine.h"

namespace dmlconform::directml {

/// The values are those of DML_EXECUTION_FLAGS.
enum ExecutionFlags : std::uint32_t {
    execution_none = 0,
    allow_half_precision_computation = 1,
    disable_meta_commands = 2,
    descriptors_volatile = 4,
};

struct Options {
    /// Of DirectML.dll; empty for the one that Windows finds.
    std::string library;
    /// Part of an adapter's name; empty for the most capable.
    std::string adapter;
    /// Cases above this level are not run, whatever the device can do.
    core::FeatureLevel feature_level = core::highest_feature_level;
    /// For CompileOperator.
    std::uint32_t execution_flags = execution_none;
};

/// An engine that has been seen to compute: there are stacks on which everything succeeds and nothing is written.
[[nodiscard]] core::Result<std::unique_ptr<Engine>> create_engine(const Options& options);

}  // namespace dmlconform::directml
