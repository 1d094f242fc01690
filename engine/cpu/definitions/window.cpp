// Poolings, and local response normalisation.
#include "engine/cpu/definitions/quantisation.h"

namespace dmlconform::cpu::definitions::window_definitions {
namespace {

/// Windows that slide along the spatial dimensions of an image of batches and channels.
struct Windows {
    Index image;
    Index sizes;
    Index strides;
    Index dilations;
    Index start_padding;
    Index end_padding;

    Windows(const Call& call, const Index& its_image)
        : image(its_image),
          sizes(call.uints("WindowSize")),
          strides(call.uints("Strides")),
          dilations(call.has_field("Dilations") ? call.uints("Dilations") : Index::of(sizes.size(), 1)),
          start_padding(call.uints("StartPadding")),
          end_padding(call.uints("EndPadding")) {}

    /// The position of an element of the window that belongs to `at`; the first one without padding is 0.
    [[nodiscard]] Index position(const Index& at, const Index& element) const {
        Index from = at.part(0, 2);
        for (std::size_t d = 0; d < sizes.size(); ++d) {
            from.push_back(at[d + 2] * strides[d] + element[d] * dilations[d] - start_padding[d]);
        }
        return from;
    }
    /// Calls visit(index) for the image's elements in a window.
    template <class Visit>
    void for_each_element(const Index& at, const Visit& visit) const {
        for_each_index(sizes, [&](const Index& element) {
            if (const Index from = position(at, element); from.is_inside(image)) {
                visit(from);
            }
        });
    }
    /// The number of elements in a window, with or without those in the padding.
    [[nodiscard]] double count(const Index& at, bool with_padding) const {
        double all = 0;
        for_each_index(sizes, [&](const Index& element) {
            const Index from = position(at, element);
            bool is_padding = true;
            for (std::size_t d = 0; d < sizes.size(); ++d) {
                is_padding = is_padding && from[d + 2] < image[d + 2] + end_padding[d];
            }
            all += (with_padding ? is_padding : from.is_inside(image)) ? 1 : 0;
        });
        return all;
    }
};

// https://learn.microsoft.com/en-us/windows/win32/api/directml/ns-directml-dml_average_pooling_operator_desc
// https://learn.microsoft.com/en-us/windows/win32/api/directml/ns-directml-dml_average_pooling1_operator_desc
// The sum of the elements in a window, divided by their number.
constexpr auto average_pooling = []<class Real>(Call& call) {
    const auto x = call.input<Real>("InputTensor");
    auto& output = call.output<Real>("OutputTensor");
    const Windows windows(call, x.sizes);
    for_each_index(output.sizes, [&](const Index& at) {
        Real sum = 0;
        windows.for_each_element(at, [&](const Index& from) { sum += x[from]; });
        output[at] = sum / Real(windows.count(at, call.flag("IncludePadding")));
    });
};

// https://learn.microsoft.com/en-us/windows/win32/api/directml/ns-directml-dml_average_pooling_grad_operator_desc
// Each gradient is divided among the elements of its window.
constexpr auto average_pooling_grad = []<class Real>(Call& call) {
    const auto gradient = call.input<Real>("InputGradientTensor");
    auto& output = call.output<Real>("OutputGradientTensor");
    const Windows windows(call, output.sizes);
    for_each_index(gradient.sizes, [&](const Index& at) {
        const Real share = gradient[at] / Real(windows.count(at, call.flag("IncludePadding")));
        windows.for_each_element(at, [&](const Index& to) { output[to] += share; });
    });
};

// https://learn.microsoft.com/en-us/windows/win32/api/directml/ns-directml-dml_quantized_linear_average_pooling_operator_desc
// The average of (x - InputZeroPoint) * InputScale, quantised. NaN becomes the lowest number, as measured on DirectML
// 1.15.4.
constexpr auto quantized_linear_average_pooling = []<class Real>(Call& call) {
    const auto x = call.input<Real>("InputTensor");
    const auto scale = call.input<Real>("InputScaleTensor");
    const auto zero_point = call.input<Real>("InputZeroPointTensor");
    const auto output_scale = call.input<Real>("OutputScaleTensor");
    const auto output_zero_point = call.input<Real>("OutputZeroPointTensor");
    auto& output = call.output<Real>("OutputTensor");
    const Windows windows(call, x.sizes);
    for_each_index(output.sizes, [&](const Index& at) {
        const std::int64_t channel = at[1];
        Real sum = 0;
        windows.for_each_element(
            at, [&](const Index& from) { sum += (x[from] - zero_point.of(channel)) * scale.of(channel); });
        const Real average = sum / Real(windows.count(at, call.flag("IncludePadding")));
        const Real number = average / output_scale.of(channel);
        output[at] = is_nan(number) ? Real(lowest_of(call.type("OutputTensor")))
                                    : quantised(number, output_zero_point.of(channel), call.type("OutputTensor"));
    });
};

// https://learn.microsoft.com/en-us/windows/win32/api/directml/ns-directml-dml_lp_pooling_operator_desc
// https://learn.microsoft.com/en-us/windows/win32/api/directml/ns-directml-dml_lp_pooling1_operator_desc
// (sum of |x|^P)^(1/P). Large powers are those of |x| / max |x|, so that nothing overflows.
constexpr auto lp_pooling = []<class Real>(Call& call) {
    const auto x = call.input<Real>("InputTensor");
    auto& output = call.output<Real>("OutputTensor");
    const Windows windows(call, x.sizes);
    const std::int64_t p = call.uint("P");
    const Real exponent(static_cast<double>(p));
    for_each_index(output.sizes, [&](const Index& at) {
        Real largest = 0;
        windows.for_each_element(at,
                                 [&](const Index& from) { largest = abs(x[from]) > largest ? abs(x[from]) : largest; });
        const Real unit = p <= 2 || largest == Real(0) ? Real(1) : largest;
        Real sum = 0;
        windows.for_each_element(at, [&](const Index& from) {
            sum += p == 1 ? abs(x[from]) : p == 2 ? x[from] * x[from] : pow(abs(x[from]) / unit, exponent);
        });
        output[at] = p == 1 ? sum : p == 2 ? sqrt(sum) : unit * pow(sum, Real(1) / exponent);
    });
};

/// The coordinates of the first of the largest elements in a window, or no coordinates if it is in the padding
/// altogether. A number is larger than NaN, as measured on DirectML 1.15.4.
template <class Number>
Index largest_in(const Array<Number>& x, const Windows& windows, const Index& at) {
    Index largest;
    windows.for_each_element(at, [&](const Index& from) {
        if (largest.size() == 0 || x[from] > x[largest] || (x[largest] != x[largest] && x[from] == x[from])) {
            largest = from;
        }
    });
    return largest;
}

/// The smallest number of a type that is finite.
template <class Number>
Number lowest_finite(core::DataType type) {
    const double of_floats = type == core::DataType::float16 ? -65504.0 : -double{std::numeric_limits<float>::max()};
    return core::is_floating_point(type)   ? Number(of_floats)
           : core::is_signed_integer(type) ? Number(-std::ldexp(1.0, static_cast<int>(core::bits_of(type)) - 1))
                                           : Number(0);
}

// https://learn.microsoft.com/en-us/windows/win32/api/directml/ns-directml-dml_max_pooling_operator_desc
// https://learn.microsoft.com/en-us/windows/win32/api/directml/ns-directml-dml_max_pooling1_operator_desc
// https://learn.microsoft.com/en-us/windows/win32/api/directml/ns-directml-dml_max_pooling2_operator_desc
// The largest element in a window, and its row-major index. A window in the padding has the lowest number and index 0,
// as measured on DirectML 1.15.4.
constexpr auto max_pooling = []<class Real>(Call& call) {
    with_number<Real>(call.type("InputTensor"), [&]<class Number>() {
        const auto x = call.input<Number>("InputTensor");
        auto& output = call.output<Number>("OutputTensor");
        Array<Unsigned> indices(output.sizes);
        const Windows windows(call, x.sizes);
        for_each_index(output.sizes, [&](const Index& at) {
            const Index found = largest_in(x, windows, at);
            output[at] = found.size() == 0 ? lowest_finite<Number>(call.type("InputTensor")) : x[found];
            indices[at] = found.size() == 0 ? 0 : x.number_of(found);
        });
        if (call.has("OutputIndicesTensor")) {
            call.output<Unsigned>("OutputIndicesTensor") = indices;
        }
    });
};

// https://learn.microsoft.com/en-us/windows/win32/api/directml/ns-directml-dml_max_pooling_grad_operator_desc
// Each gradient belongs to the largest element of its window.
constexpr auto max_pooling_grad = []<class Real>(Call& call) {
    const auto x = call.input<Real>("InputTensor");
    const auto gradient = call.input<Real>("InputGradientTensor");
    auto& output = call.output<Real>("OutputGradientTensor");
    const Windows windows(call, x.sizes);
    for_each_index(gradient.sizes, [&](const Index& at) {
        if (const Index found = largest_in(x, windows, at); found.size() != 0) {
            output[found] += gradient[at];
        }
    });
};

/// Calls visit(index) for the elements in the region around `at`: LocalSize channels, or LocalSize elements along each
/// spatial dimension. If that is even, there is one more after the centre, as measured on DirectML 1.15.4.
template <class Visit>
void for_each_in_region(const Call& call, const Index& sizes, const Index& at, const Visit& visit) {
    const std::int64_t count = call.uint("LocalSize");
    Index region = Index::of(sizes.size(), 1);
    for (std::size_t d = 1; d < sizes.size(); ++d) {
        region[d] = (d == 1) == call.flag("CrossChannel") ? count : 1;
    }
    for_each_index(region, [&](const Index& step) {
        Index from = at;
        for (std::size_t d = 0; d < sizes.size(); ++d) {
            from[d] += step[d] - (region[d] - 1) / 2;
        }
        if (from.is_inside(sizes)) {
            visit(from);
        }
    });
}

/// Bias + Alpha / LocalSize * (sum of squares in the region around each element)
template <class Real>
Array<Real> bases(const Call& call, const Array<Real>& x) {
    Array<Real> base(x.sizes);
    const Real share = Real(call.number("Alpha")) / Real(static_cast<double>(call.uint("LocalSize")));
    for_each_index(x.sizes, [&](const Index& at) {
        Real sum = 0;
        for_each_in_region(call, x.sizes, at, [&](const Index& from) { sum += x[from] * x[from]; });
        base[at] = Real(call.number("Bias")) + share * sum;
    });
    return base;
}

// https://learn.microsoft.com/en-us/windows/win32/api/directml/ns-directml-dml_local_response_normalization_operator_desc
// x / base^Beta
constexpr auto local_response_normalization = []<class Real>(Call& call) {
    const auto x = call.input<Real>("InputTensor");
    auto& output = call.output<Real>("OutputTensor");
    const Array<Real> base = bases(call, x);
    for_each_index(x.sizes, [&](const Index& at) { output[at] = x[at] / pow(base[at], Real(call.number("Beta"))); });
};

// https://learn.microsoft.com/en-us/windows/win32/api/directml/ns-directml-dml_local_response_normalization_grad_operator_desc
// The derivative: dy_i / base_i^Beta - sum of 2 * Alpha * Beta / LocalSize * x_i * x_j * dy_j / base_j^(Beta + 1), for
// all regions j that contain element i.
constexpr auto local_response_normalization_grad = []<class Real>(Call& call) {
    const auto x = call.input<Real>("InputTensor");
    const auto dy = call.input<Real>("InputGradientTensor");
    auto& output = call.output<Real>("OutputGradientTensor");
    const Array<Real> base = bases(call, x);
    const Real beta = call.number("Beta");
    const Real factor = Real(2) * Real(call.number("Alpha")) * beta / Real(static_cast<double>(call.uint("LocalSize")));
    Array<Real> sums(x.sizes);
    for_each_index(x.sizes, [&](const Index& at) {
        const Real term = dy[at] * x[at] / pow(base[at], beta + Real(1));
        for_each_in_region(call, x.sizes, at, [&](const Index& from) { sums[from] += term; });
    });
    for_each_index(x.sizes,
                   [&](const Index& at) { output[at] = dy[at] / pow(base[at], beta) - factor * x[at] * sums[at]; });
};

}  // namespace

Definitions definitions() {
    return {define("AVERAGE_POOLING", average_pooling),
            define("AVERAGE_POOLING1", average_pooling),
            define("AVERAGE_POOLING_GRAD", average_pooling_grad),
            define("QUANTIZED_LINEAR_AVERAGE_POOLING", quantized_linear_average_pooling),
            define("LP_POOLING", lp_pooling),
            define("LP_POOLING1", lp_pooling),
            define("MAX_POOLING", max_pooling),
            define("MAX_POOLING1", max_pooling),
            define("MAX_POOLING2", max_pooling),
            define("MAX_POOLING_GRAD", max_pooling_grad),
            define("LOCAL_RESPONSE_NORMALIZATION", local_response_normalization),
            define("LOCAL_RESPONSE_NORMALIZATION_GRAD", local_response_normalization_grad)};
}

}  // namespace dmlconform::cpu::definitions::window_definitions
