// Tests of what models of very many small parts take in memory: docs/models.md says how much that is at most.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>

#include "engine/interop/model/memory_limit.h"
#include "tests/app/case_texts.h"
#include "tests/app/expectations.h"
#include "tests/app/program.h"
#include "tests/temporary_folder.h"

namespace dmlconform::tests::model_memory_test {
namespace {

std::string varint(std::uint64_t number) {
    std::string text;
    for (; number >= 0x80; number >>= 7) {
        text += static_cast<char>(number | 0x80);
    }
    return text + static_cast<char>(number);
}

/// A field of protobuf's wire format: a message or a text.
std::string field(std::uint64_t number, const std::string& content) {
    return varint(number << 3 | 2) + varint(content.size()) + content;
}

std::string field(std::uint64_t number, std::uint64_t value) {
    return varint(number << 3) + varint(value);
}

/// What `part` makes of the numbers below `count`, one after the other.
std::string repeated(int count, const std::function<std::string(int)>& part) {
    std::string text;
    for (int i = 0; i < count; ++i) {
        text += part(i);
    }
    return text;
}

/// Short names, so that many fit into a small file: of "x" and of a number, and of other letters.
std::string name_of(int number, const char* prefix = "") {
    return number < 0 ? "x" : fmt::format("{}{:x}", prefix, number);
}

/// A NodeProto with one output.
std::string node(const std::string& type, const std::vector<std::string>& inputs, const std::string& output,
                 const std::string& more = "") {
    std::string text;
    for (const std::string& input : inputs) {
        text += field(1, input);
    }
    return text + field(2, output) + field(4, type) + more;
}

/// A ValueInfoProto: FLOAT [4].
std::string value(const std::string& name) {
    return field(1, name) + field(2, field(1, field(1, 1) + field(2, field(1, field(1, 4)))));
}

/// A TensorProto: one number.
std::string number(const std::string& name) {
    return field(1, 1) + field(2, 1) + field(8, name) + field(9, std::string("\0\0\x80\x3f", 4));
}

/// A ModelProto. The graph has the input x.
std::string model(const std::string& graph, const std::string& output, const std::string& functions = "") {
    const std::string opsets = field(8, field(2, 13)) + field(8, field(1, "d") + field(2, 1));
    return field(1, 8) + opsets + field(7, graph + field(11, value("x")) + field(12, value(output))) + functions;
}

/// Nodes of one operator, each of which reads what the one before writes.
std::string chain(const std::string& type, int count, const std::string& more = "") {
    return model(repeated(count, [&](int i) { return field(1, node(type, {name_of(i - 1)}, name_of(i), more)); }),
                 name_of(count - 1));
}

/// A FunctionProto d::`name` of one input and one output.
std::string function(const std::string& name, const std::vector<std::string>& nodes) {
    std::string text = field(1, name) + field(10, "d") + field(4, "a") + field(5, "b");
    for (const std::string& one : nodes) {
        text += field(7, one);
    }
    return field(25, text + field(9, field(2, 13)) + field(9, field(1, "d") + field(2, 1)));
}

/// Functions, each of which calls the next one twice: 2^count nodes.
std::string doubling(int count) {
    const std::string functions = repeated(count, [&](int i) {
        const bool last = i + 1 == count;
        const std::string type = last ? "Relu" : fmt::format("f{}", i + 1);
        const std::string domain = last ? "" : field(7, "d");
        return function(fmt::format("f{}", i), {node(type, {"a"}, "m", domain), node(type, {"m"}, "b", domain)});
    });
    return model(field(1, node("f0", {"x"}, "y", field(7, "d"))), "y", functions);
}

/// Nodes with two bodies each, of which the constant condition chooses one.
std::string branches(int count) {
    const std::string condition = field(5, field(2, 9) + field(8, "t") + field(9, "\x01"));
    return model(condition + repeated(count,
                                      [](int i) {
                                          const std::string body =
                                              field(6, field(1, node("Relu", {name_of(i - 1)}, "r")) +
                                                           field(12, field(1, "r"))) +
                                              field(20, 5);
                                          return field(1, node("If", {"t"}, name_of(i),
                                                               field(5, field(1, "then_branch") + body) +
                                                                   field(5, field(1, "else_branch") + body)));
                                      }),
                 name_of(count - 1));
}

/// Nodes that add a constant each: an initializer, or what a Constant node has.
std::string sums(int count, bool as_nodes) {
    const auto constant = [&](int i) {
        const std::string attribute = field(5, field(1, "value") + field(5, number("")) + field(20, 4));
        return as_nodes ? field(1, node("Constant", {}, name_of(i, "c"), attribute))
                        : field(5, number(name_of(i, "c")));
    };
    return model(repeated(count,
                          [&](int i) {
                              return constant(i) + field(1, node("Add", {name_of(i - 1), name_of(i, "c")}, name_of(i)));
                          }),
                 name_of(count - 1));
}

/// A RELU, and parts that no node needs.
std::string relu_and(int count, const std::function<std::string(int)>& part) {
    return model(field(1, node("Relu", {"x"}, "y")) + repeated(count, part), "y");
}

std::string relu_with(const std::string& more) {
    return model(field(1, node("Relu", {"x"}, "y", more)), "y");
}

class ModelMemory : public testing::Test {
protected:
    /// The most memory that judging a chain of so many nodes takes, in bytes.
    std::int64_t memory_to_judge(int count, const std::vector<std::string>& engines) {
        std::vector<std::string> words{"run", folder_.write("chain.onnx", chain("Relu", count)), "-q"};
        words.insert(words.end(), engines.begin(), engines.end());
        const ProgramResult result = dmlconform(words);
        EXPECT_TRUE(ends_with_code(result, 0)) << result.all();
        return std::int64_t{result.most_memory} << 10;
    }

