// `dmlconform describe`: operators as the catalogue has them.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "app/command.h"
#include "app/expectation_options.h"
#include "app/operator_json.h"
#include "app/operator_text.h"
#include "app/standard_streams.h"
#include "engine/cases/descriptor_reader.h"
#include "engine/core/glob.h"
#include "engine/operators/catalogue.h"
#include "engine/run/engine_list.h"
#include "engine/run/operator_table.h"

namespace dmlconform::app {
namespace {

using operators::OperatorSchema;
using Schemas = std::vector<const OperatorSchema*>;

bool is_pattern(const std::string& name) {
    return name.find_first_of("*?") != std::string::npos;
}

/// Those of that name, or that the pattern matches, in the catalogue's order. None: that is complained about.
Schemas find_schemas(const std::string& name) {
    Schemas found;
    if (const OperatorSchema* schema = operators::find_operator(name)) {
        found.push_back(schema);
    }
    for (const std::string& full : operators::operator_names()) {
        const OperatorSchema* schema = operators::find_operator(full);
        if (is_pattern(name) &&
            (core::glob_matches(name, full) || core::glob_matches(name, std::string(schema->short_name())))) {
            found.push_back(schema);
        }
    }
    if (found.empty()) {
        const std::string hint = is_pattern(name) ? "" : cases::operator_suggestion(name);
        warn("dmlconform: the catalogue has no operator \"{}\"\n    hint: {}\n", name,
             hint.empty() ? "`dmlconform describe` lists them" : hint);
    }
    return found;
}

/// All of them where no name is given; nothing where a name means none.
std::optional<Schemas> find_all(const std::vector<std::string>& names) {
    Schemas all;
    for (const std::string& name : names.empty() ? std::vector<std::string>{"*"} : names) {
        const Schemas found = find_schemas(name);
        if (found.empty()) {
            return std::nullopt;
        }
        for (const OperatorSchema* schema : found) {
            if (std::find(all.begin(), all.end(), schema) == all.end()) {
                all.push_back(schema);
            }
        }
    }
    return all;
}

void print_line(const OperatorSchema& schema) {
    const auto engines = run::engines_for(schema);
    say("{:<52} from feature level {}{}{}\n", schema.name, core::to_string(schema.introduced),
        engines.empty() ? "" : ", runs on ", core::show_list(engines, " and "));
}

/// A line each for all operators, and for those that a pattern matches; otherwise everything.
int describe(const std::vector<std::string>& names, const std::vector<std::string>& files, bool json) {
    const auto known = read_expectations(files);
    const auto schemas = known ? find_all(names) : std::nullopt;
    if (!schemas) {
        return exit_usage;
    }
    if (json) {
        auto document = nlohmann::ordered_json::array();
        for (const OperatorSchema* schema : *schemas) {
            document.push_back(operator_json(*schema));
        }
        print_document(document.dump(1) + "\n");
        return exit_ok;
    }
    const bool in_short = names.empty() || std::any_of(names.begin(), names.end(), is_pattern);
    for (const OperatorSchema* schema : *schemas) {
        if (in_short) {
            print_line(*schema);
        } else {
            if (schema != schemas->front()) {
                say("\n");
            }
            print_operator(*schema, *known);
        }
    }
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
    std::vector<std::string> names;
    bool table = false;
    bool json = false;
    std::vector<std::string> cases;
    std::vector<std::string> known;
};

}  // namespace

void add_describe_command(Command app, int& exit_code) {
    auto options = std::make_shared<DescribeOptions>();
    const Command command =
        app.add_subcommand("describe", "List the operators, or show an operator's fields, supported types and engines");
    const Option name = command.add_option("operator", options->names,
                                           "An operator, for example DML_OPERATOR_SLICE1 or SLICE1. A pattern, for "
                                           "example 'ACTIVATION_*', lists those that match");
    name.type_name("OPERATOR");
    const Option table = command.add_flag("--table", options->table,
                                          "Show all operators as a Markdown table, with engines and tolerances");
    table.excludes(name);
    command
        .add_option("--cases", options->cases,
                    "Count the cases of these files or folders in the table. Their folder \"expectations\" says how "
                    "DirectML differs")
        .type_name("PATH")
        .needs(table);
    command.add_flag("--json", options->json, "Print everything about them as JSON, for scripts").excludes(table);
    add_known_files(command, options->known);
    command.callback([options, &exit_code] {
        exit_code = options->table ? print_table(options->cases, options->known)
                                   : describe(options->names, options->known, options->json);
    });
}

}  // namespace dmlconform::app
