// Converts a descriptor of any operator to the C struct that IDMLDevice::CreateOperator takes.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "engine/directml/c_structs.h"
#include "engine/operators/descriptor.h"

namespace dmlconform::directml {

/// A DML_OPERATOR_DESC with everything that it points to. It does not refer to the descriptor that it was made from.
class MarshalledOperator {
public:
    /// Accepts legal and illegal values. Throws if a value's type differs from the catalogue's.
    explicit MarshalledOperator(const operators::Descriptor& descriptor);

    [[nodiscard]] const TypedDesc& desc() const { return desc_; }

    /// The size of the operator's struct in bytes.
    [[nodiscard]] std::size_t struct_size() const { return struct_size_; }

private:
    friend class StructWriter;

    /// Allocates zeroed memory, aligned to 8 bytes, that lives as long as this object.
    std::byte* allocate(std::size_t bytes);
    TypedDesc marshal(const operators::Descriptor& descriptor);
    TypedDesc marshal(const core::TensorDesc& tensor);

    std::vector<std::unique_ptr<std::uint64_t[]>> memory_;
    std::size_t struct_size_ = 0;
    TypedDesc desc_;  // must be last, because its initialisation uses the other members
};

}  // namespace dmlconform::directml
