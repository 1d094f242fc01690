// Loads groups, applies a formula, and stores the results.
#include "engine/cpu/normalisation/formula.h"

#include <array>

#include "engine/cpu/accepted_element.h"
#include "engine/cpu/element_wise/load_store.h"
#include "engine/cpu/parallel.h"
#include "engine/cpu/reduction/sets.h"

namespace dmlconform::cpu::normalisation {
namespace {

constexpr std::size_t most_elements = 2;
constexpr std::size_t most_parameters = 4;
constexpr std::size_t most_results = 2;

/// Arrays of the iteration. The numbers are row-major indices.
enum Array : std::size_t {
    first_elements,
    first_parameter = first_elements + most_elements,
    output = first_parameter + most_parameters,
    first_result,
    output_number = first_result + most_results,
    result_number,
    array_count
};

using Sets = reduction::Sets<array_count>;
using Offsets = Sets::Offsets;

/// Row-major indices of a tensor's elements as strides; 0 along dimensions of size 1, where an element is repeated.
core::Strides repeating_numbers(const core::Dimensions& sizes) {
    core::Strides strides = reduction::numbering_strides(sizes);
    for (std::size_t d = 0; d < sizes.size(); ++d) {
        strides[d] = sizes[d] == 1 ? 0 : strides[d];
    }
    return strides;
}

Sets sets_of(const KernelArguments& arguments, const Operands& operands) {
    const core::Dimensions& sizes = arguments.outputs[0]->desc.sizes;
    std::array<core::Strides, array_count> strides;
    strides.fill(core::Strides(sizes.size()));
    for (std::size_t i = 0; i < operands.elements.size(); ++i) {
        if (operands.elements[i] != nullptr) {
            strides[first_elements + i] = reduction::repeating_strides(operands.elements[i]->desc);
        }
    }
    for (std::size_t i = 0; i < operands.parameters.size(); ++i) {
        strides[first_parameter + i] = reduction::repeating_strides(operands.parameters[i]->desc);
    }
    strides[output] = core::signed_strides(arguments.outputs[0]->desc);
    strides[output_number] = reduction::numbering_strides(sizes);
    for (std::size_t i = 1; i < arguments.outputs.size(); ++i) {
        strides[first_result + i - 1] = reduction::repeating_strides(arguments.outputs[i]->desc);
        strides[result_number] = repeating_numbers(arguments.outputs[i]->desc.sizes);
    }
    return {sizes, operands.reduced, strides};
}

/// The state of one thread.
class Worker {
public:
    Worker(const KernelArguments& arguments, const Operands& operands, const Sets& sets, Formula& formula)
        : arguments_(arguments),
          operands_(operands),
          sets_(sets),
          formula_(formula),
          buffers_(operands.elements.size()),
          results_(static_cast<std::size_t>(sets.size())) {
        for (const core::Tensor* elements : operands.elements) {
            auto& buffer = buffers_[set_.elements.size()];
            buffer.resize(elements == nullptr ? 0 : results_.size());
            set_.elements.emplace_back(buffer);
        }
        set_.parameters.resize(operands.parameters.size());
        for (std::size_t i = 0; i < arguments.slack.size(); ++i) {
            set_.wants_ranges = set_.wants_ranges || wants_range(i);
        }
        // Formulas of several inputs have no loop for floats.
        are_floats_ = !set_.wants_ranges && operands.parameters.empty() && arguments.outputs.size() == 1 &&
                      is_row_of_floats(*operands.elements[0], first_elements) &&
                      is_row_of_floats(*arguments.outputs[0], output);
    }

    void compute(std::int64_t set) {
        const Offsets start = sets_.kept().offsets_of(set);
        if (are_floats_ && compute_floats(start)) {
            return;
        }
        load(start);
        formula_.take(set_);
        formula_.compute(results_);
        store(start);
        for (std::size_t i = 1; i < arguments_.outputs.size(); ++i) {
            store_result(start, i);
        }
    }

private:
    [[nodiscard]] bool wants_range(std::size_t output_index) const {
        return output_index < arguments_.slack.size() && !arguments_.slack[output_index].below.empty();
    }

    [[nodiscard]] bool is_row_of_floats(const core::Tensor& tensor, std::size_t array) const {
        return tensor.desc.data_type == core::DataType::float32 && sets_.inside().run_count() == 1 &&
               sets_.inside().run_strides()[array] == 1;
    }

    bool compute_floats(const Offsets& start) {
        const float* const elements = operands_.elements[0]->as<float>().data() + start[first_elements];
        float* const values = arguments_.outputs[0]->as<float>().data() + start[output];
        return formula_.compute_floats({elements, results_.size()}, {values, results_.size()});
    }

