// MEAN_VARIANCE_NORMALIZATION and its successors. One dispatch is sufficient if a normalisation group fits a group of
// threads. Otherwise chunks are reduced, the results are merged, and another pass normalises the tensor.
//
// Normalisation groups that consist of equidistant rows of whole vectors use
// shaders/normalisation/mean_variance_normalization1_kept.hlsl, others the remaining shaders.
#include <algorithm>
#include <array>
#include <bit>
#include <limits>

#include "engine/core/tensor.h"
#include "engine/d3d12/planning/binding.h"
#include "engine/d3d12/planning/fused_activation.h"
#include "engine/d3d12/planning/parameter_stride.h"
#include "engine/d3d12/planning/strided_dimensions.h"
#include "shaders/normalisation/mean_variance_normalization1_parameters.hlsli"

namespace dmlconform::d3d12::mean_variance_normalization1_bindings {
namespace {

using operators::Descriptor;

using Parameters = NormalizationParameters;

constexpr std::uint64_t vector_bytes = 16;
constexpr std::uint64_t elements_per_thread = NORMALIZATION_PER_THREAD;
constexpr std::uint32_t few_kept = NORMALIZATION_KEPT_FEW;
constexpr std::uint32_t many_kept = NORMALIZATION_KEPT_MANY;
constexpr std::uint32_t most_kept = NORMALIZATION_KEPT_MOST;

/// Indices into Descriptor::inputs().
enum Input : std::size_t { input_tensor, scale_tensor, bias_tensor };

/// Arrays that share dimensions; `set` is the index of the normalisation group.
enum Array : std::size_t { x, y, set, scale, bias, array_count };

using Dimensions = StridedDimensions<array_count>;

/// Sorts dimensions by stride in `array`, innermost first. Repeated elements are outermost.
void sort_by_stride(Dimensions& dimensions, Array array) {
    const auto key = [&](const SharedDimension<array_count>& dimension) {
        const std::int64_t stride = dimension.strides[array];
        return stride == 0 ? std::numeric_limits<std::int64_t>::max() : stride;
    };
    std::stable_sort(dimensions.begin(), dimensions.end(),
                     [&](const auto& a, const auto& b) { return key(a) < key(b); });
}

/// The tensors' dimensions: those of normalisation groups, and those within a group.
struct Shape {
    Dimensions sets;
    Dimensions elements;
};

/// True if elements along the dimension share a mean. The oldest operator has no list of axes.
bool shares_mean(const Descriptor& descriptor, std::size_t dimension) {
    if (!descriptor.has_field("Axes")) {
        return dimension >= (descriptor.uint("CrossChannel") == 0 ? 2U : 1U);
    }
    const auto& axes = descriptor.uints("Axes");
    return std::find(axes.begin(), axes.end(), dimension) != axes.end();
}

core::Strides parameter_strides(const core::TensorDesc* desc, std::size_t rank) {
    core::Strides strides;
    while (strides.size() < rank) {
        strides.push_back(parameter_stride(desc, strides.size()));
    }
    return strides;
}

Shape shape_of(const Descriptor& descriptor) {
    const core::TensorDesc& source = *descriptor.tensor("InputTensor");
    const std::size_t rank = source.sizes.size();
    const std::array<core::Strides, array_count> strides{
        core::signed_strides(source), core::signed_strides(*descriptor.tensor("OutputTensor")), core::Strides(rank),
        parameter_strides(descriptor.tensor("ScaleTensor"), rank),
        parameter_strides(descriptor.tensor("BiasTensor"), rank)};
    Shape shape;
    for (std::size_t d = rank; d-- > 0;) {
        SharedDimension<array_count> dimension;
        dimension.size = source.sizes[d];
        for (std::size_t a = 0; a < array_count; ++a) {
            dimension.strides[a] = strides[a][d];
        }
        (shares_mean(descriptor, d) ? shape.elements : shape.sets).push_back(dimension);
    }
    sort_by_stride(shape.sets, x);
    sort_by_stride(shape.elements, x);
    std::int64_t count = 1;
    for (auto& dimension : shape.sets) {
        dimension.strides[set] = count;
        count *= static_cast<std::int64_t>(dimension.size);
    }
    shape.sets = merged(shape.sets);
    shape.elements = merged(shape.elements);
    return shape;
}

/// True if `width` elements are contiguous along the first dimension in input and output, and all other strides are
/// multiples of `width`.
bool is_vector(const Dimensions& inner, const Dimensions& outer, std::uint64_t width) {
    const SharedDimension<array_count>& first = inner.front();
    bool result = first.strides[x] == 1 && first.strides[y] == 1 && first.size % width == 0;
    const auto whole = [&](const SharedDimension<array_count>& dimension) {
        return dimension.strides[x] % static_cast<std::int64_t>(width) == 0 &&
               dimension.strides[y] % static_cast<std::int64_t>(width) == 0;
    };
    result = result && std::all_of(inner.begin() + 1, inner.end(), whole);
    return result && std::all_of(outer.begin(), outer.end(), whole);
}

/// How the parameters of a vector are stored, for tensors that are vectors as above.
std::uint32_t parameters_of(const core::TensorDesc* desc, const Dimensions& inner, const Dimensions& outer, Array array,
                            std::uint64_t width) {
    if (desc == nullptr) {
        return 0;
    }
    const auto repeats = [&](const SharedDimension<array_count>& dimension) { return dimension.strides[array] == 0; };
    if (std::all_of(inner.begin(), inner.end(), repeats)) {
        return PARAMETERS_OF_SETS;
    }
    const auto whole = [&](const SharedDimension<array_count>& dimension) {
        return dimension.strides[array] % static_cast<std::int64_t>(width) == 0;
    };
    const bool units = inner.front().strides[array] == 1 && std::all_of(inner.begin() + 1, inner.end(), whole) &&
                       std::all_of(outer.begin(), outer.end(), whole);
    return units ? PARAMETERS_IN_UNITS : PARAMETERS_ANYWHERE;
}

/// Converts dimensions of elements to those of vectors. Only input and output are accessed by vectors.
void widen(Dimensions& dimensions, std::uint64_t width, bool has_vectors) {
    const auto step = static_cast<std::int64_t>(width);
    for (auto& dimension : dimensions) {
        dimension.strides[x] /= step;
        dimension.strides[y] /= step;
    }
    if (has_vectors) {
        auto& first = dimensions.front();
        first.size /= width;
        first.strides[x] = 1;
        first.strides[y] = 1;
        first.strides[scale] *= step;
        first.strides[bias] *= step;
    }
}

void put_dimensions(const Dimensions& dimensions, std::uint32_t& count, ConstantBuffer::uint4* rows,
                    ConstantBuffer::uint4* parameters) {
    count = static_cast<std::uint32_t>(dimensions.size());
    for (std::size_t d = 0; d < dimensions.size(); ++d) {
        const auto stride = [&](Array array) { return static_cast<std::uint32_t>(dimensions[d].strides[array]); };
        rows[d].words = {static_cast<std::uint32_t>(dimensions[d].size), stride(x), stride(y), stride(set)};
        parameters[d].words = {stride(scale), stride(bias), 0, 0};
    }
}

class Planner {
public:
    explicit Planner(const Descriptor& descriptor)
        : activation_(descriptor.activation("FusedActivation")),
          scale_(descriptor.tensor("ScaleTensor")),
          bias_(descriptor.tensor("BiasTensor")),
          half_(descriptor.tensor("InputTensor")->data_type == core::DataType::float16),
          vector_width_(vector_bytes / core::bytes_of(descriptor.tensor("InputTensor")->data_type)),
          shape_(shape_of(descriptor)) {
        common_.set_count = static_cast<std::uint32_t>(count_of(shape_.sets));
        common_.has_scale = scale_ != nullptr ? PARAMETERS_ANYWHERE : 0;
        common_.has_bias = bias_ != nullptr ? PARAMETERS_ANYWHERE : 0;
        const bool is_newest = descriptor.has_field("UseMean");
        const auto flag = [&](std::string_view field) { return descriptor.uint(field) != 0 ? 1U : 0U; };
        common_.normalize_variance = flag(is_newest ? "UseVariance" : "NormalizeVariance");
        common_.subtract_mean = is_newest ? flag("UseMean") : 1;
        common_.epsilon = descriptor.number("Epsilon");
        put_activation(common_, activation_);
        common_.output_is_packed = core::is_packed(*descriptor.tensor("OutputTensor")) ? 1 : 0;
        common_.set_size = static_cast<float>(count_of(shape_.elements));
        for (std::uint32_t* one : {&common_.chunk_count, &common_.threads_per_set, &common_.sets_per_group,
                                   &common_.columns_per_set, &common_.rows_per_set}) {
            *one = 1;
        }
    }

