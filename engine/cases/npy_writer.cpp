// The header of a .npy file, and the elements behind it.
#include "engine/cases/npy_writer.h"

#include <fmt/format.h>

#include "engine/cases/npy_header.h"

namespace dmlconform::cases {

std::string npy_file(const core::Tensor& tensor) {
    std::string shape;
    for (const std::uint32_t size : tensor.desc.sizes) {
        // A tuple of one has a comma behind it, and more commas do no harm.
        shape += fmt::format("{}, ", size);
    }
    std::string dictionary = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}",
                                         npy_type_code(tensor.desc.data_type), shape);
    // Magic, version, and a length of two bytes; all of it, with the line break, a multiple of 64.
    constexpr std::size_t before = 10;
    constexpr std::size_t alignment = 64;
    const std::size_t length = (before + dictionary.size() + 1 + alignment - 1) / alignment * alignment - before;
    dictionary.resize(length - 1, ' ');
    std::string file("\x93NUMPY\x01\x00", 8);
    file += static_cast<char>(length & 0xff);
    file += static_cast<char>(length >> 8);
    file += dictionary + "\n";
    const core::Tensor packed = core::packed_copy(tensor);
    const auto count = static_cast<std::size_t>(*core::element_count(packed.desc.sizes));
    file.append(reinterpret_cast<const char*>(packed.buffer.bytes().data()),
                count * core::bytes_of(packed.desc.data_type));
    return file;
}

}  // namespace dmlconform::cases
