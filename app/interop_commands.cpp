// `dmlconform import` and `dmlconform export`: other tools' files.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "app/command.h"
#include "app/documents.h"
#include "app/messages.h"
#include "app/standard_streams.h"
#include "engine/cases/case_writer.h"
#include "engine/core/text_file.h"
#include "engine/cpu/reference.h"
#include "engine/interop/dxdispatch_reader.h"
#include "engine/interop/dxdispatch_writer.h"
#if DMLCONFORM_HAS_ONNX
#include "engine/interop/onnx_node_test.h"
#endif

namespace dmlconform::app {
namespace {

/// A model of more is none to be made cases of.
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

/// Lists what was left out, and writes the rest as a case file.
int write_imported(const core::Result<interop::Imported>& imported, const std::string& source, const char* what,
                   const std::string& output) {
    if (!imported) {
        print_error(imported.error());
        return exit_usage;
    }
    print_left_out(imported->left_out);
    if (imported->cases.empty()) {
        print_error({fmt::format("{} has nothing that could become a case", source), ""});
        return exit_usage;
    }
    const std::string origin =
        fmt::format("imported from {} {}", what, std::filesystem::path(source).filename().generic_string());
    return write_output(output, cases::case_file_text(origin, imported->cases));
}

/// Says how cases are run that neither have expected values nor a reference: a model has none.
void note_without_reference(const interop::Imported& imported) {
    const auto count = std::count_if(imported.cases.begin(), imported.cases.end(), [](const auto& entry) {
        const auto* schema = operators::find_operator(entry["operator"].template get_ref<const std::string&>());
        return schema != nullptr && !cpu::has_reference(*schema);
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
    selection->for_each([&](const cases::Case& entry) {
        if (const auto added = model.add(entry); !added) {
            left_out.push_back(fmt::format("{}: {}", entry.id, added.error().message));
        }
    });
    print_left_out(left_out);
    if (model.empty()) {
        print_error({"none of the cases has a counterpart in a DxDispatch model", ""});
        return exit_usage;
    }
    return write_output(output, model.text());
}

}  // namespace

void add_import_command(Command app, int& exit_code) {
    struct Options {
        std::string source;
        std::string output;
    };
    auto options = std::make_shared<Options>();
    const Command command = app.add_subcommand("import", "Make cases from the files of another tool");
    command.require_subcommand(1);
    const auto add_output = [&](Command kind) {
        kind.add_option("-o,--output", options->output, "The case file to write. Default: the standard output")
            .type_name("FILE");
    };
    const Command dxdispatch = command.add_subcommand(
        "dxdispatch", "Make cases from the DirectML operators that a DxDispatch model dispatches");
    dxdispatch.add_option("model", options->source, "The model").required().type_name("MODEL");
    add_output(dxdispatch);
    dxdispatch.callback([options, &exit_code] { exit_code = import_dxdispatch(options->source, options->output); });
#if DMLCONFORM_HAS_ONNX
    const Command onnx = command.add_subcommand(
        "onnx-test",
        "Make cases from ONNX's backend node tests: a folder with a model.onnx, or a folder with many of these");
    onnx.add_option("folder", options->source, "The folder").required().type_name("FOLDER");
    add_output(onnx);
    onnx.callback([options, &exit_code] {
        exit_code = write_imported(interop::read_onnx_node_tests(options->source), options->source,
                                   "the ONNX node tests", options->output);
    });
#endif
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
        .type_name("FILE");
    dxdispatch.callback([options, &exit_code] { exit_code = export_dxdispatch(options->cases, options->output); });
}

}  // namespace dmlconform::app
