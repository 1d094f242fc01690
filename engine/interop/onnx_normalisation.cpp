// Normalisations, softmaxes and hardmaxes.
#include <fmt/format.h>

#include <numeric>

#include "engine/interop/onnx_mapping.h"

namespace dmlconform::interop {
namespace {

using nlohmann::ordered_json;
using Mapped = core::Result<ordered_json>;
using Axes = std::vector<std::uint32_t>;

/// The axes from `first` on.
Axes axes_from(std::size_t first, std::size_t rank) {
    Axes axes(rank - first);
    std::iota(axes.begin(), axes.end(), static_cast<std::uint32_t>(first));
    return axes;
}

OnnxCase normalization(const OnnxNode& node, const Axes& axes, float epsilon) {
    OnnxCase result("MEAN_VARIANCE_NORMALIZATION1");
    result.input("InputTensor", *node.input(0))
        .output("OutputTensor", *node.output(0))
        .set("Axes", axes)
        .set("NormalizeVariance", true)
        .set("Epsilon", epsilon);
    return result;
}

Mapped map_mean_variance(const OnnxNode& node) {
    Axes axes;
    auto written = node.integers("axes");
    if (written.empty()) {
        written = {0, 2, 3};
    }
    for (const std::int64_t axis : written) {
        const auto d = axis_of(axis, node.input(0)->sizes.size());
        if (!d) {
            return core::fail("there is no such axis");
        }
        axes.push_back(*d);
    }
    return normalization(node, axes, 1e-9F).take();
}

/// Scale and bias, whose dimensions are the data's from `first` on.
core::Result<void> add_parameters(OnnxCase& result, const OnnxNode& node, std::size_t first) {
    const std::size_t rank = node.input(0)->sizes.size();
    std::size_t index = 1;
    for (const char* field : {"ScaleTensor", "BiasTensor"}) {
        if (const OnnxTensor* parameter = node.input(index++)) {
            if (parameter->sizes.size() + first > rank) {
                return core::fail("scale or bias has too many dimensions");
            }
            result.input(field, *parameter, along(*parameter, rank, first));
        }
    }
    return {};
}

/// Over the spatial dimensions, or from an axis on.
Mapped map_scaled(const OnnxNode& node, std::uint32_t first_axis, std::size_t parameter_dimension) {
    const std::size_t rank = node.input(0)->sizes.size();
    if (first_axis >= rank) {
        return core::fail("there is no dimension to normalise over");
    }
    OnnxCase result = normalization(node, axes_from(first_axis, rank), node.number("epsilon", 1e-5F));
    const auto added = add_parameters(result, node, parameter_dimension);
    return added ? Mapped(result.take()) : tl::unexpected(added.error());
}

Mapped map_instance(const OnnxNode& node) {
    return map_scaled(node, 2, 1);
}

Mapped map_layer(const OnnxNode& node) {
    const auto axis = axis_of(node.integer("axis", -1), node.input(0)->sizes.size());
    return axis ? map_scaled(node, *axis, *axis) : Mapped(core::fail("there is no such axis"));
}

/// Uses the mean of squares instead of the variance.
Mapped map_rms(const OnnxNode& node) {
    const std::size_t rank = node.input(0)->sizes.size();
    const auto axis = axis_of(node.integer("axis", -1), rank);
    if (!axis) {
        return core::fail("there is no such axis");
    }
    OnnxCase result("MEAN_VARIANCE_NORMALIZATION2");
    result.input("InputTensor", *node.input(0))
        .output("OutputTensor", *node.output(0))
        .set("Axes", axes_from(*axis, rank))
        .set("UseMean", false)
        .set("UseVariance", true)
        .set("Epsilon", node.number("epsilon", 1e-5F));
    const auto added = add_parameters(result, node, *axis);
    return added ? Mapped(result.take()) : tl::unexpected(added.error());
}

/// The channels become two dimensions: groups, and channels of a group.
Mapped map_group(const OnnxNode& node) {
    const core::Dimensions& sizes = node.input(0)->sizes;
    const std::int64_t groups = node.integer("num_groups", 0);
    if (sizes.size() < 2 || groups <= 0 || sizes[1] % groups != 0) {
        return core::fail("num_groups does not divide the channels");
    }
    core::Dimensions grouped = sizes;
    grouped[1] = static_cast<std::uint32_t>(groups);
    grouped.insert(grouped.begin() + 2, sizes[1] / grouped[1]);
    OnnxCase result("MEAN_VARIANCE_NORMALIZATION1");
    result.input("InputTensor", *node.input(0), grouped)
        .output("OutputTensor", *node.output(0), grouped)
        .set("Axes", axes_from(2, grouped.size()))
        .set("NormalizeVariance", true)
        .set("Epsilon", node.number("epsilon", 1e-5F));
    std::size_t index = 1;
    for (const char* field : {"ScaleTensor", "BiasTensor"}) {
        const OnnxTensor* parameter = node.input(index++);
        if (parameter == nullptr) {
            return core::fail("scale or bias is absent");
        }
        // One per channel, or before opset 21 one per group.
        core::Dimensions shape(grouped.size(), 1);
        shape[1] = grouped[1];
        shape[2] = parameter->count() == sizes[1] ? grouped[2] : 1;
        if (parameter->count() != std::size_t{shape[1]} * shape[2]) {
            return core::fail("scale or bias is neither for each channel nor for each group");
        }
        result.input(field, *parameter, shape);
    }
    return result.take();
}

Mapped map_batch(const OnnxNode& node) {
    if (node.integer("training_mode", 0) != 0 || node.output(1) != nullptr) {
        return core::fail("BatchNormalization that updates its mean and variance is several operators of DirectML");
    }
    if (node.integer("spatial", 1) == 0) {
        return core::fail("BatchNormalization with spatial = 0 has no one layout of its parameters");
    }
    const std::size_t rank = node.input(0)->sizes.size();
    OnnxCase result("BATCH_NORMALIZATION");
    result.input("InputTensor", *node.input(0));
    std::size_t index = 1;
    for (const char* field : {"ScaleTensor", "BiasTensor", "MeanTensor", "VarianceTensor"}) {
        const OnnxTensor* parameter = node.input(index++);
        if (parameter == nullptr || parameter->sizes.size() != 1) {
            return core::fail("a parameter of BatchNormalization is absent, or has not one dimension");
        }
        // Data of one dimension are a batch of one channel.
        result.input(field, *parameter, along(*parameter, rank, rank < 2 ? 0 : 1));
    }
    return result.output("OutputTensor", *node.output(0))
        .set("Spatial", true)
        .set("Epsilon", node.number("epsilon", 1e-5F))
        .take();
}

/// Before opset 13 the input was treated as a matrix: everything from the axis on is one slice. The axis may follow the
/// last dimension.
std::optional<Axes> softmax_axes(const OnnxNode& node, std::size_t rank) {
    if (node.opset >= 13) {
        const auto axis = axis_of(node.integer("axis", -1), rank);
        return axis ? std::optional(Axes{*axis}) : std::nullopt;
    }
    const std::int64_t axis = node.integer("axis", 1);
    const auto first =
        axis == static_cast<std::int64_t>(rank) ? std::optional(static_cast<std::uint32_t>(rank)) : axis_of(axis, rank);
    return first ? std::optional(axes_from(*first, rank)) : std::nullopt;
}

Mapped map_softmax(const OnnxNode& node) {
    const auto axes = softmax_axes(node, node.input(0)->sizes.size());
    if (!axes) {
        return core::fail("there is no such axis");
    }
    const std::string_view directml = node.type == "Softmax"      ? "ACTIVATION_SOFTMAX1"
                                      : node.type == "LogSoftmax" ? "ACTIVATION_LOG_SOFTMAX1"
                                                                  : "ACTIVATION_HARDMAX1";
    return OnnxCase(directml)
        .input("InputTensor", *node.input(0))
        .output("OutputTensor", *node.output(0))
        .set("Axes", *axes)
        .take();
}

/// Maps a node that has its first input.
template <Mapped (*map)(const OnnxNode&)>
Mapped normalised(const OnnxNode& node) {
    return node.input(0) == nullptr ? Mapped(core::fail(fmt::format("{} has no data", node.type))) : map(node);
}

}  // namespace

std::span<const OnnxMapping> normalisation_mappings() {
    static constexpr OnnxMapping mappings[] = {
        {"MeanVarianceNormalization", normalised<map_mean_variance>, "MEAN_VARIANCE_NORMALIZATION1"},
        {"InstanceNormalization", normalised<map_instance>, "MEAN_VARIANCE_NORMALIZATION1"},
        {"LayerNormalization", normalised<map_layer>, "MEAN_VARIANCE_NORMALIZATION1", "the first output"},
        {"RMSNormalization", normalised<map_rms>, "MEAN_VARIANCE_NORMALIZATION2", "without a mean"},
        {"GroupNormalization", normalised<map_group>, "MEAN_VARIANCE_NORMALIZATION1", "the groups as a dimension"},
        {"BatchNormalization", normalised<map_batch>, "BATCH_NORMALIZATION",
         "not with spatial = 0; in training, from opset 14 on, with REDUCE and element-wise operators for means and "
         "variances"},
        {"Softmax", normalised<map_softmax>, "ACTIVATION_SOFTMAX1", "before opset 13 along the axis and all behind it"},
        {"LogSoftmax", normalised<map_softmax>, "ACTIVATION_LOG_SOFTMAX1", "as Softmax"},
        {"Hardmax", normalised<map_softmax>, "ACTIVATION_HARDMAX1", "as Softmax"},
    };
    return mappings;
}

}  // namespace dmlconform::interop
