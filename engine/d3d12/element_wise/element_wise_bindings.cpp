// Element-wise operators: one shader for all, and one line for each operator. Everything else follows from the
// descriptor.
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <type_traits>
#include <utility>

#include "engine/core/tensor.h"
#include "engine/d3d12/movement/transposition.h"
#include "engine/d3d12/planning/binding.h"
#include "engine/d3d12/planning/element_format.h"
#include "engine/d3d12/planning/fused_activation.h"
#include "engine/d3d12/planning/scalar_conversion.h"
#include "engine/d3d12/planning/strided_dimensions.h"
#include "shaders/element_wise/element_wise_parameters.hlsli"

namespace dmlconform::d3d12::element_wise_bindings {
namespace {

using core::DataType;
using operators::Descriptor;
using operators::FieldType;

using Parameters = ElementWiseParameters;

constexpr std::uint64_t vector_size = 4;

using Flags = unsigned;
constexpr Flags real = 1u << CLASS_REAL;
constexpr Flags signed_32 = 1u << CLASS_SIGNED;
constexpr Flags unsigned_32 = 1u << CLASS_UNSIGNED;
constexpr Flags signed_64 = 1u << CLASS_SIGNED_64;
constexpr Flags unsigned_64 = 1u << CLASS_UNSIGNED_64;
constexpr Flags numbers = real | signed_32 | unsigned_32 | signed_64 | unsigned_64;
/// Integers are treated as unsigned bits, and so are floating-point numbers unless they are computed with.
constexpr Flags raw = 1u << 8;
constexpr Flags bits = raw | unsigned_32 | unsigned_64;
/// Like `raw`, unless there is a ScaleBias.
constexpr Flags raw_unscaled = 1u << 9;
/// Integers out of the output's range are clamped.
constexpr Flags saturating = 1u << 10;
/// FLOAT attributes are converted to the tensors' type, like scalar unions.
constexpr Flags bounds = 1u << 11;
/// The output's type decides whether integers are signed.
constexpr Flags output_decides = 1u << 12;
/// A pseudo-tensor with one element for each channel follows the operands.
constexpr Flags channels = 1u << 13;
/// An absent zero point is the middle of the range for UINT8 and UINT4.
constexpr Flags centred = 1u << 14;
/// FLOAT32 to 8 bits has a separate shader.
constexpr Flags quantizing = 1u << 15;
/// Elements are copied as bits, possibly transposed.
constexpr Flags moving = 1u << 16;

struct Row {
    std::string_view name;
    Flags flags;
};

constexpr Row rows[] = {
    {"ELEMENT_WISE_IDENTITY", real | signed_32 | unsigned_32 | unsigned_64 | raw_unscaled | moving},
    {"ELEMENT_WISE_ABS", real | signed_32 | signed_64 | saturating},
    {"ELEMENT_WISE_ACOS", real},
    {"ELEMENT_WISE_ADD", real | bits},
    {"ELEMENT_WISE_ASIN", real},
    {"ELEMENT_WISE_ATAN", real},
    {"ELEMENT_WISE_CEIL", real},
    {"ELEMENT_WISE_CLIP", numbers | bounds},
    {"ELEMENT_WISE_COS", real},
    {"ELEMENT_WISE_DIVIDE", numbers},
    {"ELEMENT_WISE_EXP", real},
    {"ELEMENT_WISE_FLOOR", real},
    {"ELEMENT_WISE_LOG", real},
    {"ELEMENT_WISE_LOGICAL_AND", unsigned_32},
    {"ELEMENT_WISE_LOGICAL_EQUALS", real | bits},
    {"ELEMENT_WISE_LOGICAL_GREATER_THAN", numbers},
    {"ELEMENT_WISE_LOGICAL_LESS_THAN", numbers},
    {"ELEMENT_WISE_LOGICAL_NOT", unsigned_32},
    {"ELEMENT_WISE_LOGICAL_OR", unsigned_32},
    {"ELEMENT_WISE_LOGICAL_XOR", unsigned_32},
    {"ELEMENT_WISE_MAX", numbers},
    {"ELEMENT_WISE_MEAN", real | signed_32 | unsigned_32},
    {"ELEMENT_WISE_MIN", numbers},
    {"ELEMENT_WISE_MULTIPLY", real | bits},
    {"ELEMENT_WISE_POW", real | signed_32 | unsigned_32 | saturating},
    {"ELEMENT_WISE_CONSTANT_POW", real},
    {"ELEMENT_WISE_RECIP", real},
    {"ELEMENT_WISE_SIN", real},
    {"ELEMENT_WISE_SQRT", real},
    {"ELEMENT_WISE_SUBTRACT", real | bits},
    {"ELEMENT_WISE_TAN", real},
    {"ELEMENT_WISE_THRESHOLD", real | signed_32 | unsigned_32 | bounds},
    {"ELEMENT_WISE_QUANTIZE_LINEAR", real | quantizing},
    {"ELEMENT_WISE_DEQUANTIZE_LINEAR", real},
    {"ACTIVATION_ELU", real},
    {"ACTIVATION_HARD_SIGMOID", real},
    {"ACTIVATION_IDENTITY", raw | unsigned_32 | moving},
    {"ACTIVATION_LEAKY_RELU", real},
    {"ACTIVATION_LINEAR", real},
    {"ACTIVATION_PARAMETERIZED_RELU", real | signed_32},
    {"ACTIVATION_PARAMETRIC_SOFTPLUS", real},
    {"ACTIVATION_RELU", real | signed_32},
    {"ACTIVATION_SCALED_ELU", real},
    {"ACTIVATION_SCALED_TANH", real},
    {"ACTIVATION_SIGMOID", real},
    {"ACTIVATION_SOFTPLUS", real},
    {"ACTIVATION_SOFTSIGN", real},
    {"ACTIVATION_TANH", real},
    {"ACTIVATION_THRESHOLDED_RELU", real},
    {"CAST", real | signed_32 | unsigned_32 | unsigned_64 | saturating | output_decides},
    {"VALUE_SCALE_2D", real | channels},
    {"ELEMENT_WISE_SIGN", numbers},
    {"ELEMENT_WISE_IS_NAN", real},
    {"ELEMENT_WISE_ERF", real},
    {"ELEMENT_WISE_SINH", real},
    {"ELEMENT_WISE_COSH", real},
    {"ELEMENT_WISE_TANH", real},
    {"ELEMENT_WISE_ASINH", real},
    {"ELEMENT_WISE_ACOSH", real},
    {"ELEMENT_WISE_ATANH", real},
    {"ELEMENT_WISE_IF", bits},
    {"ELEMENT_WISE_ADD1", real},
    {"ACTIVATION_SHRINK", real},
    {"ELEMENT_WISE_BIT_SHIFT_LEFT", bits},
    {"ELEMENT_WISE_BIT_SHIFT_RIGHT", bits},
    {"ELEMENT_WISE_ROUND", real},
    {"ELEMENT_WISE_IS_INFINITY", real},
    {"ELEMENT_WISE_MODULUS_TRUNCATE", numbers},
    {"ELEMENT_WISE_MODULUS_FLOOR", numbers},
    {"ELEMENT_WISE_BIT_AND", bits},
    {"ELEMENT_WISE_BIT_OR", bits},
    {"ELEMENT_WISE_BIT_XOR", bits},
    {"ELEMENT_WISE_BIT_NOT", bits},
    {"ELEMENT_WISE_BIT_COUNT", bits},
    {"ELEMENT_WISE_LOGICAL_GREATER_THAN_OR_EQUAL", numbers},
    {"ELEMENT_WISE_LOGICAL_LESS_THAN_OR_EQUAL", numbers},
    {"ACTIVATION_CELU", real},
    {"ACTIVATION_RELU_GRAD", real | signed_32},
    {"ADAM_OPTIMIZER", real},
    {"ELEMENT_WISE_ATAN_YX", real},
    {"ELEMENT_WISE_CLIP_GRAD", numbers | bounds},
    {"ELEMENT_WISE_DIFFERENCE_SQUARE", real | raw | unsigned_32},
    {"ELEMENT_WISE_QUANTIZED_LINEAR_ADD", real},
    {"ELEMENT_WISE_CLIP1", numbers | bounds},
    {"ELEMENT_WISE_CLIP_GRAD1", numbers | bounds},
    {"ELEMENT_WISE_NEGATE", real | signed_32 | signed_64 | saturating},
    {"ACTIVATION_GELU", real},
    {"ACTIVATION_SWISH", real},
    {"ACTIVATION_HARD_SWISH", real},
    {"QUANTIZE", real | centred | quantizing},
    {"DEQUANTIZE", real | centred},
};

/// The maximum number of tensors of an operator. Arrays of tensors contain a scale and a zero point.
std::size_t tensor_count(const operators::OperatorSchema& schema, operators::FieldKind kind) {
    std::size_t count = 0;
    for (const operators::Field& field : schema.fields) {
        if (field.kind == kind && field.is_tensor()) {
            count += field.type == FieldType::tensor_desc_array ? 2 : 1;
        }
    }
    return count;
}

ShaderVariant variant_of(const operators::OperatorSchema& schema, std::uint32_t number_class, bool vector) {
    const auto count = [&](operators::FieldKind kind) {
        return static_cast<std::uint32_t>(tensor_count(schema, kind));
    };
    return {"element_wise",
            {{"OPERATOR", schema.number},
             {"CLASS", number_class},
             {"INPUTS", count(operators::FieldKind::input)},
             {"OUTPUTS", count(operators::FieldKind::output)},
             {"VECTOR", vector ? 1u : 0u}}};
}

/// `alike`: the shader's macro of that name.
ShaderVariant quantize_bytes_of(const operators::OperatorSchema& schema, std::uint32_t alike) {
    return {"quantize_bytes", {{"ALIKE", alike}, {"OPERATOR", schema.number}}};
}

std::vector<ShaderVariant> variants_of(const Row& row) {
    std::vector<ShaderVariant> variants;
    if ((row.flags & quantizing) != 0) {
        for (const std::uint32_t alike : {0u, 1u, 2u, static_cast<std::uint32_t>(QUANTIZED_ROWS_ALIKE)}) {
            variants.push_back(quantize_bytes_of(*operators::find_operator(row.name), alike));
        }
    }
    if ((row.flags & moving) != 0) {
        variants = transposition_variants();
    }
    for (std::uint32_t number_class = CLASS_REAL; number_class <= CLASS_UNSIGNED_64; ++number_class) {
        for (const bool vector : {false, true}) {
            if ((row.flags >> number_class & 1) != 0) {
                variants.push_back(variant_of(*operators::find_operator(row.name), number_class, vector));
            }
        }
    }
    return variants;
}

/// Converts a scalar, given as bits, to another type: FP32 bits for floating-point types, otherwise a 64-bit integer.
std::uint64_t bound_bits(std::uint64_t from_bits, DataType from, DataType to) {
    return core::with_type(from, [&]<class From>() -> std::uint64_t {
        From stored;
        std::memcpy(static_cast<void*>(&stored), &from_bits, sizeof(stored));
        return core::with_type(to, [&]<class To>() -> std::uint64_t {
            if constexpr (std::is_integral_v<From> && std::is_integral_v<To>) {
                return static_cast<std::uint64_t>(converted<To>(stored));
            } else if constexpr (std::is_integral_v<To>) {
                return static_cast<std::uint64_t>(converted<To>(static_cast<double>(stored)));
            } else {
                return std::bit_cast<std::uint32_t>(static_cast<float>(stored));
            }
        });
    });
}

class Planner {
public:
    Planner(const Row& row, const Descriptor& descriptor) : row_(row), descriptor_(descriptor) {
        for (const operators::TensorSlot& slot : descriptor.inputs()) {
            tensors_.push_back(slot.desc);
        }
        tensors_.resize(input_count_);
        for (const operators::TensorSlot& slot : descriptor.outputs()) {
            tensors_.push_back(slot.desc);
        }
    }

