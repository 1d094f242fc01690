// Applies element-wise formulas to tensors of any layout.
//
// Elements are processed in segments of a run: loaded into arrays of one number type, computed, and stored. So each
// formula is compiled once per number type, and each conversion once per data type.
#include "engine/cpu/element_wise/machine.h"

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "engine/cpu/accepted_element.h"
#include "engine/cpu/element_wise/attributes.h"
#include "engine/cpu/element_wise/fused_activation.h"
#include "engine/cpu/element_wise/layout.h"
#include "engine/cpu/element_wise/load_store.h"
#include "engine/cpu/element_wise/turned_input.h"
#include "engine/cpu/parallel.h"

namespace dmlconform::cpu::element_wise {
namespace {

using operators::Descriptor;

/// Large enough to amortise a call, small enough for all arrays to stay in the L1 cache.
constexpr std::size_t segment_length = 256;

void load_elements(Operands /*how*/, std::span<const std::byte> memory, const Segment& from, std::size_t count,
                   double* to) {
    load(memory, from, count, to);
}
template <class Word>
void load_elements(Operands how, std::span<const std::byte> memory, const Segment& from, std::size_t count,
                   Wrapping<Word>* to) {
    if constexpr (std::is_unsigned_v<Word>) {
        if (how == Operands::as_bits) {
            load_bits(memory, from, count, to);
            return;
        }
    }
    load(memory, from, count, to);
}

void store_elements(const Row& row, std::span<std::byte> memory, const Segment& to, std::size_t count,
                    const double* from) {
    store(memory, to, count, from, row.store);
}
template <class Word>
void store_elements(const Row& row, std::span<std::byte> memory, const Segment& to, std::size_t count,
                    const Wrapping<Word>* from) {
    if constexpr (std::is_unsigned_v<Word>) {
        if (row.operands == Operands::as_bits) {
            store_bits(memory, to, count, from);
            return;
        }
    }
    store(memory, to, count, from, row.store);
}

/// One execution of an operator.
class Evaluation {
public:
    Evaluation(const Row& row, const KernelArguments& arguments)
        : row_(row),
          arguments_(arguments),
          in_reals_(computes_in_reals(row, arguments.descriptor)),
          scale_bias_(scale_bias_of(arguments.descriptor)),
          fused_(activation_of(arguments.descriptor)),
          bias_array_(bias_array(arguments.descriptor)),
          inputs_(all_inputs()),
          runs_(runs_of(arguments.descriptor, inputs_)) {}

    void run() {
        if (in_reals_ && is_direct()) {
            evaluate_directly();
        } else if (in_reals_) {
            evaluate<double>(row_.real);
        } else if (row_.operands == Operands::as_bits || !has_signed_input()) {
            evaluate<Unsigned>(row_.unsigned_integer);
        } else {
            evaluate<Signed>(row_.signed_integer);
        }
        if (rounds(row_, arguments_.descriptor) && !arguments_.slack.empty()) {
            bound();
        }
    }

private:
    /// The Bias of VALUE_SCALE_2D is in the struct: one number for each channel.
    static std::unique_ptr<core::Tensor> bias_array(const Descriptor& descriptor) {
        for (const operators::FieldValue& value : descriptor.values) {
            if (const auto* numbers = std::get_if<std::vector<float>>(&value)) {
                auto tensor = std::make_unique<core::Tensor>(core::TensorDesc::packed(
                    core::DataType::float32, {1, static_cast<std::uint32_t>(numbers->size()), 1, 1}));
                std::copy(numbers->begin(), numbers->end(), tensor->as<float>().begin());
                return tensor;
            }
        }
        return nullptr;
    }

    /// One tensor for each parameter of the formula; null for absent ones.
    [[nodiscard]] std::vector<const core::Tensor*> all_inputs() const {
        std::vector<const core::Tensor*> inputs(arguments_.inputs.begin(), arguments_.inputs.end());
        if (bias_array_) {
            inputs.push_back(bias_array_.get());
        }
        inputs.resize(row_.inputs);
        return inputs;
    }

    [[nodiscard]] bool has_signed_input() const {
        return std::any_of(inputs_.begin(), inputs_.end(), [](const core::Tensor* input) {
            return input != nullptr && core::is_signed_integer(input->desc.data_type);
        });
    }

