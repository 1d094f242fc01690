// The initial contents of a DxDispatch model's buffers.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "engine/cases/json_document.h"
#include "engine/cases/problems.h"
#include "engine/core/error.h"
#include "engine/core/tensor_desc.h"

namespace dmlconform::interop {

class DxDispatchBuffers {
public:
    /// `resources` is the model's member of that name. Keeps references.
    DxDispatchBuffers(const cases::JsonValue& resources, std::filesystem::path folder, const std::string& file,
                      std::string_view text)
        : resources_(resources), folder_(std::move(folder)), file_(file), text_(text) {}

    /// The bytes that the buffer starts with. The result lives as long as this.
    [[nodiscard]] core::Result<const std::vector<std::byte>*> contents(const std::string& name);

private:
    [[nodiscard]] core::Result<std::vector<std::byte>> read(const cases::JsonValue& resource);
    [[nodiscard]] core::Result<std::vector<std::byte>> read_values(const cases::JsonValue& resource);
    [[nodiscard]] core::Result<std::vector<std::byte>> read_file(const cases::JsonValue& values, core::DataType type);
    [[nodiscard]] core::Result<std::vector<std::byte>> read_typed_list(const cases::JsonValue& list);
    [[nodiscard]] core::Result<std::vector<std::byte>> filled(const cases::JsonValue& initialiser,
                                                              const core::TensorDesc& desc);

    const cases::JsonValue& resources_;
    std::filesystem::path folder_;
    const std::string& file_;
    std::string_view text_;
    std::map<std::string, std::vector<std::byte>> read_;
};

}  // namespace dmlconform::interop
