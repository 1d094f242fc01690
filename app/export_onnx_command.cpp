// `dmlconform export onnx`: cases as folders in the format of ONNX's backend tests.
#include "app/export_onnx_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <vector>

#include "app/messages.h"
#include "app/number_options.h"
#include "app/onnx_table.h"
#include "app/standard_streams.h"
#include "engine/cases/data_file_names.h"
#include "engine/cases/filled_inputs.h"
#include "engine/cpu/reference.h"
#include "engine/interop/export/test_folder.h"
#include "engine/report/output_file.h"

namespace dmlconform::app {
namespace {

namespace fs = std::filesystem;

/// Limit for all tensors of a case together. ONNX's format holds less than 2 GiB in one message.
constexpr std::uint64_t most_bytes = std::uint64_t{1} << 30;

struct ExportOptions {
    CaseOptions cases;
    std::string folder;
    std::int64_t opset = interop::default_export_opset;
    bool table = false;
};

/// A folder that is not there yet, or an empty one, so that nothing is replaced and nothing is left of another export.
core::Result<void> make_folder(const std::string& folder) {
    std::error_code error;
    fs::create_directories(folder, error);
    if (error || !fs::is_directory(folder, error)) {
        return core::fail(fmt::format("the folder {} cannot be made{}", folder, error ? ": " + error.message() : ""));
    }
    const bool is_empty = fs::is_empty(folder, error);
    if (error) {
        return core::fail(fmt::format("the folder {} cannot be read: {}", folder, error.message()));
    }
    return is_empty ? report::check_writable((fs::path(folder) / "model.onnx").generic_string())
                    : core::fail(fmt::format("the folder {} is not empty", folder), "name a new folder");
}

/// What a case becomes, or why it becomes nothing.
core::Result<std::vector<interop::TestFile>> files_of(const cases::Case& subject, std::int64_t opset) {
    if (subject.expect_error) {
        return core::fail("the case expects an error");
    }
    if (!subject.problem.empty()) {
        return core::fail(subject.problem);
    }
    const operators::Descriptor& descriptor = *subject.descriptor;
    auto exported = interop::export_onnx(descriptor, opset);
    if (!exported) {
        return tl::unexpected(exported.error());
    }
    std::uint64_t bytes = 0;
    for (const auto& slots : {descriptor.inputs(), descriptor.outputs()}) {
        for (const operators::TensorSlot& slot : slots) {
            bytes += slot.desc == nullptr ? 0 : std::min(slot.desc->total_bytes, most_bytes + 1);
        }
    }
    if (bytes > most_bytes) {
        return core::fail("its tensors take more than 1 GiB");
    }
    const auto inputs = cases::filled_inputs(subject);
    if (!inputs) {
        return tl::unexpected(inputs.error());
    }
    if (!cpu::has_reference(descriptor)) {
        return core::fail("there is no reference that computes its outputs");
    }
    const cpu::Reference reference = cpu::compute_reference(descriptor, inputs->pointers);
    return interop::test_files(*exported, inputs->tensors, reference.outputs);
}

core::Result<void> write_files(const fs::path& folder, const std::vector<interop::TestFile>& files) {
    for (const interop::TestFile& file : files) {
        const fs::path path = folder / file.path;
        std::error_code error;
        fs::create_directories(path.parent_path(), error);
        if (error) {
            return core::fail(
                fmt::format("{} cannot be made: {}", path.parent_path().generic_string(), error.message()));
        }
        if (auto written = report::write_file(path.generic_string(), file.content); !written) {
            return written;
        }
    }
    return {};
}

/// Cases by the reason why they were left out.
using LeftOut = std::map<std::string, std::vector<std::string>>;

void print_summary(const std::string& folder, std::size_t exported, const LeftOut& left_out) {
    constexpr std::size_t most_named = 3;
    std::size_t count = 0;
    for (const auto& [reason, ids] : left_out) {
        count += ids.size();
    }
    say("exported {} of {} cases to {}\n", exported, exported + count, folder);
    if (count == 0) {
        return;
    }
    say("left out {}; left-out.txt has a line for each:\n", count);
    std::vector<std::pair<std::string, std::vector<std::string>>> reasons(left_out.begin(), left_out.end());
    std::stable_sort(reasons.begin(), reasons.end(),
                     [](const auto& a, const auto& b) { return a.second.size() > b.second.size(); });
    for (const auto& [reason, ids] : reasons) {
        std::string names;
        for (std::size_t i = 0; i < std::min(ids.size(), most_named); ++i) {
            names += (i == 0 ? "" : ", ") + ids[i];
        }
        names += ids.size() > most_named ? ", …" : "";
        say("{:>7}  {}\n         {}\n", ids.size(), reason, names);
    }
}

std::string lines_of(const LeftOut& left_out) {
    std::string lines;
    for (const auto& [reason, ids] : left_out) {
        for (const std::string& id : ids) {
            lines += fmt::format("{}: {}\n", id, reason);
        }
    }
    return lines;
}

int export_onnx(const ExportOptions& options) {
    const auto selection = load_selection(options.cases);
    if (!selection) {
        return exit_usage;
    }
    if (const auto made = make_folder(options.folder); !made) {
        return failure(made.error(), exit_usage);
    }
    LeftOut left_out;
    std::size_t exported = 0;
    core::Result<void> written;
    selection->for_each([&](const cases::Case& subject) {
        if (!written) {
            return;
        }
        const auto files = files_of(subject, options.opset);
        if (!files) {
            left_out[files.error().message].push_back(subject.id);
            return;
        }
        written = write_files(fs::path(options.folder) / cases::case_folder_name(subject.id), *files);
        exported += written ? 1 : 0;
    });
    if (written && !left_out.empty()) {
        written = report::write_file((fs::path(options.folder) / "left-out.txt").generic_string(), lines_of(left_out));
    }
    if (!written) {
        return failure(written.error(), exit_not_run);
    }
    print_summary(options.folder, exported, left_out);
    if (exported == 0) {
        return failure({"none of the cases can be a model", ""}, exit_usage);
    }
    return exit_ok;
}

}  // namespace

void add_export_onnx(Command command, int& exit_code) {
    auto options = std::make_shared<ExportOptions>();
    const Command onnx = command.add_subcommand(
        "onnx",
        "Make a folder of each case as ONNX's backend tests are: a model, its inputs, and the reference's outputs");
    options->cases.add_to(onnx);
    options->cases.without_expected = true;
    const Option output = onnx.add_option("-o,--output", options->folder, "The folder to make").path("DIR");
    onnx.add_option("--opset", options->opset,
                    fmt::format("The version of ONNX's operators. Default: {}", interop::default_export_opset))
        .type_name("N")
        .transform(whole_number(interop::oldest_export_opset, interop::newest_export_opset));
    const Option table = onnx.add_flag("--table", options->table,
                                       "Show as a Markdown table which operators can be models, and of which nodes");
    table.excludes(output);
    const Option paths = onnx.get_option("paths").required(false);
    table.excludes(paths);
    onnx.callback([options, paths, output, &exit_code] {
        if (options->table) {
            print_document(onnx_table());
            exit_code = exit_ok;
            return;
        }
        if (options->cases.paths.empty()) {
            throw_missing(paths.get_name());
        }
        if (options->folder.empty()) {
            throw_missing(output.get_name());
        }
        exit_code = export_onnx(*options);
    });
}

}  // namespace dmlconform::app
