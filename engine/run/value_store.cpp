// Moves the tensors that were not used for longest to the file.
#include "engine/run/value_store.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace dmlconform::run {

core::Result<void> ValueStore::put(std::size_t index, core::Tensor tensor) {
    entries_[index].desc = tensor.desc;
    return hold(index, std::move(tensor));
}

core::Result<void> ValueStore::hold(std::size_t index, core::Tensor tensor) {
    Entry& entry = entries_[index];
    entry.tensor = std::make_shared<const core::Tensor>(std::move(tensor));
    entry.last_use = ++uses_;
    held_ += entry.tensor->buffer.bytes().size();
    return make_room(index);
}

core::Result<std::shared_ptr<const core::Tensor>> ValueStore::get(std::size_t index) {
    Entry& entry = entries_[index];
    if (!entry.tensor) {
        core::Tensor tensor(entry.desc);
        const auto bytes = tensor.buffer.bytes();
        if (auto read = file_.read(*entry.offset, {reinterpret_cast<char*>(bytes.data()), bytes.size()}); !read) {
            return tl::unexpected(std::move(read.error()));
        }
        if (auto held = hold(index, std::move(tensor)); !held) {
            return tl::unexpected(std::move(held.error()));
        }
    }
    entry.last_use = ++uses_;
    return entry.tensor;
}

core::Result<void> ValueStore::make_room(std::size_t used) {
    while (held_ > limit_) {
        Entry* oldest = nullptr;
        for (std::size_t i = 0; i < entries_.size(); ++i) {
            if (entries_[i].tensor && i != used && (oldest == nullptr || entries_[i].last_use < oldest->last_use)) {
                oldest = &entries_[i];
            }
        }
        if (oldest == nullptr) {
            return {};
        }
        const auto bytes = oldest->tensor->buffer.bytes();
        if (!oldest->offset) {
            const std::uint64_t offset = file_.size();
            const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
            if (auto written = file_.append(text); !written) {
                return written;
            }
            oldest->offset = offset;
        }
        held_ -= bytes.size();
        oldest->tensor.reset();
    }
    return {};
}

}  // namespace dmlconform::run
