// The plan of an operator: the dispatches that compute it, as data. Bindings make plans.
//
// A plan names shaders, buffers and numbers. The engine compiles, allocates, records, splits, and inserts barriers.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "shaders/common/device_variants.hlsli"
#include "shaders/common/parameters.hlsli"

namespace dmlconform::d3d12 {

/// Threads of a group, unless a variant has another number.
inline constexpr std::uint64_t group_size = GROUP_SIZE;

/// One shader file compiled with one set of macros.
struct ShaderVariant {
    /// File name in shaders/ without its extension.
    std::string_view shader;
    std::vector<std::pair<std::string_view, std::uint32_t>> defines;

    /// A unique text for the variant: "movement WIDTH=8 PACKED=1 BOUNDED=0".
    [[nodiscard]] std::string key() const;
};

/// A macro and its possible values.
struct DefineRange {
    std::string_view name;
    std::vector<std::uint32_t> values;
};

/// All combinations of the macros' values.
[[nodiscard]] std::vector<ShaderVariant> all_variants(std::string_view shader, const std::vector<DefineRange>& ranges);

void append(std::vector<ShaderVariant>& variants, const std::vector<ShaderVariant>& more);
[[nodiscard]] std::vector<ShaderVariant> joined(std::initializer_list<std::vector<ShaderVariant>> lists);

/// A macro of shaders that convert FLOAT16. Plans use HALF_BY_INTEGERS; the engine selects HALF_BY_DEVICE if the
/// device's own conversions are accurate enough: see half_conversions.h.
inline constexpr std::string_view half_macro = "HALF";

/// A macro of shaders that read units of 16 bytes: see Dispatch::has_units. Plans use UNITS_BY_WORDS; the engine
/// selects UNITS_AT_ONCE if the device supports it. If plans use HALF_BY_INTEGERS as well, it selects both or none.
inline constexpr std::string_view units_macro = "READS_UNITS";

/// A buffer that a dispatch accesses.
struct BufferRef {
    enum class Kind : std::uint8_t {
        absent,     // never accessed: an absent optional tensor
        input,      // one of Descriptor::inputs()
        output,     // one of Descriptor::outputs()
        temporary,  // one of DispatchPlan::temporaries
    };
    Kind kind = Kind::absent;
    std::size_t index = 0;
    /// For a part of the buffer: its offset and size in bytes. A size of 0 means the whole buffer.
    std::uint64_t start = 0;
    std::uint64_t bytes = 0;
    /// True if the dispatch only reads the buffer. Inputs are always read-only.
    bool is_read_only = false;

    [[nodiscard]] constexpr bool may_be_written() const {
        return (kind == Kind::output || kind == Kind::temporary) && !is_read_only;
    }
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
    /// Bound as unordered-access views u0, u1, … . Buffers are aligned to 16 bytes and readable up to the next multiple
    /// of 16 bytes after their end. An output may be written only up to the end of its last 4-byte word, where its
    /// guard begins.
    std::vector<BufferRef> buffers;
    /// The constant buffer b0: see parameters_from.
    std::vector<std::uint32_t> parameters;
    /// The number of thread groups. Shaders compute a group's index by shaders/common/dispatch.hlsli.
    std::uint64_t groups = 0;
    /// The buffers are bound a second time as typed buffers of 16 bytes, u16, u17, …: they write a whole unit at once,
    /// whereas vkd3d 2.1 writes structured buffers word by word. Only variants selected by units_macro may read them,
    /// because not all devices can read typed buffers whose elements are larger than a word
    /// (TypedUAVLoadAdditionalFormats).
    bool has_units = false;

    /// True if the dispatch accesses a part of a buffer.
    [[nodiscard]] bool has_parts() const {
        return std::ranges::any_of(buffers, [](const BufferRef& ref) { return ref.bytes != 0; });
    }
};

struct DispatchPlan {
    /// Sizes in bytes. Each is followed by a guard, like outputs.
    std::vector<std::uint64_t> temporaries;
    /// Executed in order; each dispatch sees the writes of the preceding ones.
    std::vector<Dispatch> dispatches;
    /// Temporaries that are zero before the first execution. Each execution leaves them zero.
    std::vector<std::size_t> zeroed{};
    /// Lets temporaries share memory if no dispatches need them at the same time. Then only those in `zeroed`, which
    /// have memory of their own, have guards.
    bool shares_memory = false;
};

/// For each dispatch, the index of its wave. The dispatches of a wave are independent; each wave depends on the
/// preceding one. Parts of a buffer are not distinguished.
[[nodiscard]] std::vector<std::size_t> waves_of(const DispatchPlan& plan);

/// The words of a structure with the layout of the shader's constant buffer: 4-byte members, and arrays of 16-byte
/// structures that are aligned to 16 bytes.
template <class Parameters>
[[nodiscard]] std::vector<std::uint32_t> parameters_from(const Parameters& parameters) {
    static_assert(std::is_trivially_copyable_v<Parameters> && sizeof(Parameters) % 4 == 0);
    std::vector<std::uint32_t> words(sizeof(Parameters) / 4);
    std::memcpy(words.data(), &parameters, sizeof(Parameters));
    return words;
}

/// The quotient rounded up.
[[nodiscard]] constexpr std::uint64_t groups_of(std::uint64_t count, std::uint64_t size) {
    return (count + size - 1) / size;
}

}  // namespace dmlconform::d3d12