    [[nodiscard]] DispatchPlan plan() && {
        normalize();
        return std::move(plan_);
    }

private:
    void normalize() {
        // A normalisation group consists of equidistant rows.
        constexpr std::size_t most_dimensions = 2;
        if (shape_.elements.size() <= most_dimensions && is_vector(shape_.elements, shape_.sets, vector_width_)) {
            normalize_vectors();
        } else {
            normalize_elements();
        }
    }

    void normalize_vectors() {
        Dimensions sets = shape_.sets;
        Dimensions items = shape_.elements;
        Parameters parameters = common_;
        put_vector_parameters(parameters, items, sets);
        widen(sets, vector_width_, false);
        widen(items, vector_width_, true);
        put_all_dimensions(parameters, sets, items);
        const std::uint32_t kept = kept_items(parameters.item_count);
        if (kept == most_kept ? items.size() == 1 : kept != 0) {
            const std::uint32_t each = kept_by_each(parameters.item_count, kept);
            put_threads(parameters, std::min(group_size, std::bit_ceil(groups_of(parameters.item_count, each))));
            parameters.items_per_chunk = parameters.item_count;
            keep(parameters, TASK_NORMALIZE_SETS, std::max(kept, each));
        } else {
            put_threads(parameters, group_size);
            normalize_chunks(parameters);
        }
    }

