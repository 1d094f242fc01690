// A table of file names that a signal handler can read. Whoever removes a name from it owns it.
#include "engine/report/partial_files.h"

#include <array>
#include <atomic>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#ifndef _WIN32
#include <unistd.h>
#endif

namespace dmlconform::report {
namespace {

/// More than a run has open at the same time. Further files are not removed.
constexpr std::size_t most_files = 64;

std::array<std::atomic<char*>, most_files> names{};
static_assert(std::atomic<char*>::is_always_lock_free);

}  // namespace

PartialFile::PartialFile(const std::filesystem::path& path) {
    const std::string text = path.string();
    auto name = std::make_unique<char[]>(text.size() + 1);  // NOLINT(modernize-avoid-c-arrays): what unlink takes
    std::memcpy(name.get(), text.c_str(), text.size() + 1);
    for (std::size_t slot = 0; slot < most_files; ++slot) {
        char* empty = nullptr;
        if (names[slot].compare_exchange_strong(empty, name.get())) {
            (void)name.release();
            slot_ = slot;
            return;
        }
    }
}

PartialFile::PartialFile(PartialFile&& other) noexcept : slot_(std::exchange(other.slot_, none)) {}

PartialFile& PartialFile::operator=(PartialFile&& other) noexcept {
    std::swap(slot_, other.slot_);
    return *this;
}

PartialFile::~PartialFile() {
    if (slot_ != none) {
        const std::unique_ptr<char[]> name(names[slot_].exchange(nullptr));  // NOLINT(modernize-avoid-c-arrays)
    }
}

void remove_partial_files() noexcept {
#ifndef _WIN32
    for (auto& slot : names) {
        if (char* name = slot.exchange(nullptr); name != nullptr) {
            unlink(name);
            // Memory cannot be freed in a signal handler: that is left to the owner.
            char* empty = nullptr;
            slot.compare_exchange_strong(empty, name);
        }
    }
#endif
}

}  // namespace dmlconform::report
