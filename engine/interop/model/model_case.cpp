// Provides data for the graph's inputs.
#include "engine/interop/model/model_case.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <utility>

#include "engine/core/counted.h"
#include "engine/core/utf8.h"
#include "engine/interop/model/memory_limit.h"
#include "engine/interop/model/model_data.h"
#include "engine/interop/model/skeleton.h"
#include "engine/interop/random_inputs.h"
#include "engine/operators/graph_rules.h"
#include "engine/operators/rules.h"

namespace dmlconform::interop {
namespace {

/// The tolerance of ONNX's own test runner.
core::Tolerance onnx_tolerance() {
    core::Tolerance tolerance;
    tolerance.rel = 1e-3;
    tolerance.abs = 1e-7;
    return tolerance;
}

core::Result<void> check_fit(const std::string& name, const ConstantTensor& data, const OnnxTensor& tensor) {
    if (data.tensor.type == tensor.type && data.tensor.count() == tensor.count()) {
        return {};
    }
    return core::fail(fmt::format("the data of \"{}\" are {} {}, the model says {} {}", core::shortened(name, 60),
                                  core::name(data.tensor.type), core::to_string(data.tensor.sizes),
                                  core::name(tensor.type), core::to_string(tensor.sizes)));
}

/// Files are given by the model's name of an input. `random` becomes the values with random data.
core::Result<void> fill_inputs(cases::Case& subject, const ImportedModel& model, const ModelData& data,
                               std::uint64_t seed, std::set<operators::ValueIndex>& random) {
    const auto limits = index_limits(*model.graph);
    for (std::size_t i = 0; i < model.inputs.size(); ++i) {
        const ModelInput& input = model.inputs[i];
        if (input.data) {
            subject.inputs.emplace_back(input.data);
            continue;
        }
        const auto given = data.inputs.find(input.name);
        if (given == data.inputs.end()) {
            subject.inputs.emplace_back(random_input(input.tensor.type, input.tensor.sizes, input.tensor.is_bool,
                                                     limits[model.graph->inputs[i]], seed + i));
            random.insert(model.graph->inputs[i]);
            continue;
        }
        if (const auto fits = check_fit(input.name, given->second, input.tensor); !fits) {
            return tl::unexpected(fits.error());
        }
        subject.inputs.emplace_back(cases::Initialiser(given->second.source));
    }
    return {};
}

/// Adds all values that depend on one of `values`.
void add_dependents(const operators::Graph& graph, std::set<operators::ValueIndex>& values) {
    const auto depends = [&](operators::ValueIndex value) {
        return value != operators::no_value && values.contains(value);
    };
    for (const std::size_t node : graph.execution_order()) {
        if (std::ranges::any_of(graph.nodes[node].inputs, depends)) {
            values.insert(graph.nodes[node].outputs.begin(), graph.nodes[node].outputs.end());
        }
    }
}

/// The values of the data set only apply to outputs that depend on its data alone. `random` are the inputs with other
/// data.
core::Result<void> fill_expected(cases::Case& subject, ImportedModel& model, const ModelData& data,
                                 std::set<operators::ValueIndex> random) {
    if (!data.outputs.empty()) {
        add_dependents(*model.graph, random);
    }
    for (std::size_t i = 0; i < model.outputs.size(); ++i) {
        const ModelOutput& output = model.outputs[i];
        const auto given = data.outputs.find(output.name);
        const bool is_random = random.contains(model.graph->outputs[i]);
        if (is_random && given != data.outputs.end()) {
            model.notes.push_back(fmt::format("the data of output \"{}\" are not expected: it depends on random data",
                                              core::shortened(output.name, 60)));
        }
        if (is_random || given == data.outputs.end()) {
            subject.expected.emplace_back();
            subject.tolerances.emplace_back();
            continue;
        }
        if (const auto fits = check_fit(output.name, given->second, output.tensor); !fits) {
            return tl::unexpected(fits.error());
        }
        subject.expected.emplace_back(cases::Initialiser(given->second.source));
        const bool rounded = core::is_floating_point(output.tensor.type);
        // Quantised ones as well: next to a tie, the last bit decides.
        subject.expected_in_fp32 = true;
        subject.tolerances.emplace_back(rounded ? std::optional(onnx_tolerance()) : std::nullopt);
    }
    return {};
}

core::Result<ModelData> data_of(const onnx::ModelProto& model, const std::filesystem::path& path,
                                const ModelCaseOptions& options) {
    auto data = test_data_of(model, path);
    if (!data || options.inputs.empty()) {
        return data;
    }
    // Expected outputs only apply to the data set's own inputs.
    data->outputs.clear();
    for (const auto& [name, file] : options.inputs) {
        auto tensor = tensor_file(file);
        if (!tensor) {
            return tl::unexpected(tensor.error());
        }
        data->inputs.insert_or_assign(name, std::move(*tensor));
    }
    return data;
}

/// The symbolic dimensions of the model's inputs and of what it says about other values.
std::set<std::string> dimension_names(const onnx::ModelProto& model) {
    std::set<std::string> names;
    const onnx::GraphProto& graph = model.graph();
    for (const auto* values : {&graph.input(), &graph.output(), &graph.value_info()}) {
        for (const onnx::ValueInfoProto& value : *values) {
            for (const onnx::DimensionProto& dimension : value.type().tensor_type().shape().dim()) {
                names.insert(dimension.dim_param());
            }
        }
    }
    names.erase("");
    return names;
}

/// Data may only differ from the model where it leaves the size open.
core::Result<void> check_declared_sizes(const onnx::ValueInfoProto& input, const core::Dimensions& sizes) {
    const onnx::TensorTypeProto& type = input.type().tensor_type();
    bool fits = !type.shape.has() || static_cast<std::size_t>(type.shape().dim.size()) == sizes.size();
    std::string declared;
    for (int d = 0; d < type.shape().dim.size(); ++d) {
        const onnx::DimensionProto& dimension = type.shape().dim(d);
        const bool is_number = dimension.dim_value.has() && dimension.dim_value() > 0;
        fits = fits && (!is_number || dimension.dim_value() == std::int64_t{sizes[static_cast<std::size_t>(d)]});
        declared += fmt::format("{}{}", d == 0 ? "" : ",",
                                is_number ? fmt::format("{}", dimension.dim_value())
                                          : (dimension.dim_param().empty() ? "?" : dimension.dim_param()));
    }
    if (!fits) {
        return core::fail(fmt::format("the data of \"{}\" have the sizes {}, the model says [{}]",
                                      core::shortened(input.name(), 60), core::to_string(sizes),
                                      core::shortened(declared, 200)));
    }
    return {};
}

/// The sizes that were asked for, and those that follow from the data of inputs.
core::Result<std::map<std::string, std::uint32_t>> dimensions_of(
    const onnx::ModelProto& model, const std::map<std::string, core::Dimensions>& input_sizes,
    const ModelCaseOptions& options) {
    const std::set<std::string> names = dimension_names(model);
    for (const auto& [name, size] : options.dimensions) {
        if (!names.contains(name)) {
            return core::fail(fmt::format("the model has no dimension \"{}\"", core::shortened(name, 60)),
                              names.empty()
                                  ? "all of its sizes are numbers"
                                  : fmt::format("its dimensions are: {}",
                                                core::shortened(fmt::format("{}", fmt::join(names, ", ")), 500)));
        }
    }
    auto dimensions = options.dimensions;
    for (const onnx::ValueInfoProto& input : model.graph().input()) {
        const auto given = input_sizes.find(input.name());
        const auto& declared = input.type().tensor_type().shape().dim();
        const core::Dimensions sizes = given == input_sizes.end() ? core::Dimensions() : given->second;
        if (const auto fits = check_declared_sizes(input, sizes); given != input_sizes.end() && !fits) {
            return tl::unexpected(fits.error());
        }
        for (std::size_t d = 0; d < sizes.size() && sizes.size() == static_cast<std::size_t>(declared.size()); ++d) {
            const std::string& name = declared[d].dim_param();
            const auto asked = options.dimensions.find(name);
            if (asked != options.dimensions.end() && asked->second != sizes[d]) {
                return core::fail(
                    fmt::format("the data of \"{}\" has the size {} where the dimension {} is {}",
                                core::shortened(input.name(), 60), sizes[d], core::shortened(name, 60), asked->second),
                    "leave out --dim, or give other data with --input");
            }
            if (!name.empty()) {
                dimensions.emplace(name, sizes[d]);
            }
        }
    }
    return dimensions;
}

/// The share of the model that the graph has.
std::string description_of(const ImportedModel& model) {
    if (model.cuts.empty()) {
        return "ONNX model, " + core::counted(model.needed_nodes, "node");
    }
    const std::size_t judged = model.judged_nodes + model.folded_nodes;
    const double operations = operators::minimum_graph_cost(*model.graph).operations;
    const double all = operations + model.cut_operations;
    std::string text = fmt::format("ONNX model, {} of {} nodes ({:.3g} %)", judged, model.needed_nodes,
                                   100.0 * static_cast<double>(judged) / static_cast<double>(model.needed_nodes));
    if (all > 0) {
        text += fmt::format(", {:.3g} % of the operations", 100 * operations / all);
    }
    return model.cuts_of_unknown_size == 0
               ? text
               : text + fmt::format(" besides {} of unknown sizes", core::counted(model.cuts_of_unknown_size, "node"));
}

/// Each file is for an input that the model, or the part of it that is a graph, has.
core::Result<void> check_names(const ModelCaseOptions& options, const onnx::ModelProto& model,
                               const ImportedModel& imported) {
    for (const auto& [name, file] : options.inputs) {
        const bool known = std::ranges::count(model.graph().input(), name, onnx::name_of) != 0 ||
                           std::ranges::count(imported.inputs, name, &ModelInput::name) != 0;
        if (!known) {
            std::string names;
            for (const ModelInput& input : imported.inputs) {
                names += input.data ? "" : fmt::format("{}{}", names.empty() ? "" : ", ", input.name);
            }
            return core::fail(fmt::format("the model has no input \"{}\"", core::shortened(name, 60)),
                              fmt::format("its inputs are: {}", core::shortened(names, 500)));
        }
    }
    return {};
}

}  // namespace

std::string cut_text(const ModelCut& cut) {
    return fmt::format("{} ({}): {}", core::shortened(cut.node.name, 60), core::shortened(cut.node.type, 60),
                       cut.reason);
}

core::Result<ModelCase> read_model_case(const std::filesystem::path& path, const ModelCaseOptions& options) {
    auto proto = read_model_skeleton(path);
    if (!proto) {
        return tl::unexpected(proto.error());
    }
    const auto data = data_of(*proto, path, options);
    if (!data) {
        return tl::unexpected(data.error());
    }
    ModelOptions import_options{{}, options.input_sizes, data->inputs, memory_for_model_at(path)};
    if (options.is_judged) {
        import_options.memory = memory_for_model_at(path, least_memory_to_judge);
        import_options.memory_per_node = memory_to_judge_node;
    }
    for (const auto& [name, tensor] : data->inputs) {
        import_options.input_sizes.insert_or_assign(name, tensor.tensor.onnx_sizes());
    }
    auto dimensions = dimensions_of(*proto, import_options.input_sizes, options);
    if (!dimensions) {
        return tl::unexpected(dimensions.error());
    }
    import_options.dimensions = std::move(*dimensions);
    auto imported = import_without_nodes(*proto, path, import_options);
    if (!imported) {
        return tl::unexpected(imported.error());
    }
    ModelCase result{nullptr, std::move(*imported)};
    result.model.notes.insert(result.model.notes.end(), data->notes.begin(), data->notes.end());
    if (const auto verdict = operators::validate_graph(*result.model.graph, core::highest_feature_level)) {
        return core::fail(fmt::format("the graph is illegal: {} [{}]", verdict->message, verdict->rule));
    }
    cases::Case subject;
    subject.id = path.stem().generic_string() + "/model";
    subject.description = description_of(result.model);
    for (const ModelCut& cut : result.model.cuts) {
        subject.cuts.push_back(cut_text(cut));
    }
    subject.file = path.generic_string();
    subject.descriptor = operators::graph_descriptor(result.model.graph);
    subject.min_feature_level = operators::minimum_graph_feature_level(*result.model.graph);
    std::set<operators::ValueIndex> random;
    for (const auto& done :
         {check_names(options, *proto, result.model), fill_inputs(subject, result.model, *data, options.seed, random),
          fill_expected(subject, result.model, *data, random)}) {
        if (!done) {
            return tl::unexpected(done.error());
        }
    }
    result.subject = std::make_shared<const cases::Case>(std::move(subject));
    return result;
}

}  // namespace dmlconform::interop
