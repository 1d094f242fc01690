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

    /// The nodes in execution order.
    [[nodiscard]] std::span<const std::size_t> order() const { return order_; }

    /// Removes all values and sets the graph's inputs, in the order of Graph::inputs. The tensors must outlive the run.
    void start(std::span<const core::Tensor* const> inputs);

    /// A tensor for an output of a node, with uninitialised bytes. Its memory may be that of a value that is no longer
    /// needed: fresh memory takes the system longer to provide than some nodes take. Such memory is kept from the first
    /// call on.
    [[nodiscard]] core::Tensor new_tensor(const core::TensorDesc& desc);

    /// The inputs of a node. Their values must be present. Points into this object.
    [[nodiscard]] NodeInputs inputs_of(const operators::GraphNode& node) const;
    /// The same if `value` is this tensor, which need not be stored here.
    [[nodiscard]] NodeInputs inputs_of(const operators::GraphNode& node, operators::ValueIndex value,
                                       const core::Tensor& tensor) const;
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
    /// Keeps the memory of a value for new_tensor.
    void keep_spare(core::Buffer buffer);
    /// Frees the oldest spare memory, so that no more is in use with `more` bytes than values have needed at once.
    void drop_spares(std::size_t more);

    const operators::Graph& graph_;
    std::vector<std::size_t> order_;
    std::vector<std::size_t> last_uses_;
    /// By value index; null for all values except the graph's inputs.
    std::vector<const core::Tensor*> inputs_;
    std::map<operators::ValueIndex, core::Tensor> computed_;
    /// Memory of released values, the latest last.
    std::vector<core::Buffer> spares_;
    bool keeps_spares_ = false;
    std::size_t spare_bytes_ = 0;
    /// Bytes of computed_, now and at most.
    std::size_t computed_bytes_ = 0;
    std::size_t most_computed_bytes_ = 0;
    bool in_files_ = false;
};

/// The bytes of a tensor as another node describes them: copies as many bytes as both have.
[[nodiscard]] core::Tensor seen_as(const core::TensorDesc& desc, const core::Tensor& from);

}  // namespace dmlconform
