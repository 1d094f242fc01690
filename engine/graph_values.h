// The values of a graph while its nodes run one after another.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <vector>

#include "engine/core/tensor.h"
#include "engine/operators/graph.h"

namespace dmlconform {

/// The inputs of a node, one for each of Descriptor::inputs(); null for absent tensors.
struct NodeInputs {
    std::vector<const core::Tensor*> tensors;
    /// Copies of values whose layout the node describes differently from their producers.
    std::vector<core::Tensor> views;
};

/// Values by index. A value is kept until its last reader has run; outputs of the graph are kept until the next start.
/// If an input of the graph lies in a temporary file, all values are moved to such files after the node that wrote
/// them, so that only the tensors of one node are in memory.
class GraphValues {
public:
    /// The graph must outlive this object, and must be acyclic.
    explicit GraphValues(const operators::Graph& graph);

    [[nodiscard]] const operators::Graph& graph() const { return graph_; }
    /// The nodes in execution order.
    [[nodiscard]] std::span<const std::size_t> order() const { return order_; }

    /// Removes all values and sets the graph's inputs, in the order of Graph::inputs. The tensors must outlive the run.
    void start(std::span<const core::Tensor* const> inputs);

    /// The inputs of a node. Their values must be present. Points into this object.
    [[nodiscard]] NodeInputs inputs_of(const operators::GraphNode& node) const;
    /// Stores an output of a node. Returns the stored tensor.
    core::Tensor& put(operators::ValueIndex index, core::Tensor tensor);
    /// A value that is present: an input of the graph, or one that is still needed.
    [[nodiscard]] const core::Tensor& at(operators::ValueIndex index) const;
    /// Releases the values that are no longer needed after the node at this position of the order.
    void release_after(std::size_t position);

    /// True if values are moved to temporary files.
    [[nodiscard]] bool are_in_files() const { return in_files_; }
    /// Takes the tensors that a node reads or has written out of memory, if values are in files. Tensors that the node
    /// has written move.
    void leave_memory(const operators::GraphNode& node);

private:
    const operators::Graph& graph_;
    std::vector<std::size_t> order_;
    std::vector<std::size_t> last_uses_;
    /// By value index; null for all values except the graph's inputs.
    std::vector<const core::Tensor*> inputs_;
    std::map<operators::ValueIndex, core::Tensor> computed_;
    bool in_files_ = false;
};

/// The bytes of a tensor as another node describes them: copies as many bytes as both have.
[[nodiscard]] core::Tensor seen_as(const core::TensorDesc& desc, const core::Tensor& from);

}  // namespace dmlconform