    /// The segment of tensor `t` (inputs come first) that starts `i` elements into a run.
    [[nodiscard]] Segment segment_of(std::size_t t, const core::TensorDesc& desc, const Runs::PerArray& offsets,
                                     std::int64_t i) const {
        const std::int64_t stride = runs_.run_strides()[t];
        return {desc.data_type, offsets[t] + i * stride, stride};
    }

    [[nodiscard]] std::int64_t segments_per_run() const {
        const auto length = static_cast<std::int64_t>(segment_length);
        return (runs_.run_length() + length - 1) / length;
    }

    /// Calls body(offsets, i, count, element) for the segments first … last - 1, with the offsets of the run, the
    /// segment's start within the run, its length, and the row-major index of its first element.
    template <class Body>
    void for_each_segment(std::int64_t first, std::int64_t last, Body&& body) const {
        const std::int64_t per_run = segments_per_run();
        std::int64_t segment = first;
        runs_.for_each_run(first / per_run, (last + per_run - 1) / per_run, [&](const Runs::PerArray& offsets) {
            const std::int64_t run = segment / per_run;
            for (; segment < std::min(last, (run + 1) * per_run); ++segment) {
                const std::int64_t i = (segment - run * per_run) * static_cast<std::int64_t>(segment_length);
                const std::int64_t count = std::min(runs_.run_length() - i, static_cast<std::int64_t>(segment_length));
                body(offsets, i, static_cast<std::size_t>(count), run * runs_.run_length() + i);
            }
        });
    }

    /// Distributes segments over threads, unless output elements share bytes.
    template <class Body>
    void over_all(Body&& body) const {
        const bool shared_bytes =
            std::any_of(arguments_.outputs.begin(), arguments_.outputs.end(),
                        [](const core::Tensor* output) { return core::bytes_of(output->desc.data_type) == 0; });
        const std::int64_t count = runs_.run_count() * segments_per_run();
        if (shared_bytes) {
            body(0, count);
        } else {
            parallel_for(count, 4 * std::min(runs_.run_length(), static_cast<std::int64_t>(segment_length)), body);
        }
    }

    using TurnedInputs = std::vector<std::optional<TurnedInput>>;

    /// The transposed inputs for one thread. An input that is overwritten in place must not be cached.
    [[nodiscard]] TurnedInputs turned_inputs() const {
        TurnedInputs turned(inputs_.size());
        for (std::size_t t = 0; t < inputs_.size(); ++t) {
            const auto is_input = [&](const core::Tensor* output) { return output == inputs_[t]; };
            if (inputs_[t] != nullptr && std::none_of(arguments_.outputs.begin(), arguments_.outputs.end(), is_input)) {
                turned[t].emplace(*inputs_[t], runs_, t, segment_length);
                if (!turned[t]->is_turned()) {
                    turned[t].reset();
                }
            }
        }
        return turned;
    }

    /// Where to read `count` elements of input `t`, starting at element `i` of a run.
    [[nodiscard]] TurnedInput::Source source_of(TurnedInputs& turned, std::size_t t, const Runs::PerArray& offsets,
                                                std::int64_t i, std::size_t count) const {
        const Segment from = segment_of(t, inputs_[t]->desc, offsets, i);
        return turned[t] ? turned[t]->source_of(from, i, count) : TurnedInput::Source{inputs_[t]->buffer.bytes(), from};
    }

    template <class T>
    void load_inputs(std::span<std::vector<T>> arrays, TurnedInputs& turned, const Runs::PerArray& offsets,
                     std::int64_t i, std::size_t count) const {
        for (std::size_t t = 0; t < inputs_.size(); ++t) {
            if (inputs_[t] == nullptr) {
                std::fill_n(arrays[t].begin(), count, T(0));
                continue;
            }
            const TurnedInput::Source source = source_of(turned, t, offsets, i, count);
            load_elements(row_.operands, source.memory, source.segment, count, arrays[t].data());
        }
        if (scale_bias_ != nullptr) {
            scale(arrays[0], count);
        }
    }

