// Tests of engine/interop/random_inputs: the limits of indices, also of those that other nodes pass on.
#include "engine/interop/random_inputs.h"

#include <gtest/gtest.h>

#include "tests/graph_builder.h"

namespace dmlconform::tests::random_inputs_test {
namespace {

using core::DataType;

TEST(IndexLimits, AreTheSizesOfWhatIsIndexed) {
    const core::TensorDesc data = tensor(DataType::float32, {1, 1, 7, 3});
    const core::TensorDesc indices = tensor(DataType::uint32, {1, 1, 1, 2});
    const operators::Graph graph = plain_graph(
        {{"cast",
          describe("CAST", {{"InputTensor", tensor(DataType::int32, {1, 1, 1, 2})}, {"OutputTensor", indices}}),
          {"raw"},
          {"indices"}},
         {"gather",
          describe("GATHER", {{"InputTensor", data},
                              {"IndicesTensor", indices},
                              {"OutputTensor", tensor(DataType::float32, {1, 1, 2, 3})},
                              {"Axis", 2},
                              {"IndexDimensions", 1}}),
          {"data", "indices"},
          {"y"}}},
        {"y"});
    const auto limits = interop::index_limits(graph);
    EXPECT_EQ(limits.at(*graph.find_value("indices")), 7u);
    EXPECT_EQ(limits.at(*graph.find_value("raw")), 7u) << "CAST passes them on";
    EXPECT_EQ(limits.at(*graph.find_value("data")), std::nullopt);
}

TEST(IndexLimits, AreUnknownWhereTheTensorIsAbsent) {
    const core::TensorDesc gradient = tensor(DataType::float32, {2, 1, 2, 2});
    const operators::Graph graph =
        plain_graph({{"roi",
                      describe("ROI_ALIGN_GRAD", {{"InputGradientTensor", gradient},
                                                  {"ROITensor", tensor(DataType::float32, {2, 4})},
                                                  {"BatchIndicesTensor", tensor(DataType::uint32, {2})},
                                                  {"OutputGradientTensor", gradient}}),
                      {"", "gradient", "regions", "batches"},
                      {"y", ""}}},
                    {"y"});
    EXPECT_EQ(interop::index_limits(graph).at(*graph.find_value("batches")), std::nullopt);
}

}  // namespace
}  // namespace dmlconform::tests::random_inputs_test
