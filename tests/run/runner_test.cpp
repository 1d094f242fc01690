// Tests of engine/run/runner: results of engines that are right, wrong, broken, or something in between.
#include "engine/run/runner.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <new>

#include "engine/engine_lost.h"
#include "tests/run/fake_engine.h"
#include "tests/run/some_cases.h"
#include "tests/temporary_folder.h"
#include "tests/without_reference.h"

namespace dmlconform::tests::runner_test {
namespace {

using run::CaseResult;
using run::Status;
using Engines = std::vector<std::unique_ptr<Engine>>;

Engines one_engine(Behaviour behaviour) {
    Engines engines;
    engines.push_back(std::make_unique<FakeEngine>(std::move(behaviour)));
    return engines;
}

/// A behaviour that differs from that of a perfect engine as `differs` says.
Behaviour that(const std::function<void(Behaviour&)>& differs) {
    Behaviour behaviour;
    differs(behaviour);
    return behaviour;
}

struct Row {
    const char* what;
    std::string_view subject;
    Behaviour behaviour;
    Status status;
    std::string_view reason;  // "" for none
};

void throw_at(Behaviour& behaviour, const std::string& which, const std::function<void()>& raise) {
    behaviour.at_step = [which, raise](const std::string& step) {
        if (step == which) {
            raise();
        }
    };
}

void set_float(std::span<core::Tensor* const> outputs, std::size_t index, float value) {
    outputs[0]->as<float>()[index] = value;
}

void write_behind_the_end(std::span<core::Tensor* const> outputs) {
    const auto end = outputs[0]->buffer.bytes().subspan(core::guard_offset(outputs[0]->desc));
    end[3] = end[255] = std::byte{0};
}

std::vector<Row> rows() {
    constexpr core::HResult invalid = core::HResult::invalid_argument;
    std::vector<Row> list{
        {"right by the file", slice_with_expected, {}, Status::pass, ""},
        {"right by the reference", slice_without_expected, {}, Status::pass, ""},
        {"right within the operator's bounds", normalization, {}, Status::pass, ""},
        {"right by both", top_k_half_expected, {}, Status::pass, ""},
        {"wrong in one element", slice_with_expected,
         that([](Behaviour& b) { b.change = [](auto outputs) { set_float(outputs, 1, 3.0000002f); }; }), Status::fail,
         "the output differs beyond tolerance"},
        {"wrong by the reference", slice_without_expected,
         that([](Behaviour& b) { b.change = [](auto outputs) { set_float(outputs, 0, -1); }; }), Status::fail,
         "the output differs beyond tolerance"},
        {"NaN", slice_with_expected,
         that([](Behaviour& b) { b.change = [](auto outputs) { set_float(outputs, 0, std::nanf("")); }; }),
         Status::fail, "the output differs beyond tolerance"},
        {"a little off, within the operator's bounds", normalization, that([](Behaviour& b) {
             b.change = [](auto outputs) {
                 set_float(outputs, 0, std::nextafter(outputs[0]->template as<float>()[0], 0.0f));
             };
         }),
         Status::pass, ""},
        {"too far off for them", normalization, that([](Behaviour& b) {
             b.change = [](auto outputs) { set_float(outputs, 0, outputs[0]->template as<float>()[0] * 1.001f); };
         }),
         Status::fail, "the output differs beyond tolerance"},
        {"nothing written", slice_with_expected, that([](Behaviour& b) { b.writes_nothing = true; }), Status::fail,
         "the output differs beyond tolerance; OutputTensor: the engine wrote nothing to it"},
        {"nothing written, by the reference", slice_without_expected,
         that([](Behaviour& b) { b.writes_nothing = true; }), Status::fail,
         "the output differs beyond tolerance; OutputTensor: the engine wrote nothing to it"},
        {"the first of two outputs wrong", top_k_half_expected,
         that([](Behaviour& b) { b.change = [](auto outputs) { outputs[0]->template as<std::int8_t>()[0] = 4; }; }),
         Status::fail, "the output differs beyond tolerance"},
        {"the second of two outputs wrong", top_k_half_expected,
         that([](Behaviour& b) { b.change = [](auto outputs) { outputs[1]->template as<std::uint32_t>()[0] = 2; }; }),
         Status::fail, "the output differs beyond tolerance"},
        {"writes behind the end", slice_with_expected, that([](Behaviour& b) { b.change = write_behind_the_end; }),
         Status::fail,
         "the engine wrote beyond the end of OutputTensor: 2 of the 256 bytes after its total size, from byte 3 on"},
        {"writes behind the end, and is wrong", slice_with_expected, that([](Behaviour& b) {
             b.change = [](auto outputs) {
                 write_behind_the_end(outputs);
                 set_float(outputs, 0, -1);
             };
         }),
         Status::fail,
         "the engine wrote beyond the end of OutputTensor: 2 of the 256 bytes after its total size, from byte 3 on; "
         "the output differs beyond tolerance"},
        {"the reference writes behind the end", slice_without_expected, that([](Behaviour& b) {
             b.name = "cpu";
             b.change = write_behind_the_end;
         }),
         Status::fail,
         "the engine wrote beyond the end of OutputTensor: 2 of the 256 bytes after its total size, from byte 3 on"},
        {"unsupported", slice_with_expected, that([](Behaviour& b) { b.unsupported = "no such thing here"; }),
         Status::skip, "no such thing here"},
        {"unsupported, where an error is expected", illegal_slice,
         that([](Behaviour& b) { b.unsupported = "no such thing here"; }), Status::skip, "no such thing here"},
        {"too low a level", slice_with_expected, that([](Behaviour& b) {
             b.feature_level = {2, 1};
         }),
         Status::skip, "needs feature level 3.0, the engine has 2.1"},
        {"just the level", slice_with_expected, that([](Behaviour& b) {
             b.feature_level = {3, 0};
         }),
         Status::pass, ""},
        {"rejected as it has to be", illegal_slice, that([](Behaviour& b) { b.compile_failure = rejected(invalid); }),
         Status::pass, ""},
        {"rejected by another code", illegal_slice,
         that([](Behaviour& b) { b.compile_failure = rejected(core::HResult::not_implemented); }), Status::fail,
         "the descriptor was rejected with E_NOTIMPL instead of E_INVALIDARG; by the catalogue it is illegal: "
         "SLICE1.windowStride"},
        {"accepted, but must be rejected",
         illegal_slice,
         {},
         Status::fail,
         "the descriptor was accepted, but has to be rejected with E_INVALIDARG; by the catalogue it is illegal: "
         "SLICE1.windowStride"},
        {"rejected, but must be accepted", slice_with_expected,
         that([](Behaviour& b) { b.compile_failure = rejected(invalid, "window too small"); }), Status::fail,
         "the descriptor was rejected with E_INVALIDARG: window too small; it is legal by the catalogue"},
        {"broken in compile", slice_with_expected, that([](Behaviour& b) { b.compile_failure = broken("no shader"); }),
         Status::error, "no shader"},
        {"broken in compile, where an error is expected", illegal_slice,
         that([](Behaviour& b) { b.compile_failure = broken("no shader"); }), Status::error, "no shader"},
        {"bind fails", slice_with_expected, that([](Behaviour& b) { b.bind_error = "no memory for inputs"; }),
         Status::error, "no memory for inputs"},
        {"execute fails", slice_with_expected, that([](Behaviour& b) { b.execute_error = "device lost"; }),
         Status::error, "device lost"},
        {"read fails", slice_with_expected, that([](Behaviour& b) { b.read_error = "cannot map"; }), Status::error,
         "cannot map"},
        {"an operator without a reference", resample, {}, Status::pass, ""},
    };
    for (const char* step : {"unsupported", "compile", "bind", "execute", "read"}) {
        const std::pair<EngineLost::Kind, Status> ends[] = {{EngineLost::Kind::crashed, Status::crash},
                                                            {EngineLost::Kind::timed_out, Status::timeout},
                                                            {EngineLost::Kind::broken, Status::error}};
        for (const auto& end : ends) {
            const EngineLost lost(end.first, "gone");
            list.push_back({"is lost", slice_with_expected,
                            that([&](Behaviour& b) { throw_at(b, step, [lost] { throw lost; }); }), end.second,
                            "gone"});
        }
        list.push_back({"throws", slice_with_expected,
                        that([&](Behaviour& b) { throw_at(b, step, [] { throw std::runtime_error("a bug"); }); }),
                        Status::error, "exception: a bug"});
        list.push_back({"out of memory", slice_with_expected,
                        that([&](Behaviour& b) { throw_at(b, step, [] { throw std::bad_alloc(); }); }), Status::error,
                        "out of memory"});
    }
    return list;
}

TEST(Runner, StatusAndReason) {
    const WithoutReference resampling("RESAMPLE");
    for (const Row& row : rows()) {
        SCOPED_TRACE(row.what);
        const auto cases = cases_of({row.subject});
        const AllResults result = run_all(cases, one_engine(row.behaviour));
        ASSERT_EQ(result.results.size(), 1u);
        const CaseResult& only = result.results[0];
        EXPECT_STREQ(to_string(only.status), to_string(row.status)) << only.reason;
        EXPECT_EQ(only.reason, row.reason);
        EXPECT_EQ(only.subject->id, cases[0].id);
        EXPECT_EQ(only.engine, 0u);
        EXPECT_EQ(result.passed(), row.status == Status::pass);
        EXPECT_EQ(result.count(row.status), 1u);
    }
}

TEST(Runner, AnErrorDoesNotHoldUpTheRest) {
    const auto cases = cases_of({slice_with_expected, slice_without_expected, illegal_slice});
    Engines engines = one_engine(that([](Behaviour& b) { throw_at(b, "execute", [] { throw std::bad_alloc(); }); }));
    engines.push_back(std::make_unique<FakeEngine>(Behaviour{}));
    const AllResults result = run_all(cases, engines);
    ASSERT_EQ(result.results.size(), 6u);
    const Status wanted[] = {Status::error, Status::pass, Status::error, Status::pass, Status::fail, Status::fail};
    for (std::size_t i = 0; i < std::size(wanted); ++i) {
        EXPECT_EQ(result.results[i].status, wanted[i]) << i;
        EXPECT_EQ(result.results[i].engine, i % 2);
        EXPECT_EQ(result.results[i].subject->id, cases[i / 2].id);
    }
    EXPECT_FALSE(result.passed());
}

TEST(Runner, WithoutAReferenceOnlyTheExpectedValuesCount) {
    const WithoutReference some("RESAMPLE,ROI_POOLING");
    // Like `resample`, but with one element.
    const auto expecting = [](std::string_view op, std::string_view type, std::string_view value) {
        return fmt::format(R"({{ "name": "{0}-{1}-{2}", "operator": "{0}", "desc": {{
            "InputTensor": {{ "DataType": "{1}", "Sizes": [1] }}, "OutputTensor": {{ "DataType": "{1}", "Sizes": [1] }}{3} }},
            "inputs": {{ "InputTensor": [2] }}, "expected": {{ "OutputTensor": ["{2}"] }} }})",
                           op, type, value,
                           op == "RESAMPLE" ? R"(, "InterpolationMode": "LINEAR", "Scales": [1])" : "");
    };
    const auto pooled = [](std::string_view value) {
        return fmt::format(R"({{ "name": "{0}", "operator": "ROI_POOLING", "desc": {{
            "InputTensor": {{ "DataType": "FLOAT32", "Sizes": [1,1,1,1] }}, "ROITensor": {{ "DataType": "FLOAT32", "Sizes": [1,1,1,5] }},
            "OutputTensor": {{ "DataType": "FLOAT32", "Sizes": [1,1,1,1] }}, "SpatialScale": 1, "PooledSize": {{ "Width": 1, "Height": 1 }} }},
            "inputs": {{ "InputTensor": [2], "ROITensor": {{ "value": 0 }} }}, "expected": {{ "OutputTensor": ["{0}"] }} }})",
                           value);
    };
    struct Expectation {
        std::string text;
        Status status;
        std::string tolerance;
    };
    // The engine's result is 2: 0x40000000, or 0x4000 in FLOAT16.
    const Expectation rows[] = {
        {expecting("RESAMPLE", "FLOAT32", "0x40000000"), Status::pass, "exact"},
        {expecting("RESAMPLE", "FLOAT32", "0x40000001"), Status::fail, "exact"},
        {expecting("RESAMPLE", "FLOAT16", "0x4000"), Status::pass, "exact"},
        {expecting("RESAMPLE", "FLOAT16", "0x4001"), Status::fail, "exact"},
        {pooled("0x40000000"), Status::pass, "exact"},
        {pooled("0x40000001"), Status::fail, "exact"},
        {expecting("ELEMENT_WISE_ABS", "INT32", "0x00000002"), Status::pass, "exact"},
        {expecting("ELEMENT_WISE_ABS", "INT32", "0x00000003"), Status::fail, "exact"},
    };
    for (const Expectation& row : rows) {
        SCOPED_TRACE(row.text);
        const auto cases = cases_of({row.text});
        const AllResults result = run_all(cases, one_engine({}));
        EXPECT_EQ(result.results[0].status, row.status);
        ASSERT_EQ(result.results[0].outputs.size(), 1u);
        EXPECT_EQ(core::to_string(result.results[0].outputs[0].tolerance), row.tolerance);
        EXPECT_FALSE(result.results[0].outputs[0].from_reference);
    }
}

