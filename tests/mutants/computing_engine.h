// An engine that computes a given function for any operator, and the cases that must detect it.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/cases/case_file.h"
#include "engine/cpu/kernel.h"
#include "engine/run/case_run.h"

namespace dmlconform::tests {

using Compute = std::function<void(const cpu::KernelArguments&)>;

class ComputingExecutable final : public Executable {
public:
    ComputingExecutable(const operators::Descriptor& descriptor, const Compute& compute)
        : descriptor_(descriptor), compute_(compute) {}

    core::Result<void> bind(std::span<const core::Tensor* const> inputs) override {
        inputs_.assign(inputs.begin(), inputs.end());
        return {};
    }
    core::Result<void> execute() override { return {}; }
    core::Result<void> read(std::span<core::Tensor* const> outputs) override {
        compute_({descriptor_, inputs_, outputs, {}});
        return {};
    }

private:
    const operators::Descriptor& descriptor_;
    const Compute& compute_;
    std::vector<const core::Tensor*> inputs_;
};

class ComputingEngine final : public Engine {
public:
    explicit ComputingEngine(Compute compute) : compute_(std::move(compute)) {
        info_.name = "row";
        info_.feature_level = core::highest_feature_level;
    }
    const EngineInfo& info() const override { return info_; }
    std::optional<std::string> unsupported(const operators::Descriptor& /*descriptor*/) const override { return {}; }
    tl::expected<std::unique_ptr<Executable>, CompileFailure> compile(
        const operators::Descriptor& descriptor) override {
        return std::make_unique<ComputingExecutable>(descriptor, compute_);
    }

private:
    Compute compute_;
    EngineInfo info_;
};

/// The cases in an operator's own folder that contain expected values.
inline std::vector<cases::Case> cases_of(std::string_view name) {
    std::string folder(name);
    std::ranges::transform(folder, folder.begin(), [](char c) { return static_cast<char>(std::tolower(c)); });
    folder = fmt::format("{}/{}", DMLCONFORM_CASES, folder);
    cases::Suite suite = cases::load_suite({&folder, 1});
    EXPECT_TRUE(suite.problems.empty()) << to_string(suite.problems.front());
    std::erase_if(suite.cases, [](const cases::Case& subject) {
        return subject.expect_error || subject.needs_reference() || subject.has_tag("unspecified");
    });
    return std::move(suite.cases);
}

/// The id of a case that fails when it is computed by this function; empty if none does.
inline std::string catching(const std::vector<cases::Case>& subjects, const Compute& compute) {
    ComputingEngine engine(compute);
    for (const cases::Case& subject : subjects) {
        if (run::run_case(subject, engine).status != run::Status::pass) {
            return subject.id;
        }
    }
    return {};
}

}  // namespace dmlconform::tests
