// Processes nodes in the model's order: constants are folded, reshapes become other sizes of the same value, and all
// others become nodes of the graph or cut it.
#include "engine/interop/model/importer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <unordered_set>
#include <utility>

#include "engine/core/utf8.h"
#include "engine/interop/model/aliases.h"
#include "engine/interop/model/scope.h"
#include "engine/interop/model/skeleton.h"
#include "engine/interop/onnx_expansion.h"

namespace dmlconform::interop {
namespace {

/// Limit for nested functions, branches and expansions.
constexpr int most_depth = 32;

/// Limit; nested functions of a hostile model could expand almost without end.
constexpr std::size_t most_imported_nodes = 1'000'000;

/// Larger constants are computed when the model runs.
constexpr std::size_t most_folded_elements = 65536;

bool is_own_domain(const std::string& domain) {
    return domain.empty() || domain == "ai.onnx";
}

std::string full_type(const onnx::NodeProto& node) {
    return is_own_domain(node.domain()) ? node.op_type() : fmt::format("{}.{}", node.domain(), node.op_type());
}

template <class Sets>
std::map<std::string, std::int64_t> opsets_of(const Sets& imports) {
    std::map<std::string, std::int64_t> opsets;
    for (const onnx::OperatorSetIdProto& set : imports) {
        opsets[is_own_domain(set.domain()) ? "" : set.domain()] = set.version();
    }
    return opsets;
}

const onnx::AttributeProto* attribute_of(const onnx::NodeProto& node, std::string_view name) {
    const auto found = std::ranges::find(node.attribute(), name, &onnx::AttributeProto::name);
    return found == node.attribute().end() ? nullptr : &*found;
}

/// Adds every name that the node reads, including those in its branches.
void add_reads(const onnx::NodeProto& node, std::unordered_set<std::string>& names) {
    names.insert(node.input().begin(), node.input().end());
    for (const onnx::AttributeProto& attribute : node.attribute()) {
        for (const onnx::NodeProto& inner : attribute.g().node()) {
            add_reads(inner, names);
        }
        for (const onnx::ValueInfoProto& output : attribute.g().output()) {
            names.insert(output.name());
        }
    }
}

/// The nodes that are needed to compute the values `outputs`.
template <class Nodes>
std::vector<bool> needed_nodes(const Nodes& nodes, std::unordered_set<std::string> names) {
    std::vector<bool> needed(static_cast<std::size_t>(nodes.size()));
    for (int i = nodes.size(); i-- > 0;) {
        const auto& outputs = nodes.Get(i).output();
        if (std::ranges::any_of(outputs, [&](const auto& name) { return !name.empty() && names.contains(name); })) {
            needed[static_cast<std::size_t>(i)] = true;
            add_reads(nodes.Get(i), names);
        }
    }
    return needed;
}

struct Cut {
    ModelCut cut;
    /// Of the node that has no counterpart, which may be a part of the model's.
    std::string type;
    /// Values that it leaves open.
    std::vector<std::string> values;
    std::vector<OnnxTensor> reads;
    /// Nothing where the sizes of what it computes are not known.
    std::optional<double> operations;
};

class Importer {
public:
    Importer(const onnx::ModelProto& model, const std::filesystem::path& path, const ModelOptions& options)
        : model_(model), path_(path), options_(options) {
        for (const onnx::FunctionProto& function : model.functions()) {
            functions_.emplace(std::pair(function.domain(), function.name()), &function);
        }
        for (const onnx::ValueInfoProto& value : model.graph().value_info()) {
            declared_.emplace(value.name(), &value);
        }
        for (const onnx::ValueInfoProto& value : model.graph().output()) {
            declared_.emplace(value.name(), &value);
        }
    }

    core::Result<ImportedModel> import() {
        const onnx::GraphProto& graph = model_.graph();
        if (graph.node_size() == 0) {
            return core::fail("the model has no nodes");
        }
        Scope scope(nullptr, opsets_of(model_.opset_import()));
        add_initializers(graph, scope);
        if (const auto done = add_inputs(scope); !done) {
            return tl::unexpected(done.error());
        }
        std::unordered_set<std::string> outputs;
        for (const onnx::ValueInfoProto& output : graph.output()) {
            outputs.insert(output.name());
        }
        if (const auto done = import_nodes(graph.node(), std::move(outputs), scope, 0); !done) {
            return tl::unexpected(done.error());
        }
        return finish(scope);
    }

private:
    // ---- values ----

