// Reads values with their positions, and spreads them when a case runs.
#include "engine/interop/model/sparse_data.h"

#include <algorithm>

#include "engine/core/element.h"

namespace dmlconform::interop {
namespace {

/// Writes zeros and the given elements.
class SparseElements final : public cases::ElementSource {
public:
    SparseElements(OnnxTensor values, std::vector<std::uint64_t> positions)
        : values_(std::move(values)), positions_(std::move(positions)) {}

    [[nodiscard]] core::Result<void> write(core::DataType type, std::span<std::byte> elements) const override {
        std::ranges::fill(elements, std::byte{0});
        for (std::size_t i = 0; i < positions_.size(); ++i) {
            core::store_element(elements, type, positions_[i], core::load_element(values_.elements, type, i));
        }
        return {};
    }

private:
    OnnxTensor values_;
    std::vector<std::uint64_t> positions_;
};

core::Result<core::Dimensions> sizes_of(const onnx::SparseTensorProto& proto) {
    core::Dimensions sizes;
    for (const std::int64_t size : proto.dims()) {
        if (size < 1 || size > std::int64_t{0xffffffff} || sizes.size() == most_onnx_dimensions) {
            return core::fail("a sparse tensor has sizes that no tensor has");
        }
        sizes.push_back(static_cast<std::uint32_t>(size));
    }
    return sizes;
}

/// Where the values are. Each has one index into all elements, or one for each dimension.
core::Result<std::vector<std::uint64_t>> positions_of(const OnnxTensor& indices, std::size_t count,
                                                      const OnnxTensor& dense) {
    const bool is_linear = indices.sizes.size() == 1;
    const std::size_t rank = is_linear ? 1 : dense.sizes.size();
    if (indices.type != core::DataType::int64 || indices.sizes.size() > 2 || indices.sizes.front() != count ||
        indices.count() != count * rank) {
        return core::fail("a sparse tensor has not one index, or one for each dimension, of each value");
    }
    std::vector<std::uint64_t> positions;
    for (std::size_t i = 0; i < count; ++i) {
        std::uint64_t position = 0;
        for (std::size_t d = 0; d < rank; ++d) {
            const std::uint64_t size = is_linear ? dense.count() : dense.sizes[d];
            const auto index = static_cast<std::uint64_t>(indices.integer(i * rank + d));
            if (index >= size) {
                return core::fail("a sparse tensor has an index outside of its sizes");
            }
            position = position * size + index;
        }
        positions.push_back(position);
    }
    return positions;
}

}  // namespace

core::Result<ConstantTensor> constant_tensor(const onnx::SparseTensorProto& proto) {
    auto values = onnx_tensor(proto.values(), AnySizes{});
    const auto indices = onnx_tensor(proto.indices(), AnySizes{});
    const auto sizes = sizes_of(proto);
    if (!values || !indices || !sizes) {
        return tl::unexpected(!values ? values.error() : !indices ? indices.error() : sizes.error());
    }
    auto dense = unknown_tensor(values->type, *sizes, values->is_bool);
    if (!dense) {
        return tl::unexpected(dense.error());
    }
    auto positions = positions_of(*indices, values->count(), *dense);
    if (!positions) {
        return tl::unexpected(positions.error());
    }
    const core::DataType type = dense->type;
    const std::uint64_t bytes = values->elements.size() + positions->size() * sizeof(positions->front());
    ConstantTensor constant{std::move(*dense), nullptr, bytes};
    constant.source = std::make_shared<SparseElements>(std::move(*values), std::move(*positions));
    if (constant.tensor.count() <= most_known_elements) {
        constant.tensor.elements.resize(constant.tensor.bytes());
        if (const auto written = constant.source->write(type, constant.tensor.elements); !written) {
            return tl::unexpected(written.error());
        }
    }
    return constant;
}

}  // namespace dmlconform::interop
