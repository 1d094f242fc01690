// Tests that operators are found by parts of their names and by their names in other APIs.
#include "engine/operators/operator_search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

namespace operator_search_test {
namespace {

using namespace dmlconform;

std::vector<std::string> found(std::string_view words) {
    std::vector<std::string> names;
    for (const operators::OperatorSchema* schema : operators::search_operators(words)) {
        names.emplace_back(schema->short_name());
    }
    return names;
}

TEST(OperatorSearch, FindsOperatorsByTheNamesOfOthers) {
    using Names = std::vector<std::string>;
    const struct {
        const char* words;
        Names names;
    } rows[] = {
        {"softmax", {"ACTIVATION_SOFTMAX", "ACTIVATION_LOG_SOFTMAX", "ACTIVATION_LOG_SOFTMAX1", "ACTIVATION_SOFTMAX1"}},
        {"conv_2d", {"CONVOLUTION"}},
        {"LayerNormalization", {"MEAN_VARIANCE_NORMALIZATION1", "MEAN_VARIANCE_NORMALIZATION2"}},
        {"reduceSum", {"REDUCE"}},
        {"nn.LSTM", {"LSTM"}},
        {"torch.nn.functional.conv2d", {"CONVOLUTION"}},
        {"aten::conv2d", {"CONVOLUTION"}},
        {"torch.ops.aten.gru", {"GRU"}},
        {"F.conv2d", {"CONVOLUTION"}},
        {"com.microsoft.Gelu", {"ACTIVATION_GELU"}},
        {"F.scaled_dot_product_attention", {"MULTIHEAD_ATTENTION", "MULTIHEAD_ATTENTION1"}},
        {"matmul", {"GEMM"}},
        {"logical_great", {"ELEMENT_WISE_LOGICAL_GREATER_THAN", "ELEMENT_WISE_LOGICAL_GREATER_THAN_OR_EQUAL"}},
        {"nothing like it", {}},
        {"*", {}},
        {"", {}},
    };
    for (const auto& row : rows) {
        auto names = found(row.words);
        // An exact match comes first; the others follow in the order of the catalogue, which is not alphabetical.
        if (names.size() > 1) {
            EXPECT_EQ(names.front(), row.names.front());
            std::sort(names.begin() + 1, names.end());
        }
        EXPECT_EQ(names, row.names) << row.words;
    }
}

TEST(OperatorSearch, FindsEveryOperatorByItsOwnName) {
    for (const std::string& name : operators::operator_names()) {
        const auto names = found(name);
        EXPECT_NE(std::find(names.begin(), names.end(), operators::find_operator(name)->short_name()), names.end())
            << name;
    }
}

TEST(OperatorSearch, KnowsOnlyOperatorsOfTheCatalogue) {
    std::ifstream file(OTHER_NAMES);
    const auto table = nlohmann::json::parse(file);
    for (const auto& [name, meant] : table.items()) {
        for (const auto& op : meant) {
            EXPECT_NE(operators::find_operator(op.get<std::string>()), nullptr) << name << ": " << op;
        }
    }
}

}  // namespace
}  // namespace operator_search_test