    void add_initializers(const onnx::GraphProto& graph, Scope& scope) {
        for (const onnx::TensorProto& tensor : graph.initializer()) {
            auto constant = constant_tensor(tensor, path_);
            if (constant) {
                set_constant(tensor.name(), std::move(*constant), scope);
            } else {
                scope.set(tensor.name(), {{}, nullptr, constant.error().message});
            }
        }
    }

    void set_constant(const std::string& name, ConstantTensor constant, Scope& scope) {
        constant.tensor.value = builder_.unique_value_name(name);
        builder_.declare(constant.tensor.value, {ModelInput::Kind::constant, name, without_elements(constant.tensor),
                                                 cases::Initialiser(constant.source)});
        scope.set(name, {std::move(constant.tensor), std::move(constant.source), ""});
    }

    static OnnxTensor without_elements(OnnxTensor tensor) {
        tensor.elements.clear();
        return tensor;
    }

    void set_input(const std::string& name, ModelInput::Kind kind, OnnxTensor tensor, Scope& scope) {
        tensor.value = builder_.unique_value_name(name);
        builder_.declare(tensor.value, {kind, name, tensor, std::nullopt});
        scope.set(name, {std::move(tensor), nullptr, ""});
    }

    /// The declared type and sizes, with 1 for symbolic dimensions without a given size.
    core::Result<OnnxTensor> declared_tensor(const onnx::ValueInfoProto& value, bool all_sizes_known) {
        const onnx::TensorTypeProto& declared = value.type().tensor_type();
        if (value.has_type() && !value.type().has_tensor_type()) {
            return core::fail("it is a sequence, a map or an optional value, not a tensor");
        }
        const auto type = onnx_data_type(declared.elem_type());
        if (!type) {
            return tl::unexpected(type.error());
        }
        core::Dimensions sizes;
        if (const auto given = options_.input_sizes.find(value.name()); given != options_.input_sizes.end()) {
            sizes = given->second;
        } else if (!declared.has_shape()) {
            return core::fail("the model does not say how many dimensions it has", "give its data with --input");
        } else {
            for (const onnx::DimensionProto& dimension : declared.shape().dim()) {
                const auto size = size_of(dimension, all_sizes_known);
                if (!size) {
                    return tl::unexpected(size.error());
                }
                sizes.push_back(*size);
            }
        }
        constexpr int onnx_bool = 9;
        return unknown_tensor(*type, sizes, declared.elem_type() == onnx_bool);
    }

    core::Result<std::uint32_t> size_of(const onnx::DimensionProto& dimension, bool all_sizes_known) {
        if (dimension.has_dim_value() && dimension.dim_value() > 0) {
            return dimension.dim_value() <= 0xffffffff
                       ? core::Result<std::uint32_t>(static_cast<std::uint32_t>(dimension.dim_value()))
                       : core::fail(fmt::format("it has the size {}", dimension.dim_value()));
        }
        const std::string& name = dimension.dim_param();
        if (const auto given = options_.dimensions.find(name); given != options_.dimensions.end()) {
            return given->second;
        }
        if (all_sizes_known) {
            return core::fail("a size is not known");
        }
        chosen_sizes_.insert(name.empty() ? "a dimension without a name" : core::shortened(name, 40));
        return 1U;
    }

    core::Result<void> add_inputs(Scope& scope) {
        for (const onnx::ValueInfoProto& input : model_.graph().input()) {
            if (scope.find(input.name()) != nullptr) {
                continue;  // an initializer, which older models list among the inputs
            }
            auto tensor = declared_tensor(input, false);
            if (!tensor) {
                scope.set(input.name(), {{}, nullptr, tensor.error().message});
                continue;
            }
            set_input(input.name(), ModelInput::Kind::given, std::move(*tensor), scope);
        }
        return {};
    }

    // ---- nodes ----

    template <class Nodes>
    core::Result<void> import_nodes(const Nodes& nodes, std::unordered_set<std::string> outputs, Scope& scope,
                                    int depth) {
        const std::vector<bool> needed = needed_nodes(nodes, std::move(outputs));
        for (int i = 0; i < nodes.size(); ++i) {
            if (!needed[static_cast<std::size_t>(i)]) {
                continue;
            }
            if (const auto done = import_node(nodes.Get(i), scope, depth, std::nullopt); !done) {
                return done;
            }
        }
        return {};
    }

