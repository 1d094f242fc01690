// Versions of the program and of the libraries that it is built with.
#include <fmt/format.h>

#include <CLI/Version.hpp>
#include <nlohmann/json.hpp>
#include <tl/expected.hpp>
#if __has_include(<xtensor/core/xtensor_config.hpp>)
#include <xtensor/core/xtensor_config.hpp>
#else
#include <xtensor/xtensor_config.hpp>
#endif

#include "app/command.h"
#if DMLCONFORM_HAS_D3D12
#include "engine/d3d12/d3d12_engine.h"
#endif

namespace dmlconform::app {

std::vector<std::pair<std::string, std::string>> versions() {
    std::vector<std::pair<std::string, std::string>> list{
        {"dmlconform", DMLCONFORM_VERSION},
        {"CLI11", CLI11_VERSION},
        {"nlohmann-json", fmt::format("{}.{}.{}", NLOHMANN_JSON_VERSION_MAJOR, NLOHMANN_JSON_VERSION_MINOR,
                                      NLOHMANN_JSON_VERSION_PATCH)},
        {"xtensor", fmt::format("{}.{}.{}", XTENSOR_VERSION_MAJOR, XTENSOR_VERSION_MINOR, XTENSOR_VERSION_PATCH)},
        {"fmt", fmt::format("{}.{}.{}", FMT_VERSION / 10000, FMT_VERSION / 100 % 100, FMT_VERSION % 100)},
        {"tl-expected",
         fmt::format("{}.{}.{}", TL_EXPECTED_VERSION_MAJOR, TL_EXPECTED_VERSION_MINOR, TL_EXPECTED_VERSION_PATCH)},
    };
#if DMLCONFORM_HAS_D3D12
    for (auto& library : d3d12::libraries()) {
        list.push_back(std::move(library));
    }
#endif
    return list;
}

}  // namespace dmlconform::app
