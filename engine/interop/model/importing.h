// The state of an import, and the steps that it consists of. For the files of this folder that are called importing_….
#pragma once

#include <cstdint>
#include <deque>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "engine/interop/model/importer.h"
#include "engine/interop/model/node_access.h"
#include "engine/interop/model/scope.h"

namespace dmlconform::interop {

/// A node that has no counterpart.
struct Cut {
    ModelCut cut;
    /// The type of the node that has no counterpart, which may be a part of the model's node.
    std::string type;
    /// Values that it leaves open.
    std::vector<std::string> values;
    std::vector<OnnxTensor> reads;
    /// Nothing where the sizes of what it computes are not known.
    std::optional<double> operations;
};

class Importer {
public:
    Importer(const onnx::ModelProto& model, const std::filesystem::path& path, const ModelOptions& options);

    core::Result<ImportedModel> import();
    /// Lets `import` free the model's nodes as soon as they are imported.
    void take_nodes(onnx::NodeList& nodes) { taken_nodes_ = &nodes; }

private:
    // ---- importing_memory.cpp ----

    /// Fails if the model, and what was made of it so far, take too much memory. `more` is what the next step takes.
    [[nodiscard]] core::Result<void> check_memory(std::uint64_t more = 0) const;
    static std::uint64_t memory_of(const ModelNode& node);
    static std::uint64_t memory_of(const Cut& cut);

    // ---- importer.cpp ----

    /// Fails if two values of the model's graph have the same name.
    [[nodiscard]] core::Result<void> check_names() const;
    /// Fills functions_ and declared_.
    core::Result<void> find_names();
    std::size_t add_node_of_model(ModelNode node);

    // ---- importing_values.cpp ----

    core::Result<void> add_initializers(const onnx::GraphProto& graph, Scope& scope);
    void set_constant(const std::string& name, ConstantTensor constant, Scope& scope);
    static OnnxTensor without_elements(OnnxTensor tensor);
    void set_input(const std::string& name, ModelInput::Kind kind, OnnxTensor tensor, Scope& scope);
    /// The declared type and sizes, with 1 for symbolic dimensions without a given size.
    core::Result<OnnxTensor> declared_tensor(const onnx::ValueInfoProto& value, bool all_sizes_known);
    core::Result<std::uint32_t> size_of(const onnx::DimensionProto& dimension, bool all_sizes_known);
    core::Result<void> add_inputs(Scope& scope);

    // ---- importing_nodes.cpp ----

    core::Result<void> import_nodes(const onnx::NodeList& nodes, std::unordered_set<std::string> outputs, Scope& scope,
                                    int depth);
    /// `origin` is the model's node that this one was expanded from, if any.
    core::Result<void> import_node(const onnx::NodeProto& proto, Scope& scope, int depth,
                                   std::optional<std::size_t> origin);
    core::Result<void> import_operator(const onnx::NodeProto& proto, Scope& scope, int depth, std::size_t origin);
    /// Two elements of four bits for each byte of a constant.
    core::Result<void> set_pairs(const onnx::NodeProto& proto, Scope& scope);
    void set_alias(const onnx::NodeProto& proto, const OnnxTensor& alias, Scope& scope);
    /// Empty if the node is not expanded.
    core::Result<std::vector<onnx::NodeProto>> expansion_of(const onnx::NodeProto& proto, std::int64_t opset,
                                                            const Scope& scope);
    core::Result<void> import_expansion(const std::vector<onnx::NodeProto>& nodes, Scope& scope, int depth,
                                        std::size_t origin);
    core::Result<OnnxNode> node_of(const onnx::NodeProto& proto, const Scope& scope);

    // ---- importing_operators.cpp ----

