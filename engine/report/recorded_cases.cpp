// Writes recorded cases one by one.
#include "engine/report/recorded_cases.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "engine/cases/case_writer.h"
#include "engine/cases/json_text.h"
#include "engine/cases/npy_writer.h"
#include "engine/cases/recorded_case.h"
#include "engine/report/file_lock.h"

namespace dmlconform::report {
namespace {

namespace fs = std::filesystem;

/// Describes the engine: "directml, DirectML 1.15.4, on llvmpipe, driver …".
std::string origin_of(const EngineInfo& engine, const RunContext& context) {
    std::string text = engine.name;
    for (const auto& [library, version] : engine.libraries) {
        text += fmt::format(", {} {}", library, version);
    }
    if (engine.libraries.empty() && engine.command.empty() && !context.versions.empty()) {
        text += fmt::format(", {} {}", context.versions.front().first, context.versions.front().second);
    }
    text += engine.adapter.empty() ? "" : ", on " + engine.adapter;
    return text + (engine.driver.empty() ? "" : ", driver " + engine.driver);
}

std::string file_part(std::string name) {
    std::replace(name.begin(), name.end(), '/', '-');
    std::replace(name.begin(), name.end(), '[', '-');
    std::erase(name, ']');
    return name;
}

std::string indented(const std::string& text) {
    std::string result = "  ";
    for (const char c : text) {
        result += c == '\n' ? "\n  " : std::string(1, c);
    }
    return result;
}

/// The exit code of a program that a signal ended is 128 plus the signal's number.
constexpr int first_exit_code_of_signals = 128;

constexpr std::string_view how_descriptions_begin = "expected values recorded from ";

/// True if store() may have made the path: it is in a folder beside the case file with the same name, or that name with
/// a number. Other files belong to the user.
bool is_recorded_data(const fs::path& file, const std::string& stem) {
    if (file.is_absolute() || std::distance(file.begin(), file.end()) != 2) {
        return false;
    }
    const std::string folder = file.begin()->string();
    const std::string name = file.filename().string();
    const bool numbered = folder.starts_with(stem + "-") && folder.size() > stem.size() + 1 &&
                          folder.find_first_not_of("0123456789", stem.size() + 1) == std::string::npos;
    return (folder == stem || numbered) && (name.find(".inputs.") != name.npos || name.find(".expected.") != name.npos);
}

void add_data_files(const nlohmann::json& value, const std::string& stem, std::set<fs::path>& files) {
    if (value.is_object() && value.contains("file") && value["file"].is_string()) {
        const fs::path file = value["file"].get<std::string>();
        if (is_recorded_data(file, stem)) {
            files.insert(file);
        }
    } else if (value.is_structured()) {
        for (const auto& member : value) {
            add_data_files(member, stem, files);
        }
    }
}

/// The data files of the existing recording, relative to its folder. Empty if the file is not a recording.
std::set<fs::path> data_of_recording(const fs::path& path) {
    std::ifstream stream(path, std::ios::binary);
    const auto document = stream ? nlohmann::json::parse(stream, nullptr, false) : nlohmann::json();
    if (!document.is_object() || !document.contains("description") || !document["description"].is_string() ||
        !document["description"].get_ref<const std::string&>().starts_with(how_descriptions_begin)) {
        return {};
    }
    std::set<fs::path> files;
    add_data_files(document, path.stem().string(), files);
    return files;
}

void remove_data(const fs::path& beside, const std::set<fs::path>& files) {
    std::set<fs::path> folders;
    std::error_code ignored;
    for (const fs::path& file : files) {
        const fs::path folder = beside / *file.begin();
        if (fs::is_directory(fs::symlink_status(folder, ignored))) {
            fs::remove(beside / file, ignored);
            folders.insert(folder);
        }
    }
    for (const fs::path& folder : folders) {
        fs::remove(folder, ignored);  // fails if the user has put files into the folder
    }
}

/// True if the engine did not compute what the case expects, whether that was known or not.
bool is_wrong(run::Status status) {
    return status == run::Status::xfail || (run::is_failure(status) && status != run::Status::xpass);
}

/// True if an output of the case has no expected values.
bool expects_less(const cases::Case& subject) {
    const auto slots = subject.descriptor->outputs();
    for (std::size_t i = 0; i < slots.size(); ++i) {
        if (slots[i].desc != nullptr && !subject.expected[i]) {
            return true;
        }
    }
    return false;
}

}  // namespace

RecordedCases::~RecordedCases() {
    if (!complete_ && !folder_.empty()) {
        std::error_code ignored;
        fs::remove_all(fs::path(path_).parent_path() / folder_, ignored);
    }
}

core::Result<void> RecordedCases::begin(const RunContext& context, std::span<const EngineInfo> engines) {
    origin_ = origin_of(engines[engine_], context);
    if (auto opened = file_.open(path_); !opened) {
        return opened;
    }
    const nlohmann::json description = fmt::format("{}{}", how_descriptions_begin, origin_);
    return file_.write(fmt::format("{{\n \"description\": {},\n \"cases\": [",
                                   description.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)));
}