    /// `origin` is the model's node that this one was expanded from, if any.
    core::Result<void> import_node(const onnx::NodeProto& proto, Scope& scope, int depth,
                                   std::optional<std::size_t> origin) {
        if (++imported_ > most_imported_nodes) {
            return core::fail(fmt::format("the model has more than {} nodes", most_imported_nodes));
        }
        if (depth > most_depth) {
            return core::fail(
                fmt::format("functions or branches of the model are nested in more than {} levels", most_depth));
        }
        if (const auto found = functions_.find({proto.domain(), proto.op_type()}); found != functions_.end()) {
            return import_function(proto, *found->second, scope, depth);
        }
        if (proto.op_type() == "If" && is_own_domain(proto.domain())) {
            if (const onnx::GraphProto* branch = chosen_branch(proto, scope)) {
                return import_branch(proto, *branch, scope, depth);
            }
        }
        if (!origin) {
            origin = nodes_.size();
            nodes_.push_back(
                {proto.name().empty() && proto.output_size() > 0 ? proto.output(0) : proto.name(), full_type(proto)});
        }
        auto done = import_operator(proto, scope, depth, *origin);
        if (!done) {
            cut(proto, done.error().message, scope, *origin);
        }
        return {};
    }

    core::Result<void> import_operator(const onnx::NodeProto& proto, Scope& scope, int depth, std::size_t origin) {
        if (proto.op_type() == "Constant" && attribute_of(proto, "value") != nullptr) {
            auto constant = constant_tensor(attribute_of(proto, "value")->t(), path_);
            if (!constant || proto.output_size() != 1) {
                return core::fail(constant ? "a Constant has one output" : constant.error().message);
            }
            set_constant(proto.output(0), std::move(*constant), scope);
            return {};
        }
        auto node = node_of(proto, scope);
        if (!node) {
            return tl::unexpected(node.error());
        }
        for (const std::size_t index : inputs_to_know(*node)) {
            if (!node->input(index)->has_elements()) {
                return core::fail(fmt::format("input {} is known only when the model runs", index + 1));
            }
        }
        if (const auto alias = alias_of(*node)) {
            set_alias(proto, *alias, scope);
            return {};
        }
        const auto expansion = expansion_of(proto, node->opset, scope);
        if (!expansion) {
            return tl::unexpected(expansion.error());
        }
        if (!expansion->empty()) {
            return import_expansion(*expansion, scope, depth, origin);
        }
        return import_single(*node, proto, scope, origin);
    }

    void set_alias(const onnx::NodeProto& proto, const OnnxTensor& alias, Scope& scope) {
        const auto input = scope.find(proto.input(0));
        scope.set(proto.output(0), {alias, input->source, ""});
    }

    /// Empty if the node is not expanded.
    core::Result<std::vector<onnx::NodeProto>> expansion_of(const onnx::NodeProto& proto, std::int64_t opset,
                                                            const Scope& scope) {
        std::shared_ptr<const NamedValue> held;
        const KnownTensor known = [&](const std::string& name) -> const OnnxTensor* {
            held = name.empty() ? nullptr : scope.find(name);
            return held == nullptr ? nullptr : &held->tensor;
        };
        auto nodes = expanded(proto, opset, ++expansions_, known);
        if (nodes && nodes->size() == 1 && nodes->front().op_type() == proto.op_type() &&
            nodes->front().domain() == proto.domain()) {
            nodes->clear();
        }
        return nodes;
    }

    core::Result<void> import_expansion(const std::vector<onnx::NodeProto>& nodes, Scope& scope, int depth,
                                        std::size_t origin) {
        const std::size_t cuts = cuts_.size();
        for (const onnx::NodeProto& node : nodes) {
            if (const auto done = import_node(node, scope, depth + 1, origin); !done) {
                return done;
            }
        }
        if (cuts_.size() != cuts) {
            // One part of the node is missing: the whole of it is.
            std::string reason = fmt::format("{}: {}", cuts_.back().type, cuts_.back().cut.reason);
            cuts_.resize(cuts);
            return core::fail(std::move(reason));
        }
        return {};
    }

