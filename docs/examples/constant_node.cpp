// Shows that IDMLDevice1::CompileGraph of DirectML 1.15.4 crashes if a constant node has more than 8 bytes: see
// docs/findings/directml-1.15.4-graphs.md. It needs neither dmlconform nor DirectML.h.
//
//   x86_64-w64-mingw32-g++ -std=c++20 -O1 -static constant_node.cpp -ld3d12 -o constant_node.exe
//   constant_node.exe 8      "8 bytes: CompileGraph returns 00000000"
//   constant_node.exe 12     an access violation in CompileGraph
//
// With a second argument, `input`, the same data is an input of the graph, which works at every size.
#include <d3d12.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace {

struct TypedDesc {  // DML_TENSOR_DESC, DML_OPERATOR_DESC, DML_GRAPH_NODE_DESC, DML_GRAPH_EDGE_DESC
    UINT type;
    const void* desc;
};
struct BufferTensorDesc {  // DML_BUFFER_TENSOR_DESC
    UINT data_type, flags, dimension_count;
    const UINT* sizes;
    const UINT* strides;
    UINT64 total_bytes;
    UINT alignment;
};
struct IdentityDesc {  // DML_ELEMENT_WISE_IDENTITY_OPERATOR_DESC
    const TypedDesc* input;
    const TypedDesc* output;
    const void* scale_bias;
};
struct ConstantNode {  // DML_CONSTANT_DATA_GRAPH_NODE_DESC
    const void* data;
    SIZE_T bytes;
    const char* name;
};
struct OperatorNode {  // DML_OPERATOR_GRAPH_NODE_DESC
    IUnknown* operation;
    const char* name;
};
struct ThreeNumbers {  // DML_INPUT_GRAPH_EDGE_DESC and DML_OUTPUT_GRAPH_EDGE_DESC
    UINT a, b, c;
    const char* name;
};
struct IntermediateEdge {  // DML_INTERMEDIATE_GRAPH_EDGE_DESC
    UINT from_node, from_output, to_node, to_input;
    const char* name;
};
struct GraphDesc {  // DML_GRAPH_DESC
    UINT inputs, outputs, node_count;
    const TypedDesc* nodes;
    UINT input_edge_count;
    const TypedDesc* input_edges;
    UINT output_edge_count;
    const TypedDesc* output_edges;
    UINT intermediate_edge_count;
    const TypedDesc* intermediate_edges;
};

/// The methods before CreateOperator are not called, nor those between it and CompileGraph.
struct DmlDevice1 : IUnknown {
    virtual HRESULT __stdcall GetPrivateData() = 0;
    virtual HRESULT __stdcall SetPrivateData() = 0;
    virtual HRESULT __stdcall SetPrivateDataInterface() = 0;
    virtual HRESULT __stdcall SetName() = 0;
    virtual HRESULT __stdcall CheckFeatureSupport() = 0;
    virtual HRESULT __stdcall CreateOperator(const TypedDesc* desc, REFIID iid, void** result) = 0;
    virtual HRESULT __stdcall CompileOperator() = 0;
    virtual HRESULT __stdcall CreateOperatorInitializer() = 0;
    virtual HRESULT __stdcall CreateCommandRecorder() = 0;
    virtual HRESULT __stdcall CreateBindingTable() = 0;
    virtual HRESULT __stdcall Evict() = 0;
    virtual HRESULT __stdcall MakeResident() = 0;
    virtual HRESULT __stdcall GetDeviceRemovedReason() = 0;
    virtual HRESULT __stdcall GetParentDevice() = 0;
    virtual HRESULT __stdcall CompileGraph(const GraphDesc* desc, UINT flags, REFIID iid, void** result) = 0;
};

