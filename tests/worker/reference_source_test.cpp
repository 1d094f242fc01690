// Tests of engine/run/reference_source: a reference computed in another process gives the same results, and its crash
// costs one case.
#include "engine/run/reference_source.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <thread>

#include "engine/engine_lost.h"
#include "engine/run/reference_message.h"
#include "tests/run/fake_engine.h"
#include "tests/run/some_cases.h"

namespace dmlconform::tests::reference_source_test {
namespace {

using run::Status;

/// Computes references in faulty workers during its lifetime.
class Isolated {
public:
    explicit Isolated(std::vector<std::string> words) {
        words.insert(words.begin(), FAULTY_WORKER);
        run::isolate_references({std::move(words), {}, ""}, {});
    }
    ~Isolated() { run::compute_references_here(); }
    Isolated(const Isolated&) = delete;
    Isolated& operator=(const Isolated&) = delete;
};

/// Runs `count` cases without expected values, each on two engines.
AllResults results_of(std::size_t count) {
    std::vector<std::string_view> texts(count, slice_without_expected);
    std::vector<std::unique_ptr<Engine>> engines;
    for (const char* name : {"a", "b"}) {
        Behaviour behaviour;
        behaviour.name = name;
        engines.push_back(std::make_unique<FakeEngine>(behaviour));
    }
    std::vector<cases::Case> cases;
    for (const std::string_view text : texts) {
        cases.push_back(cases_of({text}).front());
    }
    return run_all(cases, engines);
}

TEST(ReferenceSource, ACrashCostsOneCase) {
    const struct {
        const char* fault;
        const char* reason;
    } rows[] = {
        {"crash", "the reference crashed: "}, {"kill", "the reference crashed: "}, {"exit", "the reference crashed: "}};
    for (const auto& row : rows) {
        // Each new process commits the fault at its second reference.
        const Isolated isolated({"reference", row.fault, "2"});
        const AllResults all = results_of(3);
        ASSERT_EQ(all.results.size(), 6u);
        for (const std::size_t i : {0u, 1u, 4u, 5u}) {
            EXPECT_EQ(all.results[i].status, Status::pass) << row.fault << " " << i << ": " << all.results[i].reason;
        }
        for (const std::size_t i : {2u, 3u}) {
            EXPECT_EQ(all.results[i].status, Status::error) << row.fault;
            EXPECT_TRUE(all.results[i].reason.starts_with(row.reason)) << all.results[i].reason;
        }
    }
}

TEST(ReferenceSource, WhatIsNoAnswerCostsOneCaseToo) {
    for (const char* fault : {"text", "tag", "number", "stop-in-frame"}) {
        const Isolated isolated({"reference", fault, "2"});
        const AllResults all = results_of(3);
        EXPECT_EQ(all.results[0].status, Status::pass) << fault;
        EXPECT_EQ(all.results[2].status, Status::error) << fault;
        EXPECT_EQ(all.results[4].status, Status::pass) << fault << ": " << all.results[4].reason;
    }
}

TEST(ReferenceSource, AProcessThatDoesNotStartIsSaid) {
    run::isolate_references({{"/nowhere/worker"}, {}, ""}, {});
    const AllResults all = results_of(1);
    run::compute_references_here();
    EXPECT_EQ(all.results[0].status, Status::error);
    EXPECT_TRUE(all.results[0].reason.starts_with("the reference cannot be started: ")) << all.results[0].reason;
}

TEST(ReferenceSource, IsTheSameInAnotherProcess) {
    const auto cases = cases_of({slice_without_expected, normalization, top_k_half_expected});
    for (const cases::Case& subject : cases) {
        std::vector<core::Tensor> inputs;
        std::vector<const core::Tensor*> pointers;
        inputs.reserve(subject.inputs.size());
        for (std::size_t i = 0; i < subject.inputs.size(); ++i) {
            const auto slot = subject.descriptor->inputs()[i];
            if (slot.desc == nullptr) {
                pointers.push_back(nullptr);
                continue;
            }
            inputs.emplace_back(*slot.desc);
            ASSERT_TRUE(subject.inputs[i]->fill(inputs.back()));
            pointers.push_back(&inputs.back());
        }
        const cpu::Reference here = run::reference_for(*subject.descriptor, pointers, {});
        const Isolated isolated({});
        const cpu::Reference there = run::reference_for(*subject.descriptor, pointers, {});
        ASSERT_EQ(there.outputs.size(), here.outputs.size());
        for (std::size_t i = 0; i < here.outputs.size(); ++i) {
            const core::TensorDesc& desc = here.outputs[i].desc;
            const auto size = static_cast<std::size_t>(
                core::bytes_of(desc.data_type, core::element_count(desc.sizes).value()));  // the rest is padding
            EXPECT_TRUE(std::ranges::equal(there.outputs[i].buffer.bytes().first(size),
                                           here.outputs[i].buffer.bytes().first(size)));
            EXPECT_EQ(there.slack[i].below, here.slack[i].below);
            EXPECT_EQ(there.slack[i].above, here.slack[i].above);
            EXPECT_EQ(there.slack[i].nan, here.slack[i].nan);
            EXPECT_EQ(there.slack[i].finite, here.slack[i].finite);
            EXPECT_EQ(there.slack[i].sigma, here.slack[i].sigma);
            EXPECT_EQ(there.slack[i].alternatives, here.slack[i].alternatives);
            EXPECT_EQ(there.slack[i].meaningful, here.slack[i].meaningful);
        }
    }
}

TEST(ReferenceMessage, KeepsAllAndTrustsNothing) {
    const auto subject = cases_of({slice_without_expected}).front();
    cpu::Reference reference;
    reference.outputs.emplace_back(core::TensorDesc::packed(core::DataType::float32, {2}));
    reference.outputs[0].as<float>()[0] = 1.5F;
    reference.outputs[0].as<float>()[1] = -2.5F;
    core::ElementSlack& slack = reference.slack.emplace_back();
    slack.below = {0.5, 1};
    slack.above = {2, 3};
    slack.nan = {0, 1};
    slack.finite = {1, 0};
    slack.sigma = {4, 5};
    slack.alternatives = {{0, 7}, {1, 8}};
    slack.meaningful = 1;
    const nlohmann::json message = run::to_json(reference);
    const auto read = run::reference_from_json(message, *subject.descriptor);
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(read->outputs[0].as<float>()[1], -2.5F);
    EXPECT_EQ(read->slack[0].below, slack.below);
    EXPECT_EQ(read->slack[0].above, slack.above);
    EXPECT_EQ(read->slack[0].nan, slack.nan);
    EXPECT_EQ(read->slack[0].finite, slack.finite);
    EXPECT_EQ(read->slack[0].sigma, slack.sigma);
    EXPECT_EQ(read->slack[0].alternatives, slack.alternatives);
    EXPECT_EQ(read->slack[0].meaningful, 1u);

    const auto refused = [&](const char* pointer, nlohmann::json value) {
        nlohmann::json changed = message;
        changed[nlohmann::json::json_pointer(pointer)] = std::move(value);
        return !run::reference_from_json(changed, *subject.descriptor).has_value();
    };
    EXPECT_TRUE(refused("/outputs", 3));
    EXPECT_TRUE(refused("/outputs", nlohmann::json::array()));
    EXPECT_TRUE(refused("/outputs/0", nlohmann::json::binary({1, 2, 3})));
    EXPECT_TRUE(refused("/outputs/0", nullptr));
    EXPECT_TRUE(refused("/slack/0", 3));
    EXPECT_TRUE(refused("/slack/0/below", nlohmann::json::binary({1, 2, 3})));
    EXPECT_TRUE(refused("/slack/0/sigma", nlohmann::json::binary({1, 2, 3, 4, 5, 6, 7, 8})));
    EXPECT_TRUE(refused("/slack/0/meaningful", -1));
    EXPECT_TRUE(refused("/slack/0/alternatives", "x"));
    EXPECT_FALSE(run::reference_from_json(3, *subject.descriptor).has_value());
}

/// Linux can kill a process when the thread that started it ends, although other threads may still need its references.
TEST(ReferenceSource, SeveralAtATime) {
    const Isolated isolated({});
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
        threads.emplace_back([] {
            for (const run::CaseResult& result : results_of(5).results) {
                EXPECT_EQ(result.status, Status::pass) << result.reason;
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
}

}  // namespace
}  // namespace dmlconform::tests::reference_source_test
