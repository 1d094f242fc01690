// Tests of engine/directml/wine/command: which engines have built-in expectations.
#include "engine/directml/wine/command.h"

#include <gtest/gtest.h>

namespace dmlconform::directml::wine::wine_command_test {
namespace {

EngineInfo info(std::string name, std::vector<std::pair<std::string, std::string>> libraries) {
    EngineInfo engine;
    engine.name = std::move(name);
    engine.libraries = std::move(libraries);
    return engine;
}

TEST(WineDirectMl, OneThatIsKnownComesWithExpectations) {
    for (const char* version : {"1.15.4.0", "1.15.4", "1.15.4.7"}) {
        const auto file = default_expectations(info("directml", {{"DirectML", version}, {"Wine", "8.0"}}));
        ASSERT_TRUE(file.has_value()) << version;
        EXPECT_TRUE(file->ends_with("cases/expectations/directml-1.15.4-wine.json")) << *file;
    }
}

TEST(WineDirectMl, OthersDoNot) {
    const EngineInfo rows[] = {
        info("directml", {{"DirectML", "1.15.4.0"}}),  // an engine on Windows
        info("directml", {{"DirectML", "1.15.5.0"}, {"Wine", "8.0"}}),
        info("directml", {{"DirectML", "1.15"}, {"Wine", "8.0"}}),
        info("directml", {{"DirectML", ""}, {"Wine", "8.0"}}),
        info("directml", {{"DirectML", "1.15.4-wine.json/../x"}, {"Wine", "8.0"}}),
        info("directml", {{"Wine", "8.0"}}),
        info("cpu", {{"DirectML", "1.15.4.0"}, {"Wine", "8.0"}}),
        info("exec:directml", {{"DirectML", "1.15.4.0"}, {"Wine", "8.0"}}),
    };
    for (const EngineInfo& row : rows) {
        EXPECT_EQ(default_expectations(row), std::nullopt);
    }
}

}  // namespace
}  // namespace dmlconform::directml::wine::wine_command_test
