// Loads tensors as doubles, run by run.
#include "engine/cpu/tensor_numbers.h"

#include <utility>

#include "engine/cpu/element_wise/load_store.h"
#include "engine/cpu/normalisation/formula.h"

namespace dmlconform::cpu {

std::vector<double> numbers_of(const core::Tensor& tensor, bool transposed) {
    core::Dimensions sizes = tensor.desc.sizes;
    core::Strides strides = core::signed_strides(tensor.desc);
    if (transposed) {
        std::swap(sizes[sizes.size() - 2], sizes.back());
        std::swap(strides[strides.size() - 2], strides.back());
    }
    std::vector<double> numbers(static_cast<std::size_t>(*core::element_count(sizes)));
    const core::StridedRuns<1> runs(sizes, {strides});
    const auto length = static_cast<std::size_t>(runs.run_length());
    double* to = numbers.data();
    runs.for_each_run([&](const auto& offsets) {
        element_wise::load(tensor.buffer.bytes(), {tensor.desc.data_type, offsets[0], runs.run_strides()[0]}, length,
                           to);
        to += length;
    });
    return numbers;
}

std::vector<double> numbers_of(const KernelArguments& arguments, std::string_view field) {
    const core::Tensor* const tensor = normalisation::input_of(arguments, field);
    return tensor == nullptr ? std::vector<double>() : numbers_of(*tensor);
}

}  // namespace dmlconform::cpu
