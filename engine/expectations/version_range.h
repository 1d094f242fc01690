// Versions of drivers and libraries, and ranges of versions.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/core/error.h"

namespace dmlconform::expectations {

/// The numbers of "22.3.6".
using Version = std::vector<std::uint64_t>;

/// The first version in a text such as "NVIDIA 550.90.07 (LLVM 15.0.6)": numbers separated by dots. Empty if there is
/// none, or if a number exceeds 64 bits.
[[nodiscard]] std::optional<Version> find_version(std::string_view text);

/// Bounds that must all hold: ">=22.3 <24.1". A version without an operator, "22.3", means equality. Versions are
/// compared up to the length of the bound, so 22.3.6 is equal to "22.3", neither above nor below it.
class VersionRange {
public:
    /// Fails with a message if the text is malformed.
    [[nodiscard]] static core::Result<VersionRange> parse(std::string_view text);

    [[nodiscard]] bool contains(const Version& version) const;
    /// True unless the range is empty.
    [[nodiscard]] bool contains_any() const;

private:
    enum class Relation : std::uint8_t { equal, less, less_or_equal, greater, greater_or_equal };
    struct Bound {
        Relation relation = Relation::equal;
        Version version;
    };
    std::vector<Bound> bounds_;
};

}  // namespace dmlconform::expectations
