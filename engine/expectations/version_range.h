// Versions of drivers and libraries, and ranges of them.
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

/// The first version in a text such as "NVIDIA 550.90.07 (LLVM 15.0.6)": numbers with dots between them. Nothing when
/// there is none, or when one of its numbers is beyond 64 bits.
[[nodiscard]] std::optional<Version> find_version(std::string_view text);

/// All of some bounds: ">=22.3 <24.1". A bound alone, "22.3", is equality. A version is compared as far as the bound
/// goes, so 22.3.6 is equal to "22.3", and neither above it nor below.
class VersionRange {
public:
    /// An error says what is wrong with the text.
    [[nodiscard]] static core::Result<VersionRange> parse(std::string_view text);

    [[nodiscard]] bool contains(const Version& version) const;

private:
    enum class Relation : std::uint8_t { equal, less, less_or_equal, greater, greater_or_equal };
    struct Bound {
        Relation relation = Relation::equal;
        Version version;
    };
    std::vector<Bound> bounds_;
};

}  // namespace dmlconform::expectations
