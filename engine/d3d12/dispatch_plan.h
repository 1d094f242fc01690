// What an operator's binding gives: the dispatches that compute it, as data.
//
// A plan names shaders, buffers and numbers. Compiling, allocating, recording, barriers and splitting are the engine's.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace dmlconform::d3d12 {

/// One shader file compiled with one set of macros.
struct ShaderVariant {
    /// File name in shaders/ without its extension.
    std::string_view shader;
    std::vector<std::pair<std::string_view, std::uint32_t>> defines;

    /// "movement WIDTH=8 PACKED=1 BOUNDED=0": tells variants apart.
    [[nodiscard]] std::string key() const;
};

/// A macro and the values it takes.
struct DefineRange {
    std::string_view name;
    std::vector<std::uint32_t> values;
};

/// All combinations of the macros' values.
[[nodiscard]] std::vector<ShaderVariant> all_variants(std::string_view shader, const std::vector<DefineRange>& ranges);

/// A macro of shaders that convert FLOAT16. Plans name the first value, and the engine takes the second one where the
/// device's own conversions are good enough: see half_conversions.h.
inline constexpr std::string_view half_macro = "HALF";
inline constexpr std::uint32_t half_by_integers = 1;
inline constexpr std::uint32_t half_by_device = 2;

/// A macro of shaders that read units of 16 bytes: see Dispatch::has_units. Plans name the first value, and the engine
/// takes the second one where the device can. Where plans name half_by_integers, too, it takes both second ones or
/// none.
inline constexpr std::string_view units_macro = "READS_UNITS";
inline constexpr std::uint32_t units_by_the_word = 0;
inline constexpr std::uint32_t units_at_once = 1;

/// A buffer that a dispatch works on.
struct BufferRef {
    enum class Kind : std::uint8_t {
        absent,     // never accessed: an optional tensor that is not there
        input,      // one of Descriptor::inputs()
        output,     // one of Descriptor::outputs()
        temporary,  // one of DispatchPlan::temporaries
    };
    Kind kind = Kind::absent;
    std::size_t index = 0;
    /// Of a part of the buffer: so many bytes from this one on. 0: the buffer as a whole.
    std::uint64_t start = 0;
    std::uint64_t bytes = 0;
};

[[nodiscard]] constexpr BufferRef input(std::size_t index) {
    return {.kind = BufferRef::Kind::input, .index = index};
}
[[nodiscard]] constexpr BufferRef output(std::size_t index) {
    return {.kind = BufferRef::Kind::output, .index = index};
}
[[nodiscard]] constexpr BufferRef temporary(std::size_t index) {
    return {.kind = BufferRef::Kind::temporary, .index = index};
}

struct Dispatch {
    ShaderVariant shader;
    /// Bound as the unordered-access views u0, u1, … . Buffers start at a multiple of 16 bytes and can be read up to
    /// the next multiple of 16 bytes after their end. Outputs must not be written beyond the word of 4 bytes they end
    /// in: there begin their guards.
    std::vector<BufferRef> buffers;
    /// The constant buffer b0: see parameters_from.
    std::vector<std::uint32_t> parameters;
    /// Thread groups; shaders find their number with shaders/dispatch.hlsli.
    std::uint64_t groups = 0;
    /// The buffers are there once more, as typed buffers of 16 bytes u16, u17, …: a whole unit of these is written at
    /// once, where a structured buffer takes a word at a time (vkd3d 2.1). They are for reading only in
    /// variants that units_macro chooses: not all devices can read typed buffers whose elements are more than a word
    /// (TypedUAVLoadAdditionalFormats).
    bool has_units = false;

    /// Whether it works on parts of buffers.
    [[nodiscard]] bool has_parts() const {
        return std::ranges::any_of(buffers, [](const BufferRef& ref) { return ref.bytes != 0; });
    }
};

struct DispatchPlan {
    /// Sizes in bytes. Behind each begins a guard, as behind outputs.
    std::vector<std::uint64_t> temporaries;
    /// In order; each sees what those before it wrote.
    std::vector<Dispatch> dispatches;
    /// Temporaries that are zero before the first execution. Each execution leaves them so.
    std::vector<std::size_t> zeroed{};
};

/// The words of a structure that is laid out as the shader's constant buffer: fields of 4 bytes, and arrays of
/// structures of 16 that start at multiples of 16.
template <class Parameters>
[[nodiscard]] std::vector<std::uint32_t> parameters_from(const Parameters& parameters) {
    static_assert(std::is_trivially_copyable_v<Parameters> && sizeof(Parameters) % 4 == 0);
    std::vector<std::uint32_t> words(sizeof(Parameters) / 4);
    std::memcpy(words.data(), &parameters, sizeof(Parameters));
    return words;
}

/// ceil(count / size).
[[nodiscard]] constexpr std::uint64_t groups_of(std::uint64_t count, std::uint64_t size) {
    return (count + size - 1) / size;
}

}  // namespace dmlconform::d3d12