    core::Result<OnnxNode> node_of(const onnx::NodeProto& proto, const Scope& scope) {
        constexpr int most_tensors = 4096;
        if (proto.input_size() > most_tensors || proto.output_size() > most_tensors) {
            return core::fail(fmt::format("it has more than {} inputs or outputs", most_tensors));
        }
        OnnxNode node;
        node.proto = &proto;
        node.type = full_type(proto);
        node.opset = scope.opset(proto.domain());
        for (const std::string& name : proto.input()) {
            const auto value = name.empty() ? nullptr : scope.find(name);
            if (name.empty()) {
                node.inputs.emplace_back();
            } else if (value == nullptr) {
                return core::fail(fmt::format("no node computes its input \"{}\"", core::shortened(name, 60)));
            } else if (!value->missing.empty()) {
                return core::fail(fmt::format("its input \"{}\" is missing: {}", core::shortened(name, 60),
                                              core::shortened(value->missing, 300)));
            } else {
                node.inputs.emplace_back(value->tensor);
            }
        }
        while (!node.inputs.empty() && !node.inputs.back()) {
            node.inputs.pop_back();
        }
        if (node.type == "Resize" || node.type == "Upsample") {
            for (auto& input : node.inputs) {
                input = input && input->count() == 0 ? std::nullopt : std::move(input);
            }
        }
        for (const std::string& name : proto.output()) {
            node.outputs.emplace_back(name.empty() ? std::nullopt : std::optional(OnnxTensor{}));
        }
        return node;
    }

    core::Result<void> import_single(OnnxNode& node, const onnx::NodeProto& proto, Scope& scope, std::size_t origin) {
        if (auto constant = constant_result(node)) {
            if (!*constant || proto.output_size() != 1) {
                return core::fail(*constant ? "it has more than one output" : constant->error().message);
            }
            set_constant(proto.output(0), constant_tensor(std::move(**constant)), scope);
            return {};
        }
        auto outputs = results(node);
        if (!outputs) {
            return tl::unexpected(outputs.error());
        }
        outputs->resize(std::min(outputs->size(), std::max<std::size_t>(node.outputs.size(), 1)));
        if (node.type == "ConstantOfShape") {
            return fill(node, proto, outputs->front(), scope);
        }
        if (std::ranges::all_of(*outputs, [](const OnnxTensor& output) { return output.count() == 0; })) {
            for (std::size_t i = 0; i < outputs->size(); ++i) {
                set_constant(proto.output(static_cast<int>(i)), constant_tensor((*outputs)[i]), scope);
            }
            return {};
        }
        return fold(node, proto, *outputs, scope) ? core::Result<void>()
                                                  : add_operator(node, proto, std::move(*outputs), scope, origin);
    }

    core::Result<void> fill(const OnnxNode& node, const onnx::NodeProto& proto, OnnxTensor output, Scope& scope) {
        OnnxTensor element = one_number(0);
        if (const onnx::AttributeProto* value = node.attribute("value")) {
            auto read = onnx_tensor(value->t());
            if (!read || read->count() != 1) {
                return core::fail(read ? "the value is not one number" : read.error().message);
            }
            element = std::move(*read);
        }
        set_constant(proto.output(0), repeated_constant(std::move(output), element), scope);
        return {};
    }

    /// Computes the outputs if they are constants. True if they are.
    bool fold(const OnnxNode& node, const onnx::NodeProto& proto, std::vector<OnnxTensor> outputs, Scope& scope) {
        const auto constant = [](const auto& input) { return !input || input->has_elements(); };
        const auto small = [](const OnnxTensor& output) { return output.count() <= most_folded_elements; };
        if (node.inputs.empty() || !std::ranges::all_of(node.inputs, constant) ||
            !std::ranges::all_of(outputs, small)) {
            return false;
        }
        OnnxNode named = node;
        for (std::size_t i = 0; i < outputs.size(); ++i) {
            outputs[i].value = fmt::format("#{}", i);
            if (i < named.outputs.size()) {
                named.outputs[i] = outputs[i];
            }
        }
        const auto values = folded(std::move(named), outputs);
        for (std::size_t i = 0; values && i < values->size(); ++i) {
            if (const std::string& name = proto.output(static_cast<int>(i)); !name.empty()) {
                set_constant(name, constant_tensor((*values)[i]), scope);
            }
        }
        return values.has_value();
    }