TEST(Runner, TheReferenceIsNotComparedWithItself) {
    const WithoutReference resampling("RESAMPLE");
    Engines engines;
    engines.push_back(std::make_unique<cpu::CpuEngine>(core::highest_feature_level));
    const auto cases = cases_of({slice_with_expected, slice_without_expected, slice_with_wrong_expected,
                                 top_k_half_expected, illegal_slice, normalization, resample});
    const AllResults result = run_all(cases, engines);
    const Status wanted[] = {Status::pass, Status::reference, Status::fail, Status::pass,
                             Status::pass, Status::reference, Status::skip};
    ASSERT_EQ(result.results.size(), std::size(wanted));
    for (std::size_t i = 0; i < std::size(wanted); ++i) {
        EXPECT_STREQ(to_string(result.results[i].status), to_string(wanted[i])) << cases[i].id;
    }
    EXPECT_EQ(result.results[1].reason, "the case has no expected values, so this engine is the reference");
    EXPECT_TRUE(result.results[1].outputs.empty());
    ASSERT_EQ(result.results[3].outputs.size(), 1u) << "only the output with expected values";
    EXPECT_EQ(result.results[3].outputs[0].name, "OutputIndexTensor");
    EXPECT_EQ(result.results[6].reason, "no kernel yet for RESAMPLE");
}

