// Converts protobuf's fields to elements.
#include "engine/interop/onnx_tensor.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <string_view>
#include <utility>

#include "engine/cases/element_writer.h"
#include "engine/core/checked.h"
#include "engine/core/element.h"
#include "engine/core/strided.h"

namespace dmlconform::interop {
namespace {

using core::DataType;

/// Limit; longer lists in a case file would be useless.
constexpr std::uint64_t most_listed_elements = std::uint64_t{1} << 20;

/// Values of TensorProto.DataType. A BOOL is a byte in memory.
constexpr int onnx_bool = 9;
constexpr std::array<std::pair<int, DataType>, 14> types{{{1, DataType::float32},
                                                          {2, DataType::uint8},
                                                          {3, DataType::int8},
                                                          {4, DataType::uint16},
                                                          {5, DataType::int16},
                                                          {6, DataType::int32},
                                                          {7, DataType::int64},
                                                          {onnx_bool, DataType::uint8},
                                                          {10, DataType::float16},
                                                          {11, DataType::float64},
                                                          {12, DataType::uint32},
                                                          {13, DataType::uint64},
                                                          {21, DataType::uint4},
                                                          {22, DataType::int4}}};

/// Values of TensorProto.DataType.
constexpr std::array<std::pair<int, std::string_view>, 12> types_without_counterpart{{{8, "STRING"},
                                                                                      {14, "COMPLEX64"},
                                                                                      {15, "COMPLEX128"},
                                                                                      {16, "BFLOAT16"},
                                                                                      {17, "FLOAT8E4M3FN"},
                                                                                      {18, "FLOAT8E4M3FNUZ"},
                                                                                      {19, "FLOAT8E5M2"},
                                                                                      {20, "FLOAT8E5M2FNUZ"},
                                                                                      {23, "FLOAT4E2M1"},
                                                                                      {24, "FLOAT8E8M0"},
                                                                                      {25, "UINT2"},
                                                                                      {26, "INT2"}}};

core::Result<core::Dimensions> sizes_of(const onnx::TensorProto& proto, std::int64_t least, std::uint64_t most) {
    if (static_cast<std::size_t>(proto.dims.size()) > most_onnx_dimensions) {
        return core::fail(fmt::format("a tensor has {} dimensions", proto.dims.size()));
    }
    core::Dimensions sizes;
    std::uint64_t count = 1;
    for (const std::int64_t size : proto.dims()) {
        if (size < least || size > static_cast<std::int64_t>(most)) {
            return core::fail(fmt::format("a tensor has size {} in a dimension", size));
        }
        sizes.push_back(static_cast<std::uint32_t>(size));
        count = core::checked_multiply(count, static_cast<std::uint64_t>(size)).value_or(most + 1);
        if (count > most) {
            return core::fail(fmt::format("a tensor has more than {} elements", most));
        }
    }
    if (sizes.empty()) {
        sizes.push_back(1);
    }
    return sizes;
}

/// Each element has an entry of the same or a wider type. Two of four bits share one.
template <class T>
bool copy(const std::vector<T>& list, std::size_t width, std::vector<std::byte>& elements) {
    if (list.size() * width != elements.size() || sizeof(T) < width) {
        return false;
    }
    for (std::size_t i = 0; i < list.size(); ++i) {
        std::memcpy(&elements[i * width], &list[i], width);
    }
    return true;
}

bool copy_data(const onnx::TensorProto& proto, OnnxTensor& tensor) {
    const std::size_t width = std::max<std::size_t>(core::bytes_of(tensor.type), 1);
    if (tensor.elements.empty()) {
        return true;
    }
    if (proto.raw_data.has()) {
        const std::string& raw = proto.raw_data();
        if (raw.size() != tensor.elements.size()) {
            return false;
        }
        std::memcpy(tensor.elements.data(), raw.data(), raw.size());
        return true;
    }
    switch (tensor.type) {
        case DataType::float32:
            return copy(proto.float_data(), width, tensor.elements);
        case DataType::float64:
            return copy(proto.double_data(), width, tensor.elements);
        case DataType::int64:
            return copy(proto.int64_data(), width, tensor.elements);
        case DataType::uint64:
        case DataType::uint32:
            return copy(proto.uint64_data(), width, tensor.elements);
        default:
            return copy(proto.int32_data(), width, tensor.elements);
    }
}

core::Result<OnnxTensor> read_tensor(const onnx::TensorProto& proto, std::int64_t least, std::uint64_t most) {
    const auto type = onnx_data_type(proto.data_type());
    if (!type) {
        return tl::unexpected(type.error());
    }
    if (proto.data_location() != 0) {
        return core::fail("a tensor has its data in another file");
    }
    const auto sizes = sizes_of(proto, least, most);
    if (!sizes) {
        return tl::unexpected(sizes.error());
    }
    OnnxTensor tensor{*type, *sizes, {}, proto.data_type() == onnx_bool, proto.dims.size() == 0};
    tensor.elements.resize(tensor.bytes());
    if (!copy_data(proto, tensor)) {
        return core::fail(fmt::format("a tensor of sizes {} has data of another size", core::to_string(*sizes)));
    }
    return tensor;
}

}  // namespace

std::size_t OnnxTensor::bytes() const {
    return static_cast<std::size_t>(core::bytes_of(type, count()));
}

std::int64_t OnnxTensor::integer(std::size_t index) const {
    if (!has_elements() || index >= count()) {
        return 0;
    }
    const double number = core::decode_element(type, core::load_element(elements, type, index));
    constexpr double limit = 0x1p62;
    // INT64's limits as indices mean "to the end".
    return number != number ? 0 : static_cast<std::int64_t>(std::clamp(number, -limit, limit));
}

bool OnnxTensor::is_zero() const {
    return count() == 1 && has_elements() && core::decode_element(type, core::load_element(elements, type, 0)) == 0;
}

nlohmann::ordered_json OnnxTensor::list() const {
    nlohmann::ordered_json values = nlohmann::ordered_json::array();
    for (std::size_t i = 0; i < count(); ++i) {
        values.push_back(cases::element_json(type, core::load_element(elements, type, i)));
    }
    return values;
}

core::Result<OnnxTensor> unknown_tensor(DataType type, const core::Dimensions& sizes, bool is_bool) {
    constexpr std::uint64_t most = std::uint64_t{1} << 40;
    if (core::element_count(sizes).value_or(most + 1) > most || sizes.size() > most_onnx_dimensions) {
        return core::fail(fmt::format("a tensor of sizes {} is too large", core::to_string(sizes)));
    }
    return OnnxTensor{type, sizes.empty() ? core::Dimensions{1} : sizes, {}, is_bool, sizes.empty()};
}

core::Result<DataType> onnx_data_type(int number) {
    for (const auto& [onnx, type] : types) {
        if (onnx == number) {
            return type;
        }
    }
    for (const auto& [onnx, name] : types_without_counterpart) {
        if (onnx == number) {
            return core::fail(fmt::format("ONNX data type {} has no counterpart", name));
        }
    }
    return core::fail(fmt::format("{} is not a data type of ONNX", number));
}

int onnx_number(DataType type) {
    const auto found = std::ranges::find(types, type, &std::pair<int, DataType>::second);
    return found == types.end() ? 0 : found->first;
}

core::Result<OnnxTensor> onnx_tensor(const onnx::TensorProto& proto, bool may_be_empty_list) {
    const bool list = may_be_empty_list && proto.dims.size() == 1;
    return read_tensor(proto, list ? 0 : 1, most_listed_elements);
}

core::Result<OnnxTensor> onnx_tensor(const onnx::TensorProto& proto, AnySizes /*any*/) {
    // The data in the message must have the size of what is allocated; otherwise nothing is.
    const std::size_t entries =
        proto.raw_data().size() + static_cast<std::size_t>(proto.float_data.size()) * 4 +
        static_cast<std::size_t>(proto.int32_data.size()) * 4 + static_cast<std::size_t>(proto.int64_data.size()) * 8 +
        static_cast<std::size_t>(proto.double_data.size()) * 8 + static_cast<std::size_t>(proto.uint64_data.size()) * 8;
    constexpr std::size_t small = 1024;
    constexpr std::size_t elements_of_byte = 2;
    return read_tensor(proto, 0, std::max(entries * elements_of_byte, small));
}

OnnxTensor gathered(const OnnxTensor& tensor, const core::Dimensions& sizes, const core::Dimensions& strides) {
    OnnxTensor result{tensor.type, sizes, {}, tensor.is_bool, false, tensor.value};
    if (!tensor.value.empty()) {
        return result;  // the bytes belong to another value, which strides select
    }
    result.elements.resize(result.bytes());
    std::uint64_t next = 0;
    const core::StridedRuns<1> runs(sizes, {core::Strides(strides.begin(), strides.end())});
    runs.for_each_element([&](const auto& offset) {
        const auto from = static_cast<std::uint64_t>(offset[0]);
        core::store_element(result.elements, tensor.type, next++,
                            core::load_element(tensor.elements, tensor.type, from));
    });
    return result;
}

OnnxTensor one_number(float value) {
    OnnxTensor tensor{DataType::float32, {1}, std::vector<std::byte>(sizeof(value)), false, true};
    core::store_element(tensor.elements, tensor.type, 0, std::bit_cast<std::uint32_t>(value));
    return tensor;
}

OnnxTensor whole_numbers(const std::vector<std::uint32_t>& values, core::Dimensions sizes) {
    OnnxTensor tensor{DataType::uint32, std::move(sizes),
                      std::vector<std::byte>(values.size() * sizeof(std::uint32_t))};
    for (std::size_t i = 0; i < values.size(); ++i) {
        core::store_element(tensor.elements, tensor.type, i, values[i]);
    }
    return tensor;
}

core::Result<OnnxTensor> broadcast(const OnnxTensor& tensor, const core::Dimensions& sizes, core::Dimensions& strides) {
    const auto packed = core::packed_strides(tensor.sizes);
    if (tensor.sizes.size() > sizes.size() && tensor.count() != 1) {
        return core::fail("a tensor has more dimensions than what it is broadcast to");
    }
    strides.assign(sizes.size(), 0);
    for (std::size_t back = 1; back <= std::min(sizes.size(), tensor.sizes.size()); ++back) {
        const std::uint32_t size = tensor.sizes[tensor.sizes.size() - back];
        if (size != 1 && size != sizes[sizes.size() - back]) {
            return core::fail(fmt::format("sizes {} cannot be broadcast to {}", core::to_string(tensor.sizes),
                                          core::to_string(sizes)));
        }
        strides[sizes.size() - back] = size == 1 ? 0 : static_cast<std::uint32_t>(packed[tensor.sizes.size() - back]);
    }
    if (tensor.value.empty() && core::element_count(sizes).value_or(most_listed_elements + 1) > most_listed_elements) {
        return core::fail("a tensor is broadcast to too many elements");
    }
    return gathered(tensor, sizes, strides);
}

OnnxTensor transposed(const OnnxTensor& tensor, const std::vector<std::size_t>& permutation,
                      core::Dimensions& strides) {
    const auto packed = core::packed_strides(tensor.sizes);
    core::Dimensions sizes;
    strides.clear();
    for (const std::size_t d : permutation) {
        sizes.push_back(tensor.sizes[d]);
        strides.push_back(static_cast<std::uint32_t>(packed[d]));
    }
    return gathered(tensor, sizes, strides);
}

}  // namespace dmlconform::interop
