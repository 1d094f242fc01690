// The DirectML engine: Microsoft's implementation in DirectML.dll, on Windows or Wine.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "engine/core/error.h"
#include "engine/engine.h"

namespace dmlconform::directml {

/// Values of DML_EXECUTION_FLAGS.
enum ExecutionFlags : std::uint32_t {
    execution_none = 0,
    allow_half_precision_computation = 1,
    disable_meta_commands = 2,
    descriptors_volatile = 4,
};

struct Options {
    /// The path of DirectML.dll; empty for the one that Windows finds.
    std::string library;
    /// A part of the adapter's name; empty for the most capable adapter.
    std::string adapter;
    /// Cases above this level are skipped, whatever the device supports.
    core::FeatureLevel feature_level = core::highest_feature_level;
    /// Passed to CompileOperator.
    std::uint32_t execution_flags = execution_none;
};

/// Creates an engine after checking that it computes: there are installations on which all calls succeed but nothing is
/// written.
[[nodiscard]] core::Result<std::unique_ptr<Engine>> create_engine(const Options& options);

}  // namespace dmlconform::directml
