// Tests of engine/d3d12/d3d12_engine: lost devices, and several engines on one device.
#include <array>
#include <thread>

#include "engine/d3d12/device/half_conversions.h"
#include "engine/run/case_run.h"
#include "tests/d3d12/against_reference.h"
#include "tests/run/some_cases.h"

namespace dmlconform::tests::device_test {
namespace {

using run::Status;

class D3d12Device : public D3d12Test {};

/// Large enough to run for a while.
constexpr std::string_view large_slice = R"({ "name": "large", "operator": "SLICE1",
    "desc": { "InputTensor": { "DataType": "UINT32", "Sizes": [4000000] }, "OutputTensor": { "DataType": "UINT32", "Sizes": [4000000] },
              "InputWindowOffsets": [0], "InputWindowSizes": [4000000], "InputWindowStrides": [-1] },
    "inputs": { "InputTensor": { "value": 3 } } })";

TEST_F(D3d12Device, OneThatIsLostCostsTheCaseAtHand) {
    const auto adapters = d3d12::enumerate_adapters();
    const d3d12::AdapterInfo& adapter = (*adapters)[*d3d12::choose_adapter(*adapters, "")];
    const auto other = d3d12::create_engine("", core::highest_feature_level);
    auto device =
        d3d12::create_device(dynamic_cast<d3d12::D3d12Engine&>(**other).pipelines(), adapter, std::chrono::seconds(0));
    ASSERT_TRUE(device.has_value());
    d3d12::D3d12Engine hasty(std::move(*device), adapter, core::highest_feature_level);
    const auto subjects = cases_of({large_slice, slice_with_expected, normalization});
    const run::CaseResult lost = run::run_case(subjects[0], hasty);
    EXPECT_EQ(lost.status, Status::error);
    EXPECT_NE(lost.reason.find("did not finish within 0 seconds"), std::string::npos) << lost.reason;
    EXPECT_EQ(run::run_case(subjects[1], hasty).status, Status::pass);
    EXPECT_EQ(run::run_case(subjects[2], hasty).status, Status::pass);
}

TEST_F(D3d12Device, ExactConversionsOfHalvesAreSeenToBeExact) {
    if (adapter().name.find("llvmpipe") == std::string::npos) {
        GTEST_SKIP() << "of lavapipe it is known, and not of " << adapter().name;
    }
    const auto device = another_device();
    ASSERT_TRUE(device.has_value());
    const auto exact = d3d12::has_exact_half_conversions(*device);
    ASSERT_TRUE(exact.has_value()) << exact.error().message;
    EXPECT_TRUE(*exact);
}

TEST_F(D3d12Device, SeveralEnginesAtATime) {
    const auto subjects = cases_of({slice_with_expected, slice_without_expected, normalization, top_k_half_expected});
    std::vector<std::thread> threads;
    std::array<std::size_t, 3> passes{};
    for (std::size_t& count : passes) {
        threads.emplace_back([&] {
            const auto another = engine().another();
            for (int i = 0; another && i < 40; ++i) {
                const run::CaseResult result =
                    run::run_case(subjects[static_cast<std::size_t>(i) % subjects.size()], **another);
                count += result.status == Status::pass ? 1 : 0;
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    EXPECT_EQ(passes, (std::array<std::size_t, 3>{40, 40, 40}));
}

}  // namespace
}  // namespace dmlconform::tests::device_test