    /// One dispatch computes the statistics of chunks, another one normalises them.
    void normalize_chunks(Parameters& parameters) {
        // Enough to fill a large GPU. With fewer and larger chunks, less is summed across threads.
        constexpr std::uint64_t enough_chunks = 256;
        const std::uint64_t large = group_size * many_kept;
        const bool are_enough = parameters.set_count * groups_of(parameters.item_count, large) >= enough_chunks;
        const std::uint32_t kept = are_enough ? many_kept : few_kept;
        // Chunks of equal size that begin at cache lines.
        constexpr std::uint64_t line_items = 8;
        const std::uint64_t chunks = groups_of(parameters.item_count, group_size * kept);
        const std::uint64_t items = groups_of(groups_of(parameters.item_count, chunks), line_items) * line_items;
        parameters.items_per_chunk = static_cast<std::uint32_t>(items);
        parameters.chunk_count = static_cast<std::uint32_t>(groups_of(parameters.item_count, items));
        put_temporaries(parameters);
        keep(parameters, TASK_FIND_CHUNKS, kept);
        // Each group that normalises a chunk reads the statistics of all chunks, so there must not be too many.
        if (parameters.chunk_count <= group_size) {
            put_chunks_in_rows(parameters);
            keep(parameters, TASK_APPLY_CHUNKS, kept);
        } else {
            combine(parameters);
            keep(parameters, TASK_APPLY_STATISTICS, kept);
        }
    }

