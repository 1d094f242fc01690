// Keeps the tensors of a graph's values, in memory or in a temporary file.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "engine/core/spool_file.h"
#include "engine/core/tensor.h"

namespace dmlconform::run {

/// Tensors by number. If all of them take more memory than the limit, those that were not used for longest are written
/// to a temporary file, and are read again when they are needed. Not thread-safe.
class ValueStore {
public:
    ValueStore(std::size_t values, std::uint64_t limit) : limit_(limit), entries_(values) {}

    [[nodiscard]] bool has(std::size_t index) const { return entries_[index].tensor || entries_[index].offset; }
    /// Fails if the temporary file cannot be written.
    [[nodiscard]] core::Result<void> put(std::size_t index, core::Tensor tensor);
    /// The tensor, which the caller keeps for as long as it uses it. Fails if the temporary file cannot be read.
    [[nodiscard]] core::Result<std::shared_ptr<const core::Tensor>> get(std::size_t index);

    /// Bytes of the tensors that this store holds in memory.
    [[nodiscard]] std::uint64_t held_bytes() const { return held_; }
    /// Bytes that were written to the temporary file.
    [[nodiscard]] std::uint64_t written_bytes() const { return file_.size(); }

private:
    struct Entry {
        std::shared_ptr<const core::Tensor> tensor;
        core::TensorDesc desc;
        /// Where the file has it.
        std::optional<std::uint64_t> offset;
        std::uint64_t last_use = 0;
    };

    core::Result<void> hold(std::size_t index, core::Tensor tensor);
    /// Moves tensors to the file until the rest is within the limit. The one that was just used stays.
    core::Result<void> make_room(std::size_t used);

    std::uint64_t limit_;
    std::uint64_t held_ = 0;
    std::uint64_t uses_ = 0;
    std::vector<Entry> entries_;
    core::SpoolFile file_;
};

}  // namespace dmlconform::run