    core::Result<void> add_operator(OnnxNode& node, const onnx::NodeProto& proto, std::vector<OnnxTensor> outputs,
                                    Scope& scope, std::size_t origin) {
        // DirectML's operator always has these outputs, even if nobody reads them.
        const bool all_outputs = node.type == "TopK" || node.type == "DynamicQuantizeLinear";
        node.outputs.resize(std::max(node.outputs.size(), all_outputs ? outputs.size() : 1));
        std::vector<std::string> names;
        for (std::size_t i = 0; i < node.outputs.size(); ++i) {
            const bool named = static_cast<int>(i) < proto.output_size() && !proto.output(static_cast<int>(i)).empty();
            names.push_back(named ? proto.output(static_cast<int>(i)) : "");
            node.outputs[i].reset();
            if (i < outputs.size() && (named || all_outputs)) {
                outputs[i].value = builder_.unique_value_name(named ? names[i] : nodes_[origin].name + ".unused");
                node.outputs[i] = outputs[i];
            }
        }
        if (const auto done = add_mapped(node, origin); !done) {
            return done;
        }
        for (std::size_t i = 0; i < names.size(); ++i) {
            if (names[i].empty()) {
                continue;
            }
            if (node.outputs[i] && builder_.is_computed(node.outputs[i]->value)) {
                scope.set(names[i], {*node.outputs[i], nullptr, ""});
            } else {
                scope.set(names[i], {{},
                                     nullptr,
                                     fmt::format("DirectML does not compute output {} of {}", i + 1,
                                                 core::shortened(node.type, 60))});
            }
        }
        return {};
    }

    core::Result<void> add_mapped(const OnnxNode& node, std::size_t origin) {
        auto mapped = mapped_node(node);
        if (mapped) {
            builder_.add_node(nodes_[origin].name, origin, std::move(*mapped));
            return {};
        }
        for (const bool integers_too : {false, true}) {
            if (auto narrow = narrowed(node, integers_too); narrow && add_narrowed(node, *narrow, origin)) {
                return {};
            }
        }
        return tl::unexpected(mapped.error());
    }

    /// Adds the node in 32 bits, with casts from and to 64 bits.
    bool add_narrowed(const OnnxNode& wide, OnnxNode& narrow, std::size_t origin) {
        bool differs = false;
        std::vector<std::pair<OnnxTensor, OnnxTensor>> casts_before;
        for (std::size_t i = 0; i < wide.inputs.size(); ++i) {
            if (!wide.inputs[i] || wide.inputs[i]->type == narrow.inputs[i]->type) {
                continue;
            }
            differs = true;
            OnnxTensor& input = *narrow.inputs[i];
            if (input.has_elements()) {
                input.value.clear();
                continue;
            }
            input.value = narrow_name(*wide.inputs[i], input.type);
            if (!builder_.is_computed(input.value)) {
                casts_before.emplace_back(*wide.inputs[i], input);
            }
        }
        std::vector<std::pair<OnnxTensor, OnnxTensor>> casts_after;
        for (std::size_t i = 0; i < wide.outputs.size(); ++i) {
            if (wide.outputs[i] && wide.outputs[i]->type != narrow.outputs[i]->type) {
                differs = true;
                narrow.outputs[i]->value = narrow_name(*wide.outputs[i], narrow.outputs[i]->type);
                casts_after.emplace_back(*narrow.outputs[i], *wide.outputs[i]);
            }
        }
        auto mapped = differs ? mapped_node(narrow) : core::fail("");
        if (!mapped) {
            return false;
        }
        bool good = true;
        for (const auto& [from, to] : casts_before) {
            good = add_cast(from, to, origin) && good;
        }
        builder_.add_node(nodes_[origin].name, origin, std::move(*mapped));
        for (const auto& [from, to] : casts_after) {
            good = add_cast(from, to, origin) && good;
        }
        ++narrowed_;
        return good;
    }

    /// The value with the same numbers in the narrower type.
    std::string narrow_name(const OnnxTensor& wide, core::DataType type) {
        std::string& name = narrow_names_[wide.value];
        if (name.empty()) {
            name = builder_.unique_value_name(fmt::format("{}.{}", wide.value, core::name(type)));
        }
        return name;
    }

    bool add_cast(const OnnxTensor& from, const OnnxTensor& to, std::size_t origin) {
        static const onnx::NodeProto empty;
        OnnxNode node;
        node.type = "Cast";
        node.proto = &empty;
        node.inputs = {from};
        node.outputs = {to};
        auto mapped = mapped_node(node);
        if (mapped) {
            builder_.add_node(nodes_[origin].name + ".cast", origin, std::move(*mapped));
        }
        return mapped.has_value();
    }

