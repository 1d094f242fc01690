// Rules of MULTIHEAD_ATTENTION and MULTIHEAD_ATTENTION1, from their documentation, and their cost. What comments say
// about DirectML 1.15.4 was measured on it.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <utility>

#include "engine/operators/enumerators.h"
#include "engine/operators/rules.h"
#include "engine/operators/size_formula.h"

namespace dmlconform::operators::attention_rules {
namespace {

using WideSizes = std::vector<std::uint64_t>;

/// The last `count` sizes of a tensor. Empty unless the tensor has at least that many and all preceding sizes are 1.
std::optional<WideSizes> last_sizes(const core::TensorDesc& desc, std::size_t count) {
    const core::Dimensions& sizes = desc.sizes;
    if (sizes.size() < count || std::any_of(sizes.begin(), sizes.end() - static_cast<std::ptrdiff_t>(count),
                                            [](std::uint32_t size) { return size != 1; })) {
        return std::nullopt;
    }
    return WideSizes(sizes.end() - static_cast<std::ptrdiff_t>(count), sizes.end());
}

// ---- where queries, keys and values come from --------------------------------------------------------------------

/// The query, key and value tensors, separate or stacked, in the order of the struct. Each has a bit in a mask.
constexpr std::array<std::string_view, 6> sources{"QueryTensor",           "KeyTensor",
                                                  "ValueTensor",           "StackedQueryKeyTensor",
                                                  "StackedKeyValueTensor", "StackedQueryKeyValueTensor"};
constexpr unsigned query_key_value = 0b000111;
constexpr unsigned stacked_query_key = 0b001100;
constexpr unsigned stacked_key_value = 0b010001;
constexpr unsigned stacked_all = 0b100000;

unsigned present_sources(const Descriptor& descriptor) {
    unsigned present = 0;
    for (std::size_t i = 0; i < sources.size(); ++i) {
        present |= descriptor.tensor(sources[i]) == nullptr ? 0U : 1U << i;
    }
    return present;
}

Verdict check_sources(const Descriptor& descriptor) {
    const unsigned present = present_sources(descriptor);
    if (present != query_key_value && present != stacked_query_key && present != stacked_key_value &&
        present != stacked_all) {
        return broken_rule(descriptor, "sources",
                           "queries, keys and values must come from QueryTensor, KeyTensor and ValueTensor, from "
                           "StackedQueryKeyTensor and ValueTensor, from QueryTensor and StackedKeyValueTensor, or from "
                           "StackedQueryKeyValueTensor alone");
    }
    return {};
}

/// Measured on DirectML 1.15.4: unstacked tensors must have the output's number of dimensions.
Verdict check_ranks(const Descriptor& descriptor) {
    const std::size_t rank = descriptor.sizes("OutputTensor").size();
    for (const char* field : {"QueryTensor", "KeyTensor", "ValueTensor"}) {
        const core::TensorDesc* const tensor = descriptor.tensor(field);
        if (tensor != nullptr && tensor->sizes.size() != rank) {
            return broken_rule(descriptor, "dimensionCount",
                               fmt::format("{} has {} dimensions, OutputTensor {}", field, tensor->sizes.size(), rank));
        }
    }
    return {};
}

// ---- sizes -------------------------------------------------------------------------------------------------------

std::uint64_t head_count(const Descriptor& descriptor, std::string_view field) {
    return descriptor.schema->find_field(field) == nullptr ? descriptor.uint("HeadCount") : descriptor.uint(field);
}

/// Sizes of a tensor with batches, positions and heads, whose heads are either concatenated or stacked.
struct HeadSizes {
    std::uint64_t batch = 0;
    std::uint64_t positions = 0;
    std::uint64_t size = 0;
};

std::optional<HeadSizes> sizes_of_heads(const core::TensorDesc& desc, bool is_stacked, std::uint64_t heads) {
    const auto sizes = last_sizes(desc, is_stacked ? 5 : 3);
    if (!sizes) {
        return std::nullopt;
    }
    return HeadSizes{(*sizes)[0], (*sizes)[1], is_stacked ? (*sizes)[4] : (*sizes)[2] / heads};
}

/// The numbers that determine the sizes of all tensors. With formulas as numbers, sizes that are computed from them are
/// formulas, too.
template <class Number>
struct AttentionNumbers {
    Number batch{};
    Number queries{};
    Number keys{};
    Number past{};
    Number heads{};
    Number key_heads{};
    Number size{};
    Number value_size{};

