// Provides data for the graph's inputs.
#include "engine/interop/dml_graph/dml_graph_case.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "engine/cases/sources/sources.h"
#include "engine/core/counted.h"
#include "engine/core/utf8.h"
#include "engine/interop/dml_graph/dml_graph_reader.h"
#include "engine/interop/random_inputs.h"
#include "engine/operators/graph_rules.h"

namespace dmlconform::interop {
namespace {

/// The contents of a file that the user named, which may be in any folder.
core::Result<cases::Initialiser> given_input(const std::filesystem::path& file, const core::TensorDesc& desc) {
    if (file.extension() != ".npy") {
        return core::fail(fmt::format("{} is of no known kind", file.generic_string()),
                          "the data of serialised graphs come from .npy files");
    }
    auto source = cases::open_data_file(file.generic_string(), desc, {std::filesystem::path("."), true});
    return source ? core::Result<cases::Initialiser>(cases::Initialiser(std::move(*source)))
                  : tl::unexpected(source.error());
}

core::Result<void> check_names_of_inputs(const DmlGraphOptions& options, const DmlGraph& graph) {
    for (const auto& option : options.inputs) {
        const std::string& name = option.first;
        const auto known = [&](const DmlGraphInput& input) { return !input.data && input.name == name; };
        if (std::ranges::none_of(graph.inputs, known)) {
            std::vector<std::string> names;
            for (const DmlGraphInput& input : graph.inputs) {
                if (!input.data) {
                    names.push_back(input.name);
                }
            }
            return core::fail(
                fmt::format("the graph has no input \"{}\"", core::shortened(name, 60)),
                fmt::format("its inputs are: {}", core::shortened(fmt::format("{}", fmt::join(names, ", ")), 500)));
        }
    }
    return {};
}

core::Result<std::vector<std::optional<cases::Initialiser>>> data_of_inputs(const DmlGraph& graph,
                                                                            const DmlGraphOptions& options) {
    const auto limits = index_limits(*graph.graph);
    std::vector<std::optional<cases::Initialiser>> data;
    for (std::size_t i = 0; i < graph.inputs.size(); ++i) {
        const DmlGraphInput& input = graph.inputs[i];
        const operators::ValueIndex value = graph.graph->inputs[i];
        const core::TensorDesc& desc = graph.graph->values[value].desc;
        if (input.data) {
            data.emplace_back(input.data);
        } else if (const auto file = options.inputs.find(input.name); file != options.inputs.end()) {
            auto given = given_input(file->second, desc);
            if (!given) {
                return tl::unexpected(given.error());
            }
            data.emplace_back(std::move(*given));
        } else {
            data.emplace_back(random_input(desc.data_type, desc.sizes, false, limits[value], options.seed + i));
        }
    }
    return data;
}

}  // namespace

core::Result<DmlGraphCase> read_dml_graph_case(const std::filesystem::path& path, const DmlGraphOptions& options) {
    auto graph = read_dml_graph(path);
    if (!graph) {
        return tl::unexpected(graph.error());
    }
    if (const auto known = check_names_of_inputs(options, *graph); !known) {
        return tl::unexpected(known.error());
    }
    auto data = data_of_inputs(*graph, options);
    if (!data) {
        return tl::unexpected(data.error());
    }
    cases::Case subject;
    subject.id = path.stem().generic_string() + "/graph";
    subject.description = "serialised DirectML graph, " + core::counted(graph->graph->nodes.size(), "node");
    subject.file = path.generic_string();
    subject.descriptor = operators::graph_descriptor(graph->graph);
    subject.min_feature_level = operators::minimum_graph_feature_level(*graph->graph);
    subject.inputs = std::move(*data);
    subject.expected.resize(graph->outputs.size());
    subject.tolerances.resize(graph->outputs.size());
    DmlGraphCase result{std::make_shared<const cases::Case>(std::move(subject)),
                        {},
                        std::move(graph->outputs),
                        std::move(graph->notes)};
    for (const DmlGraphInput& input : graph->inputs) {
        result.inputs.push_back(input.data ? "" : input.name);
    }
    return result;
}

}  // namespace dmlconform::interop