TEST(Runner, WhatAComparisonWasMadeOf) {
    const auto cases = cases_of({top_k_half_expected, R"({ "name": "tolerant", "operator": "SLICE1",
        "desc": { "InputTensor": { "DataType": "FLOAT32", "Sizes": [4] }, "OutputTensor": { "DataType": "FLOAT32", "Sizes": [2], "Strides": [3] },
                  "InputWindowOffsets": [0], "InputWindowSizes": [4], "InputWindowStrides": [2] },
        "inputs": { "InputTensor": [1, 2, 3, 4] }, "expected": { "OutputTensor": [1, 3.25] }, "tolerance": { "*": { "abs": 0.5 } } })"});
    const AllResults result = run_all(cases, one_engine({}));
    const auto& outputs = result.results[0].outputs;
    ASSERT_EQ(outputs.size(), 2u);
    EXPECT_EQ(outputs[0].name, "OutputValueTensor");
    EXPECT_TRUE(outputs[0].from_reference);
    EXPECT_EQ(outputs[0].desc.data_type, core::DataType::int8);
    EXPECT_EQ(core::to_string(outputs[0].tolerance), "exact");
    EXPECT_EQ(outputs[1].name, "OutputIndexTensor");
    EXPECT_FALSE(outputs[1].from_reference);
    EXPECT_EQ(outputs[1].comparison.elements, 1u);
    const auto& tolerant = result.results[1];
    EXPECT_EQ(tolerant.status, Status::pass);
    ASSERT_EQ(tolerant.outputs.size(), 1u);
    EXPECT_EQ(core::to_string(tolerant.outputs[0].tolerance), "0.5 abs");
    EXPECT_EQ(tolerant.outputs[0].comparison.largest_fraction, 0.5);
    ASSERT_TRUE(tolerant.outputs[0].comparison.worst.has_value());
    EXPECT_EQ(tolerant.outputs[0].comparison.worst->index, 1u);
}