constexpr IID device_iid{0x189819f1, 0x1db6, 0x4b57, {0xbe, 0x54, 0x18, 0x21, 0x33, 0x9b, 0x85, 0xf7}};
constexpr IID dml_device1_iid{0xa0884f9a, 0xd2be, 0x4355, {0xaa, 0x5d, 0x59, 0x01, 0x28, 0x1a, 0xd1, 0xd2}};
constexpr IID operator_iid{0x26caae7a, 0x3081, 0x4633, {0x95, 0x81, 0x22, 0x6f, 0xbe, 0x57, 0x69, 0x5d}};
constexpr IID compiled_iid{0x6b15e56a, 0xbf5c, 0x4902, {0x92, 0xd8, 0xda, 0x3a, 0x65, 0x0a, 0xfe, 0xa4}};

void check(const char* what, HRESULT code) {
    if (FAILED(code)) {
        std::printf("%s: %08lx\n", what, static_cast<unsigned long>(code));
        std::exit(2);
    }
}

DmlDevice1* create_device() {
    ID3D12Device* device = nullptr;
    check("D3D12CreateDevice",
          D3D12CreateDevice(nullptr, D3D_FEATURE_LEVEL_11_0, device_iid, reinterpret_cast<void**>(&device)));
    using Create = HRESULT(__stdcall*)(ID3D12Device*, UINT flags, UINT level, REFIID, void**);
    HMODULE module = LoadLibraryA("DirectML.dll");
    const auto create = reinterpret_cast<Create>(reinterpret_cast<void*>(GetProcAddress(module, "DMLCreateDevice1")));
    if (create == nullptr) {
        check("no DirectML.dll", E_FAIL);
    }
    DmlDevice1* dml = nullptr;
    check("DMLCreateDevice1", create(device, 0, 0x1000, dml_device1_iid, reinterpret_cast<void**>(&dml)));
    return dml;
}

}  // namespace

int main(int argc, char** argv) {
    const UINT bytes = argc > 1 ? static_cast<UINT>(std::atoi(argv[1])) : 12;
    const bool as_input = argc > 2 && std::strcmp(argv[2], "input") == 0;
    DmlDevice1* dml = create_device();

    const UINT sizes[] = {1, 1, 1, bytes};
    const BufferTensorDesc buffer{5 /* UINT8 */, 0, 4, sizes, nullptr, (bytes + 3) / 4 * 4, 0};
    const TypedDesc tensor{1, &buffer};
    const IdentityDesc identity{&tensor, &tensor, nullptr};
    const TypedDesc operation_desc{1 /* ELEMENT_WISE_IDENTITY */, &identity};
    IUnknown* operation = nullptr;
    check("CreateOperator", dml->CreateOperator(&operation_desc, operator_iid, reinterpret_cast<void**>(&operation)));

    const std::vector<unsigned char> data(buffer.total_bytes, 1);
    const OperatorNode operator_node{operation, nullptr};
    const ConstantNode constant_node{data.data(), data.size(), nullptr};
    const TypedDesc nodes[] = {{1, &operator_node}, {2, &constant_node}};
    const ThreeNumbers input{0, 0, 0, nullptr};
    const ThreeNumbers output{0, 0, 0, nullptr};
    const IntermediateEdge intermediate{1, 0, 0, 0, nullptr};
    const TypedDesc input_edge{1, &input};
    const TypedDesc output_edge{2, &output};
    const TypedDesc intermediate_edge{3, &intermediate};
    const GraphDesc graph = as_input ? GraphDesc{1, 1, 1, nodes, 1, &input_edge, 1, &output_edge, 0, nullptr}
                                     : GraphDesc{0, 1, 2, nodes, 0, nullptr, 1, &output_edge, 1, &intermediate_edge};
    IUnknown* compiled = nullptr;
    const HRESULT code = dml->CompileGraph(&graph, 0, compiled_iid, reinterpret_cast<void**>(&compiled));
    std::printf("%u bytes: CompileGraph returns %08lx\n", bytes, static_cast<unsigned long>(code));
    return FAILED(code) ? 1 : 0;
}
