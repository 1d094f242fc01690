// Resampling, its gradients, and regions of interest.

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "engine/core/element.h"
#include "engine/interop/export/operator_writer.h"
#include "engine/operators/enumerators.h"

namespace dmlconform::interop::exporting {
namespace {

/// One dimension of the forward pass: an output lies at (output - output offset) / scale - input offset.
struct Line {
    std::uint32_t in = 1;
    std::uint32_t out = 1;
    double scale = 1;
    double input_offset = 0.5;
    double output_offset = -0.5;

    [[nodiscard]] double position(std::uint32_t output) const {
        return (static_cast<double>(output) - output_offset) / scale - input_offset;
    }
};

/// The element that is taken at a position between two.
enum class Nearest : std::uint8_t { halves_up, above, below };

struct Resampling {
    std::vector<Line> lines;
    bool is_linear = false;
    bool is_antialiased = false;
    Nearest nearest = Nearest::halves_up;
};

std::vector<float> floats_of(OperatorWriter& to, const char* field, std::size_t count, float otherwise) {
    return !to.desc.has_field(field) ? std::vector<float>(count, otherwise) : to.desc.get<std::vector<float>>(field);
}

bool is_linear(OperatorWriter& to) {
    using operators::InterpolationMode;
    return to.enumerator<InterpolationMode>("InterpolationMode") == InterpolationMode::linear;
}

Resampling resampling_of(OperatorWriter& to, const core::Dimensions& in, const core::Dimensions& out) {
    Resampling made;
    const auto scales = floats_of(to, "Scales", in.size(), 1);
    const auto input_offsets = floats_of(to, "InputPixelOffsets", in.size(), 0.5F);
    const auto output_offsets = floats_of(to, "OutputPixelOffsets", in.size(), -0.5F);
    for (std::size_t d = 0; d < in.size(); ++d) {
        made.lines.push_back({in[d], out[d], double{scales[d]}, double{input_offsets[d]}, double{output_offsets[d]}});
    }
    made.is_linear = is_linear(to);
    made.is_antialiased = to.desc.has_field("Antialiased") && to.uint("Antialiased") != 0;
    if (to.desc.has_field("RoundingDirection")) {
        using operators::AxisDirection;
        made.nearest = to.enumerator<AxisDirection>("RoundingDirection") == AxisDirection::increasing ? Nearest::above
                                                                                                      : Nearest::below;
    }
    return made;
}

/// ONNX's words for how all dimensions are resampled.
struct Mode {
    const char* coordinates;
    const char* nearest;
    double input_offset;
    double output_offset;
};

constexpr Mode modes_up[] = {{"half_pixel", "ceil", 0.5, -0.5},
                             {"half_pixel", "round_prefer_floor", 1, -0.5},
                             {"asymmetric", "ceil", 0, 0},
                             {"asymmetric", "round_prefer_floor", 0.5, 0}};
constexpr Mode modes_down[] = {{"half_pixel", "floor", 0.5, -0.5},
                               {"half_pixel", "round_prefer_ceil", 0, -0.5},
                               {"asymmetric", "floor", 0, 0},
                               {"asymmetric", "round_prefer_ceil", -0.5, 0}};
constexpr Mode modes_nearest[] = {{"half_pixel", "round_prefer_ceil", 0.5, -0.5},
                                  {"asymmetric", "round_prefer_ceil", 0, 0}};
constexpr Mode modes_linear[] = {{"half_pixel", "", 0.5, -0.5}, {"asymmetric", "", 0, 0}};

bool is_of_mode(const Line& line, const Mode& mode) {
    if (line.scale == 1 && line.in == line.out) {
        // Elements stay where they are if the offsets, of which one may round, come to the same.
        return line.input_offset + line.output_offset == mode.input_offset + mode.output_offset;
    }
    return line.input_offset == mode.input_offset && line.output_offset == mode.output_offset &&
           std::floor(static_cast<float>(line.in) * static_cast<float>(line.scale)) == static_cast<float>(line.out);
}

const Mode* mode_of(const Resampling& resampling) {
    const std::span<const Mode> modes = resampling.is_linear                   ? std::span<const Mode>(modes_linear)
                                        : resampling.nearest == Nearest::above ? std::span<const Mode>(modes_up)
                                        : resampling.nearest == Nearest::below ? std::span<const Mode>(modes_down)
                                                                               : std::span<const Mode>(modes_nearest);
    for (const Mode& mode : modes) {
        if (std::all_of(resampling.lines.begin(), resampling.lines.end(),
                        [&](const Line& line) { return is_of_mode(line, mode); })) {
            return &mode;
        }
    }
    return nullptr;
}

Value resize_node(OperatorWriter& to, const Value& x, const Resampling& resampling, const Mode& mode,
                  const core::Dimensions& sizes) {
    ModelWriter& w = to.w;
    std::string bytes(resampling.lines.size() * sizeof(float), '\0');
    const auto storage = std::as_writable_bytes(std::span(bytes));
    for (std::size_t d = 0; d < resampling.lines.size(); ++d) {
        const auto element = core::encode_element(core::DataType::float32, resampling.lines[d].scale);
        core::store_element(storage, core::DataType::float32, d, element.value_or(0));
    }
    const Value scales = w.constant(onnx_float32, {static_cast<std::uint32_t>(x.rank())}, std::move(bytes));
    ModelWriter::Attributes attributes{attribute("coordinate_transformation_mode", mode.coordinates),
                                       attribute("mode", resampling.is_linear ? "linear" : "nearest")};
    if (!resampling.is_linear) {
        attributes.push_back(attribute("nearest_mode", mode.nearest));
    }
    if (resampling.is_antialiased && resampling.is_linear) {
        attributes.push_back(attribute("antialias", std::int64_t{1}));
    }
    return w.node("Resize", {x, Value{}, scales}, x.type, sizes, attributes);
}

// ---- by weights --------------------------------------------------------------------------------------------------

/// The nearest element to a position.
std::uint32_t element_at(const Line& line, double position, Nearest nearest) {
    const double element = nearest == Nearest::above   ? std::ceil(position)
                           : nearest == Nearest::below ? std::floor(position)
                                                       : std::floor(position + 0.5);
    return static_cast<std::uint32_t>(std::clamp(element, 0.0, static_cast<double>(line.in) - 1));
}

/// How much of each element is in each output: a row for each element, a column for each output.
std::vector<float> weights_of(const Line& line, const Resampling& resampling) {
    std::vector<float> weights(std::size_t{line.in} * line.out);
    for (std::uint32_t output = 0; output < line.out; ++output) {
        const double position = std::clamp(line.position(output), -1.0, static_cast<double>(line.in));
        if (!resampling.is_linear) {
            weights[std::size_t{element_at(line, position, resampling.nearest)} * line.out + output] = 1;
            continue;
        }
        const double inside = std::clamp(position, 0.0, static_cast<double>(line.in) - 1);
        const auto first = static_cast<std::uint32_t>(inside);
        const std::uint32_t second = std::min(first + 1, line.in - 1);
        const double share = inside - first;
        weights[std::size_t{first} * line.out + output] += static_cast<float>(1 - share);
        weights[std::size_t{second} * line.out + output] += static_cast<float>(share);
    }
    return weights;
}

constexpr std::uint64_t most_weights = 1 << 20;

/// The value times a matrix of weights along one dimension: forward, or back from outputs to elements.
Value weighted(OperatorWriter& to, const Value& x, std::size_t axis, const Line& line, const Resampling& resampling,
               bool backward) {
    ModelWriter& w = to.w;
    if (std::uint64_t{line.in} * line.out > most_weights) {
        to.fail("a dimension is too large to be resampled by a matrix of weights");
        return x;
    }
    const std::vector<float> weights = weights_of(line, resampling);
    std::string bytes(weights.size() * sizeof(float), '\0');
    const auto storage = std::as_writable_bytes(std::span(bytes));
    for (std::size_t i = 0; i < weights.size(); ++i) {
        core::store_element(storage, core::DataType::float32, i,
                            core::encode_element(core::DataType::float32, double{weights[i]}).value_or(0));
    }
    Value matrix = w.constant(onnx_float32, {line.in, line.out}, std::move(bytes));
    matrix = backward ? w.transpose(matrix, {1, 0}) : matrix;
    if (x.rank() == 1) {
        const Value row = w.matmul(w.reshape(x, {1, x.sizes[0]}), matrix);
        return w.reshape(row, {row.sizes[1]});
    }
    Numbers order = counted(x.rank());
    std::swap(order[axis], order[order.size() - 1]);
    return w.transpose(w.matmul(w.transpose(x, order), matrix), order);
}

bool is_kept(const Line& line) {
    return line.in == line.out && line.scale == 1 && line.input_offset + line.output_offset == 0;
}

/// Elements of the input at positions between its elements.
void put_resampled(OperatorWriter& to, const Resampling& resampling) {
    ModelWriter& w = to.w;
    const core::Dimensions& sizes = to.sizes("OutputTensor");
    const Mode* mode = mode_of(resampling);
    Value x = to.in("InputTensor");
    if (resampling.is_antialiased && resampling.is_linear) {
        const bool differs = std::any_of(resampling.lines.begin(), resampling.lines.end(),
                                         [](const Line& line) { return line.scale >= 0.5 && line.scale < 1; });
        if (w.opset() < 18 || mode == nullptr || differs) {
            to.fail(w.opset() < 18 ? "Resize antialiases from opset 18 on"
                                   : "ONNX antialiases other scales and offsets than DirectML");
            return;
        }
    }
    if (mode != nullptr) {
        to.out("OutputTensor", resize_node(to, x, resampling, *mode, sizes));
        return;
    }
    if (!resampling.is_linear) {
        for (std::size_t d = 0; d < resampling.lines.size(); ++d) {
            const Line& line = resampling.lines[d];
            Numbers from;
            for (std::uint32_t output = 0; output < std::min<std::uint32_t>(line.out, 1 << 16); ++output) {
                from.push_back(element_at(line, line.position(output), resampling.nearest));
            }
            if (from.size() != line.out) {
                to.fail("a dimension is too large to list where its elements come from");
            }
            x = w.gather(x, w.list(from), d);
        }
        to.out("OutputTensor", x);
        return;
    }
    if (!is_real(x.type)) {
        to.fail("bytes are resampled with offsets that Resize does not have");
        return;
    }
    x = to.precise("InputTensor");
    for (std::size_t d = 0; d < resampling.lines.size(); ++d) {
        x = is_kept(resampling.lines[d]) ? x : weighted(to, x, d, resampling.lines[d], resampling, false);
    }
    to.out("OutputTensor", x);
}

void write_resample(OperatorWriter& to) {
    put_resampled(to, resampling_of(to, to.sizes("InputTensor"), to.sizes("OutputTensor")));
}

void write_upsample(OperatorWriter& to) {
    Resampling resampling;
    const auto& scale = to.desc.get<operators::Size2D>("ScaleSize");
    const core::Dimensions& in = to.sizes("InputTensor");
    const core::Dimensions& out = to.sizes("OutputTensor");
    for (std::size_t d = 0; d < in.size(); ++d) {
        const bool is_height = d + 2 == in.size();
        const bool is_width = d + 1 == in.size();
        resampling.lines.push_back({in[d], out[d], is_height ? scale.height : is_width ? scale.width : 1.0});
    }
    resampling.is_linear = is_linear(to);
    put_resampled(to, resampling);
}

/// Each gradient goes to the elements that made its output, by their weights.
void write_resample_grad(OperatorWriter& to) {
    Value x = to.precise("InputGradientTensor");
    const Resampling resampling = resampling_of(to, to.sizes("OutputGradientTensor"), x.sizes);
    for (std::size_t d = 0; d < resampling.lines.size(); ++d) {
        const Line& line = resampling.lines[d];
        x = resampling.is_linear && is_kept(line) ? x : weighted(to, x, d, line, resampling, true);
    }
    to.out("OutputGradientTensor", x);
}

// ---- regions of interest -----------------------------------------------------------------------------------------

constexpr char unlike_roi_align[] =
    "RoiAlign has other maxima, and neither offsets nor other values outside the image: what is alike is not proven";

constexpr std::array<OperatorExport, 10> resampling_rows{{
    {"RESAMPLE", write_resample},
    {"RESAMPLE1", write_resample},
    {"RESAMPLE2", write_resample},
    {"RESAMPLE3", write_resample},
    {"RESAMPLE_GRAD", write_resample_grad},
    {"RESAMPLE_GRAD1", write_resample_grad},
    {"UPSAMPLE_2D", write_upsample},
    {"ROI_ALIGN", nullptr, nullptr, unlike_roi_align},
    {"ROI_ALIGN1", nullptr, nullptr, unlike_roi_align},
    {"ROI_ALIGN_GRAD", nullptr, nullptr, "ONNX has no gradient of RoiAlign, and no nodes that find its samples"},
}};

}  // namespace

std::span<const OperatorExport> resampling_exports() {
    return resampling_rows;
}

}  // namespace dmlconform::interop::exporting