    /// Expects that a command takes no more memory for the model than it may.
    ProgramResult run(const std::string& command, const std::string& name, const std::string& text) {
        const ProgramResult result = dmlconform({command, folder_.write("model.onnx", text)});
        // docs/models.md has this number.
        const auto allowed = static_cast<long>((4 * text.size() + (std::size_t{96} << 20)) >> 10);
        EXPECT_LE(result.most_memory, allowed) << "KiB for " << name << ", a file of " << text.size() << " bytes";
        return result;
    }

    TemporaryFolder folder_;
};

TEST_F(ModelMemory, AHundredThousandNodesOfTwentyBytesAreRead) {
    EXPECT_TRUE(ends_with_code(run("validate", "nodes", chain("Relu", 100'000)), 0));
    EXPECT_TRUE(ends_with_code(run("list", "nodes", chain("Relu", 100'000)), 0));
}

/// Drivers keep memory for each command of a list, so large graphs have several lists.
TEST_F(ModelMemory, JudgingTakesForEachNodeWhatTheLimitAssumes) {
    constexpr int few = 1000;
    constexpr int many = 15'000;
    const std::int64_t more = memory_to_judge(many, {}) - memory_to_judge(few, {});
    // Reading a node takes 620 bytes.
    EXPECT_LE(more / (many - few), std::int64_t{interop::memory_to_judge_node} + 620);
}

TEST_F(ModelMemory, ModelsOfTooManyNodesToJudgeAreRefused) {
    const std::string path = folder_.write("chain.onnx", chain("Relu", 60'000));
    EXPECT_TRUE(ends_with_code(dmlconform({"validate", path}), 0));
    for (const char* command : {"run", "bench"}) {
        const ProgramResult result = dmlconform({command, path});
        EXPECT_TRUE(ends_with_code(result, 2));
        EXPECT_TRUE(complains(result, "would take much more memory than the file has bytes"));
        EXPECT_TRUE(complains(result, "hint: models of 100,000 nodes are read and of 40,000 judged"));
    }
    // The reference alone judges no nodes.
    EXPECT_FALSE(complains(dmlconform({"run", path, "--engine", "cpu"}), "memory"));
}

TEST_F(ModelMemory, FilesOfManyPartsAreReadWithinTheLimitOrRefused) {
    const auto initializer = [](int i) { return field(5, number(name_of(i))); };
    const auto input = [](int i) { return field(11, value(name_of(i))); };
    const auto output = [](int i) {
        return field(1, node("Relu", {"x"}, name_of(i))) + field(12, field(1, name_of(i)));
    };
    const auto sizes = [](int i) { return field(13, value(name_of(i))); };
    const auto dimensions = [](int) {
        const std::string all = repeated(1'000'000, [](int) { return field(1, ""); });
        return field(13, field(1, "v") + field(2, field(1, field(2, all))));
    };
    const auto attribute = [](int i) { return field(5, field(1, name_of(i))); };
    const std::string numbers = field(5, field(1, "a") + field(8, std::string(5'000'000, '\1')));
    // One more than a power of two, so that the list has just doubled. Made late: what this process has counts as well.
    const auto doubled = [] {
        return relu_with(field(5, field(1, "a") + repeated((1 << 24) + 1, [](int) { return "\x40\x01"; })));
    };
    const std::string texts = field(5, field(1, "a") + repeated(1'000'000, [](int) { return field(9, ""); }));
    const std::string relu = field(1, node("Relu", {"x"}, "y"));
    const auto empty_function = [](int i) { return function(name_of(i), {}); };
    const std::string own = field(7, "d");
    const std::vector<std::string> thousand(1000, node("Relu", {"a"}, "b"));
    const std::string long_name = node("Relu", {"a"}, "b", field(3, std::string(1 << 20, 'n')));
    const std::string itself = node("f", {"a"}, "b", own + numbers);
    const std::pair<const char*, std::function<std::string()>> rows[] = {
        {"nodes", [] { return chain("Relu", 500'000); }},
        {"nodes that become nothing", [] { return chain("Identity", 200'000); }},
        {"nodes without a mapping", [] { return chain("Zz", 100'000); }},
        {"initializers", [] { return sums(50'000, false); }},
        {"initializers that nobody reads", [=] { return relu_and(100'000, initializer); }},
        {"constants", [] { return sums(50'000, true); }},
        {"inputs", [=] { return relu_and(100'000, input); }},
        {"outputs", [=] { return relu_and(50'000, output); }},
        {"sizes of values", [=] { return relu_and(200'000, sizes); }},
        {"dimensions", [=] { return relu_and(1, dimensions); }},
        {"empty nodes", [] { return relu_and(500'000, [](int) { return field(1, ""); }); }},
        {"empty values", [] { return relu_and(1'000'000, [](int) { return field(13, ""); }); }},
        {"attributes", [=] { return relu_with(repeated(300'000, attribute)); }},
        {"numbers", [=] { return relu_with(numbers); }},
        {"numbers one by one", doubled},
        {"texts", [=] { return relu_with(texts); }},
        {"names", [] { return relu_with(repeated(1'000'000, [](int) { return field(1, ""); })); }},
        {"functions", [=] { return model(relu, "y", repeated(100'000, empty_function)); }},
        {"calls of many nodes", [=] { return chain("f", 1000, own) + function("f", thousand); }},
        {"calls of calls", [] { return doubling(18); }},
        {"calls of a long name", [=] { return chain("f", 1000, own) + function("f", {long_name}); }},
        {"a function that calls itself", [=] { return chain("f", 1, own) + function("f", {itself}); }},
        {"branches", [] { return branches(50'000); }},
    };
    for (const auto& [name, text] : rows) {
        const ProgramResult result = run("validate", name, text());
        EXPECT_TRUE(result.exit_code == 0 || result.exit_code == 2) << name << ": " << result.all();
    }
}

TEST_F(ModelMemory, ARefusalSaysWhereWhyAndWhatToDo) {
    for (const std::string& text : {chain("Relu", 300'000), doubling(18)}) {
        const ProgramResult result = run("validate", "a refused model", text);
        EXPECT_TRUE(ends_with_code(result, 2));
        EXPECT_TRUE(complains(result, "model.onnx: error: "));
        EXPECT_TRUE(complains(result, "would take much more memory than the file has bytes"));
        EXPECT_TRUE(complains(result, "hint: models of 100,000 nodes are read"));
    }
    EXPECT_TRUE(complains(run("validate", "calls", doubling(18)), "error: at node \""));
}

}  // namespace
}  // namespace dmlconform::tests::model_memory_test
