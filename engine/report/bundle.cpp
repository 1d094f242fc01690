// Names bundles, and writes one for each failure.
#include "engine/report/bundle.h"

#include <fmt/format.h>

#include "engine/cases/data_file_names.h"
#include "engine/report/output_file.h"

#include <algorithm>
#include <filesystem>

namespace dmlconform::report {
namespace {

namespace fs = std::filesystem;

/// How many failed bundles the message lists by name.
constexpr std::size_t most_named = 20;

}  // namespace

std::string bundle_name(const std::string& id, const std::string& engine) {
    constexpr std::size_t longest_id = 75;
    constexpr std::size_t longest_engine = 24;
    const auto part = [](const std::string& text, std::size_t longest) {
        return cases::harmless_name(cases::harmless_name(text).substr(0, longest));
    };
    return part(id, longest_id) + "." + part(engine, longest_engine);
}

core::Result<void> check_bundle_folder(const std::string& folder) {
    std::error_code error;
    fs::create_directories(folder, error);
    if (error || !fs::is_directory(folder, error)) {
        return core::fail(fmt::format("the folder {} cannot be made{}", folder, error ? ": " + error.message() : ""));
    }
    return check_writable((fs::path(folder) / "bundle").generic_string());
}

core::Result<void> Bundles::begin(const RunContext& context, std::span<const EngineInfo> engines) {
    context_ = context;
    engines_.assign(engines.begin(), engines.end());
    return {};
}

core::Result<void> Bundles::add(const run::CaseResult& result) {
    // An unexpected pass cannot be reproduced as a failure.
    if (!run::is_failure(result.status) || result.status == run::Status::xpass || !result.gated) {
        return {};
    }
    if (written_ >= settings_.most) {
        ++left_out_;
        return {};
    }
    if (const auto written = write_bundle(settings_, context_, engines_[result.engine], result); !written) {
        const std::string& reason = written.error().error.message;
        unwritten_ += written.error().unwritten ? 1 : 0;
        impossible_.push_back(fmt::format("{}: {}", result.subject->id, reason));
        if (!check_writable((fs::path(settings_.folder) / "bundle").generic_string())) {
            return core::fail(fmt::format("no more bundles can be written: {}", reason));
        }
        return {};
    }
    ++written_;
    return {};
}

core::Result<void> Bundles::finish(const run::RunTotals& /*totals*/, int /*exit_code*/) {
    if (unwritten_ == 0) {
        return {};
    }
    const std::string count = unwritten_ == 1 ? "1 bundle" : fmt::format("{} bundles", unwritten_);
    return core::fail(fmt::format("{} could not be written to {}", count, settings_.folder));
}

core::ShownText Bundles::summary() const {
    core::ShownText text;
    if (written_ != 0) {
        text += core::show("{} in {}\n", written_ == 1 ? "1 bundle" : fmt::format("{} bundles", written_),
                           settings_.folder);
    }
    if (left_out_ != 0) {
        text += core::show("{} more failures have no bundle (--max-bundles={})\n", left_out_, settings_.most);
    }
    for (std::size_t i = 0; i < std::min(impossible_.size(), most_named); ++i) {
        text += core::show("no bundle for {}\n", impossible_[i]);
    }
    if (impossible_.size() > most_named) {
        text += core::show("no bundle for {} more\n", impossible_.size() - most_named);
    }
    return text;
}

}  // namespace dmlconform::report
