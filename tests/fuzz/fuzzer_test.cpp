// Tests which engine failures the fuzzer finds, and what it reports if there is nothing to compare.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "engine/expectations/expectation_file.h"
#include "engine/fuzz/fuzzer.h"
#include "engine/operators/graph.h"
#include "tests/run/fake_engine.h"
#include "tests/without_reference.h"

namespace dmlconform::tests::fuzzer_test {
namespace {

using fuzz::FuzzResult;

class Collector final : public fuzz::FuzzObserver {
public:
    void on_failure(const fuzz::Failure& failure) override { failures.push_back(failure); }
    bool stop_requested(std::uint64_t done, std::uint64_t /*failures*/) override { return done >= stop_after; }

    std::vector<fuzz::Failure> failures;
    std::uint64_t stop_after = ~std::uint64_t{0};
};

struct Outcome {
    fuzz::OperatorTally total;
    std::vector<fuzz::Failure> failures;
};

Outcome fuzzed_on(const std::vector<std::unique_ptr<Engine>>& engines, const std::string& name, std::uint64_t count) {
    fuzz::FuzzSettings settings;
    settings.generator.seed = 4;
    settings.operators = {operators::find_operator(name)};
    settings.count = count;
    Collector collector;
    const FuzzResult result = fuzz::fuzz(settings, engines, collector);
    return {result.total(), collector.failures};
}

Outcome fuzzed(const std::string& name, const std::vector<Behaviour>& behaviours, bool with_cpu = false,
               std::uint64_t count = 60) {
    std::vector<std::unique_ptr<Engine>> engines;
    if (with_cpu) {
        engines.push_back(std::make_unique<cpu::CpuEngine>(core::highest_feature_level));
    }
    for (const Behaviour& behaviour : behaviours) {
        engines.push_back(std::make_unique<FakeEngine>(behaviour));
    }
    return fuzzed_on(engines, name, count);
}

/// An engine that rejects what the rules reject, and computes what the reference computes.
class RightEngine final : public Engine {
public:
    explicit RightEngine(Behaviour behaviour) : fake_(std::move(behaviour)) {}
    [[nodiscard]] const EngineInfo& info() const override { return fake_.info(); }
    [[nodiscard]] std::optional<std::string> unsupported(const operators::Descriptor& descriptor) const override {
        return fake_.unsupported(descriptor);
    }
    [[nodiscard]] tl::expected<std::unique_ptr<Executable>, CompileFailure> compile(
        const operators::Descriptor& descriptor) override {
        if (const auto verdict = operators::validate(descriptor, core::highest_feature_level)) {
            return tl::unexpected(CompileFailure{CompileFailure::Kind::rejected, *verdict});
        }
        return fake_.compile(descriptor);
    }

private:
    FakeEngine fake_;
};

Outcome fuzzed_right(const std::string& name, Behaviour behaviour, std::uint64_t count = 60) {
    std::vector<std::unique_ptr<Engine>> engines;
    engines.push_back(std::make_unique<RightEngine>(std::move(behaviour)));
    return fuzzed_on(engines, name, count);
}

TEST(Fuzzer, ARightEngineHasNoFailures) {
    const Outcome outcome = fuzzed_right("TOP_K1", {});
    EXPECT_EQ(outcome.failures.size(), 0u);
    EXPECT_EQ(outcome.total.cases, 60u);
    EXPECT_EQ(outcome.total.compared, 60u);
    EXPECT_EQ(outcome.total.rejected, outcome.total.cases - outcome.total.legal);
    EXPECT_GT(outcome.total.rejected, 2u);
}

TEST(Fuzzer, WrongBytesAreFound) {
    Behaviour wrong;
    wrong.change = [](std::span<core::Tensor* const> outputs) { outputs[0]->buffer.bytes()[0] ^= std::byte{1}; };
    const Outcome outcome = fuzzed_right("SLICE1", wrong);
    EXPECT_EQ(outcome.failures.size(), outcome.total.legal);
    EXPECT_EQ(outcome.total.failures, outcome.failures.size());
}

TEST(Fuzzer, AnEngineThatAcceptsEverythingFailsOnIllegalCases) {
    const Outcome outcome = fuzzed("SLICE1", {Behaviour{}});
    ASSERT_GT(outcome.failures.size(), 0u);
    EXPECT_EQ(outcome.failures.size(), outcome.total.cases - outcome.total.legal);
    EXPECT_THAT(outcome.failures[0].result.reason, testing::HasSubstr("has to be rejected"));
}

TEST(Fuzzer, TheReferenceAloneComparesNothing) {
    const Outcome outcome = fuzzed("SLICE1", {}, true);
    EXPECT_EQ(outcome.total.compared, 0u);
    EXPECT_EQ(outcome.failures.size(), 0u);
}

TEST(Fuzzer, WithoutAReferenceTwoEnginesAreCompared) {
    const WithoutReference resampling("RESAMPLE");
    Behaviour other;
    other.name = "other";
    Outcome outcome = fuzzed("RESAMPLE", {Behaviour{}, other}, false, 40);
    EXPECT_GT(outcome.total.compared, 20u);
    // Both engines accept illegal descriptors; on legal ones they agree.
    for (const fuzz::Failure& failure : outcome.failures) {
        EXPECT_TRUE(failure.subject->expect_error.has_value()) << failure.result.reason;
    }
    other.change = [](std::span<core::Tensor* const> outputs) { outputs[0]->buffer.bytes()[0] ^= std::byte{0x41}; };
    outcome = fuzzed("RESAMPLE", {Behaviour{}, other}, false, 40);
    std::size_t differing = 0;
    for (const fuzz::Failure& failure : outcome.failures) {
        differing += failure.subject->expect_error ? 0 : 1;
    }
    EXPECT_GT(differing, 10u);
}

TEST(Fuzzer, WithoutAReferenceOneEngineComparesNothing) {
    const WithoutReference resampling("RESAMPLE");
    Behaviour lone;
    const Outcome outcome = fuzzed("RESAMPLE", {lone}, true, 40);
    EXPECT_EQ(outcome.total.compared, outcome.total.cases - outcome.total.legal);
    EXPECT_GE(outcome.total.skipped, outcome.total.legal);
}

TEST(Fuzzer, RejectingWhatAnotherAcceptsIsAFailure) {
    const WithoutReference resampling("RESAMPLE");
    Behaviour rejecting;
    rejecting.name = "rejecting";
    rejecting.compile_failure = rejected(core::HResult::invalid_argument, "no");
    for (const auto& engines : {std::vector<Behaviour>{Behaviour{}, rejecting}, {rejecting, Behaviour{}}}) {
        const Outcome outcome = fuzzed("RESAMPLE", engines, false, 20);
        std::size_t found = 0;
        for (const fuzz::Failure& failure : outcome.failures) {
            found += failure.subject->expect_error ? 0 : 1;
        }
        EXPECT_EQ(found, outcome.total.legal);
    }
}

TEST(Fuzzer, OperatorsTakeTurnsUntilItIsStopped) {
    std::vector<std::unique_ptr<Engine>> engines;
    engines.push_back(std::make_unique<RightEngine>(Behaviour{}));
    fuzz::FuzzSettings settings;
    settings.operators = {operators::find_operator("SLICE1"), operators::find_operator("TOP_K1")};
    Collector collector;
    collector.stop_after = 11;
    const FuzzResult result = fuzz::fuzz(settings, engines, collector);
    EXPECT_EQ(result.operators.at("SLICE1").cases, 6u);
    EXPECT_EQ(result.operators.at("TOP_K1").cases, 5u);
}

/// Runs nodes one by one. Some operators are wrong.
class WrongOperators final : public Engine {
public:
    explicit WrongOperators(std::set<std::string> wrong)
        : wrong_(std::move(wrong)), right_({}), broken_(off_by_one()) {}
    [[nodiscard]] const EngineInfo& info() const override { return right_.info(); }
    [[nodiscard]] std::optional<std::string> unsupported(const operators::Descriptor& /*descriptor*/) const override {
        return std::nullopt;
    }
    [[nodiscard]] tl::expected<std::unique_ptr<Executable>, CompileFailure> compile(
        const operators::Descriptor& descriptor) override {
        FakeEngine& engine = wrong_.contains(std::string(descriptor.schema->short_name())) ? broken_ : right_;
        return engine.compile(descriptor);
    }

private:
    static Behaviour off_by_one() {
        Behaviour behaviour;
        behaviour.change = [](std::span<core::Tensor* const> outputs) {
            for (std::byte& byte : outputs[0]->buffer.bytes().first(1)) {
                byte ^= std::byte{0x55};
            }
        };
        return behaviour;
    }