    [[nodiscard]] DispatchPlan plan() && {
        put_attributes();
        if (auto moved = transposed()) {
            return {{}, {*std::move(moved)}};
        }
        class_ = number_class();
        parameters_.saturates = has(saturating) ? 1 : 0;
        share_dimensions();
        const bool vector = can_be_vector();
        put_operands(vector);
        const bool bytes = vector && can_quantize_bytes();
        put_sizes(vector);
        return {{},
                {{bytes ? quantize_bytes_of(*descriptor_.schema, quantizes_alike())
                        : variant_of(*descriptor_.schema, class_, vector),
                  buffers(), words_with(parameters_, dimensions_, tensors_.size()),
                  groups_of(bytes ? quantizing_threads() : parameters_.group_total, group_size)}}};
    }

private:
    using Dimensions = StridedDimensions<MOST_OPERANDS>;

    [[nodiscard]] bool has(Flags flag) const { return (row_.flags & flag) != 0; }
    [[nodiscard]] const core::TensorDesc& output_tensor() const { return *tensors_[input_count_]; }

    template <class Predicate>
    [[nodiscard]] bool any_type(Predicate&& predicate) const {
        return std::any_of(tensors_.begin(), tensors_.end(), [&](const core::TensorDesc* tensor) {
            return tensor != nullptr && predicate(tensor->data_type);
        });
    }

