// Tests that extreme numbers reach every floating-point attribute and every input of arithmetic, and that the reference
// handles them: no crash, no undefined conversion (which the preset asan reports), and bounds that contain its own
// results.
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "engine/core/element.h"
#include "engine/cpu/reference.h"
#include "engine/fuzz/case_generator.h"

namespace dmlconform::tests::extremes_test {
namespace {

using core::Tensor;

/// Cases per operator: enough that every attribute and tensor gets each kind of number below, in a few seconds.
constexpr std::uint64_t cases_of_each = 60;

/// Kinds of numbers that occurred in a field or tensor.
struct Seen {
    bool nan = false;
    bool infinity = false;
    bool huge = false;

    void note(double number) {
        nan = nan || std::isnan(number);
        infinity = infinity || std::isinf(number);
        huge = huge || (std::isfinite(number) && std::fabs(number) >= 65504);
    }
};

std::optional<cases::Case> extreme_case(const operators::OperatorSchema& schema, std::uint64_t number) {
    return fuzz::generate(schema, {.seed = 31, .perturbed_percent = 0, .extreme_percent = 100}, number);
}

class Inputs {
public:
    explicit Inputs(const cases::Case& subject) : tensors_(subject.inputs.size()) {
        const auto slots = subject.descriptor->inputs();
        for (std::size_t i = 0; i < slots.size(); ++i) {
            pointers_.push_back(nullptr);
            if (slots[i].desc != nullptr && subject.inputs[i]) {
                tensors_[i] = Tensor(*slots[i].desc);
                EXPECT_TRUE(subject.inputs[i]->fill(tensors_[i]));
                pointers_.back() = &tensors_[i];
            }
        }
    }

    [[nodiscard]] const std::vector<const Tensor*>& pointers() const { return pointers_; }

private:
    std::vector<Tensor> tensors_;
    std::vector<const Tensor*> pointers_;
};

TEST(Extremes, ReachEveryAttributeThatMayHaveThem) {
    for (const std::string_view name : {"ROI_ALIGN_GRAD", "RESAMPLE2", "ELEMENT_WISE_CLIP", "ACTIVATION_SCALED_TANH",
                                        "GEMM", "ELEMENT_WISE_QUANTIZE_LINEAR"}) {
        const operators::OperatorSchema& schema = *operators::find_operator(name);
        std::map<std::string, Seen> seen;
        for (std::uint64_t n = 0; n < 400; ++n) {
            const auto subject = extreme_case(schema, n);
            ASSERT_TRUE(subject && !subject->expect_error) << name << " " << n;
            for (std::size_t i = 0; i < schema.fields.size(); ++i) {
                const operators::FieldValue& value = subject->descriptor->values[i];
                if (const auto* number = std::get_if<float>(&value)) {
                    seen[schema.fields[i].name].note(double{*number});
                } else if (const auto* list = std::get_if<std::vector<float>>(&value)) {
                    std::for_each(list->begin(), list->end(),
                                  [&](float item) { seen[schema.fields[i].name].note(double{item}); });
                }
            }
            const auto slots = subject->descriptor->inputs();
            const Inputs inputs(*subject);
            for (std::size_t i = 0; i < slots.size(); ++i) {
                const Tensor* tensor = inputs.pointers()[i];
                if (tensor == nullptr || !core::is_floating_point(tensor->desc.data_type)) {
                    continue;
                }
                const auto packed = core::packed_copy(*tensor);
                const std::uint64_t count = *core::element_count(packed.desc.sizes);
                for (std::uint64_t e = 0; e < count; ++e) {
                    const std::uint64_t bits = core::load_element(packed.buffer.bytes(), packed.desc.data_type, e);
                    seen[slots[i].name].note(core::decode_element(packed.desc.data_type, bits));
                }
            }
        }
        for (const auto& [field, kinds] : seen) {
            // Rules reject some values; scales, for example, must be positive.
            const bool restricted = field == "Scales" || field.starts_with("SpatialScale");
            EXPECT_TRUE(kinds.nan || field == "Scales") << name << " " << field;
            EXPECT_TRUE(kinds.infinity || restricted) << name << " " << field;
            EXPECT_TRUE(kinds.huge) << name << " " << field;
        }
        EXPECT_FALSE(seen.empty()) << name;
    }
}

TEST(Extremes, ChangeNothingElseInACase) {
    const operators::OperatorSchema& schema = *operators::find_operator("ROI_ALIGN1");
    for (std::uint64_t n = 0; n < 30; ++n) {
        const auto usual = fuzz::generate(schema, {.seed = 3, .perturbed_percent = 0}, n);
        const auto extreme = fuzz::generate(schema, {.seed = 3, .perturbed_percent = 0, .extreme_percent = 100}, n);
        ASSERT_TRUE(usual && extreme);
        ASSERT_EQ(usual->descriptor->inputs().size(), extreme->descriptor->inputs().size());
        for (std::size_t i = 0; i < usual->descriptor->inputs().size(); ++i) {
            EXPECT_EQ(core::to_string(*usual->descriptor->inputs()[i].desc),
                      core::to_string(*extreme->descriptor->inputs()[i].desc));
        }
    }
}

TEST(Extremes, TheReferenceTakesThem) {
    std::size_t computed = 0;
    for (const std::string& name : operators::operator_names()) {
        const operators::OperatorSchema& schema = *operators::find_operator(name);
        for (std::uint64_t n = 0; n < cases_of_each && cpu::has_reference(schema); ++n) {
            const auto subject = extreme_case(schema, n);
            if (!subject || subject->expect_error) {
                continue;
            }
            SCOPED_TRACE(subject->id);
            const Inputs inputs(*subject);
            const auto reference = cpu::compute_reference(*subject->descriptor, inputs.pointers());
            computed += reference.outputs.empty() ? 0 : 1;
        }
    }
    EXPECT_GT(computed, 170 * cases_of_each);
}

}  // namespace
}  // namespace dmlconform::tests::extremes_test
