// What each operator does with elements: parts of its catalogue entry that say what the program would otherwise ask the
// operator's name for.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "engine/core/error.h"
#include "engine/operators/catalogue.h"

namespace dmlconform::operators {

/// What outputs do where a small error of an input crosses a bound: see engine/cpu/decisions.h.
struct Decides {
    enum class Kind : std::uint8_t { nothing, steps, picks, jumps };
    /// For floating-point outputs.
    Kind values = Kind::nothing;
    /// For integer outputs that are computed from floating-point inputs.
    Kind integers = Kind::steps;
    /// The input that is compared with the bound; empty if all are.
    std::string by;
};

/// Which numbers an input of indices, or of counts, may hold.
struct IndexRange {
    enum class Kind : std::uint8_t {
        axis,       // below the size of tensor `of` along the axis that attribute `field` names
        dimension,  // below the size of tensor `of` in dimension `dimension`
        last_of,    // each below one of the last sizes of tensor `of`; attribute `field` says how many sizes
        plane,      // below the product of the last two sizes of tensor `of`
    };
    Kind kind = Kind::axis;
    std::string of;
    std::string field;
    std::uint32_t dimension = 0;
    /// The bound itself is allowed.
    bool counts = false;
};

struct ElementRules {
    Decides decides;
    /// The inputs whose elements become the outputs' elements.
    std::vector<std::string> passes_on;
    /// By input.
    std::map<std::string, IndexRange, std::less<>> indices;
};

/// Reads the rules of an operator's catalogue entry. Fails also if they refer to a field that the struct does not have.
[[nodiscard]] core::Result<ElementRules> parse_element_rules(std::string_view text, const OperatorSchema& schema);

/// The rules of an operator in the catalogue. Thread-safe.
[[nodiscard]] const ElementRules& element_rules(const OperatorSchema& schema);

}  // namespace dmlconform::operators
