// One execution, step by step.
#include "engine/fuzz/execution.h"

#include <exception>

#include "engine/core/guard.h"

namespace dmlconform::fuzz {
namespace {

Execution ended(Execution::Kind kind, std::string reason) {
    Execution execution;
    execution.kind = kind;
    execution.reason = std::move(reason);
    return execution;
}

Execution steps(const cases::Case& subject, Engine& engine) {
    const operators::Descriptor& descriptor = *subject.descriptor;
    if (auto reason = engine.unsupported(descriptor)) {
        return ended(Execution::Kind::unsupported, std::move(*reason));
    }
    auto executable = engine.compile(descriptor);
    if (!executable) {
        const bool rejected = executable.error().kind == CompileFailure::Kind::rejected;
        return ended(rejected ? Execution::Kind::rejected : Execution::Kind::broken,
                     executable.error().rejection.message);
    }
    std::vector<core::Tensor> inputs;
    std::vector<const core::Tensor*> bound;
    const auto slots = descriptor.inputs();
    inputs.reserve(slots.size());
    for (std::size_t i = 0; i < slots.size(); ++i) {
        if (slots[i].desc == nullptr) {
            bound.push_back(nullptr);
            continue;
        }
        if (const auto filled = subject.inputs[i]->fill(inputs.emplace_back(*slots[i].desc)); !filled) {
            return ended(Execution::Kind::broken, filled.error().message);
        }
        bound.push_back(&inputs.back());
    }
    Execution done = ended(Execution::Kind::done, "");
    std::vector<core::Tensor*> targets;
    for (const operators::TensorSlot& slot : descriptor.outputs()) {
        done.outputs.push_back(slot.desc == nullptr ? core::Tensor() : core::output_tensor(*slot.desc));
    }
    for (core::Tensor& output : done.outputs) {
        targets.push_back(output.buffer.bytes().empty() ? nullptr : &output);
    }
    auto step = (*executable)->bind(bound);
    step = step ? (*executable)->execute() : step;
    step = step ? (*executable)->read(targets) : step;
    return step ? std::move(done) : ended(Execution::Kind::broken, step.error().message);
}

}  // namespace

Execution execute(const cases::Case& subject, Engine& engine) {
    try {
        return steps(subject, engine);
    } catch (const std::exception& error) {
        return ended(Execution::Kind::broken, error.what());
    }
}

cases::Case expecting(const cases::Case& subject, const std::vector<core::Tensor>& outputs) {
    cases::Case result = subject;
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        if (outputs[i].buffer.bytes().empty()) {
            continue;
        }
        const core::Tensor packed = core::packed_copy(outputs[i]);
        const std::uint64_t size = core::bytes_of(packed.desc.data_type, *core::element_count(packed.desc.sizes));
        const auto bytes = packed.buffer.bytes().first(static_cast<std::size_t>(size));
        result.expected[i] = cases::given_elements({bytes.begin(), bytes.end()});
    }
    return result;
}

}  // namespace dmlconform::fuzz
