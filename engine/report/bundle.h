// Repro bundles: a folder for one failure with everything that it takes to see it again on another machine.
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
    /// Where bundles go.
    std::string folder;
    std::size_t most = 50;
    /// In bytes of tensors; what would take more gets no bundle.
    std::uint64_t largest = std::uint64_t{256} << 20;
    /// What the run was given besides the engines.
    std::vector<std::string> options{};
};

/// "slice1-basic-T-FLOAT16.d3d12": letters, digits and `_ . -`, at most 100 of them, never beginning with a dot.
[[nodiscard]] std::string bundle_name(const std::string& id, const std::string& engine);

/// Why there is no bundle.
struct NoBundle {
    core::Error error;
    /// Whether its files could not be written. Otherwise there is nothing to write: it would be too large, or the data
    /// of the case are gone.
    bool unwritten = false;
};

/// Writes a folder into settings.folder under a name that is not taken yet, and returns its path. Nothing is left where
/// that fails.
[[nodiscard]] tl::expected<std::string, NoBundle> write_bundle(const BundleSettings& settings,
                                                               const RunContext& context, const EngineInfo& engine,
                                                               const run::CaseResult& result);

/// Makes the folder, and finds out whether it can be written to.
[[nodiscard]] core::Result<void> check_bundle_folder(const std::string& folder);

/// A bundle for each failure on the gate, as long as there may be more.
class Bundles final : public Sink {
public:
    explicit Bundles(BundleSettings settings) : settings_(std::move(settings)) {}

    core::Result<void> begin(const RunContext& context, std::span<const EngineInfo> engines) override;
    core::Result<void> add(const run::CaseResult& result) override;
    core::Result<void> finish(const run::RunTotals& totals, int exit_code) override;

    /// How many bundles there are, where, and which failures have none; a line each, empty when nothing failed.
    [[nodiscard]] core::ShownText summary() const;

private:
    BundleSettings settings_;
    RunContext context_;
    std::vector<EngineInfo> engines_;
    std::size_t written_ = 0;
    /// Failures beyond the most.
    std::size_t left_out_ = 0;
    /// Failures whose bundle could not be written.
    std::size_t unwritten_ = 0;
    /// Ids and reasons of those that could not be.
    std::vector<std::string> impossible_;
};

}  // namespace dmlconform::report
