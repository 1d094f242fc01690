// Naming and enumeration of shader variants.
#include "engine/d3d12/dispatch_plan.h"

#include <fmt/format.h>

#include <iterator>

namespace dmlconform::d3d12 {

std::string ShaderVariant::key() const {
    std::string text(shader);
    for (const auto& [name, value] : defines) {
        fmt::format_to(std::back_inserter(text), " {}={}", name, value);
    }
    return text;
}

std::vector<ShaderVariant> all_variants(std::string_view shader, const std::vector<DefineRange>& ranges) {
    std::vector<ShaderVariant> variants{{shader, {}}};
    for (const DefineRange& range : ranges) {
        std::vector<ShaderVariant> extended;
        for (const ShaderVariant& variant : variants) {
            for (const std::uint32_t value : range.values) {
                extended.push_back(variant);
                extended.back().defines.emplace_back(range.name, value);
            }
        }
        variants = std::move(extended);
    }
    return variants;
}

}  // namespace dmlconform::d3d12
