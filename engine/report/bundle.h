// Repro bundles: folders with everything that is needed to reproduce a failure on another machine.
//
//     slice1-negative-strides.d3d12/
//         slice1.json            the case
//         inputs/InputTensor.npy, expected/OutputTensor.npy, actual/OutputTensor.npy
//         environment.json       engine, device, driver, versions, what happened, what is left out
//         command.txt            how to run it again
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/core/shown_text.h"
#include "engine/report/sink.h"

namespace dmlconform::report {

struct BundleSettings {
    /// The folder that contains the bundles.
    std::string folder;
    std::size_t most = 50;
    /// Limit in bytes of tensors; larger failures get no bundle.
    std::uint64_t largest = std::uint64_t{256} << 20;
    /// Options of the run besides those for engines.
    std::vector<std::string> options{};
};

/// "slice1-basic-T-FLOAT16.d3d12": letters, digits and `_ . -`, at most 100 of them, never beginning with a dot.
[[nodiscard]] std::string bundle_name(const std::string& id, const std::string& engine);

/// Why a failure has no bundle.
struct NoBundle {
    core::Error error;
    /// True if its files could not be written. Otherwise the bundle would be too large, or the case's data are missing.
    bool unwritten = false;
};

/// Writes a new folder in settings.folder and returns its path. Removes everything after a failure.
[[nodiscard]] tl::expected<std::string, NoBundle> write_bundle(const BundleSettings& settings,
                                                               const RunContext& context, const EngineInfo& engine,
                                                               const run::CaseResult& result);

/// Creates the folder, and checks that it is writable.
[[nodiscard]] core::Result<void> check_bundle_folder(const std::string& folder);

/// Writes a bundle for each failure on the gate, up to a limit.
class Bundles final : public Sink {
public:
    explicit Bundles(BundleSettings settings) : settings_(std::move(settings)) {}

    core::Result<void> begin(const RunContext& context, std::span<const EngineInfo> engines) override;
    core::Result<void> add(const run::CaseResult& result) override;
    core::Result<void> finish(const run::RunTotals& totals, int exit_code) override;

    /// How many bundles were written, where, and which failures have none; one line each, empty if nothing failed.
    [[nodiscard]] core::ShownText summary() const;

private:
    BundleSettings settings_;
    RunContext context_;
    std::vector<EngineInfo> engines_;
    std::size_t written_ = 0;
    /// Failures beyond the limit.
    std::size_t left_out_ = 0;
    /// Failures whose bundle could not be written.
    std::size_t unwritten_ = 0;
    /// Ids of failures without a bundle, and the reasons.
    std::vector<std::string> impossible_;
};

}  // namespace dmlconform::report
