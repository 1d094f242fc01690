// An additional interface of engines in other processes on this machine, for measuring them there.
#pragma once

#include <optional>

#include "engine/core/processor_use.h"

namespace dmlconform {

class ProcessorMeasurements {
public:
    ProcessorMeasurements() = default;
    ProcessorMeasurements(const ProcessorMeasurements&) = delete;
    ProcessorMeasurements& operator=(const ProcessorMeasurements&) = delete;
    virtual ~ProcessorMeasurements() = default;

    /// What the engine's process has used so far. Empty if the system does not tell.
    [[nodiscard]] virtual std::optional<core::ProcessorUse> processor_use() const = 0;
};

}  // namespace dmlconform
