// Unrolls control flow and sequences of a model whose data are known, so that nodes of tensors remain.
#pragma once

#include <memory>
#include <string>

#include "engine/interop/onnx_unrolling_steps.h"

namespace dmlconform::interop {

/// Replaces If, Loop, Scan and SequenceMap by the nodes that they run, and follows sequences and optional values tensor
/// by tensor. Other nodes stay as they are.
class Unroller {
public:
    /// `known` finds conditions, trip counts and positions. `add` gets the nodes that remain, in order.
    Unroller(std::int64_t opset, KnownTensor known, unrolling::AddNode add);
    Unroller(const Unroller&) = delete;
    Unroller& operator=(const Unroller&) = delete;
    ~Unroller();

    /// Sets an input of the graph that is not a tensor.
    void set(const std::string& name, UnrolledValue value);
    /// Takes the next node of the graph.
    [[nodiscard]] core::Result<void> run(const onnx::NodeProto& node);
    /// What a name of the graph stands for; a tensor of this name if no node that was unrolled computes it.
    [[nodiscard]] UnrolledValue find(const std::string& name) const;

private:
    class Graph;
    std::unique_ptr<Graph> graph_;
};

/// The operators that are unrolled, with remarks for the documentation.
[[nodiscard]] std::vector<ExpandedOperator> unrolled_operators();

}  // namespace dmlconform::interop
