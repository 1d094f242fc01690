// The catalogue: DirectML's operators as data.
//
// An entry describes the fields of an operator's struct, and which tensors each feature level allows. Each entry is a
// file in engine/operators/catalogue/ that is compiled into the program and parsed on first use. Reading, checking,
// printing and marshalling of descriptors all use the catalogue. Relations between fields that an entry cannot state
// are in code (see rules.h).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/core/data_type.h"
#include "engine/core/error.h"
#include "engine/core/feature_level.h"

namespace dmlconform::operators {

enum class FieldKind : std::uint8_t { input, output, attribute };

/// The C types of fields of DML_*_OPERATOR_DESC structs.
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

/// An enumeration of DirectML, with its enumerators in the order of DirectML.h. BOOL is treated as one.
struct Enumeration {
    struct Enumerator {
        std::string name;
        std::uint32_t value = 0;
    };
    std::string name;
    std::vector<Enumerator> enumerators;

    /// The common prefix of the enumerators, such as "DML_AXIS_DIRECTION_". Empty for BOOL.
    [[nodiscard]] std::string prefix() const;
    /// Accepts an enumerator with or without the prefix.
    [[nodiscard]] std::optional<std::uint32_t> parse(std::string_view text) const;
    /// The full enumerator; empty if no enumerator has the value.
    [[nodiscard]] std::optional<std::string_view> name_of(std::uint32_t value) const;
};

/// A lower bound on a number that applied below some feature level.
struct MinimumBefore {
    double minimum = 0;
    core::FeatureLevel level;
};

struct Field {
    std::string name;
    FieldKind kind = FieldKind::attribute;
    FieldType type = FieldType::uint;
    bool optional = false;
    /// The enumeration of a UINT field, including BOOL; otherwise null.
    const Enumeration* enumeration = nullptr;
    /// For an array, the field that holds its length; otherwise empty.
    std::string count_field;
    /// For a scalar union, the field that holds its data type; otherwise empty.
    std::string data_type_field;
    /// The level from which on the field is optional; below, it is required.
    std::optional<core::FeatureLevel> required_before;
    std::optional<MinimumBefore> minimum_before;

    [[nodiscard]] bool is_tensor() const {
        return type == FieldType::tensor_desc || type == FieldType::tensor_desc_array;
    }
};

/// Which tensors a field allows, from one feature level up to the level of the next entry for the field.
struct TensorSupport {
    core::FeatureLevel level;
    std::uint32_t min_dimensions = 0;
    std::uint32_t max_dimensions = 0;
    std::vector<core::DataType> data_types;
};

/// Tensors that must have a property in common, if they are present. "QuantizationTensors" refers to all tensors of
/// that array, "QuantizationTensors[0]" to one of them.
struct SameConstraint {
    enum class Property : std::uint8_t { data_type, dimension_count, sizes };
    Property property = Property::data_type;
    std::vector<std::string> tensors;
};

/// A constraint on the sizes of some tensors. Absent tensors are ignored.
struct SizesConstraint {
    enum class Kind : std::uint8_t {
        one_element,  // every size is 1
        divide,       // each size divides the size of tensor `of` in the same dimension
    };
    Kind kind = Kind::one_element;
    std::vector<std::string> tensors;
    /// The other tensor, for `divide`.
    std::string of;
};

/// A constraint on an attribute that depends on a tensor's descriptor.
struct AttributeConstraint {
    enum class Kind : std::uint8_t {
        dimension_count,  // equals the tensor's number of dimensions minus `less`
        axis,             // is less than the tensor's number of dimensions; applies to each entry of an array
        data_type,        // equals the tensor's data type
        size,             // equals the tensor's size in dimension `less`
    };
    Kind kind = Kind::axis;
    /// A UINT field, or for `axis` a UINT array.
    std::string field;
    std::string tensor;
    /// The number to subtract, or for `size` the dimension.
    std::uint32_t less = 0;
};

/// What an operator does with the elements of its inputs.
enum class ElementUse : std::uint8_t {
    computed,  // computes with them
    compared,  // compares them with each other or with zero, and gives some of them or their positions
    moved,     // copies or combines bits, whatever they mean
};

/// What a recurrent network has in each direction. No network has no gates.
struct NetworkParts {
    std::uint32_t gates = 0;
    std::uint32_t activations = 0;
};

struct OperatorSchema {
    /// The full name: "DML_OPERATOR_SLICE1".
    std::string name;
    /// The value of its enumerator in DML_OPERATOR_TYPE.
    std::uint32_t number = 0;
    core::FeatureLevel introduced;
    /// All fields, in the order of the C struct.
    std::vector<Field> fields;
    /// Supported tensors by tensor field, feature levels ascending.
    std::map<std::string, std::vector<TensorSupport>, std::less<>> tensor_support;
    std::vector<SameConstraint> same;
    std::vector<SizesConstraint> sizes;
    std::vector<AttributeConstraint> attributes;
    /// For each output, the inputs whose memory it may share. Both are names of the C struct.
    std::map<std::string, std::vector<std::string>, std::less<>> in_place;
    /// Full names of the operators that may be fused, each with its lowest feature level. Empty only if the operator
    /// has no activation field.
    std::map<std::string, core::FeatureLevel, std::less<>> fusable;
    ElementUse elements = ElementUse::computed;
    /// Each element of the outputs depends only on the inputs' elements with the same coordinates. Normalisations count
    /// as well: a slice of one element is normalised separately.
    bool element_wise = false;
    NetworkParts network;

    /// The name without prefix: "SLICE1".
    [[nodiscard]] std::string_view short_name() const;
    [[nodiscard]] const Field* find_field(std::string_view field_name) const;
    /// True if the field holds the length of an array.
    [[nodiscard]] bool is_count(const Field& field) const;
    /// The entry for `field` that applies at `level`; null if the level is lower than that of every entry.
    [[nodiscard]] const TensorSupport* support_at(std::string_view field, core::FeatureLevel level) const;
};

/// The name of the array: "QuantizationTensors" for "QuantizationTensors[1]". Names without an index are returned
/// unchanged.
[[nodiscard]] std::string_view array_of(std::string_view name);
/// The index in "Strides[1]", which is 1; empty for "Strides" and for an invalid index.
[[nodiscard]] std::optional<std::size_t> index_in(std::string_view name);

/// Parses one catalogue file. Fails also if the file refers to a field that the struct does not have.
[[nodiscard]] core::Result<OperatorSchema> parse_schema(std::string_view text);

/// Accepts "DML_OPERATOR_SLICE1" and "SLICE1"; null if the catalogue has no such operator. The result lives as long as
/// the program. Thread-safe.
[[nodiscard]] const OperatorSchema* find_operator(std::string_view name);

/// Full names of all operators, ordered by DML_OPERATOR_TYPE.
[[nodiscard]] std::vector<std::string> operator_names();

/// Null when DirectML has no such enumeration.
[[nodiscard]] const Enumeration* find_enumeration(std::string_view name);

}  // namespace dmlconform::operators