    void scale(std::vector<double>& values, std::size_t count) const {
        const core::DataType type = inputs_[0]->desc.data_type;
        const bool integer = !core::is_floating_point(type);
        for (std::size_t k = 0; k < count; ++k) {
            values[k] = values[k] * double{scale_bias_->scale} + double{scale_bias_->bias};
            if (integer) {
                values[k] = stored_value(type, values[k], Store::converting);
            }
        }
    }
    /// Measured on DirectML 1.15.4: the result is converted back to the integers' type, and then they are integers as
    /// without ScaleBias.
    template <class Word>
    void scale(std::vector<Wrapping<Word>>& values, std::size_t count) const {
        const core::DataType type = inputs_[0]->desc.data_type;
        for (std::size_t k = 0; k < count; ++k) {
            const double scaled =
                static_cast<double>(values[k].value) * double{scale_bias_->scale} + double{scale_bias_->bias};
            values[k] = stored_value(type, scaled, Store::converting);
        }
    }

    template <class T>
    void evaluate(Loop<T> loop) const {
        const Context<T> context = context_of<T>(arguments_.descriptor);
        over_all([&](std::int64_t first, std::int64_t last) {
            std::vector<std::vector<T>> in(inputs_.size(), std::vector<T>(segment_length));
            std::vector<std::vector<T>> out(arguments_.outputs.size(), std::vector<T>(segment_length));
            TurnedInputs turned = turned_inputs();
            std::array<const T*, most_tensors> from{};
            std::array<T*, most_tensors> to{};
            std::transform(in.begin(), in.end(), from.begin(), [](const auto& array) { return array.data(); });
            std::transform(out.begin(), out.end(), to.begin(), [](auto& array) { return array.data(); });
            for_each_segment(first, last, [&](const Runs::PerArray& offsets, std::int64_t i, std::size_t count, auto) {
                load_inputs<T>(in, turned, offsets, i, count);
                loop(from, to, count, context);
                if constexpr (std::is_same_v<T, double>) {
                    if (fused_.is_present()) {
                        std::transform(to[0], to[0] + count, to[0], fused_);
                    }
                }
                for (std::size_t o = 0; o < arguments_.outputs.size(); ++o) {
                    core::Tensor& output = *arguments_.outputs[o];
                    store_elements(row_, output.buffer.bytes(), segment_of(inputs_.size() + o, output.desc, offsets, i),
                                   count, to[o]);
                }
            });
        });
    }

    /// True if all elements are FLOAT32 and contiguous, or can be gathered so, and only the formula is applied.
    [[nodiscard]] bool is_direct() const {
        const auto is_single = [](const core::Tensor* tensor) {
            return tensor != nullptr && tensor->desc.data_type == core::DataType::float32;
        };
        bool are_side_by_side = true;
        const TurnedInputs turned = turned_inputs();
        for (std::size_t t = 0; t < inputs_.size() + arguments_.outputs.size(); ++t) {
            const bool is_gathered = t < turned.size() && turned[t];
            are_side_by_side = are_side_by_side && (is_gathered || runs_.run_strides()[t] == 1);
        }
        return are_side_by_side && row_.direct != nullptr && scale_bias_ == nullptr && !fused_.is_present() &&
               std::all_of(inputs_.begin(), inputs_.end(), is_single) &&
               std::all_of(arguments_.outputs.begin(), arguments_.outputs.end(), is_single);
    }

    void evaluate_directly() const {
        const Context<double> context = context_of<double>(arguments_.descriptor);
        over_all([&](std::int64_t first, std::int64_t last) {
            TurnedInputs turned = turned_inputs();
            std::array<const float*, most_tensors> from{};
            for_each_segment(first, last, [&](const Runs::PerArray& offsets, std::int64_t i, std::size_t count, auto) {
                for (std::size_t t = 0; t < inputs_.size(); ++t) {
                    const TurnedInput::Source source = source_of(turned, t, offsets, i, count);
                    from[t] = reinterpret_cast<const float*>(source.memory.data()) + source.segment.first;
                }
                float* const to = arguments_.outputs[0]->as<float>().data() + offsets[inputs_.size()] + i;
                row_.direct(from, to, count, context);
            });
        });
    }

