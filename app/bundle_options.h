// The options for repro bundles, of `run` and `fuzz`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/command_line.h"
#include "engine/report/bundle.h"

namespace dmlconform::app {

struct BundleOptions {
    /// Empty: no bundles.
    std::string folder{};
    std::size_t most = report::BundleSettings{}.most;
    std::uint64_t largest = report::BundleSettings{}.largest;

    void add_to(Command command);
    /// `rerun_options`: options for the bundle's command besides the engine.
    [[nodiscard]] report::BundleSettings settings(std::vector<std::string> rerun_options) const;
};

}  // namespace dmlconform::app