    /// Makes the outputs of a node that cannot be mapped inputs of the graph, if their sizes are known.
    void cut(const onnx::NodeProto& proto, const std::string& reason, Scope& scope, std::size_t origin) {
        Cut cut{{nodes_[origin], reason}, core::shortened(full_type(proto), 60), {}, {}, std::nullopt};
        std::unordered_set<std::string> names;
        add_reads(proto, names);
        for (const std::string& name : std::set<std::string>(names.begin(), names.end())) {
            if (const auto value = name.empty() ? nullptr : scope.find(name); value && value->missing.empty()) {
                cut.reads.push_back(without_elements(value->tensor));
            }
        }
        const auto node = node_of(proto, scope);
        const bool known = node && std::ranges::all_of(inputs_to_know(*node), [&](std::size_t index) {
                               return node->input(index)->has_elements();
                           });
        const auto sizes = known && !node->inputs.empty() ? results(*node) : core::fail("");
        for (int i = 0; i < proto.output_size(); ++i) {
            const std::string& name = proto.output(i);
            if (name.empty()) {
                continue;
            }
            const auto declared = declared_.find(name);
            auto tensor = sizes && static_cast<std::size_t>(i) < sizes->size()
                              ? core::Result<OnnxTensor>((*sizes)[static_cast<std::size_t>(i)])
                          : declared == declared_.end() ? core::Result<OnnxTensor>(core::fail(""))
                                                        : declared_tensor(*declared->second, true);
            if (tensor && tensor->count() != 0) {
                if (i == 0 && node) {
                    cut.operations = operations_of(*node, *tensor);
                }
                set_input(name, ModelInput::Kind::cut, std::move(*tensor), scope);
                cut.values.push_back(scope.find(name)->tensor.value);
            } else {
                scope.set(name,
                          {{}, nullptr, fmt::format("{} is not in the graph, and its sizes are not known", cut.type)});
            }
        }
        cuts_.push_back(std::move(cut));
    }

    /// About as DirectML's rules count them: two for each product of a convolution or a matrix, otherwise one for each
    /// element.
    static double operations_of(const OnnxNode& node, const OnnxTensor& output) {
        const auto elements = static_cast<double>(output.count());
        if (node.inputs.size() < 2 || !node.inputs[1] || node.inputs[1]->sizes.empty()) {
            return elements;
        }
        const OnnxTensor& weights = *node.inputs[1];
        if (node.type.ends_with("Conv") && weights.sizes[0] != 0) {
            return 2 * elements * static_cast<double>(weights.count()) / weights.sizes[0];
        }
        const bool is_matrix = node.type.find("MatMul") != std::string::npos || node.type.ends_with("Gemm");
        return is_matrix && node.inputs[0] && !node.inputs[0]->sizes.empty()
                   ? 2 * elements * node.inputs[0]->sizes.back()
                   : elements;
    }

    // ---- functions and branches ----

    /// Null if it depends on computed values.
    static const onnx::GraphProto* chosen_branch(const onnx::NodeProto& proto, const Scope& scope) {
        const auto condition = proto.input_size() == 1 ? scope.find(proto.input(0)) : nullptr;
        if (condition == nullptr || condition->tensor.count() != 1 || !condition->tensor.has_elements() ||
            !condition->missing.empty()) {
            return nullptr;
        }
        const onnx::AttributeProto* branch =
            attribute_of(proto, condition->tensor.integer(0) != 0 ? "then_branch" : "else_branch");
        return branch == nullptr || branch->g().output_size() != proto.output_size() ? nullptr : &branch->g();
    }

    core::Result<void> import_branch(const onnx::NodeProto& proto, const onnx::GraphProto& branch, Scope& around,
                                     int depth) {
        Scope scope(&around, around.opsets());
        add_initializers(branch, scope);
        std::unordered_set<std::string> outputs;
        for (const onnx::ValueInfoProto& output : branch.output()) {
            outputs.insert(output.name());
        }
        if (auto done = import_nodes(branch.node(), std::move(outputs), scope, depth + 1); !done) {
            return done;
        }
        for (int i = 0; i < proto.output_size(); ++i) {
            take_output(proto.output(i), branch.output(i).name(), scope, around);
        }
        return {};
    }

    static void take_output(const std::string& outer, const std::string& inner, const Scope& from, Scope& to) {
        const auto value = from.find(inner);
        if (value != nullptr) {
            to.share(outer, value);
        } else {
            to.set(outer, NamedValue{{}, nullptr, "nothing computes it"});
        }
    }

