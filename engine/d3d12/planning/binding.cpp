// Looks up bindings.
#include "engine/d3d12/planning/binding.h"

namespace dmlconform::d3d12 {

const core::Registry<Bindings>& all_bindings() {
    static const core::Registry<Bindings> registry(bindings);
    return registry;
}

const Binding* find_binding(std::string_view short_name) {
    return all_bindings().find(short_name);
}

}  // namespace dmlconform::d3d12
