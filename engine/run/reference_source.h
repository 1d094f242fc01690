// Computes references in this process, or in other processes so that a crash affects only one case.
#pragma once

#include <cstddef>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <stdexcept>
#include <string>

#include "engine/cpu/reference.h"
#include "engine/worker/worker_engine.h"

namespace dmlconform::run {

/// Thrown if the process that computed a reference crashed or took too long.
class ReferenceLost : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

struct ReferenceWish {
    cpu::Accumulation accumulation = cpu::Accumulation::fp32;
    /// For graphs: the number of runs that the tolerance is computed from.
    std::size_t runs = 0;
    /// The operator's variant that is computed: see engine/cpu/variants.h. Empty for what is right.
    std::string variant{};
};

/// Computes references in separate processes from now on, one for each thread that needs them. `command` starts them.
void isolate_references(worker::WorkerCommand command, const worker::WorkerSettings& settings);

/// Computes references in this process from now on, and ends the other processes.
void compute_references_here();

[[nodiscard]] bool references_are_isolated();

/// Asked again and again while a graph is computed in this process: true ends it with EngineLost. Null: never.
void end_references_if(std::function<bool()> stop_requested);
[[nodiscard]] const std::function<bool()>& end_of_references();

/// Computes outputs and slack. Throws ReferenceLost, and EngineLost if the run is interrupted in the meantime.
[[nodiscard]] cpu::Reference reference_for(const operators::Descriptor& descriptor,
                                           std::span<const core::Tensor* const> inputs, const ReferenceWish& wish);

/// Answers the request `reference` in such a process: see docs/worker-protocol.md.
[[nodiscard]] nlohmann::json answer_reference(const operators::Descriptor& descriptor,
                                              std::span<const core::Tensor* const> inputs,
                                              const nlohmann::json& request);

}  // namespace dmlconform::run