TEST(Runner, TheRejectionIsKept) {
    Engines engines;
    engines.push_back(std::make_unique<cpu::CpuEngine>(core::highest_feature_level));
    const auto cases = cases_of({illegal_slice, slice_with_expected});
    const AllResults result = run_all(cases, engines);
    ASSERT_TRUE(result.results[0].rejection.has_value());
    EXPECT_EQ(result.results[0].rejection->code, core::HResult::invalid_argument);
    EXPECT_FALSE(result.results[0].rejection->rule.empty());
    EXPECT_FALSE(result.results[1].rejection.has_value());
}

TEST(Runner, Times) {
    const auto cases = cases_of({slice_with_expected, illegal_slice});
    const AllResults result =
        run_all(cases, one_engine(that([](Behaviour& b) { b.device_time = std::chrono::nanoseconds(7); })));
    const run::Timing& timing = result.results[0].timing;
    EXPECT_GT(timing.execute.count(), 0);
    EXPECT_GE(timing.total, timing.execute);
    EXPECT_EQ(timing.device, std::chrono::nanoseconds(7));
    EXPECT_GE(result.duration, timing.total);
    EXPECT_EQ(result.results[1].timing.total.count(), 0) << "nothing was executed";
    EXPECT_EQ(run_all(cases, one_engine({})).results[0].timing.device, std::nullopt);
}