    core::Result<void> import_function(const onnx::NodeProto& call, const onnx::FunctionProto& function, Scope& around,
                                       int depth) {
        Scope scope(nullptr, opsets_of(function.opset_import()));
        for (int i = 0; i < std::min(function.input_size(), call.input_size()); ++i) {
            if (const auto value = around.find(call.input(i))) {
                scope.share(function.input(i), value);
            }
        }
        google::protobuf::RepeatedPtrField<onnx::NodeProto> nodes;
        for (const onnx::NodeProto& node : function.node()) {
            nodes.Add(with_attributes(node, call, function));
        }
        imported_ += static_cast<std::size_t>(nodes.size());
        if (auto done = import_nodes(nodes, {function.output().begin(), function.output().end()}, scope, depth + 1);
            !done) {
            return done;
        }
        for (int i = 0; i < std::min(function.output_size(), call.output_size()); ++i) {
            take_output(call.output(i), function.output(i), scope, around);
        }
        return {};
    }

    /// A node of the function, with references to the call's attributes resolved.
    static onnx::NodeProto with_attributes(const onnx::NodeProto& node, const onnx::NodeProto& call,
                                           const onnx::FunctionProto& function) {
        onnx::NodeProto result = node;
        result.clear_attribute();
        // Inputs that the call omits are empty.
        for (std::string& input : *result.mutable_input()) {
            const auto found = std::ranges::find(function.input(), input);
            const auto position = static_cast<int>(found - function.input().begin());
            if (found != function.input().end() && (position >= call.input_size() || call.input(position).empty())) {
                input.clear();
            }
        }
        for (const onnx::AttributeProto& attribute : node.attribute()) {
            if (!attribute.has_ref_attr_name()) {
                *result.add_attribute() = attribute;
                continue;
            }
            const onnx::AttributeProto* given = attribute_of(call, attribute.ref_attr_name());
            const auto standard =
                std::ranges::find(function.attribute_proto(), attribute.ref_attr_name(), &onnx::AttributeProto::name);
            if (given == nullptr && standard != function.attribute_proto().end()) {
                given = &*standard;
            }
            if (given != nullptr) {
                onnx::AttributeProto& added = *result.add_attribute();
                added = *given;
                added.set_name(attribute.name());
            }
        }
        return result;
    }

    // ---- the end ----

    /// Values that are inputs, or outputs already, get an additional node that copies them.
    std::string output_value(const OnnxTensor& tensor, const std::string& name,
                             const std::unordered_set<std::string>& taken) {
        if (builder_.is_computed(tensor.value) && !taken.contains(tensor.value)) {
            return tensor.value;
        }
        static const onnx::NodeProto empty;
        OnnxNode node;
        node.type = "Identity";
        node.proto = &empty;
        OnnxTensor copy = without_elements(tensor);
        node.inputs = {copy};
        copy.value = builder_.unique_value_name(name);
        node.outputs = {copy};
        auto mapped = mapped_node(node);
        if (!mapped) {
            return "";
        }
        const std::size_t origin = nodes_.size();
        nodes_.push_back({name, "Identity"});
        builder_.add_node(name, origin, std::move(*mapped));
        return copy.value;
    }

    core::Result<ImportedModel> finish(const Scope& scope) {
        ImportedModel result;
        const std::size_t needed = nodes_.size();
        std::vector<std::string> values;
        std::unordered_set<std::string> taken;
        for (int i = 0; i < model_.graph().output_size(); ++i) {
            const std::string& name = model_.graph().output(i).name();
            const auto value = scope.find(name);
            const bool cut = value != nullptr && builder_.is_cut(value->tensor.value);
            if (cut) {
                cut_outputs_.insert(value->tensor.value);
            }
            if (value == nullptr || !value->missing.empty() || cut) {
                result.notes.push_back(fmt::format("output \"{}\" is not computed: {}", core::shortened(name, 60),
                                                   value == nullptr ? "no node computes it"
                                                   : cut            ? "its node is not judged"
                                                                    : value->missing));
                continue;
            }
            if (value->source != nullptr) {
                result.notes.push_back(fmt::format("output \"{}\" is a constant", core::shortened(name, 60)));
                continue;
            }
            std::string output = output_value(value->tensor, name, taken);
            if (!output.empty()) {
                taken.insert(output);
                values.push_back(std::move(output));
                result.outputs.push_back({name, value->tensor, static_cast<std::size_t>(i)});
            }
        }
        const std::vector<bool> matters = add_what_cuts_read(values, taken, result);
        BuiltGraph built = builder_.finish(values);
        if (built.graph.nodes.empty()) {
            const std::string why = !cuts_.empty()
                                        ? fmt::format("{} ({}): {}", core::shortened(cuts_[0].cut.node.name, 60),
                                                      cuts_[0].cut.node.type, cuts_[0].cut.reason)
                                    : result.notes.empty() ? "the model has no outputs that nodes compute"
                                                           : result.notes.front();
            return core::fail(fmt::format("nothing of the model can be judged: {}", why));
        }
        return described(std::move(result), std::move(built), needed, matters);
    }