    void load(const Offsets& start) {
        for (std::size_t i = 0; i < operands_.elements.size(); ++i) {
            if (operands_.elements[i] != nullptr) {
                load_elements(*operands_.elements[i], first_elements + i, start, buffers_[i].data());
            }
        }
        for (std::size_t i = 0; i < operands_.parameters.size(); ++i) {
            const core::Tensor& tensor = *operands_.parameters[i];
            element_wise::load(tensor.buffer.bytes(), {tensor.desc.data_type, start[first_parameter + i], 0}, 1,
                               &set_.parameters[i]);
        }
    }

    void load_elements(const core::Tensor& tensor, std::size_t array, const Offsets& start, double* to) const {
        const auto& inside = sets_.inside();
        const std::int64_t length = inside.run_length();
        inside.for_each_run([&](const Offsets& offsets) {
            element_wise::load(tensor.buffer.bytes(),
                               {tensor.desc.data_type, start[array] + offsets[array], inside.run_strides()[array]},
                               static_cast<std::size_t>(length), to);
            to += length;
        });
    }

    void store(const Offsets& start) {
        core::Tensor& tensor = *arguments_.outputs[0];
        const auto& inside = sets_.inside();
        const std::int64_t length = inside.run_length();
        std::size_t k = 0;
        inside.for_each_run([&](const Offsets& offsets) {
            element_wise::store(tensor.buffer.bytes(),
                                {tensor.desc.data_type, start[output] + offsets[output], inside.run_strides()[output]},
                                static_cast<std::size_t>(length), &results_[k], element_wise::Store::wrapping);
            if (wants_range(0)) {
                note_run(start[output_number] + offsets[output_number], k, static_cast<std::size_t>(length));
            }
            k += static_cast<std::size_t>(length);
        });
    }

    /// Stores the slack of a run of elements. Its first one has this row-major index, and is element k of the group.
    void note_run(std::int64_t number, std::size_t k, std::size_t length) const {
        const std::int64_t step = sets_.inside().run_strides()[output_number];
        const auto one = [&](std::size_t i) {
            note(0, number + static_cast<std::int64_t>(i) * step, results_[k + i], formula_.range(k + i));
        };
        if (step == 1 && arguments_.outputs[0]->desc.data_type == core::DataType::float32) {
            formula_.note_floats(arguments_.slack[0], static_cast<std::size_t>(number), k, {&results_[k], length}, one);
            return;
        }
        for (std::size_t i = 0; i < length; ++i) {
            one(i);
        }
    }

    void store_result(const Offsets& start, std::size_t i) {
        core::Tensor& tensor = *arguments_.outputs[i];
        const double value = formula_.result(i - 1);
        element_wise::store(tensor.buffer.bytes(), {tensor.desc.data_type, start[first_result + i - 1], 0}, 1, &value,
                            element_wise::Store::wrapping);
        if (wants_range(i)) {
            note(i, start[result_number], value, formula_.result_range(i - 1));
        }
    }

    void note(std::size_t i, std::int64_t number, double value, const Interval& range) const {
        const core::DataType type = arguments_.outputs[i]->desc.data_type;
        const auto how = element_wise::Store::wrapping;
        note_accepted(arguments_.slack[i], static_cast<std::size_t>(number), type,
                      element_wise::stored_value(type, value, how), element_wise::stored_range(type, range, how));
    }

    const KernelArguments& arguments_;
    const Operands& operands_;
    const Sets& sets_;
    Formula& formula_;
    std::vector<std::vector<double>> buffers_;
    std::vector<double> results_;
    Set set_;
    /// True if groups are contiguous FLOAT32 elements of one input and the output, and ranges are not wanted.
    bool are_floats_ = false;
};

}  // namespace

void compute_sets(const KernelArguments& arguments, const Operands& operands,
                  const std::function<std::unique_ptr<Formula>()>& make_formula) {
    const Sets sets = sets_of(arguments, operands);
    parallel_for(sets.count(), sets.size() * 8, [&](std::int64_t first, std::int64_t last) {
        const std::unique_ptr<Formula> formula = make_formula();
        Worker worker(arguments, operands, sets, *formula);
        for (std::int64_t set = first; set < last; ++set) {
            worker.compute(set);
        }
    });
}

const core::Tensor* input_of(const KernelArguments& arguments, std::string_view name) {
    const auto slots = arguments.descriptor.inputs();
    for (std::size_t i = 0; i < slots.size(); ++i) {
        if (slots[i].name == name) {
            return arguments.inputs[i];
        }
    }
    return nullptr;
}

core::Tolerance range_tolerance(std::string_view where_from) {
    core::Tolerance tolerance;
    tolerance.element_slack = true;
    tolerance.slack_formula = where_from;
    return tolerance;
}

Interval maybe_stored(core::DataType type, const Interval& x) {
    return element_wise::maybe_stored(type, x, element_wise::Store::wrapping);
}

}  // namespace dmlconform::cpu::normalisation
