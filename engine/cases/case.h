// A case: an operator or a graph, its inputs, and the expected outputs or error.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/cases/initialiser.h"
#include "engine/core/feature_level.h"
#include "engine/core/hresult.h"
#include "engine/core/precision.h"
#include "engine/core/tolerance.h"
#include "engine/operators/descriptor.h"

namespace dmlconform::cases {

class SharedReference;

struct Case {
    /// "<file stem>/<name>", the name that filters, expectations and reports use.
    std::string id;
    std::string description;
    /// The case file.
    std::string file;
    std::size_t line = 0;
    /// Legal at the highest feature level, unless expect_error is set. A graph has Descriptor::graph.
    std::shared_ptr<const operators::Descriptor> descriptor;
    /// Engines below this level skip the case.
    core::FeatureLevel min_feature_level;
    /// One for each of Descriptor::inputs(). Empty for absent tensors, and for all tensors if expect_error is set.
    std::vector<std::optional<Initialiser>> inputs;
    /// One for each of Descriptor::outputs(). Empty if the reference computes the expected values.
    std::vector<std::optional<Initialiser>> expected;
    /// The expected values were computed by another implementation in FP32, so that they have errors themselves.
    bool expected_in_fp32 = false;
    /// One for each of Descriptor::outputs(). Empty for the operator's default.
    std::vector<std::optional<core::Tolerance>> tolerances;
    /// The precision in which engines must compute. Empty: what each engine promises.
    std::optional<core::Precision> precision{};
    /// The error with which engines must reject the descriptor.
    std::optional<core::HResult> expect_error;
    std::vector<std::string> tags;
    /// For a node of a graph that is judged separately, the id of the graph's case. Otherwise empty.
    std::string graph_id{};
    /// The node's name in that graph.
    std::string node_name{};
    /// The bytes that making the inputs takes beside the inputs themselves.
    std::uint64_t memory_beside = 0;
    /// Of a model: the nodes that are not in the graph, each with the reason.
    std::vector<std::string> cuts{};
    /// Why the case can no longer run: its data files changed after they were checked. Empty if it can.
    std::string problem;
    /// The reference's result, if it is computed together with those of other cases: see cases/shared_reference.h. Null
    /// if it is computed for this case alone.
    std::shared_ptr<SharedReference> reference{};

    [[nodiscard]] bool has_tag(const std::string& tag) const;
    /// True if an output has no expected values in the file, so that the reference computes them.
    [[nodiscard]] bool needs_reference() const;
};

}  // namespace dmlconform::cases