    /// Each thread group reads several normalisation groups, one, or a part of one, and normalises them if it has read
    /// them completely.
    void normalize_elements() {
        Parameters parameters = common_;
        put_all_dimensions(parameters, shape_.sets, shape_.elements);
        divide_group(parameters, shape_.elements.front().strides[x] > shape_.sets.front().strides[x] &&
                                     shape_.sets.front().strides[x] != 0);
        // 16-bit elements are left to a separate pass, in which threads write whole words.
        const bool apply = parameters.chunk_count == 1 && !half_;
        if (!apply) {
            put_temporaries(parameters);
        }
        ShaderVariant shader = variant("mean_variance_normalization1", apply);
        shader.defines.emplace_back("APPLY", apply ? 1 : 0);
        dispatch(std::move(shader), parameters,
                 groups_of(parameters.set_count, parameters.sets_per_group) * parameters.chunk_count);
        if (parameters.chunk_count > 1) {
            combine(parameters);
        }
        if (!apply) {
            this->apply();
        }
    }

    /// The number of items that each thread of a group keeps in registers; 0 if several thread groups share a
    /// normalisation group.
    [[nodiscard]] std::uint32_t kept_items(std::uint64_t item_count) const {
        // Enough to keep a large GPU busy.
        constexpr std::uint64_t enough_sets = 128;
        if (item_count <= group_size * few_kept) {
            return few_kept;
        }
        const bool fits = item_count <= group_size * (half_ ? many_kept : most_kept);
        if (!fits || common_.set_count < enough_sets) {
            return 0;
        }
        return item_count <= group_size * many_kept ? many_kept : most_kept;
    }

    /// The number of items per thread if a normalisation group is kept in registers.
    [[nodiscard]] std::uint32_t kept_by_each(std::uint64_t item_count, std::uint32_t kept) const {
        // Few items per thread start sooner; many items need fewer sums across threads.
        constexpr std::uint64_t enough_threads = 65536;
        const bool are_enough = common_.set_count * groups_of(item_count, many_kept) >= enough_threads;
        return kept == few_kept && are_enough ? many_kept : few_kept;
    }

    /// `inner` and `outer` are dimensions of elements, before they are widened.
    void put_vector_parameters(Parameters& parameters, const Dimensions& inner, const Dimensions& outer) const {
        parameters.scale_step = static_cast<std::uint32_t>(inner.front().strides[scale]);
        parameters.bias_step = static_cast<std::uint32_t>(inner.front().strides[bias]);
        parameters.has_scale = parameters_of(scale_, inner, outer, scale, vector_width_);
        parameters.has_bias = parameters_of(bias_, inner, outer, bias, vector_width_);
    }

    /// Decides how many normalisation groups a thread group handles, and how many threads each one gets.
    static void divide_group(Parameters& parameters, bool side_by_side) {
        std::uint64_t threads_per_set = 0;
        if (side_by_side) {
            // As many adjacent normalisation groups as fit, but at least enough to read whole segments of memory.
            constexpr std::uint64_t fewest_sets = 8;
            const std::uint64_t fitting = group_size * elements_per_thread / parameters.item_count;
            const std::uint64_t sets = std::clamp(std::bit_floor(fitting), fewest_sets, group_size);
            threads_per_set = group_size / std::min(sets, std::bit_ceil(std::uint64_t{parameters.set_count}));
        } else {
            // Several items for each thread, because sums across threads take longer than sums within one.
            constexpr std::uint64_t wanted_items = 4;
            threads_per_set = std::min(group_size, std::bit_ceil(groups_of(parameters.item_count, wanted_items)));
        }
        put_threads(parameters, threads_per_set);
        const std::uint64_t items_per_chunk = threads_per_set * elements_per_thread;
        parameters.sets_side_by_side = side_by_side ? 1 : 0;
        parameters.items_per_chunk = static_cast<std::uint32_t>(items_per_chunk);
        parameters.chunk_count = static_cast<std::uint32_t>(groups_of(parameters.item_count, items_per_chunk));
    }