    core::Result<void> import_single(OnnxNode& node, const onnx::NodeProto& proto, Scope& scope, std::size_t origin);
    core::Result<void> fill(const OnnxNode& node, const onnx::NodeProto& proto, OnnxTensor output, Scope& scope);
    /// Computes the outputs if they are constants. True if they are.
    bool fold(const OnnxNode& node, const onnx::NodeProto& proto, std::vector<OnnxTensor> outputs, Scope& scope);
    core::Result<void> add_operator(OnnxNode& node, const onnx::NodeProto& proto, std::vector<OnnxTensor> outputs,
                                    Scope& scope, std::size_t origin);
    core::Result<void> add_mapped(const OnnxNode& node, std::size_t origin);
    /// Adds the node in 32 bits, with casts from and to 64 bits.
    bool add_narrowed(const OnnxNode& wide, OnnxNode& narrow, std::size_t origin);
    /// The value with the same numbers in the narrower type.
    std::string narrow_name(const OnnxTensor& wide, core::DataType type);
    bool add_cast(const OnnxTensor& from, const OnnxTensor& to, std::size_t origin);

    // ---- importing_cuts.cpp ----

    /// Makes the outputs of a node that cannot be mapped inputs of the graph, if their sizes are known.
    void cut(const onnx::NodeProto& proto, const std::string& reason, Scope& scope, std::size_t origin);
    /// About as DirectML's rules count them: two for each product of a convolution or a matrix, otherwise one for each
    /// element.
    static double operations_of(const OnnxNode& node, const OnnxTensor& output);
    /// What a node reads that is not in the graph becomes an output of the graph, so that the nodes in front of a cut
    /// are judged. Says which cuts matter: those whose values only say sizes, or that nobody reads, do not.
    std::vector<bool> add_what_cuts_read(std::vector<std::string>& outputs, std::unordered_set<std::string>& taken,
                                         ImportedModel& result);

    // ---- importing_functions.cpp ----

    /// Null if it depends on computed values.
    static const onnx::GraphProto* chosen_branch(const onnx::NodeProto& proto, const Scope& scope);
    core::Result<void> import_branch(const onnx::NodeProto& proto, const onnx::GraphProto& branch, Scope& around,
                                     int depth);
    static void take_output(const std::string& outer, const std::string& inner, const Scope& from, Scope& to);
    core::Result<void> import_function(const onnx::NodeProto& call, const onnx::FunctionProto& function, Scope& around,
                                       int depth);
    /// A node of the function, with references to the call's attributes resolved.
    static onnx::NodeProto with_attributes(const onnx::NodeProto& node, const onnx::NodeProto& call,
                                           const onnx::FunctionProto& function);

    // ---- importing_outputs.cpp ----

    /// Values that are inputs, or outputs already, get an additional node that copies them.
    std::string output_value(const OnnxTensor& tensor, const std::string& name,
                             const std::unordered_set<std::string>& taken);
    core::Result<ImportedModel> finish(const Scope& scope);
    ImportedModel described(ImportedModel result, BuiltGraph built, std::size_t needed,
                            const std::vector<bool>& matters);

    const onnx::ModelProto& model_;
    const std::filesystem::path& path_;
    const ModelOptions& options_;
    /// The nodes of the model's graph, if they need not be kept.
    onnx::NodeList* taken_nodes_ = nullptr;
    std::map<std::pair<std::string, std::string>, const onnx::FunctionProto*> functions_;
    /// Sizes that the model declares for intermediate values and outputs.
    std::unordered_map<std::string, const onnx::ValueInfoProto*> declared_;
    GraphBuilder builder_;
    KnownDescriptors descriptors_;
    std::deque<ModelNode> nodes_;
    std::vector<Cut> cuts_;
    /// Values of cuts that are outputs of the model.
    std::unordered_set<std::string> cut_outputs_;
    std::set<std::string> chosen_sizes_;
    /// What the model's messages, constants, cuts and nodes_ take, and what names in all scopes take.
    std::uint64_t memory_ = 0;
    std::uint64_t scope_memory_ = 0;
    std::size_t imported_ = 0;
    std::size_t expansions_ = 0;
    std::size_t narrowed_ = 0;
    std::unordered_map<std::string, std::string> narrow_names_;
};

}  // namespace dmlconform::interop