    /// True if integers and floating-point numbers alike are treated as unsigned bits.
    [[nodiscard]] bool is_raw() const { return has(raw) || (has(raw_unscaled) && parameters_.has_scale_bias == 0); }

    /// The dispatch for a copy that is faster by tiles. Both tensors have the same type, of whole bytes.
    [[nodiscard]] std::optional<Dispatch> transposed() const {
        const bool is_copy = has(moving) && is_raw();
        return is_copy ? transposition(*tensors_.front(), output_tensor(), input(0), output(0)) : std::nullopt;
    }

    [[nodiscard]] std::uint32_t number_class() const {
        const DataType deciding = has(output_decides) ? output_tensor().data_type : tensors_.front()->data_type;
        const bool has_sign = core::is_signed_integer(deciding) && !is_raw();
        if (any_type([](DataType type) { return core::bits_of(type) == 64; })) {
            return has_sign && has(signed_64) ? CLASS_SIGNED_64 : CLASS_UNSIGNED_64;
        }
        const bool has_integers = has(signed_32 | unsigned_32);
        const bool is_bits = has(raw_unscaled) && is_raw();
        if (has(real) && !is_bits && (!has_integers || any_type(core::is_floating_point))) {
            return CLASS_REAL;
        }
        return has_sign && has(signed_32) ? CLASS_SIGNED : CLASS_UNSIGNED;
    }

