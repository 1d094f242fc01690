// `dmlconform describe`: operators as the catalogue has them.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "app/command.h"
#include "app/expectation_options.h"
#include "app/standard_streams.h"
#include "engine/cases/descriptor_reader.h"
#include "engine/operators/catalogue.h"
#include "engine/operators/constraint_rules.h"
#include "engine/run/engine_list.h"
#include "engine/run/operator_table.h"

namespace dmlconform::app {
namespace {

using operators::Field;
using operators::OperatorSchema;

std::string type_text(const OperatorSchema& schema, const Field& field) {
    if (field.enumeration != nullptr) {
        return field.enumeration->name;
    }
    static constexpr const char* names[] = {"tensor",        "tensors",         "activation", "activations", "UINT",
                                            "INT",           "FLOAT",           "UINT[]",     "INT[]",       "FLOAT[]",
                                            "{Scale, Bias}", "{Width, Height}", "scalar"};
    std::string text = names[static_cast<std::size_t>(field.type)];
    if (!field.count_field.empty()) {
        text += fmt::format(" of {}", field.count_field);
    }
    if (!field.data_type_field.empty()) {
        text += fmt::format(" of type {}", field.data_type_field);
    }
    return schema.is_count(field) ? text + ", may be left out" : text;
}

void print_fields(const OperatorSchema& schema) {
    static constexpr const char* kinds[] = {"input", "output", "attribute"};
    for (const Field& field : schema.fields) {
        say("  {:<28} {:<10} {}{}\n", field.name, kinds[static_cast<std::size_t>(field.kind)], type_text(schema, field),
            field.optional ? ", optional" : "");
        if (field.required_before) {
            say("  {:<28} {:<10} optional from feature level {} on\n", "", "", core::to_string(*field.required_before));
        }
        if (field.enumeration != nullptr && field.enumeration->name != "BOOL") {
            std::vector<std::string> names;
            for (const auto& enumerator : field.enumeration->enumerators) {
                names.push_back(fmt::format("{} = {}", enumerator.name.substr(field.enumeration->prefix().size()),
                                            enumerator.value));
            }
            say("  {:<28} {}\n", "", core::show_list(names, ", "));
        }
    }
}

void print_support(const OperatorSchema& schema) {
    say("\nTensors by feature level (a row holds until the next for the same tensor):\n");
    for (const Field& field : schema.fields) {
        const auto rows = schema.tensor_support.find(field.name);
        if (rows == schema.tensor_support.end()) {
            continue;
        }
        for (const operators::TensorSupport& row : rows->second) {
            std::vector<std::string_view> types;
            for (const core::DataType type : row.data_types) {
                types.push_back(core::name(type));
            }
            say("  {:<28} {}  {}-{} dimensions  {}\n", field.name, core::to_string(row.level), row.min_dimensions,
                row.max_dimensions, core::show_list(types, " "));
        }
    }
}

void print_constraints(const OperatorSchema& schema) {
    const std::vector<std::string> lines = operators::constraint_lines(schema);
    if (!lines.empty()) {
        say("\nConstraints:\n  {}\n", core::show_list(lines, "\n  "));
    }
}

void print_in_place(const OperatorSchema& schema) {
    if (schema.in_place.empty()) {
        return;
    }
    say("\nMay be computed in place:\n");
    for (const auto& [output, inputs] : schema.in_place) {
        say("  {} in the memory of {}\n", output, core::show_list(inputs, " or "));
    }
}

void print_fusable(const OperatorSchema& schema) {
    if (schema.fusable.empty()) {
        return;
    }
    say("\nActivations that can be fused, with the feature level from which on:\n");
    for (const auto& [activation, level] : schema.fusable) {
        say("  {:<44} {}\n", activation, core::to_string(level));
    }
}

/// What engines are known to do otherwise than the documentation says.
void print_known(const OperatorSchema& schema, const std::vector<expectations::Expectation>& known) {
    bool first = true;
    for (const expectations::Expectation& entry : known) {
        if (entry.is_about(schema.short_name()) && entry.expected != expectations::Expected::skip &&
            entry.expected != expectations::Expected::flake) {
            if (first) {
                say("\nKnown differences, for some descriptors:\n");
            }
            say("  {}: {} ({})\n", entry.title(), entry.what_is_done(), entry.place());
            first = false;
        }
    }
}

int describe(const std::string& name, const std::vector<std::string>& files) {
    const auto known = read_expectations(files);
    if (!known) {
        return exit_usage;
    }
    if (name.empty()) {
        for (const std::string& full : operators::operator_names()) {
            const OperatorSchema& schema = *operators::find_operator(full);
            const auto engines = run::engines_for(schema);
            say("{:<52} from feature level {}{}{}\n", full, core::to_string(schema.introduced),
                engines.empty() ? "" : ", runs on ", core::show_list(engines, " and "));
        }
        return exit_ok;
    }
    const OperatorSchema* schema = operators::find_operator(name);
    if (schema == nullptr) {
        const std::string hint = cases::operator_suggestion(name);
        warn("dmlconform: the catalogue has no operator \"{}\"\n    hint: {}\n", name,
             hint.empty() ? "`dmlconform describe` lists them" : hint);
        return exit_usage;
    }
    const auto engines = run::engines_for(*schema);
    say("{} ({}), from feature level {} on\n", schema->name, schema->number, core::to_string(schema->introduced));
    say("{}\n\n", engines.empty() ? "neither cpu nor d3d12 computes it: cases need expected values"
                                  : fmt::format("computed by {}", fmt::join(engines, " and ")));
    print_fields(*schema);
    print_support(*schema);
    print_constraints(*schema);
    print_in_place(*schema);
    print_fusable(*schema);
    print_known(*schema, *known);
    return exit_ok;
}

/// Files of expectations in folders of cases: those in their folder "expectations".
std::vector<std::string> expectations_in(const std::vector<std::string>& paths) {
    std::vector<std::string> files;
    for (const std::string& path : paths) {
        std::error_code error;
        for (const auto& entry : std::filesystem::directory_iterator(path + "/expectations", error)) {
            if (entry.path().extension() == ".json") {
                files.push_back(entry.path().string());
            }
        }
    }
    std::sort(files.begin(), files.end());
    return files;
}

/// docs/operators.md.
int print_table(const std::vector<std::string>& paths, std::vector<std::string> known_files) {
    const auto beside = expectations_in(paths);
    known_files.insert(known_files.end(), beside.begin(), beside.end());
    const auto known = read_expectations(known_files);
    if (!known) {
        return exit_usage;
    }
    run::CasesByOperator counts;
    if (!paths.empty()) {
        CaseOptions options;
        options.paths = paths;
        const auto selection = load_selection(options);
        if (!selection) {
            return exit_usage;
        }
        selection->for_each([&](const cases::Case& subject) { run::count_case(counts, subject, *known); });
    }
    print_document(run::operator_table(counts));
    return exit_ok;
}

struct DescribeOptions {
    std::string name;
    bool table = false;
    std::vector<std::string> cases;
    std::vector<std::string> known;
};

}  // namespace

void add_describe_command(CLI::App& app, int& exit_code) {
    auto options = std::make_shared<DescribeOptions>();
    CLI::App* command =
        app.add_subcommand("describe", "List the operators, or show an operator's fields, supported types and engines");
    CLI::Option* name =
        command->add_option("operator", options->name, "An operator, for example DML_OPERATOR_SLICE1 or SLICE1");
    name->type_name("OPERATOR");
    CLI::Option* table = command->add_flag("--table", options->table,
                                           "Show all operators as a Markdown table, with engines and tolerances");
    table->excludes(name);
    command
        ->add_option("--cases", options->cases,
                     "Count the cases of these files or folders in the table. Their folder \"expectations\" says how "
                     "DirectML differs")
        ->type_name("PATH")
        ->needs(table);
    add_known_files(*command, options->known);
    command->callback([options, &exit_code] {
        exit_code =
            options->table ? print_table(options->cases, options->known) : describe(options->name, options->known);
    });
}

}  // namespace dmlconform::app
