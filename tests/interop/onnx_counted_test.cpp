// Tests of determinants, n-grams, Einsum's sums, Adam and FLOAT64. Expected values are computed by hand.
#include <limits>

#include "tests/interop/onnx_models.h"

namespace dmlconform::tests::onnx_counted_test {
namespace {

using testing::HasSubstr;

/// Expects that a model of one node passes.
void expect_value(const onnx::NodeProto& one, const NamedTensors& inputs, const onnx::TensorProto& expected,
                  std::int64_t opset = 17) {
    EXPECT_FALSE(passing_steps({{one}, inputs, {{"y", expected}}, {}, opset}).empty()) << one.op_type();
}

TEST(OnnxCounted, Determinants) {
    for (const std::int64_t opset : {11, 17}) {
        expect_value(node("Det", {"x"}, {"y"}), {{"x", floats({3, 3}, {2, 0, 1, 1, 3, 2, 1, 1, 4})}}, floats({}, {18}),
                     opset);
        expect_value(node("Det", {"x"}, {"y"}), {{"x", floats({2, 2, 2}, {1, 2, 3, 4, 2, 0, 0, 5})}},
                     floats({2}, {-2, 10}), opset);
    }
    EXPECT_THAT(reason_of_model({{node("Det", {"x"}, {"y"})},
                                 {{"x", floats({5, 5}, std::vector<float>(25, 1))}},
                                 {{"y", floats({}, {0})}}}),
                HasSubstr("of up to four rows"));
}

TEST(OnnxCounted, GramsOfNumbers) {
    const auto counted = [](const char* mode, std::int64_t skip) {
        onnx::AttributeProto weights;
        weights.name.set("weights");
        weights.floats.edit() = {2, 1, 0.5F, 10};
        // The numbers 3 and 8, and the pairs (1, 3) and (3, 3).
        return node("TfIdfVectorizer", {"x"}, {"y"},
                    {integers("pool_int64s", {3, 8, 1, 3, 3, 3}), integers("ngram_counts", {0, 2}),
                     integers("ngram_indexes", {0, 1, 2, 3}), integer("min_gram_length", 1),
                     integer("max_gram_length", 2), integer("max_skip_count", skip), text("mode", mode), weights});
    };
    const NamedTensors row{{"x", longs({7}, {1, 1, 3, 3, 3, 7, 8})}};
    expect_value(counted("TF", 0), row, floats({4}, {3, 1, 1, 2}));
    expect_value(counted("TF", 1), row, floats({4}, {3, 1, 3, 3}));
    expect_value(counted("TFIDF", 0), row, floats({4}, {6, 1, 0.5F, 20}));
    expect_value(counted("IDF", 0), row, floats({4}, {2, 1, 0.5F, 10}));
    expect_value(counted("TF", 0), {{"x", tensor<std::int32_t>(6, {2, 3}, {3, 3, 3, 1, 3, 8})}},
                 floats({2, 4}, {3, 0, 0, 2, 1, 1, 1, 0}));
    onnx::NodeProto bad = counted("TF", 0);
    bad.attribute.edit(1) = integers("ngram_counts", {0, 9});
    EXPECT_THAT(reason_of_model({{bad}, row, {{"y", floats({4}, {3, 1, 1, 2})}}}), HasSubstr("do not fit together"));
    for (const std::int64_t column : {std::int64_t{-1}, std::numeric_limits<std::int64_t>::max()}) {
        bad = counted("TF", 0);
        bad.attribute.edit(2) = integers("ngram_indexes", {0, 1, 2, column});
        EXPECT_THAT(reason_of_model({{bad}, row, {{"y", floats({4}, {3, 1, 1, 2})}}}), HasSubstr("too many columns"));
    }
}

TEST(OnnxCounted, EinsumThatSums) {
    const onnx::TensorProto matrix = floats({2, 2}, {1, 2, 3, 4});
    expect_value(node("Einsum", {"x"}, {"y"}, {text("equation", "ij->j")}), {{"x", matrix}}, floats({2}, {4, 6}));
    expect_value(node("Einsum", {"x"}, {"y"}, {text("equation", "ij -> i")}), {{"x", matrix}}, floats({2}, {3, 7}));
    for (const std::int64_t opset : {12, 17}) {
        expect_value(node("Einsum", {"x"}, {"y"}, {text("equation", "ij->")}), {{"x", matrix}}, floats({}, {10}),
                     opset);
    }
    const NamedTensors vectors{{"a", floats({2}, {1, 2})}, {"b", floats({2}, {3, 4})}};
    expect_value(node("Einsum", {"a", "b"}, {"y"}, {text("equation", "i,i")}), vectors, floats({}, {11}));
    expect_value(node("Einsum", {"a", "b"}, {"y"}, {text("equation", "i,j")}), vectors, floats({2, 2}, {3, 4, 6, 8}));
}

/// The sizes of what is between two nodes follow from the equation.
TEST(OnnxCounted, EinsumsThatPermute) {
    const std::pair<const char*, onnx::TensorProto> rows[] = {
        {"ba", floats({3, 2}, {-1, -4, -2, -5, -3, -6})},
        {"ab", floats({2, 3}, {-1, -2, -3, -4, -5, -6})},
        {"...ij->...ji", floats({3, 2}, {-1, -4, -2, -5, -3, -6})},
        {"i...->...i", floats({3, 2}, {-1, -4, -2, -5, -3, -6})},
        {"...j->...", floats({2}, {-6, -15})},
    };
    for (const auto& [equation, expected] : rows) {
        EXPECT_FALSE(
            passing_steps({{node("Einsum", {"x"}, {"r"}, {text("equation", equation)}), node("Neg", {"r"}, {"y"})},
                           {{"x", floats({2, 3}, {1, 2, 3, 4, 5, 6})}},
                           {{"y", expected}}})
                .empty())
            << equation;
    }
}

/// Pads of axes that are listed, as opset 18 allows.
TEST(OnnxCounted, NegativePadsOfAxes) {
    EXPECT_EQ(passing_steps({{node("Pad", {"x", "pads", "", "axes"}, {"y"})},
                             {{"x", floats({2, 3}, {1, 2, 3, 4, 5, 6})}},
                             {{"y", floats({2, 3}, {2, 3, 0, 5, 6, 0})}},
                             {{"pads", longs({2}, {-1, 1})}, {"axes", longs({1}, {-1})}},
                             18})
                  .size(),
              2u);
}

TEST(OnnxCounted, MaxUnpoolToALargerOutput) {
    expect_value(node("MaxUnpool", {"x", "i", "s"}, {"y"}, {integers("kernel_shape", {2, 2})}),
                 {{"x", floats({1, 1, 1, 1}, {5})}, {"i", longs({1, 1, 1, 1}, {3})}, {"s", longs({4}, {1, 1, 3, 3})}},
                 floats({1, 1, 3, 3}, {0, 0, 0, 0, 5, 0, 0, 0, 0}));
}

TEST(OnnxCounted, AdamOfSeveralTensorsAndWithRegularisation) {
    const auto adam = [](const std::vector<std::string>& inputs, const std::vector<std::string>& outputs, float norm) {
        onnx::NodeProto made = node("Adam", inputs, outputs,
                                    {number("alpha", 0.5F), number("beta", 0.5F), number("norm_coefficient", norm)});
        made.domain.set("ai.onnx.preview.training");
        return made;
    };
    const auto one = [](float value) { return floats({1}, {value}); };
    // The gradient is 0.5 * 2 + 1 = 2, the moments 1 and 2, and 2 - 0.1 / sqrt(2) is left.
    EXPECT_FALSE(passing_steps({{adam({"r", "t", "x", "g", "v", "h"}, {"x1", "v1", "h1"}, 0.5F)},
                                {{"r", floats({}, {0.1F})},
                                 {"t", longs({}, {0})},
                                 {"x", one(2)},
                                 {"g", one(1)},
                                 {"v", one(0)},
                                 {"h", one(0)}},
                                {{"x1", one(1.9292893F)}, {"v1", one(1)}, {"h1", one(2)}}})
                     .empty());
    // Step 1 is corrected by sqrt(0.5) / 0.5.
    EXPECT_FALSE(passing_steps({{adam({"r", "t", "a", "b", "ga", "gb", "va", "vb", "ha", "hb"},
                                      {"a1", "b1", "va1", "vb1", "ha1", "hb1"}, 0)},
                                {{"r", floats({}, {0.1F})},
                                 {"t", longs({}, {1})},
                                 {"a", one(2)},
                                 {"b", one(4)},
                                 {"ga", one(1)},
                                 {"gb", one(2)},
                                 {"va", one(0)},
                                 {"vb", one(2)},
                                 {"ha", one(0)},
                                 {"hb", one(0)}},
                                {{"a1", one(1.9F)},
                                 {"b1", one(3.8F)},
                                 {"va1", one(0.5F)},
                                 {"vb1", one(2)},
                                 {"ha1", one(0.5F)},
                                 {"hb1", one(2)}}})
                     .empty());
}

TEST(OnnxCounted, DoublesAreRoundedIfNothingElseHelps) {
    NodeTest test{"Einsum",
                  {tensor<double>(11, {1, 2}, {0.1, 0.2})},
                  {tensor<double>(11, {1}, {0.3})},
                  {text("equation", "ij->i")}};
    const TemporaryFolder folder;
    write(folder, "test_it", test);
    // The model has to say that its input is of FLOAT64.
    onnx::ModelProto model;
    model.opset_import.add().version.set(17);
    model.graph.edit().node.add(node("Einsum", {"x"}, {"y"}, test.attributes));
    onnx::ValueInfoProto& input = model.graph.edit().input.add();
    input.name.set("x");
    input.type.edit().tensor_type.edit().elem_type.set(11);
    model.graph.edit().output.add().name.set("y");
    folder.write("test_it/model.onnx", onnx::message_bytes(model));
    const auto made = interop::read_onnx_node_tests(folder.at("test_it"));
    ASSERT_TRUE(made);
    ASSERT_FALSE(made->cases.empty());
    EXPECT_THAT(made->cases[0]["description"].get<std::string>(), HasSubstr("FLOAT64 rounded to FLOAT32"));
}

}  // namespace
}  // namespace dmlconform::tests::onnx_counted_test
