// Computes each operator of the reduction family, and each function of REDUCE, as every other one with the same tensors
// and attributes. A case with expected values must detect the replacement.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "engine/cases/case_file.h"
#include "engine/cpu/kernel.h"
#include "engine/operators/rules.h"
#include "engine/run/case_run.h"

namespace dmlconform::tests::reduction_test {
namespace {

using operators::Descriptor;

/// An operator, with a function if it is REDUCE.
struct Row {
    std::string name;
    std::string function;
    /// Rows with the same fields have the same signature and replace each other.
    int signature = 0;
};

std::string name_of(const Row& row) {
    return row.function.empty() ? row.name : row.name + "_" + row.function;
}

std::vector<Row> all_rows() {
    std::vector<Row> rows{
        {"ARGMIN", "", 1}, {"ARGMAX", "", 1}, {"CUMULATIVE_SUMMATION", "", 2}, {"CUMULATIVE_PRODUCT", "", 2}};
    const operators::Field& function = *operators::find_operator("REDUCE")->find_field("Function");
    for (const auto& enumerator : function.enumeration->enumerators) {
        rows.push_back({"REDUCE", enumerator.name.substr(function.enumeration->prefix().size()), 3});
    }
    return rows;
}

/// The descriptor's values as a descriptor of that row.
Descriptor disguised(const Descriptor& descriptor, const Row& row) {
    Descriptor result = descriptor;
    result.schema = operators::find_operator(row.name);
    if (!row.function.empty()) {
        const operators::Field& function = *result.schema->find_field("Function");
        result.values[static_cast<std::size_t>(&function - result.schema->fields.data())] =
            *function.enumeration->parse(row.function);
    }
    return result;
}

class DisguisedExecutable final : public Executable {
public:
    explicit DisguisedExecutable(Descriptor descriptor) : descriptor_(std::move(descriptor)) {}

    core::Result<void> bind(std::span<const core::Tensor* const> inputs) override {
        inputs_.assign(inputs.begin(), inputs.end());
        return {};
    }
    core::Result<void> execute() override { return {}; }
    core::Result<void> read(std::span<core::Tensor* const> outputs) override {
        cpu::find_kernel(descriptor_.schema->short_name())->compute({descriptor_, inputs_, outputs, {}});
        return {};
    }

private:
    Descriptor descriptor_;
    std::vector<const core::Tensor*> inputs_;
};

/// Computes every case by one row, and skips those that the row does not support.
class DisguisedEngine final : public Engine {
public:
    explicit DisguisedEngine(const Row& row) : row_(row) {
        info_.name = "mutant";
        info_.feature_level = core::highest_feature_level;
    }
    const EngineInfo& info() const override { return info_; }
    std::optional<std::string> unsupported(const Descriptor& descriptor) const override {
        return operators::validate(disguised(descriptor, row_), core::highest_feature_level)
                   ? std::optional<std::string>("not of these types")
                   : std::nullopt;
    }
    tl::expected<std::unique_ptr<Executable>, CompileFailure> compile(const Descriptor& descriptor) override {
        return std::make_unique<DisguisedExecutable>(disguised(descriptor, row_));
    }

private:
    const Row& row_;
    EngineInfo info_;
};

bool is_of(const cases::Case& subject, const Row& row) {
    const Descriptor& descriptor = *subject.descriptor;
    if (subject.expect_error || subject.needs_reference() || subject.has_tag("unspecified") ||
        descriptor.schema->short_name() != row.name) {
        return false;
    }
    if (row.function.empty()) {
        return true;
    }
    const operators::Field& function = *descriptor.schema->find_field("Function");
    return descriptor.uint("Function") == function.enumeration->parse(row.function);
}

/// Cases of the family with independently derived values.
const std::vector<cases::Case>& family_cases() {
    static const std::vector<cases::Case> all = [] {
        std::vector<std::string> folders;
        for (const char* folder :
             {"reduction", "reduce", "argmin", "argmax", "cumulative_summation", "cumulative_product"}) {
            folders.push_back(fmt::format("{}/{}", DMLCONFORM_CASES, folder));
        }
        cases::Suite suite = cases::load_suite(folders);
        EXPECT_TRUE(suite.problems.empty()) << to_string(suite.problems.front());
        return std::move(suite.cases);
    }();
    return all;
}

struct Outcome {
    /// The number of cases that the replacement passes before it fails.
    std::size_t passed = 0;
    /// The id of the failing case; empty if there is none.
    std::string failed;
};

Outcome outcome_of(const Row& row, const Row& mutant) {
    DisguisedEngine engine(mutant);
    Outcome outcome;
    for (const cases::Case& subject : family_cases()) {
        if (!is_of(subject, row)) {
            continue;
        }
        const run::Status status = run::run_case(subject, engine).status;
        if (status == run::Status::pass) {
            ++outcome.passed;
        } else if (status != run::Status::skip) {
            outcome.failed = subject.id;
            break;
        }
    }
    return outcome;
}

class ReductionMutants : public testing::TestWithParam<Row> {};

TEST_P(ReductionMutants, AreCaught) {
    const Row& row = GetParam();
    const Outcome own = outcome_of(row, row);
    ASSERT_EQ(own.failed, "") << "fails without a mutant";
    EXPECT_GE(own.passed, 10u);
    std::size_t caught = 0;
    for (const Row& mutant : all_rows()) {
        if (mutant.signature != row.signature || name_of(mutant) == name_of(row)) {
            continue;
        }
        const Outcome outcome = outcome_of(row, mutant);
        // Some pairs support no common types, such as AVERAGE, which has no integer output, and ARGMAX, which has no
        // other.
        EXPECT_EQ(outcome.passed, outcome.failed.empty() ? 0 : outcome.passed)
            << "no case tells it from " << name_of(mutant);
        caught += outcome.failed.empty() ? 0 : 1;
    }
    fmt::print("{}: {} mutants are caught by {} cases\n", name_of(row), caught, own.passed);
    EXPECT_GE(caught, 1u);
}

INSTANTIATE_TEST_SUITE_P(Reduction, ReductionMutants, testing::ValuesIn(all_rows()),
                         [](const auto& parameter) { return name_of(parameter.param); });

}  // namespace
}  // namespace dmlconform::tests::reduction_test
