// Chooses scales by the values, so that few numbers saturate, and operators by the shape.
#include "engine/fuzz/quantised_part.h"

#include <algorithm>
#include <cstring>
#include <initializer_list>
#include <utility>

#include "engine/fuzz/descriptor_builder.h"

namespace dmlconform::fuzz {
namespace {

using core::DataType;
using core::TensorDesc;
using operators::Descriptor;

using Fields = std::initializer_list<std::pair<std::string_view, TensorDesc>>;

/// A quantised value: its name, and those of its scale and zero point.
struct Quantised {
    std::string value;
    std::string scale;
    std::string zero;
    DataType type = DataType::int8;
};

class QuantisedPart {
public:
    QuantisedPart(Random& random, const QuantisedSource& source, const PartSink& sink)
        : random_(random), source_(source), sink_(sink), count_(*core::element_count(source.sizes)) {}

    bool add() {
        const auto quantised = random_.chance(1, 3) ? dynamically_quantised() : quantised_by(scale_of(source_.largest));
        if (!quantised) {
            return false;
        }
        switch (random_.below(4)) {
            case 0:
                return add_sum(*quantised);
            case 1:
                return add_product(*quantised);
            case 2:
                return add_real_product(*quantised);
            default:
                return dequantise(*quantised);
        }
    }

private:
    static constexpr std::string_view a_tensor = "ATensor";

    /// A scale with which numbers up to `largest` become 8-bit integers; a few of them may saturate.
    double scale_of(double largest) { return (largest > 0 ? largest : 1.0) * (0.5 + random_.unit()) / 127; }

    [[nodiscard]] TensorDesc whole(DataType type) const { return TensorDesc::packed(type, source_.sizes); }
    [[nodiscard]] TensorDesc single(DataType type) const {
        return TensorDesc::packed(type, core::Dimensions(source_.sizes.size(), 1));
    }
    /// One element that strides of 0 repeat.
    [[nodiscard]] TensorDesc repeated(DataType type) const {
        TensorDesc desc = whole(type);
        desc.strides = core::Dimensions(source_.sizes.size(), 0);
        desc.total_bytes = *core::minimum_total_bytes(desc);
        return desc;
    }

    template <class T>
    std::string input(const TensorDesc& desc, T value) {
        const auto count = static_cast<std::size_t>(*core::element_count(desc.sizes));
        std::vector<std::byte> elements(count * sizeof value);
        for (std::size_t i = 0; i < count; ++i) {
            std::memcpy(elements.data() + i * sizeof value, &value, sizeof value);
        }
        return sink_.add_input(desc, std::move(elements));
    }

    std::string scale_input(const TensorDesc& desc, double scale) { return input(desc, static_cast<float>(scale)); }

    std::string zero_input(const TensorDesc& desc) {
        const auto offset = static_cast<int>(random_.below(41)) - 20;
        return desc.data_type == DataType::int8 ? input(desc, static_cast<std::int8_t>(offset))
                                                : input(desc, static_cast<std::uint8_t>(128 + offset));
    }

    std::optional<std::vector<std::string>> node(std::string_view name, Fields fields,
                                                 const std::vector<std::string>& reads) {
        auto descriptor = std::make_shared<Descriptor>(blank_descriptor(*operators::find_operator(name)));
        for (const auto& [field, desc] : fields) {
            field_of(*descriptor, field) = desc;
        }
        return sink_.add_node(std::move(descriptor), reads);
    }

    std::optional<Quantised> quantised_by(double scale) {
        Quantised result;
        result.type = random_.chance(1, 2) ? DataType::int8 : DataType::uint8;
        result.scale = scale_input(repeated(DataType::float32), scale);
        result.zero = zero_input(repeated(result.type));
        const auto outputs = node("ELEMENT_WISE_QUANTIZE_LINEAR",
                                  {{"InputTensor", whole(DataType::float32)},
                                   {"ScaleTensor", repeated(DataType::float32)},
                                   {"ZeroPointTensor", repeated(result.type)},
                                   {"OutputTensor", whole(result.type)}},
                                  {source_.name, result.scale, result.zero});
        if (!outputs) {
            return std::nullopt;
        }
        result.value = outputs->front();
        return result;
    }

    std::optional<Quantised> dynamically_quantised() {
        const DataType type = random_.chance(1, 2) ? DataType::int8 : DataType::uint8;
        const auto outputs = node("DYNAMIC_QUANTIZE_LINEAR",
                                  {{"InputTensor", whole(DataType::float32)},
                                   {"OutputTensor", whole(type)},
                                   {"OutputScaleTensor", single(DataType::float32)},
                                   {"OutputZeroPointTensor", single(type)}},
                                  {source_.name});
        return outputs ? std::optional(Quantised{(*outputs)[0], (*outputs)[1], (*outputs)[2], type}) : std::nullopt;
    }

    /// Reads scale and zero point with strides of 0: the same bytes as a single element.
    bool dequantise(const Quantised& q) {
        return node("ELEMENT_WISE_DEQUANTIZE_LINEAR",
                    {{"InputTensor", whole(q.type)},
                     {"ScaleTensor", repeated(DataType::float32)},
                     {"ZeroPointTensor", repeated(q.type)},
                     {"OutputTensor", whole(DataType::float32)}},
                    {q.value, q.scale, q.zero})
            .has_value();
    }