TEST(Runner, StepsInTheirOrder) {
    std::vector<std::string> steps;
    (void)run_all(
        cases_of({slice_with_expected}),
        one_engine(that([&](Behaviour& b) { b.at_step = [&](const std::string& step) { steps.push_back(step); }; })));
    EXPECT_EQ(steps, (std::vector<std::string>{"unsupported", "compile", "bind", "execute", "read"}));
}

TEST(Runner, Observers) {
    const auto cases = cases_of({slice_with_expected, slice_without_expected, illegal_slice});
    Engines engines = one_engine({});
    engines.push_back(std::make_unique<FakeEngine>(that([](Behaviour& b) { b.unsupported = "no"; })));
    Recorder all;
    EXPECT_EQ(run_watched(cases, {&engines, 1}, all).results.size(), 6u);
    EXPECT_EQ(all.log,
              (std::vector<std::string>{"some/with-expected 0", "pass by 0", "skip by 1", "some/without-expected 1",
                                        "pass by 0", "skip by 1", "some/illegal 2", "fail by 0", "skip by 1"}));
    Recorder stopped;
    stopped.stop_after = 4;  // stops within the second case, which is completed on all engines
    const AllResults result = run_watched(cases, {&engines, 1}, stopped);
    EXPECT_EQ(result.results.size(), 4u);
    EXPECT_EQ(stopped.log.size(), 6u);
    EXPECT_EQ(result.engines.size(), 2u);
    Recorder never;
    never.stop_after = 0;
    EXPECT_TRUE(run_watched(cases, {&engines, 1}, never).results.empty());
}

