// Reads data types by name.
#include "app/data_type_option.h"

#include <vector>

#include "engine/core/data_type.h"

namespace dmlconform::app {

void add_data_type(Command command, std::string& type, const char* what) {
    std::vector<std::string> names;
    for (std::uint32_t i = 1; i < core::data_type_count; ++i) {
        names.emplace_back(core::name(static_cast<core::DataType>(i)));
    }
    command.add_option("--type", type, what).type_name("TYPE").one_of(names);
}

}  // namespace dmlconform::app