    /// The number of threads must be a power of two.
    static void put_threads(Parameters& parameters, std::uint64_t threads_per_set) {
        parameters.threads_per_set = static_cast<std::uint32_t>(threads_per_set);
        parameters.set_shift = static_cast<std::uint32_t>(std::countr_zero(threads_per_set));
        // The number of columns is between one and two times the number of rows. Small groups have a single row.
        constexpr std::uint64_t fewest_columns = 8;
        const auto logarithm = static_cast<std::uint64_t>(std::countr_zero(threads_per_set));
        const std::uint64_t columns = std::max(fewest_columns, std::uint64_t{1} << ((logarithm + 1) / 2));
        parameters.columns_per_set = static_cast<std::uint32_t>(std::min(threads_per_set, columns));
        parameters.rows_per_set = parameters.threads_per_set / parameters.columns_per_set;
        parameters.sets_per_group = static_cast<std::uint32_t>(group_size / threads_per_set);
        parameters.step_lines = parameters.threads_per_set / parameters.item_dimensions[0].words[0];
        parameters.step_items = parameters.threads_per_set % parameters.item_dimensions[0].words[0];
    }

    /// Sets the numbers of columns and rows that all chunks of a normalisation group need.
    static void put_chunks_in_rows(Parameters& parameters) {
        parameters.columns_per_set = std::min(parameters.columns_per_set, std::bit_ceil(parameters.chunk_count));
        const std::uint32_t rows = (parameters.chunk_count - 1) / parameters.columns_per_set + 1;
        parameters.rows_per_set = std::bit_ceil(rows);
    }

    void keep(Parameters parameters, std::uint32_t task, std::uint32_t kept) {
        parameters.task = task;
        ShaderVariant shader = variant("mean_variance_normalization1_kept", task != TASK_FIND_CHUNKS);
        // Activations take longer to compute than to read.
        const bool fused = shader.defines.back().second != 0;
        shader.defines.emplace_back("KEPT", kept);
        if (!fused) {
            shader.defines.emplace_back(units_macro, std::uint32_t{UNITS_BY_WORDS});
        }
        dispatch(std::move(shader), parameters,
                 groups_of(parameters.set_count, parameters.sets_per_group) * parameters.chunk_count);
    }

    void combine(const Parameters& parameters) {
        dispatch({"mean_variance_normalization1_combine", {}}, parameters, parameters.set_count);
    }

    void apply() {
        Dimensions items = shape_.elements;
        items.insert(items.end(), shape_.sets.begin(), shape_.sets.end());
        sort_by_stride(items, y);
        items = merged(items);
        Parameters parameters = common_;
        put_dimensions(items, parameters.item_dimension_count, parameters.item_dimensions, parameters.item_parameters);
        parameters.item_count = static_cast<std::uint32_t>(count_of(items));
        const bool two_each = half_ && parameters.output_is_packed != 0;
        dispatch(variant("mean_variance_normalization1_apply", true), parameters,
                 groups_of(count_of(items), two_each ? 2 * group_size : group_size));
    }

    static void put_all_dimensions(Parameters& parameters, const Dimensions& sets, const Dimensions& items) {
        put_dimensions(sets, parameters.set_dimension_count, parameters.set_dimensions, parameters.set_parameters);
        put_dimensions(items, parameters.item_dimension_count, parameters.item_dimensions, parameters.item_parameters);
        parameters.item_count = static_cast<std::uint32_t>(count_of(items));
    }

    /// Allocates the statistics of chunks and normalisation groups.
    void put_temporaries(const Parameters& parameters) {
        constexpr std::uint64_t statistics_bytes = 16;
        const std::uint64_t sets = parameters.set_count;
        const std::uint64_t chunks = parameters.chunk_count > 1 ? parameters.chunk_count * sets : 1;
        plan_.temporaries = {chunks * statistics_bytes, sets * statistics_bytes};
    }

    void dispatch(ShaderVariant shader, const Parameters& parameters, std::uint64_t groups) {
        Dispatch dispatch;
        dispatch.shader = std::move(shader);
        dispatch.buffers = buffers();
        dispatch.has_units = true;
        dispatch.parameters = parameters_from(parameters);
        dispatch.groups = groups;
        plan_.dispatches.push_back(std::move(dispatch));
    }

