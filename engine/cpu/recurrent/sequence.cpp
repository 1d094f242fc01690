// Writes the outputs of recurrent networks.
#include "engine/cpu/recurrent/sequence.h"

namespace dmlconform::cpu::recurrent {

Written::Written(const KernelArguments& arguments, std::size_t number) {
    core::Tensor* const tensor = arguments.outputs[number];
    if (tensor == nullptr || tensor->desc.sizes.empty()) {
        return;
    }
    tensor_ = tensor;
    strides_ = core::signed_strides(tensor->desc);
    if (!arguments.slack.empty() && !arguments.slack[number].below.empty()) {
        slack_ = &arguments.slack[number];
    }
}

}  // namespace dmlconform::cpu::recurrent
