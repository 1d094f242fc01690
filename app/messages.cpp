// Wording.
#include "app/messages.h"

#include <fmt/format.h>

#include "app/standard_streams.h"

namespace dmlconform::app {

void print_error(const core::Error& error) {
    warn("dmlconform: {}\n", error.message);
    if (!error.hint.empty()) {
        warn("    hint: {}\n", error.hint);
    }
}

std::string device_text(const std::string& adapter, const std::string& driver) {
    return driver.empty() ? adapter : fmt::format("{}, driver {}", adapter, driver);
}

}  // namespace dmlconform::app
