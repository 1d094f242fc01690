// From ids to names.
#include "engine/cases/data_file_names.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/cases/npy_writer.h"
#include "engine/core/hash.h"

namespace dmlconform::cases {

std::string harmless_name(const std::string& text) {
    std::string name = text;
    for (char& c : name) {
        const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
                           c == '.' || c == '-';
        c = plain ? c : '-';
    }
    name.erase(0, std::min(name.find_first_not_of(".-"), name.size()));
    while (name.ends_with('.') || name.ends_with('-')) {
        name.pop_back();
    }
    return name.empty() ? "case" : name;
}

std::string case_folder_name(const std::string& id) {
    constexpr std::size_t longest = 83;
    return fmt::format("{}-{:016x}", harmless_name(harmless_name(id).substr(0, longest)), core::fnv1a(id));
}

std::string tensor_file_name(std::string name, core::DataType type) {
    constexpr std::size_t longest = 80;
    std::replace(name.begin(), name.end(), '[', '-');
    std::erase(name, ']');
    std::string plain = harmless_name(harmless_name(name).substr(0, longest));
    // Values of graphs are called as their authors like.
    if (plain != name) {
        plain += fmt::format("-{:016x}", core::fnv1a(name));
    }
    return plain.append(data_file_ending(type));
}

}  // namespace dmlconform::cases
