// From a descriptor to the C struct that IDMLDevice::CreateOperator takes, for any operator of the catalogue.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "engine/directml/c_structs.h"
#include "engine/operators/descriptor.h"

namespace dmlconform::directml {

/// A DML_OPERATOR_DESC with everything that it points to. It points to nothing of the descriptor it was made from.
class MarshalledOperator {
public:
    /// Whatever the values are, legal or not; only their types must be those of the catalogue, otherwise it throws.
    explicit MarshalledOperator(const operators::Descriptor& descriptor);

    [[nodiscard]] const TypedDesc& desc() const { return desc_; }

    /// Size of the operator's own struct in bytes.
    [[nodiscard]] std::size_t struct_size() const { return struct_size_; }

private:
    friend class StructWriter;

    /// Zeroed memory for `bytes`, aligned to 8, that lives as long as this object.
    std::byte* allocate(std::size_t bytes);
    TypedDesc marshal(const operators::Descriptor& descriptor);
    TypedDesc marshal(const core::TensorDesc& tensor);

    std::vector<std::unique_ptr<std::uint64_t[]>> memory_;
    std::size_t struct_size_ = 0;
    TypedDesc desc_;  // last: making it uses the others
};

}  // namespace dmlconform::directml
