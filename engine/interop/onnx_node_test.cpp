// Folders, and the messages in their files.
#include "engine/interop/onnx_node_test.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <exception>
#include <filesystem>
#include <string_view>

#include "engine/cases/case_file.h"
#include "engine/cases/case_writer.h"
#include "engine/core/text_file.h"
#include "engine/core/utf8.h"
#include "engine/interop/onnx_node.h"

namespace dmlconform::interop {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

constexpr std::uintmax_t largest_file = std::uintmax_t{64} << 20;

template <class Message>
core::Result<Message> parse(const fs::path& path) {
    const auto bytes = core::read_text_file(path, largest_file);
    if (!bytes) {
        return core::fail(fmt::format("{}: {}", path.filename().string(), bytes.error().message));
    }
    Message message;
    if (!message.ParseFromString(*bytes)) {
        return core::fail(fmt::format("{} is not such a message of ONNX", path.filename().string()));
    }
    return message;
}

/// The data must be of the type that the model declares: ONNX's tests have BFLOAT16, which NumPy does not know, as
/// UINT16 or FLOAT.
core::Result<void> check_type(const onnx::ValueInfoProto& declared, const onnx::TensorProto& data) {
    if (!declared.type().tensor_type().has_elem_type()) {
        return {};
    }
    const int type = declared.type().tensor_type().elem_type();
    if (const auto known = onnx_data_type(type); !known) {
        return tl::unexpected(known.error());
    }
    return type == data.data_type() ? core::Result<void>()
                                    : core::fail(fmt::format("the data are of ONNX's data type {}, the model says {}",
                                                             data.data_type(), type));
}

core::Result<OnnxTensor> read_tensor(const fs::path& path, const onnx::ValueInfoProto& declared, bool may_be_list) {
    const auto proto = parse<onnx::TensorProto>(path);
    if (!proto) {
        return tl::unexpected(proto.error());
    }
    const auto good = check_type(declared, *proto);
    auto tensor = good ? onnx_tensor(*proto, may_be_list) : tl::unexpected(good.error());
    return tensor ? std::move(tensor)
                  : core::fail(fmt::format("{}: {}", path.filename().string(), tensor.error().message));
}

/// The tensor called `name`: from the data set, in the order of the graph's inputs or outputs, or an initializer.
core::Result<std::optional<OnnxTensor>> find_tensor(const std::string& name, const onnx::GraphProto& graph,
                                                    const fs::path& data, bool output, bool may_be_list) {
    if (name.empty()) {
        return std::optional<OnnxTensor>();
    }
    const auto& values = output ? graph.output() : graph.input();
    for (int i = 0; i < values.size(); ++i) {
        if (values.Get(i).name() == name && values.Get(i).has_type() && !values.Get(i).type().has_tensor_type()) {
            return core::fail(
                fmt::format("\"{}\" is a sequence, a map or an optional value, not a tensor", core::shortened(name)));
        }
        const fs::path path = data / fmt::format("{}_{}.pb", output ? "output" : "input", i);
        std::error_code error;
        if (values.Get(i).name() == name && fs::is_regular_file(path, error)) {
            auto tensor = read_tensor(path, values.Get(i), may_be_list);
            return tensor ? core::Result<std::optional<OnnxTensor>>(std::move(*tensor))
                          : tl::unexpected(tensor.error());
        }
    }
    for (const onnx::TensorProto& initializer : graph.initializer()) {
        if (!output && initializer.name() == name) {
            auto tensor = onnx_tensor(initializer, may_be_list);
            return tensor ? core::Result<std::optional<OnnxTensor>>(std::move(*tensor))
                          : tl::unexpected(tensor.error());
        }
    }
    return core::fail(fmt::format("there are no data for \"{}\"", core::shortened(name)));
}

core::Result<OnnxNode> read_node(const onnx::ModelProto& model, const fs::path& data) {
    const onnx::GraphProto& graph = model.graph();
    if (graph.node_size() != 1) {
        return core::fail(fmt::format("the model has {} nodes, not one", graph.node_size()));
    }
    OnnxNode node;
    node.proto = &graph.node(0);
    const std::string& domain = node.proto->domain();
    const bool own = domain.empty() || domain == "ai.onnx";
    node.type = own ? node.proto->op_type() : fmt::format("{}.{}", domain, node.proto->op_type());
    for (const onnx::OperatorSetIdProto& set : model.opset_import()) {
        const bool same = own ? set.domain().empty() || set.domain() == "ai.onnx" : set.domain() == domain;
        node.opset = same ? set.version() : node.opset;
    }
    for (const bool output : {false, true}) {
        for (const std::string& name : output ? node.proto->output() : node.proto->input()) {
            // An input behind the first may be a list: axes, sizes.
            auto tensor = find_tensor(name, graph, data, output, !output && !node.inputs.empty());
            if (!tensor) {
                return tl::unexpected(tensor.error());
            }
            (output ? node.outputs : node.inputs).push_back(std::move(*tensor));
        }
    }
    return node;
}

/// Operators whose result is one of their elements, or a number that every type has: their default says what is right.
constexpr std::array<std::string_view, 34> exact_operators{"ACTIVATION_RELU",
                                                           "ACTIVATION_THRESHOLDED_RELU",
                                                           "CAST",
                                                           "DEPTH_TO_SPACE1",
                                                           "DIAGONAL_MATRIX",
                                                           "DIAGONAL_MATRIX1",
                                                           "ELEMENT_WISE_ABS",
                                                           "ELEMENT_WISE_CEIL",
                                                           "ELEMENT_WISE_CLIP",
                                                           "ELEMENT_WISE_CLIP1",
                                                           "ELEMENT_WISE_FLOOR",
                                                           "ELEMENT_WISE_IDENTITY",
                                                           "ELEMENT_WISE_IF",
                                                           "ELEMENT_WISE_MAX",
                                                           "ELEMENT_WISE_MIN",
                                                           "ELEMENT_WISE_NEGATE",
                                                           "ELEMENT_WISE_ROUND",
                                                           "ELEMENT_WISE_SIGN",
                                                           "FILL_VALUE_CONSTANT",
                                                           "GATHER",
                                                           "GATHER_ELEMENTS",
                                                           "GATHER_ND1",
                                                           "JOIN",
                                                           "MAX_UNPOOLING",
                                                           "ONE_HOT",
                                                           "PADDING1",
                                                           "REVERSE_SUBSEQUENCES",
                                                           "SCATTER",
                                                           "SCATTER_ND",
                                                           "SLICE1",
                                                           "SPACE_TO_DEPTH1",
                                                           "SPLIT",
                                                           "TILE",
                                                           "TOP_K1"};

/// With a name in front and, but for exact operators, the tolerance of ONNX's own runner behind: rtol 1e-3, atol 1e-7.
ordered_json complete(ordered_json mapped, const std::string& name, const std::string& description) {
    ordered_json object{{"name", name}, {"description", description}};
    object.update(mapped);
    const std::string op = mapped["operator"].get<std::string>().substr(std::string_view("DML_OPERATOR_").size());
    if (std::find(exact_operators.begin(), exact_operators.end(), op) != exact_operators.end()) {
        return object;
    }
    for (const auto& [field, desc] : mapped["desc"].items()) {
        if (mapped["expected"].contains(field) && desc["DataType"].get<std::string>().starts_with("FLOAT")) {
            object["tolerance"][field] = {{"rel", 1e-3}, {"abs", 1e-7}};
        }
    }
    return object;
}

/// What is wrong with it as a case, an illegal descriptor included; nothing if it is one.
std::string problem_of(const ordered_json& object) {
    const auto suite = cases::read_case_file("onnx.json", cases::case_file_text("", {&object, 1}));
    if (!suite.problems.empty()) {
        return suite.problems.front().message;
    }
    return suite.cases.size() == 1 ? "" : "it is not one case";
}

class TestReader {
public:
    void read(const fs::path& folder) {
        const std::string name = cases::case_name("onnx/" + folder.filename().string());
        const auto model = parse<onnx::ModelProto>(folder / "model.onnx");
        if (!model) {
            return leave_out(name, model.error().message);
        }
        std::size_t sets = 0;
        std::error_code error;
        while (fs::is_directory(folder / fmt::format("test_data_set_{}", sets), error)) {
            ++sets;
        }
        if (sets == 0) {
            return leave_out(name, "it has no test_data_set_0");
        }
        for (std::size_t set = 0; set < sets; ++set) {
            const std::string case_name = sets == 1 ? name : fmt::format("{}/{}", name, set);
            if (auto made = make_case(*model, folder / fmt::format("test_data_set_{}", set), case_name); !made) {
                leave_out(case_name, made.error().message);
            }
        }
    }

