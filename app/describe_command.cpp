// `dmlconform describe`: prints what the catalogue and the engines know about operators.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "app/command.h"
#include "app/expectation_options.h"
#include "app/graph_text.h"
#include "app/operator_json.h"
#include "app/operator_text.h"
#include "app/rule_text.h"
#include "app/standard_streams.h"
#include "engine/cases/descriptor_reader.h"
#include "engine/cases/problems.h"
#include "engine/core/ascii_case.h"
#include "engine/core/glob.h"
#include "engine/fuzz/widths.h"
#include "engine/interop/onnx_expansion.h"
#include "engine/operators/catalogue.h"
#include "engine/operators/operator_search.h"
#include "engine/operators/rules.h"
#include "engine/run/engine_list.h"
#include "engine/run/operator_table.h"

namespace dmlconform::app {
namespace {

using operators::OperatorSchema;
using Schemas = std::vector<const OperatorSchema*>;

bool is_pattern(const std::string& name) {
    return name.find_first_of("*?") != std::string::npos;
}

/// What becomes of an operator of ONNX that is no single operator of DirectML; empty if it is none.
std::string composition_hint(const std::string& name) {
    const std::string wanted = core::lower_case(operators::without_modules(name));
    for (const interop::ExpandedOperator& expanded : interop::expanded_operators()) {
        const std::string_view type(expanded.type);
        if (core::lower_case(type.substr(type.rfind('.') + 1)) == wanted) {
            return fmt::format("ONNX models may have {}, which becomes several operators: docs/import.md", type);
        }
    }
    return "";
}

/// The operators that match a name, a part of a name, or a pattern. Prints a message if there are none.
Schemas find_schemas(const std::string& name) {
    Schemas found;
    if (const OperatorSchema* schema = operators::find_operator(name)) {
        found.push_back(schema);
    }
    if (is_pattern(name)) {
        const std::string pattern = core::upper_case(name);
        for (const std::string& full : operators::operator_names()) {
            const OperatorSchema* schema = operators::find_operator(full);
            if (core::glob_matches(pattern, full) || core::glob_matches("*" + pattern, full)) {
                found.push_back(schema);
            }
        }
    } else if (found.empty()) {
        found = operators::search_operators(name);
    }
    if (found.empty()) {
        std::string hint = is_pattern(name) ? "" : composition_hint(name);
        hint = hint.empty() && !is_pattern(name) ? cases::operator_suggestion(name) : hint;
        warn("dmlconform: the catalogue has no operator \"{}\"\n    hint: {}\n", name,
             hint.empty() ? "`dmlconform describe` lists them" : hint);
    }
    return found;
}

bool is_part(const std::string& name) {
    return operators::without_modules(name).find('.') != std::string_view::npos;
}

/// Says that an operator has no such field or rule, and which one may be meant.
void print_unknown_part(const OperatorSchema& schema, const std::string& part) {
    std::vector<std::string> candidates;
    for (const operators::Field& field : schema.fields) {
        candidates.push_back(field.name);
    }
    const std::string prefix = std::string(schema.short_name()) + ".";
    for (const std::string& rule : operators::rule_names(schema)) {
        candidates.push_back(rule.starts_with(prefix) ? rule.substr(prefix.size()) : rule);
    }
    const std::string meant = cases::suggestion(part, candidates);
    warn("dmlconform: {} has no field or rule \"{}\"\n    hint: {}\n", schema.short_name(), part,
         meant.empty() ? fmt::format("`dmlconform describe {}` lists them", schema.short_name()) : meant);
}

/// Prints "CONVOLUTION.outputSizes", "GEMM.TransA" or "tensor.totalSize".
int describe_part(const std::string& name) {
    if (is_rule_of_all(name)) {
        return print_rule(*operators::find_operator(operators::operator_names().front()), name) ? exit_ok : exit_usage;
    }
    const std::size_t dot = name.find('.');
    const Schemas found = find_schemas(name.substr(0, dot));
    if (found.empty()) {
        return exit_usage;
    }
    const std::string part = name.substr(dot + 1);
    bool printed = false;
    for (const OperatorSchema* schema : found) {
        printed = print_part(*schema, part) || printed;
    }
    if (!printed) {
        print_unknown_part(*found.front(), part);
    }
    return printed ? exit_ok : exit_usage;
}

int describe_parts(const std::vector<std::string>& names, bool json) {
    const auto other = std::ranges::find_if_not(names, is_part);
    if (json || other != names.end()) {
        warn(
            "dmlconform: {} cannot be together with a single rule or field\n    hint: describe operators and their "
            "parts separately; `describe OPERATOR --json` prints everything about one\n",
            json ? "--json" : *other);
        return exit_usage;
    }
    int code = exit_ok;
    for (const std::string& name : names) {
        code = std::max(code, describe_part(name));
    }
    return code;
}

/// All operators if no name is given; empty if a name matches none.
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

/// Prints one line per operator for all operators and for patterns, otherwise everything.
int describe(const std::vector<std::string>& names, const std::vector<std::string>& files, bool json) {
    if (std::ranges::any_of(names, is_part)) {
        return describe_parts(names, json);
    }
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
    // A single operator found by another name is described. Several are listed with all their names.
    const bool in_short = names.empty() || std::any_of(names.begin(), names.end(), is_pattern) ||
                          (names.size() == 1 && schemas->size() > 1);
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

/// Expectation files of case folders, which are in their subfolder "expectations".
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
    print_document(run::operator_table(counts, fuzz::widths_of));
    return exit_ok;
}

struct DescribeOptions {
    std::vector<std::string> names;
    bool table = false;
    bool json = false;
    bool graph = false;
    bool rules = false;
    std::vector<std::string> cases;
    std::vector<std::string> known;
};

}  // namespace

void add_describe_command(Command app, int& exit_code) {
    auto options = std::make_shared<DescribeOptions>();
    const Command command =
        app.add_subcommand("describe", "List the operators, or show an operator's fields, supported types and engines");
    const Option name =
        command.add_option("operator", options->names,
                           "An operator, for example DML_OPERATOR_SLICE1 or SLICE1, part of its name, or "
                           "its name in ONNX, WebNN or PyTorch. A pattern, for example "
                           "'ACTIVATION_*', lists those that match. CONVOLUTION.outputSizes and GEMM.TransA show "
                           "a single rule or field");
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
    const Option json = command.add_flag("--json", options->json, "Print everything about them as JSON, for scripts");
    json.excludes(table);
    add_known_files(command, options->known);
    command.add_flag("--rules", options->rules, "Show the rules of all operators in Markdown, with formulas for sizes")
        .excludes(name)
        .excludes(table)
        .excludes(json);
    command.add_flag("--graph", options->graph, "Show how graphs of several operators are written, and their rules")
        .excludes(name)
        .excludes(table)
        .excludes(json);
    command.callback([options, &exit_code] {
        if (options->graph || options->rules) {
            print_document(options->graph ? graph_text() : rules_document());
            exit_code = exit_ok;
            return;
        }
        exit_code = options->table ? print_table(options->cases, options->known)
                                   : describe(options->names, options->known, options->json);
    });
}

}  // namespace dmlconform::app