    [[nodiscard]] std::uint32_t kind_of(DataType type) const {
        return is_raw() && class_ != CLASS_REAL ? KIND_UNSIGNED : d3d12::kind_of(type);
    }

    void put_word(std::uint32_t word) {
        parameters_.attributes[attribute_count_ / 4].words[attribute_count_ % 4] = word;
        ++attribute_count_;
    }

    void put_bound(std::uint64_t from_bits, DataType from) {
        const std::uint64_t bound = bound_bits(from_bits, from, tensors_.front()->data_type);
        put_word(static_cast<std::uint32_t>(bound));
        put_word(static_cast<std::uint32_t>(bound >> 32));
    }

    /// Stores all attributes in the order of the struct, except counts and types.
    void put_attributes() {
        for (const operators::Field& field : descriptor_.schema->fields) {
            const operators::FieldValue& value = descriptor_.value(field.name);
            if (const auto* scale_bias = std::get_if<operators::ScaleBias>(&value)) {
                parameters_.scale = scale_bias->scale;
                parameters_.bias = scale_bias->bias;
                parameters_.has_scale_bias = scale_bias->scale != 1 || scale_bias->bias != 0 ? 1 : 0;
            } else if (const auto* number = std::get_if<float>(&value)) {
                const auto number_bits = std::bit_cast<std::uint32_t>(*number);
                if (has(bounds)) {
                    put_bound(number_bits, DataType::float32);
                } else {
                    put_word(number_bits);
                }
            } else if (const auto* scalar = std::get_if<operators::ScalarUnion>(&value)) {
                put_bound(scalar->bits, descriptor_.scalar_type(field));
            } else if (const auto* mode = std::get_if<std::uint32_t>(&value); mode != nullptr && !has(bounds)) {
                if (!descriptor_.schema->is_count(field)) {
                    put_word(*mode);
                }
            } else if (const auto* list = std::get_if<std::vector<float>>(&value)) {
                for (const float item : *list) {
                    put_word(std::bit_cast<std::uint32_t>(item));
                }
            } else if (field.type == FieldType::operator_desc) {
                put_activation(parameters_, descriptor_.activation(field.name));
            }
        }
    }

