// Parses the list once, on first use.
#include "engine/cpu/left_out.h"

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "engine/core/comma_list.h"

namespace dmlconform::cpu {
namespace {

std::vector<std::string>& left_out() {
    static std::vector<std::string> names = [] {
        const char* const list = std::getenv("DMLCONFORM_WITHOUT_REFERENCE");
        return core::split_at_commas(list == nullptr ? "" : list);
    }();
    return names;
}

}  // namespace

bool is_left_out(std::string_view short_name) {
    return std::ranges::find(left_out(), short_name) != left_out().end();
}

void leave_out(std::string_view short_names) {
    left_out() = core::split_at_commas(short_names);
}

}  // namespace dmlconform::cpu