    Imported take() { return std::move(result_); }

private:
    void leave_out(const std::string& name, const std::string& reason) {
        result_.left_out.push_back(fmt::format("{}: {}", name, reason));
    }

    core::Result<void> make_case(const onnx::ModelProto& model, const fs::path& data, const std::string& name) {
        const auto node = read_node(model, data);
        if (!node) {
            return tl::unexpected(node.error());
        }
        auto mapped = map_node(*node);
        if (!mapped) {
            return tl::unexpected(mapped.error());
        }
        ordered_json object = complete(std::move(*mapped), name,
                                       fmt::format("ONNX {}, opset {}", core::shortened(node->type), node->opset));
        if (const std::string problem = problem_of(object); !problem.empty()) {
            return core::fail(problem);
        }
        result_.cases.push_back(std::move(object));
        return {};
    }

    Imported result_;
};

}  // namespace

core::Result<Imported> read_onnx_node_tests(const std::string& folder) {
    std::error_code error;
    if (!fs::is_directory(folder, error)) {
        return core::fail(fmt::format("{} is not a folder", folder));
    }
    // Without a separator at its end, so that it has a name.
    fs::path root = fs::path(folder).lexically_normal();
    root = root.has_filename() ? root : root.parent_path();
    std::vector<fs::path> tests;
    if (fs::exists(root / "model.onnx", error)) {
        tests.push_back(root);
    }
    for (fs::recursive_directory_iterator entry(root, error), end; !error && entry != end; entry.increment(error)) {
        if (entry->path().filename() == "model.onnx" && entry->path().parent_path() != root) {
            tests.push_back(entry->path().parent_path());
        }
    }
    if (tests.empty()) {
        return core::fail(fmt::format("there is no model.onnx in {} or below", folder),
                          "a node test is a folder with a model.onnx and test_data_set_0/");
    }
    std::sort(tests.begin(), tests.end());
    TestReader reader;
    for (const fs::path& test : tests) {
        reader.read(test);
    }
    return reader.take();
}

}  // namespace dmlconform::interop