    [[nodiscard]] ShaderVariant variant(std::string_view shader, bool applies) const {
        const bool fused = applies && activation_ != nullptr;
        return {shader,
                {{half_macro, half_ ? std::uint32_t{HALF_BY_INTEGERS} : std::uint32_t{HALF_NONE}},
                 {"FUSED", fused ? 1u : 0u}}};
    }

    [[nodiscard]] std::vector<BufferRef> buffers() const {
        const bool temporaries = !plan_.temporaries.empty();
        const BufferRef scales = scale_ != nullptr ? input(scale_tensor) : BufferRef{};
        const BufferRef biases = bias_ != nullptr ? input(bias_tensor) : BufferRef{};
        // Scale and bias are bound twice: as elements and as units.
        return {input(input_tensor),
                scales,
                biases,
                output(0),
                temporaries ? temporary(0) : BufferRef{},
                temporaries ? temporary(1) : BufferRef{},
                scales,
                biases};
    }

    /// Null if absent.
    const Descriptor* activation_;
    const core::TensorDesc* scale_;
    const core::TensorDesc* bias_;
    bool half_;
    std::uint64_t vector_width_;
    Shape shape_;
    Parameters common_{};
    DispatchPlan plan_;
};

DispatchPlan plan_normalization(const operators::Descriptor& descriptor) {
    return Planner(descriptor).plan();
}

std::vector<ShaderVariant> normalization_variants() {
    const DefineRange half{half_macro, {HALF_NONE, HALF_BY_INTEGERS, HALF_BY_DEVICE}};
    const DefineRange fused{"FUSED", {0, 1}};
    std::vector<ShaderVariant> variants{{"mean_variance_normalization1_combine", {}}};
    const auto add = [&](std::string_view shader, const std::vector<DefineRange>& ranges) {
        append(variants, all_variants(shader, ranges));
    };
    const std::string_view name = "mean_variance_normalization1";
    add(name, {half, {"FUSED", {0}}, {"APPLY", {0}}});
    add(name, {{half_macro, {HALF_NONE}}, fused, {"APPLY", {1}}});
    add("mean_variance_normalization1_apply", {half, fused});
    const std::string_view kept = "mean_variance_normalization1_kept";
    const DefineRange kept_floats{"KEPT", {few_kept, many_kept, most_kept}};
    const DefineRange kept_halves{"KEPT", {few_kept, many_kept}};
    add(kept, {{half_macro, {HALF_BY_INTEGERS}}, {"FUSED", {0}}, kept_halves, {units_macro, {UNITS_BY_WORDS}}});
    add(kept, {{half_macro, {HALF_BY_DEVICE}}, {"FUSED", {0}}, kept_halves, {units_macro, {UNITS_AT_ONCE}}});
    add(kept, {{half_macro, {HALF_BY_INTEGERS, HALF_BY_DEVICE}}, {"FUSED", {1}}, kept_halves});
    add(kept, {{half_macro, {HALF_NONE}}, {"FUSED", {0}}, kept_floats, {units_macro, {UNITS_BY_WORDS, UNITS_AT_ONCE}}});
    add(kept, {{half_macro, {HALF_NONE}}, {"FUSED", {1}}, kept_floats});
    return variants;
}

bool cut_between_sets(Cut& cut) {
    return !shares_mean(cut.descriptor(), cut.dimension()) && cut.take_from_all();
}

}  // namespace

Bindings bindings() {
    Bindings result;
    for (const std::string_view name :
         {"MEAN_VARIANCE_NORMALIZATION", "MEAN_VARIANCE_NORMALIZATION1", "MEAN_VARIANCE_NORMALIZATION2"}) {
        result.push_back(
            {.name = name, .plan = plan_normalization, .variants = normalization_variants, .cut = cut_between_sets});
    }
    return result;
}

}  // namespace dmlconform::d3d12::mean_variance_normalization1_bindings
