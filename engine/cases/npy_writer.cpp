// Writes .npy files: a header, then the elements.
#include "engine/cases/npy_writer.h"

#include <fmt/format.h>

#include "engine/cases/npy_header.h"

namespace dmlconform::cases {
namespace {

/// The bytes of the elements in row-major order.
std::string raw_elements(const core::Tensor& tensor) {
    const core::Tensor packed = core::packed_copy(tensor);
    return {reinterpret_cast<const char*>(packed.buffer.bytes().data()),
            static_cast<std::size_t>(data_file_bytes(packed.desc))};
}

}  // namespace

std::string npy_file(const core::Tensor& tensor) {
    std::string shape;
    for (const std::uint32_t size : tensor.desc.sizes) {
        // A Python tuple of one element needs a trailing comma; longer tuples may have one.
        shape += fmt::format("{}, ", size);
    }
    std::string dictionary = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}",
                                         npy_type_code(tensor.desc.data_type), shape);
    // Magic, version, and a length of two bytes. The whole header, including the line break, is a multiple of 64 bytes.
    constexpr std::size_t before = 10;
    constexpr std::size_t alignment = 64;
    const std::size_t length = (before + dictionary.size() + 1 + alignment - 1) / alignment * alignment - before;
    dictionary.resize(length - 1, ' ');
    std::string file("\x93NUMPY\x01\x00", 8);
    file += static_cast<char>(length & 0xff);
    file += static_cast<char>(length >> 8);
    return file + dictionary + "\n" + raw_elements(tensor);
}

std::string_view data_file_ending(core::DataType type) {
    return npy_type_code(type).empty() ? ".bin" : ".npy";
}

std::string data_file(const core::Tensor& tensor) {
    return npy_type_code(tensor.desc.data_type).empty() ? raw_elements(tensor) : npy_file(tensor);
}

std::uint64_t data_file_bytes(const core::TensorDesc& desc) {
    return core::bytes_of(desc.data_type, *core::element_count(desc.sizes));
}

}  // namespace dmlconform::cases
