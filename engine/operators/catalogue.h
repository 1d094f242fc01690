// The catalogue: DirectML's operators as data.
//
// An entry describes an operator's struct field by field, and what each feature level allows for its tensors. It is a
// file of its own in engine/operators/catalogue/, compiled in and parsed when first asked for. Reading,
// checking, printing and marshalling descriptors all run off it; only relations between fields that
// the entry cannot state are code (see rules.h).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/core/data_type.h"
#include "engine/core/error.h"
#include "engine/core/feature_level.h"

namespace dmlconform::operators {

enum class FieldKind : std::uint8_t { input, output, attribute };

/// The C types that fields of DML_*_OPERATOR_DESC structs have.
enum class FieldType : std::uint8_t {
    tensor_desc,
    tensor_desc_array,
    operator_desc,  // a fused activation
    operator_desc_array,
    uint,  // UINT, enumerations and BOOL
    int_,
    float_,
    uint_array,
    int_array,
    float_array,
    scale_bias,
    size_2d,
    scalar_union,
};

/// An enumeration of DirectML, enumerators in the header's order. BOOL is one of them.
struct Enumeration {
    struct Enumerator {
        std::string name;
        std::uint32_t value = 0;
    };
    std::string name;
    std::vector<Enumerator> enumerators;

    /// What enumerators' names start with: "DML_AXIS_DIRECTION_". Empty for BOOL.
    [[nodiscard]] std::string prefix() const;
    /// Accepts the full enumerator or what follows the prefix.
    [[nodiscard]] std::optional<std::uint32_t> parse(std::string_view text) const;
    /// The full enumerator; nothing for a value without one.
    [[nodiscard]] std::optional<std::string_view> name_of(std::uint32_t value) const;
};

/// A lower bound that a number had before some feature level.
struct MinimumBefore {
    double minimum = 0;
    core::FeatureLevel level;
};

struct Field {
    std::string name;
    FieldKind kind = FieldKind::attribute;
    FieldType type = FieldType::uint;
    bool optional = false;
    /// For a UINT that is an enumeration or BOOL; otherwise null.
    const Enumeration* enumeration = nullptr;
    /// For an array: the name of the field that holds its length; otherwise empty.
    std::string count_field;
    /// For a scalar union: the name of the field that holds its data type; otherwise empty.
    std::string data_type_field;
    /// An optional field that below this level was not optional yet.
    std::optional<core::FeatureLevel> required_before;
    std::optional<MinimumBefore> minimum_before;

    [[nodiscard]] bool is_tensor() const {
        return type == FieldType::tensor_desc || type == FieldType::tensor_desc_array;
    }
};

/// What one tensor field may be, from one feature level up to the next entry for the same field.
struct TensorSupport {
    core::FeatureLevel level;
    std::uint32_t min_dimensions = 0;
    std::uint32_t max_dimensions = 0;
    std::vector<core::DataType> data_types;
};

/// A property that the tensors named share, where they are present. "QuantizationTensors" means all tensors of that
/// array, "QuantizationTensors[0]" one of them.
struct SameConstraint {
    enum class Property : std::uint8_t { data_type, dimension_count, sizes };
    Property property = Property::data_type;
    std::vector<std::string> tensors;
};

/// What the sizes of some tensors are, seen from others. Tensors that are absent are passed over.
struct SizesConstraint {
    enum class Kind : std::uint8_t {
        one_element,  // every size is 1
        divide,       // each size divides the one of `of` in the same dimension
    };
    Kind kind = Kind::one_element;
    std::vector<std::string> tensors;
    /// For `divide`.
    std::string of;
};

/// What an attribute has to be by the description of a tensor.
struct AttributeConstraint {
    enum class Kind : std::uint8_t {
        dimension_count,  // equals the tensor's number of dimensions, less `less`
        axis,             // is less than the tensor's number of dimensions; for an array, each entry is
        data_type,        // equals the tensor's data type
        size,             // equals the tensor's size in dimension `less`
    };
    Kind kind = Kind::axis;
    /// A UINT, or for `axis` a UINT array.
    std::string field;
    std::string tensor;
    /// What is subtracted, or for `size` which dimension.
    std::uint32_t less = 0;
};

struct OperatorSchema {
    /// "DML_OPERATOR_SLICE1".
    std::string name;
    /// The value of its enumerator in DML_OPERATOR_TYPE.
    std::uint32_t number = 0;
    core::FeatureLevel introduced;
    /// In the order of the C struct.
    std::vector<Field> fields;
    /// By tensor field, levels ascending.
    std::map<std::string, std::vector<TensorSupport>, std::less<>> tensor_support;
    std::vector<SameConstraint> same;
    std::vector<SizesConstraint> sizes;
    std::vector<AttributeConstraint> attributes;
    /// By output, the inputs in whose memory it may be computed: either's name in the C struct.
    std::map<std::string, std::vector<std::string>, std::less<>> in_place;
    /// Operators that may be fused, by full name, each with the lowest level at which it may be. An entry that has a
    /// field for them and lists none takes any activation.
    std::map<std::string, core::FeatureLevel, std::less<>> fusable;

    /// "SLICE1".
    [[nodiscard]] std::string_view short_name() const;
    [[nodiscard]] const Field* find_field(std::string_view field_name) const;
    /// True when the field only counts the elements of arrays.
    [[nodiscard]] bool is_count(const Field& field) const;
    /// The row for `field` that holds at `level`; null when the level is too low for any.
    [[nodiscard]] const TensorSupport* support_at(std::string_view field, core::FeatureLevel level) const;
};

/// "QuantizationTensors" for "QuantizationTensors[1]"; a name without an index is itself.
[[nodiscard]] std::string_view array_of(std::string_view name);

/// Parses one catalogue file. An error, too, where it names a field that the struct does not have.
[[nodiscard]] core::Result<OperatorSchema> parse_schema(std::string_view text);

/// Accepts "DML_OPERATOR_SLICE1" and "SLICE1"; null when the catalogue has no such operator. The result lives as long
/// as the program. Safe to call from several threads.
[[nodiscard]] const OperatorSchema* find_operator(std::string_view name);

/// Full names of all operators, in the order of their numbers.
[[nodiscard]] std::vector<std::string> operator_names();

/// Null when DirectML has no such enumeration.
[[nodiscard]] const Enumeration* find_enumeration(std::string_view name);

}  // namespace dmlconform::operators