    /// Computes the slack by evaluating the formula on intervals. The outputs must be there.
    void bound() const {
        const Context<Interval> context = interval_context(context_of<double>(arguments_.descriptor));
        over_all([&](std::int64_t first, std::int64_t last) {
            std::vector<std::vector<double>> values(inputs_.size(), std::vector<double>(segment_length));
            std::vector<std::vector<Interval>> in(inputs_.size(), std::vector<Interval>(segment_length));
            std::vector<std::vector<Interval>> out(arguments_.outputs.size(), std::vector<Interval>(segment_length));
            std::array<const Interval*, most_tensors> from{};
            std::array<Interval*, most_tensors> to{};
            std::transform(in.begin(), in.end(), from.begin(), [](const auto& array) { return array.data(); });
            std::transform(out.begin(), out.end(), to.begin(), [](auto& array) { return array.data(); });
            for_each_segment(
                first, last,
                [&](const Runs::PerArray& offsets, std::int64_t i, std::size_t count, std::int64_t element) {
                    if (is_in_eights()) {
                        load_numbers(values, offsets, i, count);
                        put_slack_of_eights(values, context, offsets, i, count, element);
                        return;
                    }
                    load_intervals(values, in, offsets, i, count);
                    row_.interval(from, to, count, context);
                    if (!in_reals_ && !core::is_floating_point(arguments_.outputs[0]->desc.data_type)) {
                        note_integers(in, segment_of(inputs_.size(), arguments_.outputs[0]->desc, offsets, i), count,
                                      to[0]);
                    }
                    for (std::size_t o = 0; o < arguments_.outputs.size(); ++o) {
                        if (fused_.is_present() && o == 0) {
                            // Measured on DirectML 1.15.4: the argument may have been rounded to the output's type.
                            const core::DataType type = arguments_.outputs[0]->desc.data_type;
                            std::transform(to[0], to[0] + count, to[0], [&](const Interval& argument) {
                                return fused_(maybe_stored(type, argument, row_.store));
                            });
                        }
                        put_slack(o, segment_of(inputs_.size() + o, arguments_.outputs[o]->desc, offsets, i), count,
                                  to[o], static_cast<std::size_t>(element));
                    }
                });
        });
    }

    /// True if the slack of eight elements can be computed at a time. Operators with such rows have no ScaleBias.
    [[nodiscard]] bool is_in_eights() const {
        return row_.slack != nullptr && !fused_.is_present() && arguments_.slack.size() == 1 &&
               !arguments_.slack[0].below.empty() && arguments_.outputs[0]->desc.data_type == core::DataType::float32 &&
               std::none_of(inputs_.begin(), inputs_.end(), [](const core::Tensor* input) { return input == nullptr; });
    }

    void load_numbers(std::span<std::vector<double>> values, const Runs::PerArray& offsets, std::int64_t i,
                      std::size_t count) const {
        for (std::size_t t = 0; t < inputs_.size(); ++t) {
            load(inputs_[t]->buffer.bytes(), segment_of(t, inputs_[t]->desc, offsets, i), count, values[t].data());
        }
    }

    void put_slack_of_eights(std::span<const std::vector<double>> values, const Context<Interval>& context,
                             const Runs::PerArray& offsets, std::int64_t i, std::size_t count,
                             std::int64_t element) const {
        const Segment output = segment_of(inputs_.size(), arguments_.outputs[0]->desc, offsets, i);
        std::array<double, segment_length> stored{};
        load(arguments_.outputs[0]->buffer.bytes(), output, count, stored.data());
        std::array<const double*, most_tensors> from{};
        std::transform(values.begin(), values.end(), from.begin(), [](const auto& array) { return array.data(); });
        const auto first = static_cast<std::size_t>(element);
        row_.slack(from, {stored.data(), count}, arguments_.slack[0], first, [&](std::size_t k) {
            std::array<Interval, most_tensors> in;
            std::array<const Interval*, most_tensors> pointers{};
            for (std::size_t t = 0; t < values.size(); ++t) {
                in[t] = values[t][k];
                pointers[t] = &in[t];
            }
            Interval result;
            Interval* const to = &result;
            row_.interval(pointers, {&to, 1}, 1, context);
            note_accepted(arguments_.slack[0], first + k, output.type, stored[k],
                          stored_range(output.type, result, row_.store));
        });
    }