    /// Adds a dimension of the output. It is split in two if one tensor has an element for each block of the others.
    void push_dimension(Dimensions& dimensions, std::size_t d) const {
        const std::uint32_t size = output_tensor().sizes[d];
        std::uint32_t blocks = size;
        for (const core::TensorDesc* tensor : tensors_) {
            if (tensor != nullptr && tensor->sizes.size() == output_tensor().sizes.size() && tensor->sizes[d] != 1) {
                blocks = std::min(blocks, tensor->sizes[d]);
            }
        }
        const std::uint32_t block_size = size / blocks;
        SharedDimension<MOST_OPERANDS> within;
        SharedDimension<MOST_OPERANDS> across;
        within.size = block_size;
        across.size = blocks;
        for (std::size_t a = 0; a < tensors_.size(); ++a) {
            const core::TensorDesc* tensor = tensors_[a];
            if (tensor == nullptr || tensor->sizes.size() != output_tensor().sizes.size() || tensor->sizes[d] == 1) {
                continue;
            }
            const std::int64_t stride = core::signed_strides(*tensor)[d];
            const bool in_blocks = tensor->sizes[d] != size;
            within.strides[a] = in_blocks ? 0 : stride;
            across.strides[a] = in_blocks ? stride : stride * block_size;
        }
        constexpr std::size_t channel_dimension = 1;
        if (has(channels) && d == channel_dimension) {
            across.strides[tensors_.size()] = 1;
        }
        dimensions.push_back(within);
        dimensions.push_back(across);
    }

    /// Sorts dimensions by the first output's memory order. The order of elements does not affect results.
    void share_dimensions() {
        for (std::size_t d = output_tensor().sizes.size(); d-- > 0;) {
            push_dimension(dimensions_, d);
        }
        const std::size_t first_output = input_count_;
        std::erase_if(dimensions_, [](const auto& dimension) { return dimension.size == 1; });
        std::stable_sort(dimensions_.begin(), dimensions_.end(), [&](const auto& a, const auto& b) {
            return a.strides[first_output] < b.strides[first_output];
        });
        dimensions_ = merged(dimensions_);
    }

    /// True if groups of four elements are contiguous in outputs, contiguous or repeated in inputs, and aligned along
    /// all other dimensions.
    [[nodiscard]] bool can_be_vector() const {
        const auto& inner = dimensions_.front();
        bool result = (dimensions_.size() == 1 || inner.size % vector_size == 0) && inner.size > 1;
        for (std::size_t a = 0; a < tensors_.size(); ++a) {
            if (tensors_[a] == nullptr) {
                continue;
            }
            const bool is_output = a >= input_count_;
            result = result && core::bits_of(tensors_[a]->data_type) >= 8;
            result = result && (inner.strides[a] == 1 || (inner.strides[a] == 0 && !is_output));
            for (std::size_t d = 1; d < dimensions_.size(); ++d) {
                const bool whole = dimensions_[d].strides[a] % static_cast<std::int64_t>(vector_size) == 0;
                result = result && (inner.strides[a] == 0 || whole);
            }
        }
        return result && (!has(channels) || inner.strides[tensors_.size()] == 0);
    }

    /// True if the output's elements are contiguous in the order of the dimensions.
    [[nodiscard]] bool has_packed_output() const {
        std::int64_t stride = 1;
        for (const auto& dimension : dimensions_) {
            if (dimension.strides[input_count_] != stride) {
                return false;
            }
            stride *= dimension.size;
        }
        return true;
    }

    /// Only for what can be vectorised, so outputs are not half bytes. The scale has the input's type, and the zero
    /// point the output's.
    [[nodiscard]] bool can_quantize_bytes() const {
        return has(quantizing) && has_packed_output() && tensors_[0]->data_type == DataType::float32 &&
               dimensions_.front().strides[0] == 1;
    }

    /// 1 if all elements share the zero point, 2 if they also share the scale; or the corresponding values for rows.
    [[nodiscard]] std::uint32_t quantizes_alike() const {
        const auto is_one = [this](std::size_t tensor) {
            return std::ranges::all_of(dimensions_,
                                       [tensor](const auto& dimension) { return dimension.strides[tensor] == 0; });
        };
        const bool in_rows =
            dimensions_.size() == 2 && dimensions_[1].strides[1] == 0 && dimensions_[1].strides[2] == 0;
        if (in_rows && !(is_one(1) && is_one(2))) {
            return QUANTIZED_ROWS_ALIKE;
        }
        return !is_one(2) ? 0 : is_one(1) ? 2 : 1;
    }