    /// What a node reads that is not in the graph becomes an output of the graph, so that the nodes in front of a cut
    /// are judged. Says which cuts matter: those whose values only say sizes, or that nobody reads, do not.
    std::vector<bool> add_what_cuts_read(std::vector<std::string>& outputs, std::unordered_set<std::string>& taken,
                                         ImportedModel& result) {
        std::vector<bool> matters(cuts_.size());
        std::unordered_set<std::string> read = cut_outputs_;
        const auto need = [&](const std::string& value) {
            const auto inputs = builder_.need(value);
            read.insert(inputs.begin(), inputs.end());
        };
        std::ranges::for_each(outputs, need);
        // Backwards: nodes only read what comes before them.
        for (std::size_t i = cuts_.size(); i-- > 0;) {
            const auto& values = cuts_[i].values;
            matters[i] = values.empty() ||
                         std::ranges::any_of(values, [&](const std::string& value) { return read.contains(value); });
            for (const OnnxTensor& tensor : matters[i] ? cuts_[i].reads : std::vector<OnnxTensor>()) {
                need(tensor.value);
                if (builder_.is_computed(tensor.value) && taken.insert(tensor.value).second) {
                    outputs.push_back(tensor.value);
                    result.outputs.push_back({tensor.value, without_elements(tensor), std::nullopt});
                }
            }
        }
        return matters;
    }

    ImportedModel described(ImportedModel result, BuiltGraph built, std::size_t needed,
                            const std::vector<bool>& matters) {
        std::unordered_set<std::size_t> judged;
        for (const std::size_t origin : built.origins) {
            result.origins.push_back(nodes_[origin]);
            if (origin < needed) {
                judged.insert(origin);
            }
        }
        for (std::size_t i = 0; i < cuts_.size(); ++i) {
            if (matters[i]) {
                result.cuts.push_back(cuts_[i].cut);
                result.cut_operations += cuts_[i].operations.value_or(0);
                result.cuts_of_unknown_size += cuts_[i].operations ? 0 : 1;
            }
        }
        if (!chosen_sizes_.empty()) {
            result.notes.push_back(fmt::format("size 1 was chosen for {}: --dim NAME=SIZE chooses another one",
                                               fmt::join(chosen_sizes_, ", ")));
        }
        if (narrowed_ != 0) {
            result.notes.push_back(fmt::format(
                "{} nodes compute with 32 bits between casts: DirectML does not take their 64 bits", narrowed_));
        }
        result.needed_nodes = needed;
        result.judged_nodes = judged.size();
        result.folded_nodes = needed - std::min(needed, judged.size() + result.cuts.size());
        result.graph = std::make_shared<const operators::Graph>(std::move(built.graph));
        result.inputs = std::move(built.inputs);
        return result;
    }

    const onnx::ModelProto& model_;
    const std::filesystem::path& path_;
    const ModelOptions& options_;
    std::map<std::pair<std::string, std::string>, const onnx::FunctionProto*> functions_;
    /// Sizes that the model declares for intermediate values and outputs.
    std::unordered_map<std::string, const onnx::ValueInfoProto*> declared_;
    GraphBuilder builder_;
    std::vector<ModelNode> nodes_;
    std::vector<Cut> cuts_;
    /// Values of cuts that are outputs of the model.
    std::unordered_set<std::string> cut_outputs_;
    std::set<std::string> chosen_sizes_;
    std::size_t imported_ = 0;
    std::size_t expansions_ = 0;
    std::size_t narrowed_ = 0;
    std::unordered_map<std::string, std::string> narrow_names_;
};

}  // namespace

core::Result<ImportedModel> import_model(const onnx::ModelProto& model, const std::filesystem::path& path,
                                         const ModelOptions& options) {
    return Importer(model, path, options).import();
}

core::Result<ImportedModel> import_model(const std::filesystem::path& path, const ModelOptions& options) {
    const auto model = read_model_skeleton(path);
    if (!model) {
        return tl::unexpected(model.error());
    }
    return import_model(*model, path, options);
}

}  // namespace dmlconform::interop
