// Names and enumerates shader variants, and finds dependencies between dispatches.
#include "engine/d3d12/planning/dispatch_plan.h"

#include <fmt/format.h>

#include <iterator>
#include <map>

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

void append(std::vector<ShaderVariant>& variants, const std::vector<ShaderVariant>& more) {
    variants.insert(variants.end(), more.begin(), more.end());
}

std::vector<ShaderVariant> joined(std::initializer_list<std::vector<ShaderVariant>> lists) {
    std::vector<ShaderVariant> all;
    for (const auto& list : lists) {
        append(all, list);
    }
    return all;
}

std::vector<std::size_t> waves_of(const DispatchPlan& plan) {
    std::vector<std::size_t> waves;
    std::size_t wave = 0;
    // The buffers that the dispatches of the wave access, and whether one of them may write the buffer.
    std::map<std::pair<BufferRef::Kind, std::size_t>, bool> accessed;
    for (const Dispatch& dispatch : plan.dispatches) {
        const bool waits = std::ranges::any_of(dispatch.buffers, [&](const BufferRef& ref) {
            const auto before = accessed.find({ref.kind, ref.index});
            return before != accessed.end() && (before->second || ref.may_be_written());
        });
        if (waits) {
            ++wave;
            accessed.clear();
        }
        for (const BufferRef& ref : dispatch.buffers) {
            if (ref.kind != BufferRef::Kind::absent) {
                accessed[{ref.kind, ref.index}] |= ref.may_be_written();
            }
        }
        waves.push_back(wave);
    }
    return waves;
}

}  // namespace dmlconform::d3d12