core::Result<void> RecordedCases::make_folder() {
    if (!folder_.empty()) {
        return {};
    }
    const fs::path path(path_);
    const std::string stem = path.stem().generic_string();
    constexpr int most_folders = 10000;
    for (int number = 1; number <= most_folders; ++number) {
        const std::string name = number == 1 ? stem : fmt::format("{}-{}", stem, number);
        const fs::path folder = path.parent_path() / name;
        std::error_code error;
        if (fs::exists(fs::symlink_status(folder, error))) {
            continue;
        }
        if (fs::create_directory(folder, error)) {
            folder_ = name;
            return {};
        }
        if (error) {
            return core::fail(
                fmt::format("the folder {} cannot be made: {}", folder.generic_string(), error.message()));
        }
    }
    return core::fail(fmt::format("there are already {} folders called {}", most_folders, path_));
}

core::Result<std::string> RecordedCases::store(const std::string& name, std::string_view what,
                                               const std::string& tensor, const core::Tensor& values) {
    if (auto made = make_folder(); !made) {
        return tl::unexpected(made.error());
    }
    const std::string file = fmt::format("{}/{}.{}.{}{}", folder_, file_part(name), what, file_part(tensor),
                                         cases::data_file_ending(values.desc.data_type));
    const fs::path path = fs::path(path_).parent_path() / file;
    if (auto written = write_file(path.generic_string(), cases::data_file(values)); !written) {
        return tl::unexpected(written.error());
    }
    return file;
}

core::Result<void> RecordedCases::add(const run::CaseResult& result) {
    if (result.engine != engine_ || result.repetition != 0) {
        return {};
    }
    if (result.computed == nullptr || is_wrong(result.status)) {
        const std::string why = result.subject->expect_error ? "an engine has to reject it" : result.reason;
        left_out_[why].add(result.subject->id);
        return {};
    }
    auto done = record(result);
    failed_ = !done;
    return done;
}

core::Result<void> RecordedCases::record(const run::CaseResult& result) {
    cases::Case recorded = cases::recorded_case(*result.subject, *result.computed);
    // The recorded graph has a node with the id of the node's case.
    const std::string folder = recorded.graph_id.empty() ? "/" : "/nodes/";
    const std::string name = names_.unique(cases::case_name(folder + recorded.id));
    recorded.id = "recorded/" + name;
    if (expects_less(*result.subject)) {
        recorded.description += fmt::format("{}{}{}", recorded.description.empty() ? "" : "; ",
                                            how_descriptions_begin, origin_);
    }
    cases::WriteOptions options;
    options.store = [&](std::string_view what, const std::string& tensor, const core::Tensor& values) {
        return store(name, what, tensor, values);
    };
    const auto object = cases::case_to_json(recorded, options);
    if (!object) {
        return core::fail(fmt::format("{} cannot be recorded: {}", result.subject->id, object.error().message),
                          object.error().hint);
    }
    return file_.write((recorded_++ == 0 ? "\n" : ",\n") + indented(cases::json_text(*object)));
}

core::Result<void> RecordedCases::replace_earlier() {
    const auto lock = FileLock::take(path_);
    if (!lock) {
        return tl::unexpected(lock.error());
    }
    const auto earlier = data_of_recording(path_);
    if (auto committed = file_.commit(); !committed) {
        return committed;
    }
    complete_ = true;
    remove_data(fs::path(path_).parent_path(), earlier);
    return {};
}

core::Result<void> RecordedCases::finish(const run::RunTotals& /*totals*/, int exit_code) {
    interrupted_ = exit_code >= first_exit_code_of_signals;
    if (recorded_ == 0 || interrupted_) {
        return {};  // a case file must not be empty, and an incomplete recording must not replace a complete one
    }
    auto written = file_.write("\n ]\n}\n");
    return written ? replace_earlier() : written;
}

core::ShownText RecordedCases::summary() const {
    if (failed_ || (!complete_ && recorded_ != 0)) {
        return core::show("Nothing was recorded, because the {}: {} is not written\n",
                          interrupted_ ? "run was interrupted" : "recording failed", path_);
    }
    core::ShownText text = recorded_ == 0 ? core::show("Nothing was recorded: {} is not written\n", path_)
                                          : core::show("Recorded {} {} of {} in {}\n", recorded_,
                                                       recorded_ == 1 ? "case" : "cases", origin_, path_);
    for (const std::string& line : run::reason_lines(left_out_, "case")) {
        text += core::show("  left out: {}\n", line);
    }
    return text;
}

}  // namespace dmlconform::report