    [[nodiscard]] std::uint64_t quantizing_threads() const {
        if (quantizes_alike() == QUANTIZED_ROWS_ALIKE) {
            return dimensions_[0].size * groups_of(dimensions_[1].size, QUANTIZED_GROUPS_PER_THREAD);
        }
        return groups_of(parameters_.group_total, QUANTIZED_GROUPS_PER_THREAD);
    }

    void put_operands(bool vector) {
        for (std::size_t a = 0; a < tensors_.size(); ++a) {
            const core::TensorDesc* tensor = tensors_[a];
            if (tensor == nullptr) {
                parameters_.operands[a].words = {KIND_UNSIGNED, 0, OPERAND_ABSENT, absent_zero_point()};
                continue;
            }
            const bool same = vector && dimensions_.front().strides[a] == 0;
            parameters_.operands[a].words = {kind_of(tensor->data_type), packing_of(tensor->data_type),
                                             same ? std::uint32_t{OPERAND_SAME} : std::uint32_t{OPERAND_ADJACENT}, 0};
        }
    }

    [[nodiscard]] std::uint32_t absent_zero_point() const {
        const auto is_type = [](DataType wanted) { return [wanted](DataType type) { return type == wanted; }; };
        if (!has(centred)) {
            return 0;
        }
        constexpr std::uint32_t middle_of_uint8 = 128;
        constexpr std::uint32_t middle_of_uint4 = 8;
        return any_type(is_type(DataType::uint8))   ? middle_of_uint8
               : any_type(is_type(DataType::uint4)) ? middle_of_uint4
                                                    : 0;
    }

    void put_sizes(bool vector) {
        const std::uint64_t count = count_of(dimensions_);
        parameters_.group_size = vector ? vector_size : 1;
        const std::uint64_t groups = groups_of(count, parameters_.group_size);
        parameters_.group_total = static_cast<std::uint32_t>(groups);
        parameters_.last_size = static_cast<std::uint32_t>(count - (groups - 1) * parameters_.group_size);
        parameters_.dimension_count = static_cast<std::uint32_t>(dimensions_.size());
        if (vector) {
            auto& inner = dimensions_.front();
            inner.size = groups_of(inner.size, vector_size);
            for (std::int64_t& stride : inner.strides) {
                stride *= static_cast<std::int64_t>(vector_size);
            }
        }
    }

    /// An absent tensor gets another tensor's buffer: shaders may read it, but ignore the value.
    [[nodiscard]] std::vector<BufferRef> buffers() const {
        std::vector<BufferRef> result;
        for (std::size_t i = 0; i < input_count_; ++i) {
            result.push_back(input(tensors_[i] != nullptr ? i : 0));
        }
        // Once as units, once as words.
        for (int view = 0; view < 2; ++view) {
            for (std::size_t o = 0; o < tensors_.size() - input_count_; ++o) {
                result.push_back(output(o));
            }
        }
        return result;
    }

    const Row& row_;
    const Descriptor& descriptor_;
    std::size_t input_count_ = tensor_count(*descriptor_.schema, operators::FieldKind::input);
    /// Inputs, then outputs. Null if absent.
    std::vector<const core::TensorDesc*> tensors_;
    std::uint32_t class_ = CLASS_REAL;
    Parameters parameters_{};
    std::size_t attribute_count_ = 0;
    Dimensions dimensions_;
};

/// The attributes contain one number per channel.
bool cut_between_channels(Cut& cut) {
    constexpr std::size_t channel_dimension = 1;
    return cut.dimension() != channel_dimension && cut.take_from_all();
}

}  // namespace

Bindings bindings() {
    Bindings result;
    for (const Row& row : rows) {
        result.push_back({.name = row.name,
                          .plan = [&row](const Descriptor& descriptor) { return Planner(row, descriptor).plan(); },
                          .variants = [&row] { return variants_of(row); },
                          .cut = (row.flags & channels) != 0 ? cut_between_channels : cut_anywhere});
    }
    return result;
}

}  // namespace dmlconform::d3d12::element_wise_bindings
