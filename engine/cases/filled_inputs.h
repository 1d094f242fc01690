// The inputs of a case, filled with their data.
#pragma once

#include <fmt/format.h>

#include <vector>

#include "engine/cases/case.h"

namespace dmlconform::cases {

/// Tensors cannot be copied, so that the pointers stay valid.
struct FilledInputs {
    /// One for each of Descriptor::inputs(). Empty if it is absent.
    std::vector<core::Tensor> tensors;
    /// The same. Null if it is absent.
    std::vector<const core::Tensor*> pointers;
};

/// Fails if an input has no data, or if its data cannot be made.
[[nodiscard]] inline core::Result<FilledInputs> filled_inputs(const Case& subject) {
    const auto slots = subject.descriptor->inputs();
    FilledInputs inputs{std::vector<core::Tensor>(slots.size()), std::vector<const core::Tensor*>(slots.size())};
    for (std::size_t i = 0; i < slots.size(); ++i) {
        if (slots[i].desc == nullptr) {
            continue;
        }
        if (i >= subject.inputs.size() || !subject.inputs[i]) {
            return core::fail(fmt::format("{} has no data", slots[i].name));
        }
        inputs.tensors[i] = core::Tensor(*slots[i].desc);
        if (const auto filled = subject.inputs[i]->fill(inputs.tensors[i]); !filled) {
            return tl::unexpected(filled.error());
        }
        inputs.pointers[i] = &inputs.tensors[i];
    }
    return inputs;
}

}  // namespace dmlconform::cases
