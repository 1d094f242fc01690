// Tests of engine/report/command_line: the options that choose the same engines again.
#include <gtest/gtest.h>

#include "engine/report/command_line.h"

namespace dmlconform::tests::engines_options_test {
namespace {

EngineInfo engine(const char* name, const char* adapter, core::FeatureLevel level = core::highest_feature_level) {
    EngineInfo info;
    info.name = name;
    info.adapter = adapter;
    info.is_reference = info.name == "cpu";
    info.feature_level = level;
    return info;
}

EngineInfo started_by(const char* command, core::FeatureLevel level) {
    EngineInfo info = engine("exec:mine", "somewhere", level);
    info.command = command;
    return info;
}

TEST(EnginesOptions, OneAdapterAndOneLevelForAll) {
    const core::FeatureLevel low{4, 0};
    const struct {
        std::vector<EngineInfo> engines;
        const char* options;
    } rows[] = {
        {{engine("cpu", "reference")}, "--engine cpu"},
        {{engine("cpu", "reference"), engine("d3d12", "a GPU")}, "--engine cpu --engine d3d12 --adapter 'a GPU'"},
        {{engine("d3d12", "X"), engine("directml", "X")}, "--engine d3d12 --engine directml --adapter X"},
        // Each engine has a different adapter, which one option cannot name, so it is left out.
        {{engine("d3d12", "X"), engine("directml", "Y")}, "--engine d3d12 --engine directml"},
        {{engine("cpu", "reference", low), engine("d3d12", "X", low)},
         "--engine cpu --engine d3d12 --adapter X --feature-level 4.0"},
        // A command chooses its own adapter and feature level.
        {{engine("cpu", "reference"), started_by("ssh box worker", low)},
         "--engine cpu --engine 'exec:ssh box worker'"},
    };
    for (const auto& row : rows) {
        EXPECT_EQ(report::engines_options(row.engines), row.options);
    }
}

}  // namespace
}  // namespace dmlconform::tests::engines_options_test
