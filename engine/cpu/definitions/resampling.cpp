// Operators that read an image between its elements: RESAMPLE and its successors, their gradients, and UPSAMPLE_2D.
#include "engine/cpu/definitions/interpolation.h"

namespace dmlconform::cpu::definitions::resampling_definitions {
namespace {

using operators::InterpolationMode;

/// The linear filter, widened so that it covers 1 / scale elements on both sides. Beyond the outermost elements these
/// repeat, as in ONNX's Resize, whose wording the documentation uses.
template <class Real>
Shares<Real> antialiased(double position, double scale, std::int64_t size) {
    Shares<Real> shares(static_cast<std::size_t>(size));
    Real sum = 0;
    for (double at = std::ceil(position - 1 / scale); at <= position + 1 / scale; ++at) {
        const Real weight = max(Real(0), Real(1) - abs(Real(at) - Real(position)) * Real(scale));
        shares[static_cast<std::size_t>(std::clamp(at, 0.0, static_cast<double>(size - 1)))].weight += weight;
        sum += weight;
    }
    for (std::size_t element = 0; element < shares.size(); ++element) {
        shares[element] = {static_cast<std::int64_t>(element), shares[element].weight / sum};
    }
    return shares;
}

/// What an output coordinate of dimension `d` is made of. Its position is (output - OutputPixelOffset) / Scale -
/// InputPixelOffset; without the offsets, elements are aligned by their edges.
template <class Real>
Shares<Real> shares_of(const Call& call, std::size_t d, std::int64_t output, std::int64_t size) {
    const auto number = [&](std::string_view field, double otherwise) {
        return call.has_field(field) ? double{call.descriptor.get<std::vector<float>>(field)[d]} : otherwise;
    };
    const double scale = number("Scales", 1);
    const double position =
        (static_cast<double>(output) - number("OutputPixelOffsets", -0.5)) / scale - number("InputPixelOffsets", 0.5);
    if (enumerator<InterpolationMode>(call.descriptor, "InterpolationMode") == InterpolationMode::linear) {
        const bool widens = call.has_field("Antialiased") && call.flag("Antialiased") && 1 / scale > 2;
        return widens ? antialiased<Real>(position, scale, size) : linear(Real(position), size);
    }
    using operators::AxisDirection;
    const double nearest =
        !call.has_field("RoundingDirection") ? std::floor(position + 0.5)
        : enumerator<AxisDirection>(call.descriptor, "RoundingDirection") == AxisDirection::increasing
            ? std::ceil(position)
            : std::floor(position);
    return {{static_cast<std::int64_t>(std::clamp(nearest, 0.0, static_cast<double>(size - 1))), Real(1)}};
}

/// Calls visit(index of the input, weight) for all elements that an output element is made of.
template <class Real, class Visit>
void for_each_share(const std::vector<Shares<Real>>& shares, const Visit& visit) {
    Index counts;
    for (const Shares<Real>& along : shares) {
        counts.push_back(static_cast<std::int64_t>(along.size()));
    }
    for_each_index(counts, [&](const Index& which) {
        Index from;
        Real weight = 1;
        for (std::size_t d = 0; d < shares.size(); ++d) {
            const Share<Real>& share = shares[d][static_cast<std::size_t>(which[d])];
            from.push_back(share.element);
            weight = weight * share.weight;
        }
        if (!(weight == Real(0))) {
            visit(from, weight);
        }
    });
}

template <class Real>
std::vector<Shares<Real>> all_shares(const Call& call, const Index& output, const Index& sizes) {
    std::vector<Shares<Real>> shares;
    for (std::size_t d = 0; d < sizes.size(); ++d) {
        shares.push_back(shares_of<Real>(call, d, output[d], sizes[d]));
    }
    return shares;
}

// https://learn.microsoft.com/en-us/windows/win32/api/directml/ns-directml-dml_resample_operator_desc
// https://learn.microsoft.com/en-us/windows/win32/api/directml/ns-directml-dml_resample1_operator_desc
// https://learn.microsoft.com/en-us/windows/win32/api/directml/ns-directml-dml_resample2_operator_desc
// https://learn.microsoft.com/en-us/windows/win32/api/directml/ns-directml-dml_resample3_operator_desc
// The weighted mean of the elements around each output's position. Integers are truncated.
constexpr auto resample = []<class Real>(Call& call) {
    const auto x = call.input<Real>("InputTensor");
    auto& output = call.output<Real>("OutputTensor");
    for_each_index(output.sizes, [&](const Index& at) {
        for_each_share(all_shares<Real>(call, at, x.sizes),
                       [&](const Index& from, const Real& weight) { output[at] += x[from] * weight; });
    });
};

// https://learn.microsoft.com/en-us/windows/win32/api/directml/ns-directml-dml_resample_grad_operator_desc
// https://learn.microsoft.com/en-us/windows/win32/api/directml/ns-directml-dml_resample_grad1_operator_desc
// Distributes each gradient over the elements that its output was made of.
constexpr auto resample_grad = []<class Real>(Call& call) {
    const auto gradient = call.input<Real>("InputGradientTensor");
    auto& output = call.output<Real>("OutputGradientTensor");
    for_each_index(gradient.sizes, [&](const Index& at) {
        for_each_share(all_shares<Real>(call, at, output.sizes),
                       [&](const Index& to, const Real& weight) { output[to] += gradient[at] * weight; });
    });
};

// https://learn.microsoft.com/en-us/windows/win32/api/directml/ns-directml-dml_upsample_2d_operator_desc
// Repeats each element, or interpolates between the centres of elements.
constexpr auto upsample_2d = []<class Real>(Call& call) {
    const auto x = call.input<Real>("InputTensor");
    auto& output = call.output<Real>("OutputTensor");
    const auto scale = call.descriptor.get<operators::Size2D>("ScaleSize");
    const bool is_linear =
        enumerator<InterpolationMode>(call.descriptor, "InterpolationMode") == InterpolationMode::linear;
    const auto along = [&](std::int64_t at, std::int64_t copies, std::int64_t size) {
        const Real position =
            (Real(static_cast<double>(at)) + Real(0.5)) / Real(static_cast<double>(copies)) - Real(0.5);
        return is_linear ? linear(position, size) : Shares<Real>{{at / copies, Real(1)}};
    };
    const std::size_t rank = output.sizes.size();
    for_each_index(output.sizes, [&](const Index& at) {
        std::vector<Shares<Real>> shares;
        for (std::size_t d = 0; d < rank; ++d) {
            const std::int64_t copies = d + 1 == rank ? scale.width : d + 2 == rank ? scale.height : 1;
            shares.push_back(along(at[d], copies, x.sizes[d]));
        }
        for_each_share(shares, [&](const Index& from, const Real& weight) { output[at] += x[from] * weight; });
    });
};

}  // namespace

Definitions definitions() {
    return {define("RESAMPLE", resample),           define("RESAMPLE1", resample),
            define("RESAMPLE2", resample),          define("RESAMPLE3", resample),
            define("RESAMPLE_GRAD", resample_grad), define("RESAMPLE_GRAD1", resample_grad),
            define("UPSAMPLE_2D", upsample_2d)};
}

}  // namespace dmlconform::cpu::definitions::resampling_definitions
