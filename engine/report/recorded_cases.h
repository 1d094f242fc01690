// A case file whose expected values are what an engine computed, for comparing other engines with it elsewhere or
// later.
#pragma once

#include <cstddef>
#include <string>

#include "engine/cases/unique_names.h"
#include "engine/core/shown_text.h"
#include "engine/report/output_file.h"
#include "engine/report/sink.h"

namespace dmlconform::report {

/// Writes the cases that the engine computed, as soon as they are there. Their own expected values stay. Tensors of
/// many elements become files in a folder beside it, called as the case file without ".json".
class RecordedCases final : public Sink {
public:
    /// `engine`: the index of the engine that is recorded.
    RecordedCases(std::string path, std::size_t engine) : path_(std::move(path)), engine_(engine) {}

    core::Result<void> begin(const RunContext& context, std::span<const EngineInfo> engines) override;
    core::Result<void> add(const run::CaseResult& result) override;
    core::Result<void> finish(const run::RunTotals& totals, int exit_code) override;

    [[nodiscard]] std::size_t recorded() const { return recorded_; }
    /// How many cases are in the file, and why others are not; a line each.
    [[nodiscard]] core::ShownText summary() const;

private:
    [[nodiscard]] core::Result<std::string> store(const std::string& name, std::string_view what,
                                                  const std::string& tensor, const core::Tensor& values) const;

    std::string path_;
    std::size_t engine_;
    /// Name, version, adapter and driver.
    std::string origin_;
    OutputFile file_;
    cases::UniqueNames names_;
    std::size_t recorded_ = 0;
    run::SharedReasons left_out_{};
};

}  // namespace dmlconform::report
