// Records an engine's outputs as the expected values of a case file, for comparing other engines with it elsewhere or
// later.
#pragma once

#include <cstddef>
#include <string>

#include "engine/cases/unique_names.h"
#include "engine/core/shown_text.h"
#include "engine/report/output_file.h"
#include "engine/report/sink.h"

namespace dmlconform::report {

/// Writes the cases that the engine computed immediately. Expected values of the cases are kept. Large tensors become
/// files in a new folder beside the case file, which has its name without ".json", and a number if such a folder
/// exists. The case file is replaced last, and only then the data files of an earlier recording are removed: a failed
/// or killed recording changes nothing.
class RecordedCases final : public Sink {
public:
    /// `engine`: the index of the engine that is recorded.
    RecordedCases(std::string path, std::size_t engine) : path_(std::move(path)), engine_(engine) {}
    /// Removes the folder unless the recording is complete.
    ~RecordedCases() override;

    core::Result<void> begin(const RunContext& context, std::span<const EngineInfo> engines) override;
    core::Result<void> add(const run::CaseResult& result) override;
    core::Result<void> finish(const run::RunTotals& totals, int exit_code) override;

    [[nodiscard]] std::size_t recorded() const { return recorded_; }
    /// How many cases were recorded, and why others were not; one line each.
    [[nodiscard]] core::ShownText summary() const;

private:
    /// Creates the folder for data if that has not been done.
    [[nodiscard]] core::Result<void> make_folder();
    [[nodiscard]] core::Result<std::string> store(const std::string& name, std::string_view what,
                                                  const std::string& tensor, const core::Tensor& values);
    [[nodiscard]] core::Result<void> record(const run::CaseResult& result);
    [[nodiscard]] core::Result<void> replace_earlier();

    std::string path_;
    /// The name of the folder for data; empty if there is none yet.
    std::string folder_;
    bool complete_ = false;
    bool failed_ = false;
    bool interrupted_ = false;
    std::size_t engine_;
    /// Name, version, adapter and driver.
    std::string origin_;
    OutputFile file_;
    cases::UniqueNames names_;
    std::size_t recorded_ = 0;
    run::SharedReasons left_out_{};
};

}  // namespace dmlconform::report
