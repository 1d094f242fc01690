// Draws random windows.
#include "engine/fuzz/windows.h"

#include <array>
#include <string_view>
#include <vector>

#include "engine/fuzz/descriptor_builder.h"

namespace dmlconform::fuzz {

core::Dimensions draw_windows(Random& random, operators::Descriptor& descriptor, const core::Dimensions& image,
                              std::uint32_t most_padding) {
    const auto has = [&](std::string_view field) { return descriptor.has_field(field); };
    std::array<std::vector<std::uint32_t>, 5> lists;  // windows, strides, dilations, padding at the start, at the end
    core::Dimensions stops;
    for (std::size_t d = 2; d < image.size(); ++d) {
        const std::array<std::uint32_t, 5> drawn{random.pick(1, 3), random.pick(1, 3),
                                                 has("Dilations") ? random.pick(1, 2) : 1,
                                                 random.below(most_padding + 1), random.below(most_padding + 1)};
        const std::uint32_t padded = image[d] + drawn[3] + drawn[4];
        const bool fits = (drawn[0] - 1) * drawn[2] + 1 <= padded;
        for (std::size_t i = 0; i < lists.size(); ++i) {
            lists[i].push_back(i == 0 && !fits ? 1 : drawn[i]);
        }
        stops.push_back((padded - (lists[0].back() - 1) * drawn[2] - 1) / drawn[1] + 1);
    }
    const std::array<std::string_view, 5> names{has("WindowSizes") ? "WindowSizes" : "WindowSize", "Strides",
                                                "Dilations", "StartPadding", "EndPadding"};
    for (std::size_t i = 0; i < lists.size(); ++i) {
        if (has(names[i])) {
            field_of(descriptor, names[i]) = lists[i];
        }
    }
    return stops;
}

}  // namespace dmlconform::fuzz