    void load_intervals(std::span<std::vector<double>> values, std::span<std::vector<Interval>> in,
                        const Runs::PerArray& offsets, std::int64_t i, std::size_t count) const {
        for (std::size_t t = 0; t < inputs_.size(); ++t) {
            if (inputs_[t] == nullptr) {
                std::fill_n(in[t].begin(), count, Interval(0));
                continue;
            }
            const core::DataType type = inputs_[t]->desc.data_type;
            load(inputs_[t]->buffer.bytes(), segment_of(t, inputs_[t]->desc, offsets, i), count, values[t].data());
            for (std::size_t k = 0; k < count; ++k) {
                in[t][k] = values[t][k];
                if (t == 0 && scale_bias_ != nullptr) {
                    in[t][k] = in[t][k] * double{scale_bias_->scale} + double{scale_bias_->bias};
                    if (!core::is_floating_point(type)) {
                        in[t][k] = stored_range(type, in[t][k], Store::converting);
                    }
                }
            }
        }
    }

    /// Results of integers that ScaleBias has made: exact where FP32 makes the same integers of them, and any number
    /// where it may make others, one of which wraps.
    void note_integers(std::span<const std::vector<Interval>> in, const Segment& output, std::size_t count,
                       Interval* results) const {
        std::array<double, segment_length> stored{};
        load(arguments_.outputs[0]->buffer.bytes(), output, count, stored.data());
        const Interval whole(stored_value(output.type, -0x1p80, Store::converting),
                             stored_value(output.type, 0x1p80, Store::converting), false);
        for (std::size_t k = 0; k < count; ++k) {
            const bool is_known = std::all_of(in.begin(), in.end(), [k](const auto& array) {
                return !array[k].nan && array[k].low == array[k].high;
            });
            if (is_known) {
                results[k] = stored[k];
            } else if (results[k].low < whole.low || whole.high < results[k].high) {
                results[k] = whole;
            }
        }
    }

    void put_slack(std::size_t o, const Segment& output, std::size_t count, const Interval* results,
                   std::size_t element) const {
        core::ElementSlack& slack = arguments_.slack[o];
        if (slack.below.empty()) {
            return;
        }
        std::array<double, segment_length> stored{};
        load(arguments_.outputs[o]->buffer.bytes(), output, count, stored.data());
        for (std::size_t k = 0; k < count; ++k) {
            note_accepted(slack, element + k, output.type, stored[k],
                          stored_range(output.type, results[k], row_.store));
        }
    }

