// Names and selection of adapters. The platform lists them.
#include "engine/d3d12/device/adapters.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "engine/core/ascii_case.h"
#include "engine/d3d12/device/platform.h"

namespace dmlconform::d3d12 {

core::Result<std::vector<AdapterInfo>> enumerate_adapters() {
    const auto list = AdapterList::open();
    if (!list) {
        return tl::unexpected(list.error());
    }
    return std::vector<AdapterInfo>(list->adapters().begin(), list->adapters().end());
}

core::Result<std::size_t> choose_adapter(std::span<const AdapterInfo> adapters, std::string_view substring) {
    if (substring.empty() && !adapters.empty()) {
        const auto best = std::min_element(adapters.begin(), adapters.end(),
                                           [](const auto& a, const auto& b) { return a.type < b.type; });
        return static_cast<std::size_t>(best - adapters.begin());
    }
    // Exact matches first, because a full name may be contained in another one.
    const auto named =
        std::find_if(adapters.begin(), adapters.end(), [&](const auto& adapter) { return adapter.name == substring; });
    if (named != adapters.end()) {
        return static_cast<std::size_t>(named - adapters.begin());
    }
    std::vector<std::string_view> names;
    for (std::size_t i = 0; i < adapters.size(); ++i) {
        if (core::lower_case(adapters[i].name).find(core::lower_case(substring)) != std::string::npos) {
            return i;
        }
        names.emplace_back(adapters[i].name);
    }
    return core::fail(fmt::format("no adapter's name contains \"{}\"", substring),
                      fmt::format("there is: {}", fmt::join(names, "; ")));
}

}  // namespace dmlconform::d3d12