    [[nodiscard]] Number all_keys() const { return past + keys; }
};

using AttentionShape = AttentionNumbers<std::uint64_t>;

/// Empty if leading sizes are not 1; a valid descriptor always has a shape.
std::optional<AttentionShape> attention_shape(const Descriptor& descriptor) {
    const auto first = [&](std::initializer_list<std::size_t> fields, std::uint64_t heads) {
        std::optional<HeadSizes> found;
        for (const std::size_t field : fields) {
            const core::TensorDesc* const desc = descriptor.tensor(sources[field]);
            if (desc != nullptr && !found) {
                found = sizes_of_heads(*desc, field >= 3, heads);
            }
        }
        return found;
    };
    AttentionShape shape;
    shape.heads = head_count(descriptor, "QueryHeadCount");
    shape.key_heads = head_count(descriptor, "KeyValueHeadCount");
    const auto query = first({0, 3, 5}, shape.heads);
    const auto key = first({1, 3, 4, 5}, shape.key_heads);
    const auto value = first({2, 4, 5}, shape.key_heads);
    if (!query || !key || !value) {
        return std::nullopt;
    }
    shape.batch = query->batch;
    shape.queries = query->positions;
    shape.keys = key->positions;
    shape.size = query->size;
    shape.value_size = value->size;
    if (const core::TensorDesc* const past = descriptor.tensor("PastKeyTensor")) {
        shape.past = past->sizes[past->sizes.size() - 2];
    }
    return shape;
}

template <class Number>
std::vector<SizesOfTensor<Number>> expected_sizes(const AttentionNumbers<Number>& s) {
    std::vector<SizesOfTensor<Number>> all{
        {"QueryTensor", {s.batch, s.queries, s.heads * s.size}},
        {"KeyTensor", {s.batch, s.keys, s.key_heads * s.size}},
        {"ValueTensor", {s.batch, s.keys, s.key_heads * s.value_size}},
        {"StackedQueryKeyTensor", {s.batch, s.queries, s.heads, 2, s.size}},
        {"StackedKeyValueTensor", {s.batch, s.keys, s.key_heads, 2, s.size}},
        {"StackedQueryKeyValueTensor", {s.batch, s.queries, s.heads, 3, s.size}},
        {"BiasTensor", {s.heads * s.size + s.key_heads * (s.size + s.value_size)}},
        {"RelativePositionBiasTensor", {s.batch, s.heads, s.queries, s.all_keys()}},
        {"PastKeyTensor", {s.batch, s.key_heads, s.past, s.size}},
        {"PastValueTensor", {s.batch, s.key_heads, s.past, s.value_size}},
        {"OutputTensor", {s.batch, s.queries, s.heads * s.value_size}},
        {"OutputPresentKeyTensor", {s.batch, s.key_heads, s.all_keys(), s.size}},
        {"OutputPresentValueTensor", {s.batch, s.key_heads, s.all_keys(), s.value_size}}};
    for (SizesOfTensor<Number>& one : all) {
        one.may_have_more = true;
    }
    return all;
}

Verdict check_size(const Descriptor& descriptor, std::string_view rule, std::string_view field,
                   const WideSizes& wanted) {
    const core::TensorDesc* const desc = descriptor.tensor(field);
    if (desc != nullptr && last_sizes(*desc, wanted.size()) != wanted) {
        return broken_rule(descriptor, rule,
                           fmt::format("{} has sizes {}; the last {} must be [{}], and all preceding ones 1", field,
                                       core::to_string(desc->sizes), wanted.size(), fmt::join(wanted, ",")));
    }
    return {};
}

/// Requires that the heads of unstacked tensors have equal sizes.
Verdict check_widths(const Descriptor& descriptor) {
    const bool older = descriptor.schema->find_field("QueryHeadCount") == nullptr;
    for (const auto& [field, count] : {std::pair<std::string_view, std::string_view>{"QueryTensor", "QueryHeadCount"},
                                       {"KeyTensor", "KeyValueHeadCount"},
                                       {"ValueTensor", "KeyValueHeadCount"}}) {
        const core::TensorDesc* const desc = descriptor.tensor(field);
        const std::uint64_t heads = head_count(descriptor, count);
        if (desc != nullptr && desc->sizes.back() % heads != 0) {
            return broken_rule(descriptor, "sizes",
                               fmt::format("{} is {}, which does not divide the last size of {}, {}: all heads must "
                                           "have the same size",
                                           older ? "HeadCount" : count, heads, field, desc->sizes.back()));
        }
    }
    return {};
}

Verdict check_sizes(const Descriptor& descriptor, const AttentionShape& shape) {
    for (const auto& [field, sizes, may_have_more] : expected_sizes(shape)) {
        if (auto rejection = check_size(descriptor, "sizes", field, sizes)) {
            return rejection;
        }
    }
    return {};
}

// ---- heads, masks, the past --------------------------------------------------------------------------------------

Verdict check_heads(const Descriptor& descriptor) {
    const std::uint64_t heads = head_count(descriptor, "QueryHeadCount");
    const std::uint64_t key_heads = head_count(descriptor, "KeyValueHeadCount");
    if (heads == 0 || key_heads == 0 || heads % key_heads != 0) {
        return broken_rule(descriptor, "headCount",
                           fmt::format("the head counts are {} for queries and {} for keys and values; both must be at "
                                       "least 1, and the first a multiple of the second",
                                       heads, key_heads));
    }
    // Measured on DirectML 1.15.4. What stacks queries with keys has a single number of heads.
    if (heads != key_heads && (descriptor.tensor("StackedQueryKeyTensor") != nullptr ||
                               descriptor.tensor("StackedQueryKeyValueTensor") != nullptr)) {
        return broken_rule(descriptor, "headCount",
                           fmt::format("the head counts are {} for queries and {} for keys and values; a tensor that "
                                       "stacks queries and keys has as many heads of both",
                                       heads, key_heads));
    }
    return {};
}

/// The sizes of MaskTensor for each type from KEY_SEQUENCE_LENGTH on.
template <class Number>
std::array<std::pair<std::string_view, std::vector<Number>>, 4> mask_sizes(const AttentionNumbers<Number>& s) {
    return {{{"KEY_SEQUENCE_LENGTH", {1, s.batch}},
             {"KEY_SEQUENCE_END_START", {2, s.batch}},
             {"KEY_QUERY_SEQUENCE_LENGTH_START_END", {3 * s.batch + 2}},
             {"BOOLEAN", {s.batch, s.heads, s.queries, s.all_keys()}}}};
}

Verdict check_mask(const Descriptor& descriptor, const AttentionShape& shape) {
    const auto type = enumerator<MultiheadAttentionMaskType>(descriptor, "MaskType");
    const bool wants_mask = type != MultiheadAttentionMaskType::none;
    const bool has_mask = descriptor.tensor("MaskTensor") != nullptr;
    if (wants_mask != has_mask) {
        return broken_rule(descriptor, "mask",
                           has_mask ? "MaskTensor is present, but MaskType is NONE"
                                    : "MaskType is not NONE, but MaskTensor is absent");
    }
    return has_mask ? check_size(descriptor, "mask", "MaskTensor",
                                 mask_sizes(shape)[static_cast<std::size_t>(type) - 1].second)
                    : Verdict();
}

Verdict check_past(const Descriptor& descriptor) {
    if ((descriptor.tensor("PastKeyTensor") == nullptr) != (descriptor.tensor("PastValueTensor") == nullptr)) {
        return broken_rule(descriptor, "past",
                           "only one of PastKeyTensor and PastValueTensor is present; both must be, or neither");
    }
    return {};
}

/// The documentation of these lengths says "TBD". Measured on DirectML 1.15.4: CompileOperator crashes.
Verdict check_past_lengths(const Descriptor& descriptor) {
    constexpr const char* field = "PastSequenceLengthsTensor";
    if (descriptor.schema->find_field(field) != nullptr && descriptor.tensor(field) != nullptr) {
        return broken_rule(descriptor, "pastSequenceLengths",
                           "PastSequenceLengthsTensor must be absent: the documentation does not say what it means");
    }
    return {};
}

Verdict check(const Descriptor& descriptor, core::FeatureLevel /*level*/) {
    for (const auto& rule : {check_sources, check_ranks, check_heads, check_widths, check_past, check_past_lengths}) {
        if (auto rejection = rule(descriptor)) {
            return rejection;
        }
    }
    const auto shape = attention_shape(descriptor);
    if (!shape) {
        return broken_rule(
            descriptor, "sizes",
            "all sizes of queries, keys and values but the last three must be 1, or but the last five of "
            "stacked tensors");
    }
    if (auto rejection = check_sizes(descriptor, *shape)) {
        return rejection;
    }
    return check_mask(descriptor, *shape);
}

std::vector<TensorSizes> sizes_of_attention(const Descriptor& descriptor) {
    const auto shape =
        check_sources(descriptor) || check_heads(descriptor) ? std::nullopt : attention_shape(descriptor);
    if (!shape) {
        return {};
    }
    std::vector<TensorSizes> all = expected_sizes(*shape);
    const auto type = enumerator<MultiheadAttentionMaskType>(descriptor, "MaskType");
    if (type != MultiheadAttentionMaskType::none) {
        all.push_back({"MaskTensor", mask_sizes(*shape)[static_cast<std::size_t>(type) - 1].second, true});
    }
    return all;
}

/// What `describe` says: the sizes of all tensors, for each operator.
ExplainedRules explained(std::string_view name) {
    const OperatorSchema& schema = *find_operator(name);
    const bool older = schema.find_field("QueryHeadCount") == nullptr;
    AttentionNumbers<SizeFormula> symbols;
    symbols.batch = SizeFormula("batch");
    symbols.queries = SizeFormula("queries");
    symbols.keys = SizeFormula("keys");
    symbols.past = SizeFormula("past");
    symbols.heads = SizeFormula(older ? "HeadCount" : "QueryHeadCount");
    symbols.key_heads = SizeFormula(older ? "HeadCount" : "KeyValueHeadCount");
    symbols.size = SizeFormula("size");
    symbols.value_size = SizeFormula("valueSize");
    std::vector<std::string> formulas;
    for (const auto& [field, sizes, may_have_more] : expected_sizes(symbols)) {
        formulas.push_back(sizes_line(field, sizes));
    }
    std::vector<std::string> masks;
    for (const auto& [type, sizes] : mask_sizes(symbols)) {
        masks.push_back(sizes_line("MaskTensor", sizes) + fmt::format(" for {}", type));
    }
    ExplainedRules rules{
        {"sources",
         "Queries, keys and values come from QueryTensor, KeyTensor and ValueTensor, from StackedQueryKeyTensor and "
         "ValueTensor, from QueryTensor and StackedKeyValueTensor, or from StackedQueryKeyValueTensor alone."},
        {"dimensionCount",
         "QueryTensor, KeyTensor and ValueTensor have as many dimensions as OutputTensor, if they are present."},
        {"headCount",
         older ? "HeadCount is at least 1."
               : "KeyValueHeadCount is at least 1, and QueryHeadCount is a multiple of it. They are equal if "
                 "queries and keys are stacked."},
        {"sizes",
         "The last sizes of each tensor follow from these numbers, and all preceding ones are 1: batch, queries and "
         "keys, which are numbers of sequences and positions, past, which is PastKeyTensor[-2], or 0 if it is absent, "
         "and size and valueSize, which are the elements of one head.",
         std::move(formulas)},
        {"mask", "MaskTensor is present unless MaskType is NONE. Its last sizes follow, and all preceding ones are 1.",
         std::move(masks)},
        {"past", "PastKeyTensor and PastValueTensor are both present, or both absent."}};
    if (!older) {
        rules.push_back({"pastSequenceLengths",
                         "PastSequenceLengthsTensor is absent, as the documentation does not say what it means."});
    }
    return rules;
}

/// Two matrix products, and for each score an exponential, a subtraction, an addition and a division.
double operations(const Descriptor& descriptor) {
    const auto shape = attention_shape(descriptor);
    const double scores = static_cast<double>(shape->batch * shape->heads) * static_cast<double>(shape->queries) *
                          static_cast<double>(shape->all_keys());
    return scores * (2 * static_cast<double>(shape->size + shape->value_size) + 4);
}

}  // namespace

RulesRows rules() {
    RulesRows rows;
    for (const std::string_view name : {"MULTIHEAD_ATTENTION", "MULTIHEAD_ATTENTION1"}) {
        rows.push_back({.name = name,
                        .validate = check,
                        .rules = explained(name),
                        .sizes = sizes_of_attention,
                        .operations = operations});
    }
    return rows;
}

}  // namespace dmlconform::operators::attention_rules
