// Converts 64-bit numbers to 32 bits, for operators that do not support them.
#include <bit>
#include <utility>

#include "engine/core/element.h"
#include "engine/interop/onnx_node.h"

namespace dmlconform::interop {
namespace {

using core::DataType;

DataType narrow_type(DataType type, bool integers_too) {
    switch (type) {
        case DataType::float64:
            return DataType::float32;
        case DataType::int64:
            return integers_too ? DataType::int32 : type;
        case DataType::uint64:
            return integers_too ? DataType::uint32 : type;
        default:
            return type;
    }
}

/// The bits of an element in the narrower type; empty if the value is out of range, or if `exact` and it would be
/// rounded.
std::optional<std::uint64_t> narrow_bits(DataType from, DataType to, std::uint64_t bits, bool exact) {
    if (from == DataType::float64) {
        const auto wide = std::bit_cast<double>(bits);
        const auto narrow = core::encode_element(to, wide);
        const bool same = narrow && (wide != wide || core::decode_element(to, *narrow) == wide);
        return narrow && (same || !exact) ? std::optional(*narrow) : std::nullopt;
    }
    const bool negative = from == DataType::int64 && static_cast<std::int64_t>(bits) < 0;
    const auto narrow = core::encode_element(to, core::Integer{negative, negative ? 0 - bits : bits});
    return narrow ? std::optional(*narrow) : std::nullopt;
}

bool narrow(std::optional<OnnxTensor>& tensor, bool integers_too, bool exact) {
    if (!tensor || narrow_type(tensor->type, integers_too) == tensor->type) {
        return true;
    }
    const DataType to = narrow_type(tensor->type, integers_too);
    if (!tensor->has_elements()) {
        tensor->type = to;
        return true;
    }
    std::vector<std::byte> elements(static_cast<std::size_t>(core::bytes_of(to, tensor->count())));
    for (std::size_t i = 0; i < tensor->count(); ++i) {
        const auto bits = narrow_bits(tensor->type, to, core::load_element(tensor->elements, tensor->type, i), exact);
        if (!bits) {
            return false;
        }
        core::store_element(elements, to, i, *bits);
    }
    tensor->type = to;
    tensor->elements = std::move(elements);
    return true;
}

}  // namespace

core::Result<OnnxTensor> with_rounded_doubles(OnnxTensor tensor) {
    std::optional<OnnxTensor> rounded(std::move(tensor));
    return narrow(rounded, false, false) ? core::Result<OnnxTensor>(std::move(*rounded))
                                         : core::fail("FLOAT32 does not hold a value of FLOAT64");
}

std::optional<OnnxNode> narrowed(const OnnxNode& node, bool integers_too) {
    OnnxNode result = node;
    for (auto& input : result.inputs) {
        if (!narrow(input, integers_too, true)) {
            return std::nullopt;
        }
    }
    for (auto& output : result.outputs) {
        if (!narrow(output, integers_too, false)) {
            return std::nullopt;
        }
    }
    return result;
}

}  // namespace dmlconform::interop
