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

struct DxDispatchBuffer {
    std::vector<std::byte> bytes;
    /// The type of the initial values; unknown if they have several types.
    core::DataType type = core::DataType::unknown;
};

class DxDispatchBuffers {
public:
    /// `resources` is the model's member of that name. Keeps references. `positions` maps offsets to the model's lines.
    DxDispatchBuffers(const cases::JsonValue& resources, std::filesystem::path folder,
                      const cases::ProblemSink& positions)
        : resources_(cases::index_of(resources)), folder_(std::move(folder)), positions_(positions) {}

    /// The initial contents of a buffer. They live as long as this object.
    [[nodiscard]] core::Result<const DxDispatchBuffer*> contents(const std::string& name);

private:
    [[nodiscard]] core::Result<DxDispatchBuffer> read(const cases::JsonValue& resource);
    [[nodiscard]] core::Result<DxDispatchBuffer> read_values(const cases::JsonValue& resource);
    [[nodiscard]] core::Result<DxDispatchBuffer> read_file(const cases::JsonValue& resource, core::DataType type);
    [[nodiscard]] core::Result<DxDispatchBuffer> read_pixels(const cases::JsonValue& resource,
                                                             const std::filesystem::path& file, core::DataType type);
    [[nodiscard]] core::Result<std::vector<std::byte>> read_list(const cases::JsonValue& values, core::DataType type);
    [[nodiscard]] core::Result<std::vector<std::byte>> read_typed_list(const cases::JsonValue& list);
    [[nodiscard]] core::Result<std::vector<std::byte>> filled(const cases::JsonValue& initialiser,
                                                              const core::TensorDesc& desc);

    cases::JsonIndex resources_;
    std::filesystem::path folder_;
    const cases::ProblemSink& positions_;
    std::map<std::string, DxDispatchBuffer> read_;
    std::uint64_t bytes_read_ = 0;
};

}  // namespace dmlconform::interop