    const Row& row_;
    const KernelArguments& arguments_;
    bool in_reals_;
    const operators::ScaleBias* scale_bias_;
    FusedActivation fused_;
    std::unique_ptr<core::Tensor> bias_array_;
    std::vector<const core::Tensor*> inputs_;
    Runs runs_;
};

// ---- tolerance ---------------------------------------------------------------------------------------------------

/// What the operations of the formula may lose, after those of `ScaleBias`; empty if nothing is rounded.
std::string rounding_of(const Row& row, bool has_scale_bias) {
    const IntervalHistory history;
    // With these intervals no branch is decided, so every operation of the formula is used.
    std::vector<Interval> numbers(row.inputs, Interval(-0.5, 0.5, false));
    if (has_scale_bias) {
        numbers[0] = numbers[0] * Interval(0.25) + Interval(0.25);
    }
    std::array<const Interval*, most_tensors> in{};
    std::transform(numbers.begin(), numbers.end(), in.begin(), [](const Interval& number) { return &number; });
    std::vector<Interval> results(row.outputs);
    std::array<Interval*, most_tensors> out{};
    std::transform(results.begin(), results.end(), out.begin(), [](Interval& result) { return &result; });
    Context<Interval> context;
    context.attributes.fill(Interval(0.25));
    row.interval(in, out, 1, context);
    return history.text();
}

/// True if the descriptor's output is FLOAT16 and may get numbers that FLOAT16 does not have: rounded ones, those of an
/// input of another type, and those of attributes.
bool rounds_to_half(const Descriptor& descriptor, bool is_exact) {
    const auto is_half = [](const operators::TensorSlot& slot) {
        return slot.desc == nullptr || slot.desc->data_type == core::DataType::float16;
    };
    const auto outputs = descriptor.outputs();
    const bool has_numbers = std::ranges::any_of(descriptor.schema->fields, [](const operators::Field& field) {
        return field.type == operators::FieldType::float_ || field.type == operators::FieldType::scalar_union;
    });
    return !outputs.empty() && is_half(outputs[0]) &&
           (!is_exact || has_numbers || !std::ranges::all_of(descriptor.inputs(), is_half));
}

/// Describes how an operator's intervals arise, and what storing them may add. The text lives as long as the program.
std::string_view history_of(const Row& row, const Descriptor& descriptor) {
    struct Texts {
        std::string rounding;
        std::string usual;
        std::string to_half;
    };
    static std::mutex mutex;
    static std::map<std::pair<std::string_view, bool>, Texts> all;
    const bool has_scale_bias = scale_bias_of(descriptor) != nullptr;
    const std::scoped_lock lock(mutex);
    const auto [found, is_new] = all.try_emplace({row.name, has_scale_bias});
    Texts& texts = found->second;
    if (is_new) {
        texts.rounding = rounding_of(row, has_scale_bias);
        texts.usual = texts.rounding.empty() ? "exact, but for subnormal numbers, which may count as zero"
                                             : "FP32 as Direct3D allows it (" + texts.rounding + ")";
        texts.to_half = texts.usual + ", then rounded to 16 bits, to nearest or towards zero";
    }
    return rounds_to_half(descriptor, texts.rounding.empty()) ? texts.to_half : texts.usual;
}

core::Tolerance tolerance_of(const Row& row, const Descriptor& descriptor) {
    core::Tolerance tolerance;
    if (rounds(row, descriptor)) {
        tolerance.element_slack = true;
        tolerance.slack_formula = history_of(row, descriptor);
    } else {
        tolerance.exact = true;
    }
    return tolerance;
}

/// Empty unless only the formula is applied, to tensors without gaps that are all of the same sizes. The Bias of
/// VALUE_SCALE_2D is an input of its formula, and no tensor.
std::optional<ElementByElement> by_element(const Row& row, const Descriptor& descriptor) {
    const auto outputs = descriptor.outputs();
    if (row.direct == nullptr || scale_bias_of(descriptor) != nullptr || activation_of(descriptor) != nullptr ||
        descriptor.inputs().size() != row.inputs || outputs.size() != 1 || outputs[0].desc == nullptr ||
        !is_packed_float32(*outputs[0].desc)) {
        return std::nullopt;
    }
    ElementByElement result;
    for (const operators::TensorSlot& slot : descriptor.inputs()) {
        if (slot.desc == nullptr || !is_packed_float32(*slot.desc) || slot.desc->sizes != outputs[0].desc->sizes) {
            return std::nullopt;
        }
        result.inputs.push_back(result.inputs.size());
    }
    result.compute = [direct = row.direct, context = context_of<double>(descriptor)](
                         std::int64_t /*first*/, std::int64_t count, std::size_t runs, std::span<const float* const> in,
                         float* out) { direct(in, out, static_cast<std::size_t>(count) * runs, context); };
    return result;
}

/// Rows by operator name, used to look up fused activations.
std::map<std::string_view, Row>& known_rows() {
    static std::map<std::string_view, Row> rows;
    return rows;
}

}  // namespace

const Row* find_row(std::string_view name) {
    const auto found = all_rows().find(name);
    return found == all_rows().end() ? nullptr : &found->second;
}

Kernels kernels_of(std::vector<Row> rows) {
    Kernels kernels;
    for (Row& row : rows) {
        const Row& known = known_rows().insert_or_assign(row.name, row).first->second;
        kernels.push_back(
            {.name = row.name,
             .compute = [&known](const KernelArguments& arguments) { compute(known, arguments); },
             .tolerance = [&known](const Descriptor& descriptor,
                                   const operators::TensorSlot&) { return tolerance_of(known, descriptor); },
             .by_element = [&known](const Descriptor& descriptor,
                                    std::span<const core::Tensor* const>) { return by_element(known, descriptor); }});
    }
    return kernels;
}

const std::map<std::string_view, Row>& all_rows() {
    (void)find_kernel("");  // loads all rows
    return known_rows();
}

void compute(const Row& row, const KernelArguments& arguments) {
    Evaluation(row, arguments).run();
}

}  // namespace dmlconform::cpu::element_wise
