// Finding inputs by name.
#include "engine/cpu/composition/numbers.h"

#include "engine/cpu/elements.h"

namespace dmlconform::cpu::composition {

std::vector<double> numbers_of(const KernelArguments& arguments, std::string_view field) {
    const auto inputs = arguments.descriptor.inputs();
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        if (inputs[i].name == field && arguments.inputs[i] != nullptr) {
            const auto packed = elements<double>(*arguments.inputs[i]);
            return {packed.begin(), packed.end()};
        }
    }
    return {};
}

}  // namespace dmlconform::cpu::composition
