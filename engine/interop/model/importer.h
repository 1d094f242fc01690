// Converts ONNX models to graphs of DirectML's operators.
#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/interop/model/graph_builder.h"
#include "engine/interop/model/tensor_data.h"
#include "engine/interop/onnx_messages.h"

namespace dmlconform::interop {

struct ModelOptions {
    /// Sizes of symbolic dimensions; 1 for all others.
    std::map<std::string, std::uint32_t> dimensions;
    /// Sizes of inputs with given data, which override those of the model.
    std::map<std::string, core::Dimensions> input_sizes;
    /// Given data of inputs. An input with an initializer takes its data from here: the initializer is a default.
    std::map<std::string, ConstantTensor> input_data = {};
    /// What the model's messages and what is made of them may take together, in bytes: see memory_limit.h.
    std::uint64_t memory = std::numeric_limits<std::uint64_t>::max();
    /// What will be done with a node of the graph takes so much in addition.
    std::uint64_t memory_per_node = 0;
};

/// A node of the model, which may be inside a function or branch.
struct ModelNode {
    /// The model's name, or the name of its first output.
    std::string name;
    /// "Conv", "com.microsoft.FusedMatMul".
    std::string type;
};

/// A node that is not in the graph, so that its outputs become inputs.
struct ModelCut {
    ModelNode node;
    std::string reason;
};

/// For example "selected (NonMaxSuppression): its sizes are not known". Long names are shortened.
[[nodiscard]] std::string cut_text(const ModelCut& cut);

/// An output of the graph.
struct ModelOutput {
    /// The model's name for it.
    std::string name;
    OnnxTensor tensor;
    /// Its position among the model's outputs; nothing for what only a node reads that is not in the graph.
    std::optional<std::size_t> position;
};

struct ImportedModel {
    std::shared_ptr<const operators::Graph> graph;
    /// In the order of Graph::inputs.
    std::vector<ModelInput> inputs;
    /// In the order of Graph::outputs.
    std::vector<ModelOutput> outputs;
    /// For each of Graph::nodes, the node of the model that it comes from.
    std::vector<ModelNode> origins;
    std::vector<ModelCut> cuts;
    /// Notes for the user: sizes that were chosen, outputs that are not computed.
    std::vector<std::string> notes;
    /// The number of nodes that the model's outputs need, including those in functions and branches.
    std::size_t needed_nodes = 0;
    /// The number of these that are in the graph.
    std::size_t judged_nodes = 0;
    /// About how many operations the cuts take whose sizes are known, and how many cuts are without.
    double cut_operations = 0;
    std::size_t cuts_of_unknown_size = 0;
    /// How many nodes are constants, or only give a tensor other sizes.
    std::size_t folded_nodes = 0;
};

/// `path` is the path of the model, from which large tensors and external data are read when they are needed. Fails if
/// no part of the model is a graph.
[[nodiscard]] core::Result<ImportedModel> import_model(const onnx::ModelProto& model, const std::filesystem::path& path,
                                                       const ModelOptions& options = {});

/// The same. Removes the nodes of the model's graph one by one, so that not all of them are in memory with what they
/// become.
[[nodiscard]] core::Result<ImportedModel> import_without_nodes(onnx::ModelProto& model,
                                                               const std::filesystem::path& path,
                                                               const ModelOptions& options);

/// Reads and imports a file. Errors do not contain the file's name.
[[nodiscard]] core::Result<ImportedModel> import_model(const std::filesystem::path& path,
                                                       const ModelOptions& options = {});

}  // namespace dmlconform::interop
