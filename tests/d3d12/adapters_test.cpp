// Tests how adapters are chosen, and what happens without one.
#include "engine/d3d12/device/adapters.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "tests/d3d12/against_reference.h"

namespace dmlconform::tests::adapters_test {
namespace {

using d3d12::AdapterInfo;
using d3d12::AdapterType;

std::vector<AdapterInfo> some_adapters() {
    std::vector<AdapterInfo> adapters(3);
    adapters[0].name = "llvmpipe (LLVM 15)";
    adapters[0].type = AdapterType::cpu;
    adapters[1].name = "Iris Graphics";
    adapters[1].type = AdapterType::integrated;
    adapters[2].name = "GeForce";
    adapters[2].type = AdapterType::discrete;
    return adapters;
}

TEST(Adapters, PrefersTheMostCapableKind) {
    auto adapters = some_adapters();
    EXPECT_EQ(choose_adapter(adapters, ""), 2u);
    adapters.pop_back();
    EXPECT_EQ(choose_adapter(adapters, ""), 1u);
    adapters.pop_back();
    EXPECT_EQ(choose_adapter(adapters, ""), 0u);
}

TEST(Adapters, AreChosenByPartOfTheirName) {
    EXPECT_EQ(choose_adapter(some_adapters(), "LLVMPIPE"), 0u);
    EXPECT_EQ(choose_adapter(some_adapters(), "graphics"), 1u);
}

TEST(Adapters, TheWholeNameCountsBeforeAPartOfAnother) {
    auto adapters = some_adapters();
    adapters[0].name = "GeForce Ti";
    EXPECT_EQ(choose_adapter(adapters, "GeForce"), 2u);
    EXPECT_EQ(choose_adapter(adapters, "geforce"), 0u);
}

TEST(Adapters, UnknownNameListsWhatThereIs) {
    const auto chosen = choose_adapter(some_adapters(), "radeon");
    ASSERT_FALSE(chosen);
    EXPECT_NE(chosen.error().message.find("radeon"), std::string::npos);
    EXPECT_NE(chosen.error().hint.find("Iris Graphics"), std::string::npos);
}

#if !defined(_WIN32)
/// Needs a process of its own because drivers are looked up once per process; ctest runs every test in a separate one.
TEST(Adapters, NoDriverIsAnErrorWithItsReason) {
    setenv("VK_DRIVER_FILES", "/nowhere", 1);
    const auto adapters = d3d12::enumerate_adapters();
    ASSERT_FALSE(adapters);
    EXPECT_NE(adapters.error().message.find("/nowhere"), std::string::npos) << adapters.error().message;
    const auto engine = d3d12::create_engine("", core::highest_feature_level);
    ASSERT_FALSE(engine);
    EXPECT_EQ(engine.error().message, adapters.error().message);
    unsetenv("VK_DRIVER_FILES");
}
#endif

using D3d12Engine = D3d12Test;

TEST_F(D3d12Engine, SaysWhatMakesAResultReproducible) {
    const EngineInfo& info = engine().info();
    EXPECT_EQ(info.name, "d3d12");
    EXPECT_FALSE(info.adapter.empty());
    EXPECT_FALSE(info.driver.empty());
    EXPECT_FALSE(info.libraries.empty());
}

}  // namespace
}  // namespace dmlconform::tests::adapters_test
