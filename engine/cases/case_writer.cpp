// Writes cases: their keys, and the data of their tensors.
#include "engine/cases/case_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "engine/cases/element_writer.h"
#include "engine/cases/json_text.h"
#include "engine/cases/npy_writer.h"
#include "engine/cases/writable_graph.h"
#include "engine/core/element.h"
#include "engine/operators/graph.h"
#include "engine/operators/in_place.h"
#include "engine/operators/rules.h"

namespace dmlconform::cases {
namespace {

using nlohmann::ordered_json;

/// Limit in bytes. Larger cases could exhaust the memory of the machine that reproduces them.
constexpr std::uint64_t largest_tensor = std::uint64_t{1} << 30;

/// Nests a list like the tensor's sizes, or leaves it flat if nesting would only add brackets.
ordered_json nested(const ordered_json& flat, std::span<const std::uint32_t> sizes, std::size_t& at) {
    ordered_json list = ordered_json::array();
    const std::uint32_t count = sizes.empty() ? 1 : sizes.front();
    for (std::uint32_t i = 0; i < count; ++i) {
        list.push_back(sizes.size() > 1 ? nested(flat, sizes.subspan(1), at) : flat[at++]);
    }
    return list;
}

ordered_json elements_json(const core::Tensor& packed) {
    const core::TensorDesc& desc = packed.desc;
    const auto count = static_cast<std::size_t>(*core::element_count(desc.sizes));
    const auto bits = [&](std::size_t i) { return core::load_element(packed.buffer.bytes(), desc.data_type, i); };
    bool constant = count > 1;
    for (std::size_t i = 1; i < count && constant; ++i) {
        constant = bits(i) == bits(0);
    }
    if (constant) {
        return {{"value", element_json(desc.data_type, bits(0))}};
    }
    ordered_json flat = ordered_json::array();
    for (std::size_t i = 0; i < count; ++i) {
        flat.push_back(element_json(desc.data_type, bits(i)));
    }
    const auto wide = std::count_if(desc.sizes.begin(), desc.sizes.end(), [](std::uint32_t size) { return size > 1; });
    std::size_t at = 0;
    // Nesting is useful only if some dimension, and the last one, have more than one element.
    return wide > 1 && desc.sizes.back() > 1 ? nested(flat, desc.sizes, at) : flat;
}

core::Result<ordered_json> data_json(const Initialiser& initialiser, const core::TensorDesc& desc,
                                     std::string_view what, const std::string& name, const WriteOptions& options) {
    if (const std::uint64_t bytes = std::max(desc.total_bytes, data_file_bytes(desc)); bytes > largest_tensor) {
        return core::fail(
            fmt::format("{} takes {} bytes; tensors of more than {} are not written", name, bytes, largest_tensor));
    }
    // Uses the tensor's own strides, so that elements that share memory get equal values.
    core::Tensor tensor(desc);
    if (auto filled = initialiser.fill(tensor); !filled) {
        return tl::unexpected(filled.error());
    }
    if (options.store && *core::element_count(desc.sizes) > options.most_inline) {
        auto path = options.store(what, name, tensor);
        return path ? core::Result<ordered_json>(ordered_json{{"file", *path}}) : tl::unexpected(path.error());
    }
    return elements_json(core::packed_copy(tensor));
}

core::Result<void> write_tensors(const std::vector<operators::TensorSlot>& slots,
                                 const std::vector<std::optional<Initialiser>>& data, const char* what,
                                 const WriteOptions& options, ordered_json& object) {
    for (std::size_t i = 0; i < slots.size(); ++i) {
        if (slots[i].desc == nullptr || i >= data.size() || !data[i]) {
            continue;
        }
        auto written = data_json(*data[i], *slots[i].desc, what, slots[i].name, options);
        if (!written) {
            return tl::unexpected(written.error());
        }
        object[what][slots[i].name] = std::move(*written);
    }
    return {};
}

ordered_json tolerance_json(const core::Tolerance& tolerance) {
    ordered_json object = ordered_json::object();
    if (tolerance.exact) {
        object["exact"] = true;
    }
    if (tolerance.ulp) {
        object["ulp"] = *tolerance.ulp;
    }
    if (tolerance.abs) {
        object["abs"] = *tolerance.abs;
    }
    if (tolerance.rel) {
        object["rel"] = *tolerance.rel;
    }
    if (tolerance.half_precision) {
        object["halfPrecision"] = true;
    }
    return object;
}

/// The feature level of a case that does not specify one.
core::FeatureLevel default_level(const Case& subject) {
    const auto lowest = subject.expect_error ? std::nullopt : operators::minimum_feature_level(*subject.descriptor);
    return lowest.value_or(subject.descriptor->schema->introduced);
}

void write_operator(const operators::Descriptor& descriptor, ordered_json& object) {
    object["operator"] = descriptor.schema->name;
    object["desc"] = desc_to_json(descriptor);
    if (!descriptor.in_place.empty()) {
        object["inPlace"] = operators::in_place_names(descriptor);
    }
}

/// Names the values that a node's tensors are connected to.
ordered_json connections_json(const operators::Graph& graph, const std::vector<operators::TensorSlot>& slots,
                              const std::vector<operators::ValueIndex>& values) {
    ordered_json object = ordered_json::object();
    for (std::size_t i = 0; i < slots.size(); ++i) {
        if (slots[i].desc == nullptr) {
            continue;
        }
        const operators::GraphValue& value = graph.values[values[i]];
        if (value.desc.data_type == slots[i].desc->data_type) {
            object[slots[i].name] = value.name;
        } else {
            object[slots[i].name] = {{"value", value.name}, {"reinterpret", true}};
        }
    }
    return object;
}

ordered_json graph_to_json(const operators::Graph& graph) {
    ordered_json object{{"nodes", ordered_json::array()}};
    for (const operators::GraphNode& node : graph.nodes) {
        ordered_json written{{"name", node.name}};
        write_operator(*node.descriptor, written);
        for (const auto& [key, connections] :
             {std::pair("inputs", connections_json(graph, node.descriptor->inputs(), node.inputs)),
              std::pair("outputs", connections_json(graph, node.descriptor->outputs(), node.outputs))}) {
            if (!connections.empty()) {
                written[key] = connections;
            }
        }
        object["nodes"].push_back(std::move(written));
    }
    for (const operators::ValueIndex input : graph.inputs) {
        if (graph.values[input].is_constant) {
            object["constants"].push_back(graph.values[input].name);
        }
    }
    for (const operators::ValueIndex output : graph.outputs) {
        object["outputs"].push_back(graph.values[output].name);
    }
    return object;
}

}  // namespace

core::Result<ordered_json> case_to_json(const Case& subject, const WriteOptions& options) {
    std::shared_ptr<const operators::Descriptor> written_as = subject.descriptor;
    if (subject.descriptor->graph != nullptr) {
        auto graph = writable_graph(subject.descriptor->graph);
        if (!graph) {
            return tl::unexpected(graph.error());
        }
        written_as = operators::graph_descriptor(std::move(*graph));
    }
    const operators::Descriptor& descriptor = *written_as;
    ordered_json object{{"name", case_name(subject.id)}};
    if (!subject.description.empty()) {
        object["description"] = subject.description;
    }
    if (descriptor.graph != nullptr) {
        object["graph"] = graph_to_json(*descriptor.graph);
    } else {
        write_operator(descriptor, object);
    }
    if (subject.min_feature_level != default_level(subject)) {
        object["minFeatureLevel"] = core::to_string(subject.min_feature_level);
    }
    if (subject.expect_error) {
        object["expectError"] = core::to_string(*subject.expect_error);
    }
    const auto outputs = descriptor.outputs();
    if (auto written = write_tensors(descriptor.inputs(), subject.inputs, "inputs", options, object); !written) {
        return tl::unexpected(written.error());
    }
    if (auto written = write_tensors(outputs, subject.expected, "expected", options, object); !written) {
        return tl::unexpected(written.error());
    }
    for (std::size_t i = 0; i < outputs.size() && i < subject.tolerances.size(); ++i) {
        // Other kinds of slack are the operators' defaults, which a case file cannot express.
        if (subject.tolerances[i] && (!subject.tolerances[i]->element_slack || subject.tolerances[i]->half_precision)) {
            object["tolerance"][outputs[i].name] = tolerance_json(*subject.tolerances[i]);
        }
    }
    if (subject.expected_in_fp32) {
        object["expectedPrecision"] = "fp32";
    }
    if (subject.precision) {
        object["precision"] = core::to_string(*subject.precision);
    }
    if (!subject.tags.empty()) {
        object["tags"] = subject.tags;
    }
    return object;
}

std::string case_file_text(const std::string& description, std::span<const ordered_json> cases) {
    ordered_json file = ordered_json::object();
    if (!description.empty()) {
        file["description"] = description;
    }
    file["cases"] = ordered_json::array();
    for (const ordered_json& entry : cases) {
        file["cases"].push_back(entry);
    }
    return json_text(file) + "\n";
}

std::string file_stem(const std::string& id) {
    return id.substr(0, id.find('/'));
}

std::string case_name(const std::string& id) {
    const std::size_t slash = id.find('/');
    std::string name = slash == std::string::npos ? id : id.substr(slash + 1);
    for (char& c : name) {
        const bool legal = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                           std::string_view("_.-/").find(c) != std::string_view::npos;
        c = legal ? c : '-';
    }
    while (name.ends_with('-')) {
        name.pop_back();
    }
    return name.empty() ? "case" : name;
}

}  // namespace dmlconform::cases