TEST(Runner, UnspecifiedCasesAreOffTheGate) {
    std::string text(slice_with_wrong_expected);
    text.insert(1, R"("tags": ["unspecified"], )");
    const auto cases = cases_of({slice_with_expected, text});
    const AllResults off = run_all(cases, one_engine({}));
    EXPECT_TRUE(off.passed());
    EXPECT_TRUE(off.results[0].gated);
    EXPECT_FALSE(off.results[1].gated);
    EXPECT_EQ(off.count(Status::fail), 0u);
    EXPECT_EQ(off.count(Status::fail, false), 1u);
    EXPECT_EQ(off.count(Status::pass), 1u);
    EXPECT_EQ(off.count(Status::pass, false), 0u);
    const AllResults on = run_all(cases, one_engine({}), {.include_unspecified = true});
    EXPECT_FALSE(on.passed());
    EXPECT_TRUE(on.results[1].gated);
    EXPECT_EQ(on.count(Status::fail), 1u);
    // Outside the gate, a pass verifies nothing.
    std::string good(slice_with_expected);
    good.replace(good.find(R"("doc")"), 5, R"("unspecified")");
    EXPECT_FALSE(run_all(cases_of({good}), one_engine({})).passed());
    EXPECT_TRUE(run_all(cases_of({good}), one_engine({}), {.include_unspecified = true}).passed());
}

TEST(Runner, ADataFileThatHasGoneIsAnError) {
    const TemporaryFolder folder;
    const std::string data = folder.write("x.bin", std::string("\0\0\x80?\0\0\0@", 8));
    const std::string text = R"({ "name": "a", "operator": "SLICE1",
        "desc": { "InputTensor": { "DataType": "FLOAT32", "Sizes": [2] }, "OutputTensor": { "DataType": "FLOAT32", "Sizes": [1] },
                  "InputWindowOffsets": [1], "InputWindowSizes": [1], "InputWindowStrides": [1] },
        "inputs": { "InputTensor": { "file": "x.bin" } }, "expected": { "OutputTensor": [2] } })";
    const auto cases = cases_of({text, slice_with_expected}, folder.at("a.json"));
    EXPECT_TRUE(run_all(cases, one_engine({})).passed());
    std::filesystem::remove(data);
    const AllResults result = run_all(cases, one_engine({}));
    EXPECT_EQ(result.results[0].status, Status::error);
    EXPECT_NE(result.results[0].reason.find("cannot be read any more"), std::string::npos) << result.results[0].reason;
    EXPECT_EQ(result.results[1].status, Status::pass);
}

TEST(RunTotals, PassesOnlyWhenSomethingPassedAndNothingElseWentWrong) {
    const auto cases = cases_of({slice_with_expected});
    const auto subject = run::these_cases(std::vector{&cases[0]}).reader([](const cases::Case&) { return true; })(0);
    // All multisets of up to three results.
    const auto with = [&](std::initializer_list<Status> statuses) {
        AllResults result;
        result.engines.emplace_back();
        for (const Status status : statuses) {
            run::CaseResult& entry = result.results.emplace_back();
            entry.subject = subject;
            entry.status = status;
        }
        return result;
    };
    EXPECT_FALSE(with({}).passed());
    for (std::size_t a = 0; a < run::status_count; ++a) {
        for (std::size_t b = 0; b < run::status_count; ++b) {
            for (std::size_t c = 0; c < run::status_count; ++c) {
                const auto statuses = {static_cast<Status>(a), static_cast<Status>(b), static_cast<Status>(c)};
                const auto has = [&](Status status) {
                    return std::find(statuses.begin(), statuses.end(), status) != statuses.end();
                };
                const bool wrong = has(Status::fail) || has(Status::error) || has(Status::crash) ||
                                   has(Status::timeout) || has(Status::xpass);
                const bool verified = has(Status::pass) || has(Status::xfail) || has(Status::flake);
                EXPECT_EQ(with(statuses).passed(), verified && !wrong) << a << b << c;
            }
        }
    }
}

TEST(RunTotals, NamesOfStatuses) {
    const char* names[] = {"pass", "fail", "skip", "error", "crash", "timeout", "reference", "xfail", "xpass", "flake"};
    ASSERT_EQ(std::size(names), run::status_count);
    for (std::size_t i = 0; i < run::status_count; ++i) {
        EXPECT_STREQ(to_string(static_cast<Status>(i)), names[i]);
    }
}

}  // namespace
}  // namespace dmlconform::tests::runner_test
