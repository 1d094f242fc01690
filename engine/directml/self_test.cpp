// Runs ACTIVATION_IDENTITY through the engine interface, like a case.
#include "engine/directml/self_test.h"

#include <fmt/format.h>

#include <array>
#include <cstring>

namespace dmlconform::directml {

core::Result<void> self_test(Engine& engine) {
    const auto desc = core::TensorDesc::packed(core::DataType::float32, {1, 1, 1, 4});
    const operators::Descriptor identity{operators::find_operator("ACTIVATION_IDENTITY"), {desc, desc}};
    const std::array<float, 4> numbers{1, -2, 3.5F, 65536};
    core::Tensor input(desc);
    std::memcpy(input.buffer.bytes().data(), numbers.data(), sizeof(numbers));
    core::Tensor output = core::output_tensor(desc);
    core::Tensor* const outputs[] = {&output};
    const core::Tensor* const inputs[] = {&input};

    auto executable = engine.compile(identity);
    if (!executable) {
        return core::fail(fmt::format("self-test: {}", executable.error().rejection.message));
    }
    auto done = (*executable)->bind(inputs);
    if (done) {
        done = (*executable)->execute();
    }
    if (done) {
        done = (*executable)->read(outputs);
    }
    if (!done) {
        return core::fail(fmt::format("self-test: {}", done.error().message), done.error().hint);
    }
    if (std::memcmp(output.buffer.bytes().data(), numbers.data(), sizeof(numbers)) != 0) {
        return core::fail("self-test: DirectML succeeds on this device, but does not write the right numbers",
                          "a graphics driver that is too old does that: Mesa's must be 25 or newer");
    }
    return {};
}

}  // namespace dmlconform::directml
