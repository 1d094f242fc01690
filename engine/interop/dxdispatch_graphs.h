// Dispatchables of DxDispatch models that are graphs: ONNX models and serialised DirectML graphs in files of their own,
// and operators that are compiled as a graph.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "engine/cases/case.h"
#include "engine/cases/json_document.h"
#include "engine/core/error.h"

namespace dmlconform::interop {

struct DispatchedGraph {
    /// With random data for inputs that are not constants.
    std::shared_ptr<const cases::Case> subject;
    /// The names by which commands bind inputs, in the order of Case::inputs; empty for a constant.
    std::vector<std::string> inputs;
    std::vector<std::string> outputs;
    /// What of the file is not in the graph, and what was chosen.
    std::vector<std::string> notes;
    /// True if inputs need not be bound.
    bool may_be_unbound = false;
};

/// True for the types "onnx" and "dmlSerializedGraph".
[[nodiscard]] bool is_dispatched_file(const std::string& type);

/// Reads the file that a dispatchable of such a type names. It must lie in `folder`. `bindings` are those of the
/// command, or null; they may have the shapes of an ONNX model's inputs.
[[nodiscard]] core::Result<DispatchedGraph> read_dispatched_file(const std::string& type,
                                                                 const cases::JsonValue& dispatchable,
                                                                 const cases::JsonValue* bindings,
                                                                 const std::filesystem::path& folder);

/// The operator as the only node of a graph. Its values are called as its tensors. Tensors with the flag OWNED_BY_DML
/// are constants.
[[nodiscard]] std::shared_ptr<const operators::Descriptor> graph_of_one(
    const std::string& name, std::shared_ptr<const operators::Descriptor> descriptor);

}  // namespace dmlconform::interop