    /// The value and itself, which need not have equal zero points afterwards.
    bool add_sum(const Quantised& q) {
        Quantised sum{"", scale_input(single(DataType::float32), scale_of(2 * source_.largest)),
                      zero_input(single(q.type)), q.type};
        const auto outputs = node("ELEMENT_WISE_QUANTIZED_LINEAR_ADD",
                                  {{a_tensor, whole(q.type)},
                                   {"AScaleTensor", single(DataType::float32)},
                                   {"AZeroPointTensor", single(q.type)},
                                   {"BTensor", whole(q.type)},
                                   {"BScaleTensor", single(DataType::float32)},
                                   {"BZeroPointTensor", single(q.type)},
                                   {"OutputScaleTensor", single(DataType::float32)},
                                   {"OutputZeroPointTensor", single(q.type)},
                                   {"OutputTensor", whole(q.type)}},
                                  {q.value, q.scale, q.zero, q.value, q.scale, q.zero, sum.scale, sum.zero});
        if (!outputs) {
            return false;
        }
        sum.value = outputs->front();
        return dequantise(sum);
    }

    /// A matrix of weights for the value, seen as a matrix.
    struct Weights {
        std::uint32_t rows = 1;
        std::uint32_t depth = 1;
        std::uint32_t columns = 1;
        std::string value;
        std::string scale;
        std::string zero;
        double scale_of_weights = 0;
    };

    static TensorDesc matrix(DataType type, std::uint32_t rows, std::uint32_t columns) {
        return TensorDesc::packed(type, {1, 1, rows, columns});
    }
    static TensorDesc number(DataType type) { return TensorDesc::packed(type, {1, 1, 1, 1}); }

    Weights weights() {
        Weights w;
        const auto count = static_cast<std::uint32_t>(count_);
        const std::uint32_t last = source_.sizes.back();
        w.depth = last;
        w.rows = count / last;
        w.columns = random_.pick(1, 16);
        std::vector<std::byte> elements(std::size_t{w.depth} * w.columns);
        std::ranges::generate(elements, [&] { return static_cast<std::byte>(random_.below(256)); });
        w.value = sink_.add_input(matrix(DataType::int8, w.depth, w.columns), std::move(elements));
        w.scale_of_weights = scale_of(1);
        w.scale = scale_input(number(DataType::float32), w.scale_of_weights);
        w.zero = zero_input(number(DataType::int8));
        return w;
    }

    bool add_product(const Quantised& q) {
        const Weights w = weights();
        const double largest = 0.3 * source_.largest * w.depth;
        const std::string scale = scale_input(number(DataType::float32), scale_of(largest));
        const std::string zero = zero_input(number(q.type));
        const auto outputs = node("QUANTIZED_LINEAR_MATRIX_MULTIPLY",
                                  {{a_tensor, matrix(q.type, w.rows, w.depth)},
                                   {"AScaleTensor", number(DataType::float32)},
                                   {"AZeroPointTensor", number(q.type)},
                                   {"BTensor", matrix(DataType::int8, w.depth, w.columns)},
                                   {"BScaleTensor", number(DataType::float32)},
                                   {"BZeroPointTensor", number(DataType::int8)},
                                   {"OutputScaleTensor", number(DataType::float32)},
                                   {"OutputZeroPointTensor", number(q.type)},
                                   {"OutputTensor", matrix(q.type, w.rows, w.columns)}},
                                  {q.value, q.scale, q.zero, w.value, w.scale, w.zero, scale, zero});
        if (!outputs) {
            return false;
        }
        TensorDesc scales = matrix(DataType::float32, w.rows, w.columns);
        TensorDesc zeros = matrix(q.type, w.rows, w.columns);
        for (TensorDesc* desc : {&scales, &zeros}) {
            desc->strides = core::Dimensions{0, 0, 0, 0};
            desc->total_bytes = *core::minimum_total_bytes(*desc);
        }
        return node("ELEMENT_WISE_DEQUANTIZE_LINEAR",
                    {{"InputTensor", matrix(q.type, w.rows, w.columns)},
                     {"ScaleTensor", scales},
                     {"ZeroPointTensor", zeros},
                     {"OutputTensor", matrix(DataType::float32, w.rows, w.columns)}},
                    {outputs->front(), scale, zero})
            .has_value();
    }

    bool add_real_product(const Quantised& q) {
        const Weights w = weights();
        return node("MATRIX_MULTIPLY_INTEGER_TO_FLOAT",
                    {{a_tensor, matrix(q.type, w.rows, w.depth)},
                     {"AScaleTensor", number(DataType::float32)},
                     {"AZeroPointTensor", number(q.type)},
                     {"BTensor", matrix(DataType::int8, w.depth, w.columns)},
                     {"BScaleTensor", number(DataType::float32)},
                     {"BZeroPointTensor", number(DataType::int8)},
                     {"OutputTensor", matrix(DataType::float32, w.rows, w.columns)}},
                    {q.value, q.scale, q.zero, w.value, w.scale, w.zero, ""})
            .has_value();
    }

    Random& random_;
    const QuantisedSource& source_;
    const PartSink& sink_;
    std::uint64_t count_;
};

}  // namespace

bool add_quantised_part(Random& random, const QuantisedSource& source, const PartSink& sink) {
    return QuantisedPart(random, source, sink).add();
}

}  // namespace dmlconform::fuzz
