// libFuzzer target for the header of .npy files.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "engine/cases/npy_header.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const auto header = dmlconform::cases::parse_npy_header(text);
    if (header && (header->data_offset > size || header->type == dmlconform::core::DataType::unknown)) {
        __builtin_trap();
    }
    return 0;
}
