// Reads the operands of attention from its tensors. What comments say about DirectML 1.15.4 was measured on it.
#include "engine/cpu/attention/operands.h"

#include <array>

#include "engine/cpu/tensor_numbers.h"
#include "engine/operators/enumerators.h"

namespace dmlconform::cpu::attention {
namespace {

/// A tensor that contains queries, keys or values, possibly stacked with others.
struct Source {
    std::string_view field;
    std::int64_t part = 0;
    std::int64_t parts = 1;
};

constexpr std::array<Source, 3> of_queries{
    {{"QueryTensor"}, {"StackedQueryKeyTensor", 0, 2}, {"StackedQueryKeyValueTensor", 0, 3}}};
constexpr std::array<Source, 4> of_keys{{{"KeyTensor"},
                                         {"StackedQueryKeyTensor", 1, 2},
                                         {"StackedKeyValueTensor", 0, 2},
                                         {"StackedQueryKeyValueTensor", 1, 3}}};
constexpr std::array<Source, 3> of_values{
    {{"ValueTensor"}, {"StackedKeyValueTensor", 1, 2}, {"StackedQueryKeyValueTensor", 2, 3}}};

std::int64_t head_count(const operators::Descriptor& descriptor, std::string_view field) {
    return descriptor.uint(descriptor.has_field(field) ? field : "HeadCount");
}

/// The last dimensions are {batch, position, head * size}, or {batch, position, head, part, size} if stacked.
std::int64_t batch_of(const core::TensorDesc& desc, const Source& source) {
    const core::Dimensions& sizes = desc.sizes;
    return source.parts == 1 ? sizes[sizes.size() - 3] : sizes[0];
}

/// Transposes {batch, position, head, part, size} to {batch, head, position, size}.
template <class Sources>
Rows rows_of(const KernelArguments& arguments, const Sources& sources, std::int64_t heads) {
    for (const Source& source : sources) {
        const std::vector<double> numbers = numbers_of(arguments, source.field);
        if (numbers.empty()) {
            continue;
        }
        const core::TensorDesc& desc = *arguments.descriptor.tensor(source.field);
        const std::int64_t batch = batch_of(desc, source);
        Rows rows{heads};
        rows.positions = source.parts == 1 ? desc.sizes[desc.sizes.size() - 2] : desc.sizes[1];
        rows.size = static_cast<std::int64_t>(numbers.size()) / (batch * rows.positions * heads * source.parts);
        rows.numbers.reserve(numbers.size() / static_cast<std::size_t>(source.parts));
        for (std::int64_t b = 0; b < batch; ++b) {
            for (std::int64_t h = 0; h < heads; ++h) {
                for (std::int64_t p = 0; p < rows.positions; ++p) {
                    const std::int64_t row = ((b * rows.positions + p) * heads + h) * source.parts + source.part;
                    const double* const from = numbers.data() + row * rows.size;
                    rows.numbers.insert(rows.numbers.end(), from, from + rows.size);
                }
            }
        }
        return rows;
    }
    return {};
}

/// Reads a past tensor, which is {batch, head, position, size} already.
Rows past_of(const KernelArguments& arguments, std::string_view field, const Rows& rows) {
    Rows past{rows.heads, 0, rows.size, numbers_of(arguments, field)};
    if (const core::TensorDesc* const desc = arguments.descriptor.tensor(field)) {
        past.positions = desc->sizes[desc->sizes.size() - 2];
    }
    return past;
}

/// A section of `count` numbers of the bias, for all heads.
std::vector<double> bias_of(const std::vector<double>& bias, std::int64_t first, const Rows& rows) {
    return bias.empty() ? std::vector<double>()
                        : std::vector<double>(bias.begin() + first, bias.begin() + first + rows.heads * rows.size);
}

std::int64_t batch_of_queries(const operators::Descriptor& descriptor) {
    for (const Source& source : of_queries) {
        if (const core::TensorDesc* const desc = descriptor.tensor(source.field)) {
            return batch_of(*desc, source);
        }
    }
    return 1;
}

}  // namespace

// ---- masks -------------------------------------------------------------------------------------------------------

Mask::Mask(const KernelArguments& arguments, std::int64_t batch, std::int64_t heads, std::int64_t queries,
           std::int64_t keys)
    : type_(enumerator<MaskType>(arguments.descriptor, "MaskType")),
      numbers_(numbers_of(arguments, "MaskTensor")),
      filter_(double{arguments.descriptor.number("MaskFilterValue")}),
      batch_(batch),
      heads_(heads),
      queries_(queries),
      keys_(keys) {}

/// Measured on DirectML 1.15.4: keys are counted from the first key of the past. For masks with starts and ends, keys
/// and queries are counted through all batches.
bool Mask::is_valid(std::int64_t batch, std::int64_t query, std::int64_t key) const {
    switch (type_) {
        case MaskType::key_sequence_length:
            return key < number(batch);
        case MaskType::key_sequence_end_start:
            return key < number(batch) && key >= number(batch_ + batch);
        case MaskType::key_query_sequence_length_start_end:
        default: {
            const std::int64_t query_starts = batch_;
            const std::int64_t key_starts = 2 * batch_ + 1;
            const std::int64_t query_position = batch * queries_ + query;
            const std::int64_t key_position = batch * keys_ + key;
            const std::int64_t key_start = number(key_starts + batch);
            return query_position >= number(query_starts + batch) &&
                   query_position < number(query_starts + batch + 1) && key_position >= key_start &&
                   key_position < key_start + number(batch);
        }
    }
}

double Mask::added(std::int64_t batch, std::int64_t head, std::int64_t query, std::int64_t key) const {
    if (type_ == MaskType::boolean) {
        const std::int64_t truth = number(((batch * heads_ + head) * queries_ + query) * keys_ + key);
        // Measured on DirectML 1.15.4: numbers other than 0 and 1 are used as numbers, not as truth values.
        return truth == 1 ? 0 : static_cast<double>(1 - truth) * filter_;
    }
    return is_valid(batch, query, key) ? 0 : filter_;
}

// ---- all of it ---------------------------------------------------------------------------------------------------

Operands::Operands(const KernelArguments& arguments)
    : batch(batch_of_queries(arguments.descriptor)),
      queries{{}, rows_of(arguments, of_queries, head_count(arguments.descriptor, "QueryHeadCount")), {}},
      keys{{}, rows_of(arguments, of_keys, head_count(arguments.descriptor, "KeyValueHeadCount")), {}},
      values{{}, rows_of(arguments, of_values, head_count(arguments.descriptor, "KeyValueHeadCount")), {}},
      position_bias(numbers_of(arguments, "RelativePositionBiasTensor")),
      mask(arguments, batch, queries.rows.heads, queries.rows.positions,
           past_of(arguments, "PastKeyTensor", keys.rows).positions + keys.rows.positions),
      scale(double{arguments.descriptor.number("Scale")}) {
    keys.past = past_of(arguments, "PastKeyTensor", keys.rows);
    values.past = past_of(arguments, "PastValueTensor", values.rows);
    const std::vector<double> bias = numbers_of(arguments, "BiasTensor");
    const std::int64_t of_all_queries = queries.rows.heads * queries.rows.size;
    queries.bias = bias_of(bias, 0, queries.rows);
    keys.bias = bias_of(bias, of_all_queries, keys.rows);
    values.bias = bias_of(bias, of_all_queries + keys.rows.heads * keys.rows.size, values.rows);
}

}  // namespace dmlconform::cpu::attention
