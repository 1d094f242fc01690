// Tests of engine/run/engine_list: engines by name, and the list of all available engines.
#include "engine/run/engine_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "tests/without_reference.h"

namespace dmlconform::run::engine_list_test {
namespace {

TEST(EngineList, TheReferenceComesFirst) {
    const auto names = engine_names();
    ASSERT_FALSE(names.empty());
    EXPECT_EQ(names.front(), "cpu");
    EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), names.size());
}

TEST(EngineList, TheCpuEngineIsAlwaysThere) {
    const auto engine = create_engine("cpu", {"", {4, 1}});
    ASSERT_TRUE(engine.has_value());
    EXPECT_EQ((*engine)->info().name, "cpu");
    EXPECT_FALSE((*engine)->info().adapter.empty());
    EXPECT_EQ((*engine)->info().feature_level, (core::FeatureLevel{4, 1}));
}

TEST(EngineList, EnginesForAnOperator) {
    const tests::WithoutReference resampling("RESAMPLE");
    const auto engines_of = [](std::string_view op) { return engines_for(*operators::find_operator(op)); };
    EXPECT_EQ(engines_of("SLICE1").front(), "cpu");
    EXPECT_THAT(engines_of("RESAMPLE"), testing::Not(testing::Contains("cpu")));
    for (const std::string& engine : engines_of("TOP_K1")) {
        const auto names = engine_names();
        EXPECT_NE(std::find(names.begin(), names.end(), engine), names.end()) << engine;
    }
}

TEST(EngineList, UnknownNames) {
    for (const char* name : {"", "CPU", "cpux", "d3d11"}) {
        const auto engine = create_engine(name, {});
        ASSERT_FALSE(engine.has_value()) << name;
        EXPECT_NE(engine.error().message.find("there is no engine"), std::string::npos);
        EXPECT_NE(engine.error().hint.find("cpu"), std::string::npos) << "what there is instead";
    }
}

TEST(EngineList, EveryEngineHasALineAndEitherAnAdapterOrAReason) {
    const auto lines = list_adapters();
    for (const std::string& name : engine_names()) {
        std::size_t count = 0;
        std::size_t defaults = 0;
        std::size_t problems = 0;
        for (const AdapterLine& line : lines) {
            if (line.engine == name) {
                ++count;
                defaults += line.is_default ? 1 : 0;
                problems += line.problem.empty() ? 0 : 1;
                EXPECT_NE(line.adapter.empty(), line.problem.empty()) << name;
            }
        }
        EXPECT_GT(count, 0u) << name;
        EXPECT_EQ(defaults + problems, 1u) << name << ": one default, or one reason why there is none";
        EXPECT_EQ(create_engine(name, {}).has_value(), problems == 0) << name;
    }
}

TEST(EngineList, AnAdapterThatIsNotThere) {
    const auto engine = create_engine("d3d12", {"no such adapter anywhere", core::highest_feature_level});
    ASSERT_FALSE(engine.has_value());
    EXPECT_FALSE(engine.error().message.empty());
}

}  // namespace
}  // namespace dmlconform::run::engine_list_test
