// Rules of operators that move elements to or from computed positions: GATHER and SCATTER in all their forms, ONE_HOT,
// REVERSE_SUBSEQUENCES, FOLD and UNFOLD. What comments say about DirectML 1.15.4 was measured on it.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "engine/core/checked.h"
#include "engine/operators/rules.h"
#include "engine/operators/rules/window.h"

namespace dmlconform::operators::movement_indexed_rules {
namespace {

using WideSizes = std::vector<std::uint64_t>;

/// All indices, and one element of the input for each one of the output. Which they are depends on the indices.
double picked_bytes(const Descriptor& descriptor, const TensorSlot& input) {
    const double all = element_bytes(*input.desc);
    return input.name == "InputTensor" ? std::min(all, element_bytes(*descriptor.tensor("OutputTensor"))) : all;
}

/// Prepends ones until there are `dimension_count` sizes.
WideSizes with_leading_ones(WideSizes sizes, std::size_t dimension_count) {
    if (sizes.size() < dimension_count) {
        sizes.insert(sizes.begin(), dimension_count - sizes.size(), 1);
    }
    return sizes;
}

/// True if the sizes are equal in all dimensions except the axis.
bool agree_outside(std::uint32_t axis, const core::Dimensions& a, const core::Dimensions& b) {
    for (std::size_t d = 0; d < a.size(); ++d) {
        if (d != axis && a[d] != b[d]) {
            return false;
        }
    }
    return true;
}

/// Requires size 1 along the axis and the other tensor's sizes along all other dimensions.
Verdict check_one_along_axis(const Descriptor& descriptor, std::string_view rule, std::string_view field,
                             std::string_view other) {
    const core::Dimensions& sizes = descriptor.sizes(field);
    const std::uint32_t axis = descriptor.uint("Axis");
    if (sizes[axis] != 1 || !agree_outside(axis, sizes, descriptor.sizes(other))) {
        return broken_rule(descriptor, rule,
                           fmt::format("{} has sizes {}; they must be those of {}, {}, with 1 along axis {}", field,
                                       core::to_string(sizes), other, core::to_string(descriptor.sizes(other)), axis));
    }
    return {};
}

bool has_more_than_ones(const core::Dimensions& sizes, std::size_t first_dimensions) {
    return std::any_of(sizes.begin(), sizes.begin() + static_cast<std::ptrdiff_t>(first_dimensions),
                       [](std::uint32_t size) { return size != 1; });
}

// ---- GATHER ------------------------------------------------------------------------------------------------------

ExplainedRules gather_rules() {
    return {
        {"indexDimensions",
         "IndexDimensions is at most the number of dimensions of IndicesTensor, whose sizes before the last "
         "IndexDimensions ones are 1."},
        {"dimensionCount", "The result has no more dimensions than OutputTensor, apart from leading ones of size 1."}};
}

std::vector<std::string> gather_formulas() {
    return {
        "OutputTensor = [leading ones, InputTensor[0 to Axis - 1], the last IndexDimensions sizes of IndicesTensor, "
        "InputTensor[Axis + 1 to the last]]"};
}

/// The input's sizes, with the size of the axis replaced by the sizes of the indices. There may be more of them than
/// the output has dimensions; the surplus leading sizes must be 1.
WideSizes gathered_sizes(const Descriptor& descriptor) {
    const core::Dimensions& input = descriptor.sizes("InputTensor");
    const core::Dimensions& indices = descriptor.sizes("IndicesTensor");
    const auto axis = static_cast<std::ptrdiff_t>(descriptor.uint("Axis"));
    WideSizes sizes(input.begin(), input.begin() + axis);
    sizes.insert(sizes.end(), indices.end() - static_cast<std::ptrdiff_t>(descriptor.uint("IndexDimensions")),
                 indices.end());
    sizes.insert(sizes.end(), input.begin() + axis + 1, input.end());
    return sizes;
}

Verdict check_gather(const Descriptor& descriptor, core::FeatureLevel /*level*/) {
    const std::size_t rank = descriptor.sizes("IndicesTensor").size();
    const std::uint32_t index_dimensions = descriptor.uint("IndexDimensions");
    if (index_dimensions > rank) {
        return broken_rule(
            descriptor, "indexDimensions",
            fmt::format("IndexDimensions is {}, but IndicesTensor has {} dimensions", index_dimensions, rank));
    }
    // Measured on DirectML 1.15.4: this is accepted, and the indices then vary with the output's coordinates along
    // these dimensions.
    if (has_more_than_ones(descriptor.sizes("IndicesTensor"), rank - index_dimensions)) {
        return broken_rule(
            descriptor, "indexDimensions",
            fmt::format("IndexDimensions is {}, so the first {} sizes of IndicesTensor must be 1; they "
                        "are {}",
                        index_dimensions, rank - index_dimensions, core::to_string(descriptor.sizes("IndicesTensor"))));
    }
    const WideSizes sizes = gathered_sizes(descriptor);
    const auto more = static_cast<std::ptrdiff_t>(std::max(sizes.size(), rank) - rank);
    if (std::any_of(sizes.begin(), sizes.begin() + more, [](std::uint64_t size) { return size != 1; })) {
        return broken_rule(
            descriptor, "dimensionCount",
            fmt::format("the result has {} dimensions, more than OutputTensor, which has {}, and the surplus "
                        "leading sizes are not all 1",
                        sizes.size(), rank));
    }
    return {};
}

WideSizes gather_sizes(const Descriptor& descriptor) {
    const std::size_t rank = descriptor.sizes("OutputTensor").size();
    WideSizes sizes = with_leading_ones(gathered_sizes(descriptor), rank);
    sizes.erase(sizes.begin(), sizes.end() - static_cast<std::ptrdiff_t>(rank));
    return sizes;
}

// ---- along an axis -----------------------------------------------------------------------------------------------

ExplainedRules gather_elements_rules() {
    return {{"indicesSizes", "IndicesTensor has the sizes of InputTensor, except along Axis."}};
}

ExplainedRules scatter_rules() {
    return {
        {"indicesSizes", "IndicesTensor has the sizes of InputTensor, except along Axis, where it may be smaller."}};
}

Verdict check_gather_elements(const Descriptor& descriptor, core::FeatureLevel /*level*/) {
    const core::Dimensions& input = descriptor.sizes("InputTensor");
    const core::Dimensions& indices = descriptor.sizes("IndicesTensor");
    const std::uint32_t axis = descriptor.uint("Axis");
    if (!agree_outside(axis, indices, input)) {
        return broken_rule(descriptor, "indicesSizes",
                           fmt::format("IndicesTensor has sizes {}; along all dimensions but {} they must be those of "
                                       "InputTensor, {}",
                                       core::to_string(indices), axis, core::to_string(input)));
    }
    return {};
}

/// Measured on DirectML 1.15.4: the indices may not be longer than the output along the axis.
Verdict check_scatter(const Descriptor& descriptor, core::FeatureLevel level) {
    const core::Dimensions& input = descriptor.sizes("InputTensor");
    const core::Dimensions& indices = descriptor.sizes("IndicesTensor");
    const std::uint32_t axis = descriptor.uint("Axis");
    if (indices[axis] > input[axis]) {
        return broken_rule(descriptor, "indicesSizes",
                           fmt::format("IndicesTensor has {} elements along axis {}, where InputTensor has {}",
                                       indices[axis], axis, input[axis]));
    }
    return check_gather_elements(descriptor, level);
}

ExplainedRules one_hot_rules() {
    return {{"indicesSizes", "IndicesTensor has the sizes of OutputTensor, with 1 along Axis."},
            {"values", "ValuesTensor has at least two elements, off and on."}};
}

Verdict check_one_hot(const Descriptor& descriptor, core::FeatureLevel /*level*/) {
    if (auto rejection = check_one_along_axis(descriptor, "indicesSizes", "IndicesTensor", "OutputTensor")) {
        return rejection;
    }
    const core::Dimensions& values = descriptor.sizes("ValuesTensor");
    if (std::all_of(values.begin(), values.end(), [](std::uint32_t size) { return size == 1; })) {
        return broken_rule(descriptor, "values", "ValuesTensor has one element; it must have two, for off and on");
    }
    return {};
}

ExplainedRules reverse_rules() {
    return {{"lengthsSizes", "SequenceLengthsTensor has the sizes of InputTensor, with 1 along Axis."}};
}

Verdict check_reverse(const Descriptor& descriptor, core::FeatureLevel /*level*/) {
    return check_one_along_axis(descriptor, "lengthsSizes", "SequenceLengthsTensor", "InputTensor");
}

// ---- tuples of indices -------------------------------------------------------------------------------------------

/// The last `count` sizes.
WideSizes last_of(const core::Dimensions& sizes, std::uint32_t count) {
    return {sizes.end() - static_cast<std::ptrdiff_t>(count), sizes.end()};
}

Verdict check_count(const Descriptor& descriptor, std::string_view rule, std::string_view field,
                    std::string_view tensor) {
    const core::Dimensions& sizes = descriptor.sizes(tensor);
    const std::uint32_t count = descriptor.uint(field);
    if (count == 0 || count > sizes.size()) {
        return broken_rule(
            descriptor, rule,
            fmt::format("{} is {}; it must be from 1 to {}, the dimensions of {}", field, count, sizes.size(), tensor));
    }
    const std::size_t ignored = sizes.size() - count;
    if (has_more_than_ones(sizes, ignored)) {
        return broken_rule(descriptor, rule,
                           fmt::format("{} is {}, so the first {} sizes of {} must be 1; they are {}", field, count,
                                       ignored, tensor, core::to_string(sizes)));
    }
    return {};
}

std::uint32_t batch_dimensions(const Descriptor& descriptor) {
    const bool has_batches = descriptor.schema->find_field("BatchDimensionCount") != nullptr;
    return has_batches ? descriptor.uint("BatchDimensionCount") : 0;
}

ExplainedRules gather_nd_rules(bool has_batches) {
    ExplainedRules rules{
        {"inputDimensionCount",
         "InputDimensionCount is from 1 to the number of dimensions of InputTensor, whose other sizes, before those, "
         "are 1."},
        {"indicesDimensionCount",
         "IndicesDimensionCount is from 1 to the number of dimensions of IndicesTensor, whose other sizes, before "
         "those, are 1."},
        {"tupleSize", has_batches ? "IndicesTensor[-1], the number of indices in a tuple, is at most "
                                    "InputDimensionCount - BatchDimensionCount."
                                  : "IndicesTensor[-1], the number of indices in a tuple, is at most "
                                    "InputDimensionCount."}};
    if (has_batches) {
        rules.push_back(
            {"batchDimensions",
             "BatchDimensionCount is less than InputDimensionCount and IndicesDimensionCount, and the first "
             "sizes that count are the same in both tensors."});
    }
    return rules;
}

Verdict check_gather_nd(const Descriptor& descriptor, core::FeatureLevel /*level*/) {
    if (auto rejection = check_count(descriptor, "inputDimensionCount", "InputDimensionCount", "InputTensor")) {
        return rejection;
    }
    if (auto rejection = check_count(descriptor, "indicesDimensionCount", "IndicesDimensionCount", "IndicesTensor")) {
        return rejection;
    }
    const WideSizes input = last_of(descriptor.sizes("InputTensor"), descriptor.uint("InputDimensionCount"));
    const WideSizes indices = last_of(descriptor.sizes("IndicesTensor"), descriptor.uint("IndicesDimensionCount"));
    const std::uint32_t batches = batch_dimensions(descriptor);
    if (batches >= input.size() || batches >= indices.size() ||
        !std::equal(input.begin(), input.begin() + batches, indices.begin())) {
        return broken_rule(descriptor, "batchDimensions",
                           fmt::format("BatchDimensionCount is {}; it must be less than InputDimensionCount and "
                                       "IndicesDimensionCount, and the first {} sizes must be the same in both tensors",
                                       batches, batches));
    }
    if (indices.back() > input.size() - batches) {
        return broken_rule(descriptor, "tupleSize",
                           fmt::format("IndicesTensor has tuples of {} indices, but only {} dimensions of InputTensor "
                                       "can be indexed",
                                       indices.back(), input.size() - batches));
    }
    return {};
}

/// The sizes of what all index tuples select together: GATHER_ND's output and SCATTER_ND's updates.
WideSizes picked_sizes(const Descriptor& descriptor) {
    const WideSizes input = last_of(descriptor.sizes("InputTensor"), descriptor.uint("InputDimensionCount"));
    const WideSizes indices = last_of(descriptor.sizes("IndicesTensor"), descriptor.uint("IndicesDimensionCount"));
    WideSizes sizes(indices.begin(), indices.end() - 1);
    const auto chosen = static_cast<std::ptrdiff_t>(batch_dimensions(descriptor) + indices.back());
    sizes.insert(sizes.end(), input.begin() + chosen, input.end());
    return with_leading_ones(std::move(sizes), descriptor.sizes("InputTensor").size());
}

/// The formula of `picked_sizes`.
std::vector<std::string> picked_formulas(std::string_view tensor, bool has_batches) {
    return {
        fmt::format("{} = [leading ones, the last IndicesDimensionCount sizes of IndicesTensor without the last one, "
                    "the last InputDimensionCount{} - IndicesTensor[-1] sizes of InputTensor]",
                    tensor, has_batches ? " - BatchDimensionCount" : "")};
}

ExplainedRules scatter_nd_rules() {
    ExplainedRules rules = gather_nd_rules(false);
    rules.push_back({"updatesSizes", "UpdatesTensor has the sizes of what the tuples of indices select.",
                     picked_formulas("UpdatesTensor", false)});
    return rules;
}

Verdict check_scatter_nd(const Descriptor& descriptor, core::FeatureLevel level) {
    if (auto rejection = check_gather_nd(descriptor, level)) {
        return rejection;
    }
    const core::Dimensions& updates = descriptor.sizes("UpdatesTensor");
    const WideSizes wanted = picked_sizes(descriptor);
    if (!std::equal(wanted.begin(), wanted.end(), updates.begin(), updates.end())) {
        return broken_rule(descriptor, "updatesSizes",
                           fmt::format("UpdatesTensor has sizes {}; they must be [{}]", core::to_string(updates),
                                       fmt::join(wanted, ",")));
    }
    return {};
}

// ---- FOLD and UNFOLD ---------------------------------------------------------------------------------------------

/// The formulas of `unfolded_sizes`.
std::vector<std::string> unfolded_formulas(std::string_view operator_name, std::string_view unfolded,
                                           std::string_view image) {
    return {fmt::format("{}[0] = {}[0]", unfolded, image),
            fmt::format("{}[1] = {}[1] * product of WindowSizes[d]", unfolded, image),
            fmt::format("{}[2] = product of {}", unfolded, window_positions_of(operator_name, image).text())};
}

ExplainedRules unfold_rules() {
    return {window_rule(), window_in_bounds_rule()};
}

ExplainedRules fold_rules() {
    return {window_rule(),
            window_in_bounds_rule(),
            {"inputSizes", "InputTensor has the sizes that UNFOLD makes of a tensor like OutputTensor.",
             unfolded_formulas("FOLD", "InputTensor", "OutputTensor")}};
}

/// A product that saturates. No tensor has a size of UINT64_MAX.
std::uint64_t limited_product(std::uint64_t a, std::uint64_t b) {
    return core::checked_multiply(a, b).value_or(~std::uint64_t{0});
}

/// Sizes of the unfolded tensor: batches, channels times elements of a window, blocks.
WideSizes unfolded_sizes(const Descriptor& descriptor, const core::Dimensions& image) {
    std::uint64_t elements = image[1];
    std::uint64_t blocks = 1;
    for (std::size_t d = 0; d + 2 < image.size(); ++d) {
        const SlidingWindow window(descriptor, image, d);
        elements = limited_product(elements, window.size);
        blocks = limited_product(blocks, window.stops());
    }
    return {image[0], elements, blocks};
}

Verdict check_unfold(const Descriptor& descriptor, core::FeatureLevel /*level*/) {
    return check_windows(descriptor, descriptor.sizes("InputTensor"));
}

WideSizes unfold_sizes(const Descriptor& descriptor) {
    return unfolded_sizes(descriptor, descriptor.sizes("InputTensor"));
}

Verdict check_fold(const Descriptor& descriptor, core::FeatureLevel /*level*/) {
    const core::Dimensions& image = descriptor.sizes("OutputTensor");
    if (auto rejection = check_windows(descriptor, image)) {
        return rejection;
    }
    const core::Dimensions& input = descriptor.sizes("InputTensor");
    const WideSizes wanted = unfolded_sizes(descriptor, image);
    if (!std::equal(wanted.begin(), wanted.end(), input.begin(), input.end())) {
        return broken_rule(
            descriptor, "inputSizes",
            fmt::format("InputTensor has sizes {}; they must be [{}]", core::to_string(input), fmt::join(wanted, ",")));
    }
    return {};
}

/// The elements that a block covers.
double unfolded_bytes(const Descriptor& descriptor, const TensorSlot& input) {
    const core::Dimensions& image = input.desc->sizes;
    std::vector<double> counts(image.begin(), image.end());
    for (std::size_t d = 0; d + 2 < image.size(); ++d) {
        counts[d + 2] = reach_of(descriptor, image, d, SlidingWindow(descriptor, image, d).stops()).elements;
    }
    return element_bytes(*input.desc, counts);
}

/// How many elements of blocks are not padding.
double folded_count(const Descriptor& descriptor) {
    const core::Dimensions& image = descriptor.sizes("OutputTensor");
    double count = double{1} * image[0] * image[1];
    for (std::size_t d = 0; d + 2 < image.size(); ++d) {
        count *= reach_of(descriptor, image, d, SlidingWindow(descriptor, image, d).stops()).pairs;
    }
    return count;
}

double folded_bytes(const Descriptor& descriptor, const TensorSlot& input) {
    return std::min(element_bytes(*input.desc), folded_count(descriptor) * core::bits_of(input.desc->data_type) / 8);
}

}  // namespace

RulesRows rules() {
    return {
        {.name = "GATHER",
         .validate = check_gather,
         .rules = gather_rules(),
         .output_sizes = gather_sizes,
         .output_formulas = gather_formulas(),
         .operations = no_operations,
         .bytes_read = picked_bytes},
        {.name = "GATHER_ELEMENTS",
         .validate = check_gather_elements,
         .rules = gather_elements_rules(),
         .operations = no_operations,
         .bytes_read = picked_bytes},
        {.name = "GATHER_ND",
         .validate = check_gather_nd,
         .rules = gather_nd_rules(false),
         .output_sizes = picked_sizes,
         .output_formulas = picked_formulas("OutputTensor", false),
         .operations = no_operations,
         .bytes_read = picked_bytes},
        {.name = "GATHER_ND1",
         .validate = check_gather_nd,
         .rules = gather_nd_rules(true),
         .output_sizes = picked_sizes,
         .output_formulas = picked_formulas("OutputTensor", true),
         .operations = no_operations,
         .bytes_read = picked_bytes},
        {.name = "SCATTER", .validate = check_scatter, .rules = scatter_rules(), .operations = no_operations},
        {.name = "SCATTER_ND", .validate = check_scatter_nd, .rules = scatter_nd_rules(), .operations = no_operations},
        {.name = "ONE_HOT", .validate = check_one_hot, .rules = one_hot_rules(), .operations = no_operations},
        {.name = "REVERSE_SUBSEQUENCES",
         .validate = check_reverse,
         .rules = reverse_rules(),
         .operations = no_operations},
        {.name = "MAX_UNPOOLING", .operations = no_operations},
        {.name = "UNFOLD",
         .validate = check_unfold,
         .rules = unfold_rules(),
         .output_sizes = unfold_sizes,
         .output_formulas = unfolded_formulas("UNFOLD", "OutputTensor", "InputTensor"),
         .operations = no_operations,
         .bytes_read = unfolded_bytes},
        {.name = "FOLD",
         .validate = check_fold,
         .rules = fold_rules(),
         .operations = folded_count,
         .bytes_read = folded_bytes},
    };
}

}  // namespace dmlconform::operators::movement_indexed_rules
