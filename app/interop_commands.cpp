// `dmlconform import` and `dmlconform export`: convert other tools' files.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "app/command.h"
#include "app/documents.h"
#include "app/export_onnx_command.h"
#include "app/messages.h"
#include "app/onnx_imports_table.h"
#include "app/standard_streams.h"
#include "engine/cases/case_writer.h"
#include "engine/core/counted.h"
#include "engine/core/text_file.h"
#include "engine/cpu/reference.h"
#include "engine/interop/dxdispatch_reader.h"
#include "engine/interop/dxdispatch_writer.h"
#include "engine/interop/onnx_node_test.h"
#include "engine/outputs/raw_case.h"
#include "engine/report/written_nodes.h"
#include "engine/run/node_cases.h"

namespace dmlconform::app {
namespace {

/// Larger models are rejected.
constexpr std::uintmax_t largest_model = std::uintmax_t{64} << 20;

core::Result<std::string> content_of(const std::string& path) {
    auto text = core::read_text_file(path, largest_model);
    return text ? std::move(text) : core::fail(fmt::format("{}: {}", path, text.error().message));
}

void print_left_out(const std::vector<std::string>& lines) {
    for (std::size_t i = 0; i < std::min(lines.size(), cases::most_problems); ++i) {
        warn("left out: {}\n", lines[i]);
    }
    if (lines.size() > cases::most_problems) {
        warn("left out: {} more\n", lines.size() - cases::most_problems);
    }
}

/// Lists what was left out, and writes the cases to a file.
int write_imported(const core::Result<interop::Imported>& imported, const std::string& source, const char* what,
                   const std::string& output) {
    if (!imported) {
        return failure(imported.error(), exit_usage);
    }
    print_left_out(imported->left_out);
    if (imported->cases.empty()) {
        return failure({fmt::format("{} has nothing that could become a case", source), ""}, exit_usage);
    }
    const std::string origin =
        fmt::format("imported from {} {}", what, std::filesystem::path(source).filename().generic_string());
    std::vector<std::string> needed = imported->files;
    needed.push_back(source);
    return write_output(output, cases::case_file_text(origin, imported->cases), needed);
}

/// Explains how to run cases that have neither expected values nor a reference, such as models.
void note_without_reference(const interop::Imported& imported) {
    const auto has_none = [](const nlohmann::ordered_json& owner) {
        const auto* schema = operators::find_operator(owner["operator"].get_ref<const std::string&>());
        return schema != nullptr && !cpu::has_reference(*schema);
    };
    const auto count = std::ranges::count_if(imported.cases, [&](const nlohmann::ordered_json& entry) {
        return entry.contains("graph") ? std::ranges::any_of(entry["graph"]["nodes"], has_none) : has_none(entry);
    });
    if (count != 0) {
        warn(
            "dmlconform: note: {} of {} cases are of operators without a reference\n"
            "    hint: `dmlconform run --against ENGINE` compares engines with each other\n",
            count, imported.cases.size());
    }
}

int import_dxdispatch(const std::string& model, const std::string& output) {
    const auto text = content_of(model);
    const auto imported = text ? interop::read_dxdispatch(model, *text) : tl::unexpected(text.error());
    if (imported) {
        note_without_reference(*imported);
    }
    return write_imported(imported, model, "the DxDispatch model", output);
}

int export_dxdispatch(const CaseOptions& options, const std::string& output) {
    const auto selection = load_selection(options);
    if (!selection) {
        return exit_usage;
    }
    interop::DxDispatchModel model;
    std::vector<std::string> left_out;
    const auto add = [&](const cases::Case& entry) {
        if (const auto added = model.add(entry); !added) {
            left_out.push_back(fmt::format("{}: {}", entry.id, added.error().message));
        }
    };
    selection->for_each([&](const cases::Case& entry) {
        const auto graph = entry.descriptor->graph;
        if (graph == nullptr || entry.expect_error) {
            add(entry);
            return;
        }
        const run::GraphCase nodes(std::make_shared<const cases::Case>(entry));
        for (const std::size_t n : graph->execution_order()) {
            if (const auto node = nodes.node(n)) {
                add(*node);
            } else {
                left_out.push_back(
                    fmt::format("{}: it, or a node before it, has no reference", run::node_id(entry, n)));
            }
        }
    });
    print_left_out(left_out);
    if (model.empty()) {
        return failure({"none of the cases has a counterpart in a DxDispatch model", ""}, exit_usage);
    }
    return write_output(output, model.text(), selection->files());
}

int export_raw(const CaseOptions& options, const std::string& folder) {
    const auto selection = load_selection(options);
    if (!selection) {
        return exit_usage;
    }
    std::vector<std::string> left_out;
    std::size_t count = 0;
    int exit_code = exit_ok;
    selection->for_each([&](const cases::Case& entry) {
        if (exit_code != exit_ok) {
            return;
        }
        const auto written = outputs::write_raw_case(folder, entry);
        if (written) {
            ++count;
        } else if (written.error().unwritten) {
            print_error(written.error().error);
            exit_code = exit_not_run;
        } else {
            left_out.push_back(fmt::format("{}: {}", entry.id, written.error().error.message));
        }
    });
    print_left_out(left_out);
    if (exit_code == exit_ok && count == 0) {
        return failure({"none of the cases can be computed elsewhere", ""}, exit_usage);
    }
    say("{} in {}\n", count == 1 ? "1 case" : fmt::format("{} cases", count), folder);
    return exit_code;
}

struct ModelImport {
    std::string source;
    std::string output;
    ModelFileOptions model;
};

/// The distinct operators of a model or graph, with what they read in it.
int import_nodes(const ModelImport& options, const cases::CaseFileKind& kind, const char* what) {
    if (const auto fits = report::check_nodes_path(options.output); !fits) {
        return failure(fits.error(), exit_usage);
    }
    if (!can_write_documents({options.output}, {options.source})) {
        return exit_usage;
    }
    const auto model = kind.read(options.source);
    if (!model) {
        return failure({fmt::format("{}: {}", options.source, model.error().message), model.error().hint}, exit_usage);
    }
    const auto written =
        report::write_nodes(model->front(), options.output,
                            fmt::format("imported from the {} {}", what,
                                        std::filesystem::path(options.source).filename().generic_string()));
    if (!written) {
        return failure(written.error(), exit_not_run);
    }
    print_left_out(written->left_out);
    if (written->cases == 0) {
        return failure({fmt::format("{} has nothing that could become a case", options.source), ""}, exit_usage);
    }
    warn("{} for {}, with {} of {}\n", core::counted(written->cases, "case"), core::counted(written->nodes, "node"),
         core::counted(written->files, "data file"), core::counted(written->bytes, "byte"));
    return exit_ok;
}

/// A command that imports the distinct operators of files of a kind.
struct NodeImport {
    const char* name;
    const char* description;
    /// The ending of CaseFileKind.
    const char* ending;
    /// What the case file says that it comes from.
    const char* what;
};

constexpr NodeImport node_imports[] = {
    {"onnx", "Make cases from the distinct operators of an ONNX model, with what they read in it", ".onnx",
     "ONNX model"},
#if DMLCONFORM_HAS_DML_GRAPH
    {"dml-graph",
     "Make cases from the distinct operators of a serialised DirectML graph, which ONNX Runtime writes with "
     "ep.dml.enable_graph_serialization",
     ".bin", "serialised DirectML graph"},
#endif
    {nullptr, nullptr, nullptr, nullptr},
};

void add_import_of_nodes(Command import, const NodeImport& kind, int& exit_code) {
    auto options = std::make_shared<ModelImport>();
    const Command command = import.add_subcommand(kind.name, kind.description);
    command.add_option("model", options->source, "The file").required().type_name("MODEL");
    command
        .add_option("-o,--output", options->output,
                    "The case file to write. Tensors go into a folder beside it, FILE without its ending and -data")
        .required()
        .path("FILE");
    options->model.add_to(command);
    command.callback([options, &kind, &exit_code] {
        const auto kinds = options->model.kinds();
        exit_code = import_nodes(
            *options, *std::ranges::find(kinds, std::string_view(kind.ending), &cases::CaseFileKind::extension),
            kind.what);
    });
}

}  // namespace

void add_import_command(Command app, int& exit_code) {
    struct Options {
        std::string source;
        std::string output;
        bool table = false;
    };
    auto options = std::make_shared<Options>();
    const Command command = app.add_subcommand("import", "Make cases from the files of another tool");
    command.require_subcommand(1);
    const auto add_output = [&](Command kind) {
        kind.add_option("-o,--output", options->output, "The case file to write. Default: the standard output")
            .path("FILE");
    };
    const Command dxdispatch = command.add_subcommand(
        "dxdispatch", "Make cases from the operators, models and graphs that a DxDispatch model dispatches");
    dxdispatch.add_option("model", options->source, "The model").required().type_name("MODEL");
    add_output(dxdispatch);
    dxdispatch.callback([options, &exit_code] { exit_code = import_dxdispatch(options->source, options->output); });
    for (const NodeImport* kind = node_imports; kind->name != nullptr; ++kind) {
        add_import_of_nodes(command, *kind, exit_code);
    }
    const Command onnx = command.add_subcommand(
        "onnx-test",
        "Make cases from ONNX's backend node tests: a folder with a model.onnx, or a folder with many of these");
    const Option folder = onnx.add_option("folder", options->source, "The folder").path("FOLDER");
    add_output(onnx);
    onnx.add_flag("--table", options->table, "Show as a Markdown table which ONNX operators are known")
        .excludes(folder);
    onnx.callback([options, folder, &exit_code] {
        if (options->table) {
            print_document(onnx_imports_table());
            exit_code = exit_ok;
            return;
        }
        if (options->source.empty()) {
            throw_missing(folder.get_name());
        }
        exit_code = write_imported(interop::read_onnx_node_tests(options->source), options->source,
                                   "the ONNX node tests", options->output);
    });
}

void add_export_command(Command app, int& exit_code) {
    struct Options {
        CaseOptions cases;
        std::string output;
    };
    auto options = std::make_shared<Options>();
    const Command command = app.add_subcommand("export", "Make files for another tool from cases");
    command.require_subcommand(1);
    const Command dxdispatch = command.add_subcommand("dxdispatch", "Make a model that DxDispatch runs");
    options->cases.add_to(dxdispatch);
    options->cases.without_expected = true;
    dxdispatch.add_option("-o,--output", options->output, "The model to write. Default: the standard output")
        .path("FILE");
    dxdispatch.callback([options, &exit_code] { exit_code = export_dxdispatch(options->cases, options->output); });
    const Command raw = command.add_subcommand(
        "raw", "Write what each case computes, and its inputs, for a machine that sends the outputs back (judge)");
    options->cases.add_to(raw);
    raw.add_option("-o,--output", options->output, "The folder to write to. It gets a folder for each case")
        .required()
        .path("DIR");
    raw.callback([options, &exit_code] { exit_code = export_raw(options->cases, options->output); });
    add_export_onnx(command, exit_code);
}

}  // namespace dmlconform::app
