// Checks on the corpus that every operator whose tolerance is a range per element states an expected error that agrees
// with the range.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/cases/case_file.h"
#include "engine/cases/filled_inputs.h"
#include "engine/cpu/reference.h"
#include "tests/app/program.h"

namespace dmlconform::tests::expected_errors_test {
namespace {

constexpr std::uint64_t most_elements = 4096;

bool is_small(const operators::TensorSlot& slot) {
    if (slot.desc == nullptr) {
        return true;
    }
    const auto count = core::element_count(slot.desc->sizes);
    return count && *count <= most_elements && slot.desc->total_bytes <= 8 * most_elements;
}

/// Whether the reference computes the case, and quickly.
bool is_plain(const cases::Case& subject) {
    if (subject.expect_error || !subject.problem.empty() || !cpu::has_reference(*subject.descriptor->schema)) {
        return false;
    }
    const auto inputs = subject.descriptor->inputs();
    const auto outputs = subject.descriptor->outputs();
    return std::all_of(inputs.begin(), inputs.end(), is_small) && std::all_of(outputs.begin(), outputs.end(), is_small);
}

std::optional<cpu::Reference> reference_of(const cases::Case& subject) {
    const auto inputs = cases::filled_inputs(subject);
    if (!inputs) {
        return std::nullopt;
    }
    return cpu::compute_reference(*subject.descriptor, inputs->pointers);
}

/// Counts of an operator's elements whose range is wider than one number, and of those that also have an expected
/// error.
struct Found {
    int cases = 0;
    std::size_t ranges = 0;
    std::size_t expected = 0;
};

void look_at(const cases::Case& subject, const cpu::Reference& reference, Found& found) {
    for (std::size_t output = 0; output < reference.outputs.size(); ++output) {
        const core::ElementSlack& slack = reference.slack[output];
        const core::DataType type = reference.outputs[output].desc.data_type;
        ASSERT_EQ(slack.sigma.size(), slack.below.size()) << subject.id;
        for (std::size_t i = 0; i < slack.sigma.size(); ++i) {
            const double width = slack.below[i] + slack.above[i];
            ASSERT_TRUE(slack.sigma[i] >= 0 && std::isfinite(slack.sigma[i])) << subject.id << ", element " << i;
            if (slack.sigma[i] > 0) {
                ASSERT_LE(slack.sigma[i], width / 2 * (1 + 1e-9)) << subject.id << ", element " << i;
                ASSERT_TRUE(core::is_floating_point(type)) << subject.id;
                ASSERT_EQ(slack.nan[i], 0) << subject.id << ", element " << i;
            }
            if (core::is_floating_point(type) && width > 0 && std::isfinite(width)) {
                ++found.ranges;
                found.expected += slack.sigma[i] > 0 ? 1 : 0;
            }
        }
    }
}

TEST(ExpectedErrors, AreThereForEveryOperatorThatRounds) {
    constexpr int most_cases = 60;
    const std::vector<std::string> paths{cases_folder()};
    const cases::Suite suite = cases::load_suite(paths);
    std::map<std::string, Found> all;
    for (const cases::Case& subject : suite.cases) {
        if (!is_plain(subject)) {
            continue;
        }
        Found& found = all[std::string(subject.descriptor->schema->short_name())];
        if (found.cases == most_cases) {
            continue;
        }
        ++found.cases;
        if (const auto reference = reference_of(subject)) {
            ASSERT_NO_FATAL_FAILURE(look_at(subject, *reference, found));
        }
    }
    // Quotients in the corpus are integers or next to one, so the result of truncation is unpredictable.
    all.erase("ELEMENT_WISE_MODULUS_TRUNCATE");
    std::size_t operators_with_ranges = 0;
    for (const auto& [name, found] : all) {
        operators_with_ranges += found.ranges > 0 ? 1 : 0;
        if (found.ranges > 0) {
            EXPECT_GT(found.expected, 0U) << name << " has none in " << found.ranges << " elements";
        }
    }
    EXPECT_GE(operators_with_ranges, 80U);
}

}  // namespace
}  // namespace dmlconform::tests::expected_errors_test
