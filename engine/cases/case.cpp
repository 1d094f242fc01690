// Properties of cases that follow from their members.
#include "engine/cases/case.h"

#include <algorithm>

namespace dmlconform::cases {

bool Case::has_tag(const std::string& tag) const {
    return std::find(tags.begin(), tags.end(), tag) != tags.end();
}

bool Case::needs_reference() const {
    const auto slots = descriptor->outputs();
    for (std::size_t i = 0; i < slots.size(); ++i) {
        if (slots[i].desc != nullptr && !expected[i]) {
            return true;
        }
    }
    return false;
}

}  // namespace dmlconform::cases
