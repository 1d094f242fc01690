// A list with commas.
#include "engine/cpu/left_out.h"

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

namespace dmlconform::cpu {
namespace {

std::vector<std::string> split(std::string_view list) {
    std::vector<std::string> names;
    while (!list.empty()) {
        const std::size_t comma = list.find(',');
        names.emplace_back(list.substr(0, comma));
        list.remove_prefix(comma == std::string_view::npos ? list.size() : comma + 1);
    }
    return names;
}

std::vector<std::string>& left_out() {
    static std::vector<std::string> names = [] {
        const char* const list = std::getenv("DMLCONFORM_WITHOUT_REFERENCE");
        return split(list == nullptr ? "" : list);
    }();
    return names;
}

}  // namespace

bool is_left_out(std::string_view short_name) {
    return std::ranges::find(left_out(), short_name) != left_out().end();
}

void leave_out(std::string_view short_names) {
    left_out() = split(short_names);
}

}  // namespace dmlconform::cpu
