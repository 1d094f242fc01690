// Splitting of comma-separated lists.
#include "engine/core/comma_list.h"

#include <algorithm>

namespace dmlconform::core {

std::vector<std::string> split_at_commas(std::string_view list) {
    std::vector<std::string> parts;
    while (!list.empty()) {
        const std::size_t end = std::min(list.find(','), list.size());
        parts.emplace_back(list.substr(0, end));
        list.remove_prefix(std::min(end + 1, list.size()));
    }
    return parts;
}

}  // namespace dmlconform::core
