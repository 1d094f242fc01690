// The C structs by which DirectML receives operators and graphs, with DirectML.h's layout for 64-bit processors.
//
// The structs of single operators are not declared here: marshal.h builds their bytes from the catalogue.
#pragma once

#include <cstdint>

namespace dmlconform::directml {

/// DML_TENSOR_DESC and DML_OPERATOR_DESC: a number for the type of `desc`, and a pointer.
struct TypedDesc {
    std::uint32_t type = 0;
    const void* desc = nullptr;
};

/// DML_TENSOR_TYPE_BUFFER.
inline constexpr std::uint32_t buffer_tensor_type = 1;

/// DML_BUFFER_TENSOR_DESC.
struct BufferTensorDesc {
    std::uint32_t data_type = 0;
    std::uint32_t flags = 0;
    std::uint32_t dimension_count = 0;
    const std::uint32_t* sizes = nullptr;
    const std::uint32_t* strides = nullptr;
    std::uint64_t total_bytes = 0;
    std::uint32_t base_offset_alignment = 0;
};

/// DML_GRAPH_NODE_DESC and DML_GRAPH_EDGE_DESC are TypedDesc as well. These are the values of DML_GRAPH_NODE_TYPE and
/// DML_GRAPH_EDGE_TYPE.
inline constexpr std::uint32_t operator_node = 1;
inline constexpr std::uint32_t input_edge = 1;
inline constexpr std::uint32_t output_edge = 2;
inline constexpr std::uint32_t intermediate_edge = 3;

/// DML_OPERATOR_GRAPH_NODE_DESC. `operation` is an IDMLOperator.
struct OperatorNodeDesc {
    void* operation = nullptr;
    const char* name = nullptr;
};

/// DML_INPUT_GRAPH_EDGE_DESC.
struct InputEdgeDesc {
    std::uint32_t graph_input = 0;
    std::uint32_t to_node = 0;
    std::uint32_t to_input = 0;
    const char* name = nullptr;
};

/// DML_OUTPUT_GRAPH_EDGE_DESC.
struct OutputEdgeDesc {
    std::uint32_t from_node = 0;
    std::uint32_t from_output = 0;
    std::uint32_t graph_output = 0;
    const char* name = nullptr;
};

/// DML_INTERMEDIATE_GRAPH_EDGE_DESC.
struct IntermediateEdgeDesc {
    std::uint32_t from_node = 0;
    std::uint32_t from_output = 0;
    std::uint32_t to_node = 0;
    std::uint32_t to_input = 0;
    const char* name = nullptr;
};

/// DML_GRAPH_DESC.
struct GraphDesc {
    std::uint32_t input_count = 0;
    std::uint32_t output_count = 0;
    std::uint32_t node_count = 0;
    const TypedDesc* nodes = nullptr;
    std::uint32_t input_edge_count = 0;
    const TypedDesc* input_edges = nullptr;
    std::uint32_t output_edge_count = 0;
    const TypedDesc* output_edges = nullptr;
    std::uint32_t intermediate_edge_count = 0;
    const TypedDesc* intermediate_edges = nullptr;
};

static_assert(sizeof(InputEdgeDesc) == 24 && sizeof(OutputEdgeDesc) == 24 && sizeof(IntermediateEdgeDesc) == 24);
static_assert(sizeof(OperatorNodeDesc) == 16 && sizeof(GraphDesc) == 72);
static_assert(sizeof(void*) == 8 && sizeof(TypedDesc) == 16 && sizeof(BufferTensorDesc) == 48);

}  // namespace dmlconform::directml
