// Measures the widths of error ranges from the reference's slack for random cases.
#include "engine/fuzz/widths.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "engine/cases/filled_inputs.h"
#include "engine/core/element.h"
#include "engine/core/strided.h"
#include "engine/cpu/reference.h"
#include "engine/fuzz/case_generator.h"

namespace dmlconform::fuzz {
namespace {

constexpr std::uint64_t cases_of_each = 100;

/// The distance between adjacent numbers of a floating-point type around this value; 1 for integers.
double spacing(core::DataType type, double value) {
    const bool is_half = type == core::DataType::float16;
    if (type != core::DataType::float32 && !is_half) {
        return 1;
    }
    const double smallest = is_half ? 0x1p-14 : double{std::numeric_limits<float>::min()};
    int exponent = 0;
    (void)std::frexp(std::max(std::fabs(value), smallest), &exponent);
    return std::ldexp(1.0, exponent - (is_half ? 11 : 24));
}

std::optional<cpu::element_wise::Widths> summary_of(std::vector<double> widths) {
    if (widths.empty()) {
        return std::nullopt;
    }
    std::sort(widths.begin(), widths.end());
    return cpu::element_wise::Widths{widths[widths.size() / 2], widths.back()};
}

class Collection {
public:
    void add(const cases::Case& subject) {
        const auto inputs = cases::filled_inputs(subject);
        if (!inputs) {
            return;
        }
        const cpu::Reference reference = cpu::compute_reference(*subject.descriptor, inputs->pointers);
        for (std::size_t o = 0; o < reference.outputs.size(); ++o) {
            add(reference.outputs[o], reference.slack[o]);
        }
    }

    [[nodiscard]] run::WidthsByType result() && {
        return {summary_of(std::move(widths_)), summary_of(std::move(widths_of_float16_))};
    }

private:
    void add(const core::Tensor& output, const core::ElementSlack& slack) {
        const core::DataType type = output.desc.data_type;
        if (slack.below.empty()) {
            return;
        }
        std::vector<double>& widths = type == core::DataType::float16 ? widths_of_float16_ : widths_;
        std::size_t number = 0;
        const core::StridedRuns<1> runs(output.desc.sizes, {core::signed_strides(output.desc)});
        runs.for_each_element([&](const auto& at) {
            const std::uint64_t bits =
                core::load_element(output.buffer.bytes(), type, static_cast<std::uint64_t>(at[0]));
            const double value = core::decode_element(type, bits);
            const double width = slack.below[number] + slack.above[number];
            ++number;
            if (std::isfinite(value)) {
                widths.push_back(width / spacing(type, value));
            }
        });
    }

    std::vector<double> widths_;
    std::vector<double> widths_of_float16_;
};

}  // namespace

run::WidthsByType widths_of(const operators::OperatorSchema& schema) {
    Collection collection;
    for (std::uint64_t number = 0; number < cases_of_each && cpu::has_reference(schema); ++number) {
        const auto subject = generate(schema, {.seed = 177, .perturbed_percent = 0}, number);
        if (subject && !subject->expect_error) {
            collection.add(*subject);
        }
    }
    run::WidthsByType widths = std::move(collection).result();
    if (const auto of_arguments = cpu::element_wise::widths_of(schema)) {
        widths.usual = of_arguments;
    }
    return widths;
}

}  // namespace dmlconform::fuzz
