// Reads a recurrent network from its tensors and attributes.
#include "engine/cpu/recurrent/network.h"

#include "engine/cpu/tensor_numbers.h"
#include "engine/operators/enumerators.h"

namespace dmlconform::cpu::recurrent {

using Direction = operators::RecurrentNetworkDirection;

Network::Network(const KernelArguments& arguments, std::int64_t gate_count)
    : gates(gate_count),
      steps(arguments.descriptor.sizes("InputTensor")[1]),
      batch(arguments.descriptor.sizes("InputTensor")[2]),
      inputs(arguments.descriptor.sizes("InputTensor")[3]),
      hidden(arguments.descriptor.sizes("RecurrenceTensor")[3]),
      directions(enumerator<Direction>(arguments.descriptor, "Direction") == Direction::bidirectional ? 2 : 1),
      runs_backward_(enumerator<Direction>(arguments.descriptor, "Direction") == Direction::backward),
      input_(numbers_of(arguments, "InputTensor")),
      weights_(numbers_of(arguments, "WeightTensor")),
      recurrence_(numbers_of(arguments, "RecurrenceTensor")),
      bias_(numbers_of(arguments, "BiasTensor")),
      peepholes_(numbers_of(arguments, "PeepholeTensor")),
      first_states_(numbers_of(arguments, "HiddenInitTensor")),
      first_cells_(numbers_of(arguments, "CellMemInitTensor")) {
    for (const double length : numbers_of(arguments, "SequenceLengthsTensor")) {
        lengths_.push_back(static_cast<std::int64_t>(length));
    }
    for (const operators::OperatorDesc& activation :
         arguments.descriptor.get<operators::OperatorDescArray>("ActivationDescs").items) {
        activations_.emplace_back(activation.get());
    }
}

}  // namespace dmlconform::cpu::recurrent
