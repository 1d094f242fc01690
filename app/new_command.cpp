// `dmlconform new`: prints an example case of an operator.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "app/command.h"
#include "app/data_type_option.h"
#include "app/documents.h"
#include "app/graph_text.h"
#include "app/messages.h"
#include "app/number_options.h"
#include "app/standard_streams.h"
#include "engine/cases/case_writer.h"
#include "engine/cpu/reference.h"
#include "engine/fuzz/example_case.h"

namespace dmlconform::app {
namespace {

struct NewOptions {
    std::string name;
    /// The name of a graph; empty: a case of an operator.
    std::string graph{};
    std::optional<std::uint64_t> rank;
    std::string type;
    std::string output;
    core::FeatureLevel level = core::highest_feature_level;
};

/// Describes the requirements.
std::string wish_text(const NewOptions& options) {
    return (options.rank ? fmt::format(" with {} dimensions", *options.rank) : "") +
           (options.type.empty() ? "" : " of type " + options.type) +
           fmt::format(" was found at feature level {}", core::to_string(options.level));
}

int new_command(const NewOptions& options) {
    if (!options.graph.empty()) {
        return write_output(options.output, std::string(conv_relu_file), {});
    }
    const operators::OperatorSchema* schema = operators::find_operator(options.name);
    if (schema == nullptr) {
        return failure(unknown_operator(options.name), exit_usage);
    }
    fuzz::ExampleWish wish;
    wish.level = options.level;
    wish.rank = options.rank ? std::optional(static_cast<std::size_t>(*options.rank)) : std::nullopt;
    wish.type = options.type.empty() ? std::nullopt : core::parse_data_type(options.type);
    const auto example = fuzz::example_case(*schema, wish);
    if (!example) {
        return failure({fmt::format("no legal descriptor of {}{}", schema->short_name(), wish_text(options)),
                        fmt::format("`dmlconform describe {}` shows what its tensors may be", schema->short_name())},
                       exit_usage);
    }
    const auto object = cases::case_to_json(*example);
    if (!object) {
        return failure(object.error(), exit_not_run);
    }
    const std::string text = cases::case_file_text("", {&*object, 1});
    if (const int code = write_output(options.output, text, {}); code != exit_ok) {
        return code;
    }
    if (!cpu::has_reference(*schema)) {
        warn(
            "dmlconform: note: there is no reference for {}: give it \"expected\" values, or run it with --against "
            "ENGINE\n",
            schema->short_name());
    }
    return exit_ok;
}

}  // namespace

void add_new_command(Command app, int& exit_code) {
    auto options = std::make_shared<NewOptions>();
    const Command command = app.add_subcommand("new", "Print a case file with a case of an operator, to start from");
    const Option name = command.add_option("operator", options->name, "For example DML_OPERATOR_SLICE1 or SLICE1")
                            .type_name("OPERATOR");
    command.add_option("--graph", options->graph, "Print a graph of several operators instead")
        .type_name("NAME")
        .one_of({"conv-relu"})
        .excludes(name);
    command.add_option("--rank", options->rank, "The number of dimensions of the operator's first tensor")
        .type_name("N")
        .transform(whole_number(1, 8));
    add_data_type(command, options->type, "The data type of the operator's first tensor");
    add_feature_level(command, options->level);
    command.add_option("-o,--output", options->output, "The case file to write. Default: stdout").path("FILE");
    command.callback([options, name, &exit_code] {
        if (options->name.empty() && options->graph.empty()) {
            throw_missing(name.get_name());
        }
        exit_code = new_command(*options);
    });
}

}  // namespace dmlconform::app
