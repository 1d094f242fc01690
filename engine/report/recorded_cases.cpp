// One case after the other.
#include "engine/report/recorded_cases.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "engine/cases/case_writer.h"
#include "engine/cases/json_text.h"
#include "engine/cases/npy_writer.h"
#include "engine/cases/recorded_case.h"

namespace dmlconform::report {
namespace {

namespace fs = std::filesystem;

/// "directml, DirectML 1.15.4, on llvmpipe, driver …".
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

}  // namespace

core::Result<void> RecordedCases::begin(const RunContext& context, std::span<const EngineInfo> engines) {
    origin_ = origin_of(engines[engine_], context);
    if (auto opened = file_.open(path_); !opened) {
        return opened;
    }
    const nlohmann::json description = fmt::format("expected values recorded from {}", origin_);
    return file_.write(fmt::format("{{\n \"description\": {},\n \"cases\": [",
                                   description.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)));
}

core::Result<std::string> RecordedCases::store(const std::string& name, std::string_view what,
                                               const std::string& tensor, const core::Tensor& values) const {
    const fs::path path(path_);
    const std::string folder = path.stem().generic_string();
    const std::string file = fmt::format("{}/{}.{}.{}{}", folder, file_part(name), what, file_part(tensor),
                                         cases::data_file_ending(values.desc.data_type));
    std::error_code error;
    fs::create_directories(path.parent_path() / folder, error);
    if (error) {
        return core::fail(fmt::format("the folder {} cannot be made: {}",
                                      (path.parent_path() / folder).generic_string(), error.message()));
    }
    if (auto written = write_file((path.parent_path() / file).generic_string(), cases::data_file(values)); !written) {
        return tl::unexpected(written.error());
    }
    return file;
}

core::Result<void> RecordedCases::add(const run::CaseResult& result) {
    if (result.engine != engine_ || result.repetition != 0) {
        return {};
    }
    if (result.computed == nullptr) {
        const std::string why = result.subject->expect_error ? "an engine has to reject it" : result.reason;
        left_out_[why].add(result.subject->id);
        return {};
    }
    cases::Case recorded = cases::recorded_case(*result.subject, *result.computed);
    const std::string name = names_.unique(cases::case_name("/" + recorded.id));
    recorded.id = "recorded/" + name;
    recorded.description +=
        fmt::format("{}expected values recorded from {}", recorded.description.empty() ? "" : "; ", origin_);
    cases::WriteOptions options;
    options.store = [&](std::string_view what, const std::string& tensor, const core::Tensor& values) {
        return store(name, what, tensor, values);
    };
    const auto object = cases::case_to_json(recorded, options);
    if (!object) {
        return core::fail(fmt::format("{} cannot be recorded: {}", result.subject->id, object.error().message));
    }
    return file_.write((recorded_++ == 0 ? "\n" : ",\n") + indented(cases::json_text(*object)));
}

core::Result<void> RecordedCases::finish(const run::RunTotals& /*totals*/, int /*exit_code*/) {
    if (recorded_ == 0) {
        return {};  // a case file has at least one case
    }
    auto written = file_.write("\n ]\n}\n");
    return written ? file_.commit() : written;
}

core::ShownText RecordedCases::summary() const {
    core::ShownText text = recorded_ == 0 ? core::show("Nothing was recorded: {} is not written\n", path_)
                                          : core::show("Recorded {} {} of {} in {}\n", recorded_,
                                                       recorded_ == 1 ? "case" : "cases", origin_, path_);
    for (const std::string& line : run::reason_lines(left_out_, "case")) {
        text += core::show("  left out: {}\n", line);
    }
    return text;
}

}  // namespace dmlconform::report