    std::set<std::string> wrong_;
    FakeEngine right_;
    FakeEngine broken_;
};

Outcome fuzzed_graphs(std::set<std::string> wrong, run::ExpectedResults* expected) {
    std::vector<std::unique_ptr<Engine>> engines;
    engines.push_back(std::make_unique<WrongOperators>(std::move(wrong)));
    fuzz::FuzzSettings settings;
    settings.generator.seed = 4;
    settings.graphs = true;
    settings.count = 60;
    settings.expected = expected;
    if (expected != nullptr) {
        expected->set_engines(std::vector{engines[0]->info()});
    }
    Collector collector;
    const FuzzResult result = fuzz::fuzz(settings, engines, collector);
    return {result.total(), collector.failures};
}

run::ExpectedResults known_to_fail(const std::string& name) {
    expectations::Expectation entry;
    entry.operators = {name};
    entry.expected = expectations::Expected::fail;
    entry.reason = "known";
    return {{entry}, {}};
}

bool has_node(const cases::Case& subject, std::string_view name) {
    return std::ranges::any_of(subject.descriptor->graph->nodes, [&](const operators::GraphNode& node) {
        return node.descriptor->schema->short_name() == name;
    });
}

/// The tally of a right engine on descriptors of SLICE1, with entries about them.
fuzz::OperatorTally fuzzed_right_with(run::ExpectedResults expected) {
    std::vector<std::unique_ptr<Engine>> engines;
    engines.push_back(std::make_unique<RightEngine>(Behaviour{}));
    expected.set_engines(std::vector{engines[0]->info()});
    fuzz::FuzzSettings settings;
    settings.operators = {operators::find_operator("SLICE1")};
    settings.count = 20;
    settings.expected = &expected;
    Collector collector;
    return fuzz::fuzz(settings, engines, collector).total();
}

TEST(Fuzzer, KeepsReasonsOfSkips) {
    Behaviour behaviour;
    behaviour.unsupported = "not today";
    std::vector<std::unique_ptr<Engine>> engines;
    engines.push_back(std::make_unique<FakeEngine>(behaviour));
    fuzz::FuzzSettings settings;
    settings.operators = {operators::find_operator("SLICE1")};
    settings.count = 7;
    Collector collector;
    const FuzzResult result = fuzz::fuzz(settings, engines, collector);
    ASSERT_EQ(result.skips.size(), 1U);
    EXPECT_EQ(result.skips.begin()->first, "fake: not today");
    EXPECT_EQ(result.skips.begin()->second.count, 7U);
}

TEST(Fuzzer, CountsPassesThatAnEntryAllows) {
    expectations::Expectation entry = known_to_fail("SLICE1").all().front();
    entry.sometimes = true;
    const fuzz::OperatorTally total = fuzzed_right_with({{entry}, {}});
    EXPECT_EQ(total.failures, 0U);
    EXPECT_EQ(total.known.at("known").failed, 0U);
    EXPECT_EQ(total.known.at("known").passed, total.legal);
    EXPECT_GT(total.legal, 10U);
}

TEST(Fuzzer, CountsPassesOfEntriesThatDoNotAskWhatWasComputed) {
    const auto passed = [](const std::string& elements) {
        const auto file = expectations::read_expectations(
            "e.json", R"({ "format": "dmlconform-expectations", "formatVersion": 1, "expectations": [ { "operators":
            "SLICE1", "status": "fail", "reason": "known", "elements": )" +
                          elements + " } ] }");
        const fuzz::OperatorTally total = fuzzed_right_with({file.expectations, {}});
        const auto known = total.known.find("known");
        return known == total.known.end() ? 0 : known->second.passed;
    };
    EXPECT_GT(passed(R"({ "index": 0 })"), 10U);
    EXPECT_EQ(passed(R"({ "actual": { "nan": false } })"), 0U);
    EXPECT_EQ(passed(R"({ "from": "InputTensor" })"), 0U);
}

TEST(Fuzzer, AGraphMayFailByNodesThatFailAsExpected) {
    const std::string abs = "ELEMENT_WISE_ABS";
    EXPECT_GT(fuzzed_graphs({abs}, nullptr).total.failures, 0U);
    run::ExpectedResults expected = known_to_fail(abs);
    const Outcome outcome = fuzzed_graphs({abs}, &expected);
    EXPECT_EQ(outcome.total.failures, 0U);
    EXPECT_GT(outcome.total.known.at("known").failed, 0U);
}

TEST(Fuzzer, NodesThatFailAsExpectedHideNoOthers) {
    run::ExpectedResults expected = known_to_fail("ELEMENT_WISE_ABS");
    const Outcome outcome = fuzzed_graphs({"ELEMENT_WISE_ABS", "ACTIVATION_TANH"}, &expected);
    // What was hidden behind ABS is seen without it.
    EXPECT_GE(outcome.total.failures, fuzzed_graphs({"ACTIVATION_TANH"}, nullptr).total.failures);
    for (const fuzz::Failure& failure : outcome.failures) {
        EXPECT_TRUE(has_node(*failure.subject, "ACTIVATION_TANH"));
        EXPECT_FALSE(has_node(*failure.subject, "ELEMENT_WISE_ABS"));
    }
}

}  // namespace
}  // namespace dmlconform::tests::fuzzer_test
