// Reads the folders and messages of node tests.
#include "engine/interop/onnx_node_test.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <string_view>
#include <utility>

#include "engine/cases/case_writer.h"
#include "engine/core/text_file.h"
#include "engine/core/utf8.h"
#include "engine/interop/onnx_model.h"
#include "engine/interop/onnx_node.h"

namespace dmlconform::interop {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t largest_file = std::uintmax_t{64} << 20;

/// FLOAT64 in TensorProto.DataType.
constexpr int double_number = 11;

template <class Message>
core::Result<Message> parse(const fs::path& path) {
    const auto bytes = core::read_text_file(path, largest_file);
    if (!bytes) {
        return core::fail(fmt::format("{}: {}", path.filename().string(), bytes.error().message));
    }
    Message message;
    if (!onnx::read_message(*bytes, message)) {
        return core::fail(fmt::format("{} is not such a message of ONNX", path.filename().string()));
    }
    return message;
}

/// The data must have the type that the model declares: ONNX's tests store BFLOAT16, which NumPy lacks, as UINT16 or
/// FLOAT.
core::Result<void> check_type(const onnx::ValueInfoProto& declared, const onnx::TensorProto& data) {
    if (!declared.type().tensor_type().elem_type.has()) {
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

/// The tensors of a data set and the initializers of a graph, by name.
class TestData {
public:
    TestData(const onnx::GraphProto& graph, fs::path folder) : graph_(graph), folder_(std::move(folder)) {
        for (int i = 0; i < graph.input.size(); ++i) {
            inputs_.try_emplace(graph.input(i).name(), i);
        }
        for (int i = 0; i < graph.output.size(); ++i) {
            outputs_.try_emplace(graph.output(i).name(), i);
        }
        for (int i = 0; i < graph.initializer.size(); ++i) {
            initializers_.try_emplace(graph.initializer(i).name(), i);
        }
    }

    /// The tensor `name`: from the data set, whose files follow the order of the graph's inputs or outputs, or an
    /// initializer. An input may be an empty list.
    [[nodiscard]] core::Result<OnnxTensor> find(const std::string& name, bool output) const {
        const Indices& indices = output ? outputs_ : inputs_;
        if (const auto found = indices.find(name); found != indices.end()) {
            const onnx::ValueInfoProto& value = output ? graph_.output(found->second) : graph_.input(found->second);
            if (value.type.has() && !value.type().tensor_type.has()) {
                return core::fail(fmt::format("\"{}\" is a sequence, a map or an optional value, not a tensor",
                                              core::shortened(name)));
            }
            const fs::path path = folder_ / fmt::format("{}_{}.pb", output ? "output" : "input", found->second);
            std::error_code error;
            if (fs::is_regular_file(path, error)) {
                return read_tensor(path, value, !output);
            }
        }
        const auto initializer = output ? initializers_.end() : initializers_.find(name);
        return initializer == initializers_.end()
                   ? core::fail(fmt::format("there are no data for \"{}\"", core::shortened(name)))
                   : onnx_tensor(graph_.initializer(initializer->second), true);
    }

    /// The tensors of a sequence or of an optional value of the data set.
    [[nodiscard]] core::Result<SequenceData> find_sequence(const std::string& name, bool output) const {
        const Indices& indices = output ? outputs_ : inputs_;
        const auto found = indices.find(name);
        if (found == indices.end()) {
            return core::fail(fmt::format("there are no data for \"{}\"", core::shortened(name)));
        }
        const onnx::TypeProto& type = (output ? graph_.output(found->second) : graph_.input(found->second)).type();
        const fs::path path = folder_ / fmt::format("{}_{}.pb", output ? "output" : "input", found->second);
        if (type.sequence_type.has()) {
            const auto sequence = parse<onnx::SequenceProto>(path);
            return sequence ? sequence_data(*sequence) : tl::unexpected(sequence.error());
        }
        if (!type.optional_type.has()) {
            return core::fail(
                fmt::format("\"{}\" is a map, or a value of another type that is not a tensor", core::shortened(name)));
        }
        const auto optional = parse<onnx::OptionalProto>(path);
        if (!optional) {
            return tl::unexpected(optional.error());
        }
        if (optional->sequence_value.has()) {
            return sequence_data(optional->sequence_value());
        }
        SequenceData data{false, optional->tensor_value.has(), {}};
        if (data.has_value) {
            auto tensor = onnx_tensor(optional->tensor_value(), false);
            if (!tensor) {
                return tl::unexpected(std::move(tensor.error()));
            }
            data.tensors.push_back(std::move(*tensor));
        }
        return data;
    }

private:
    static core::Result<SequenceData> sequence_data(const onnx::SequenceProto& sequence) {
        SequenceData data{true, true, {}};
        for (const onnx::TensorProto& proto : sequence.tensor_values()) {
            auto tensor = onnx_tensor(proto, false);
            if (!tensor) {
                return tl::unexpected(std::move(tensor.error()));
            }
            data.tensors.push_back(std::move(*tensor));
        }
        return data;
    }

    using Indices = std::map<std::string_view, int>;

    const onnx::GraphProto& graph_;
    fs::path folder_;
    Indices inputs_;
    Indices outputs_;
    Indices initializers_;
};

class TestReader {
public:
    void read(const fs::path& folder) {
        const std::string name = cases::case_name("onnx/" + folder.filename().string());
        const auto model = parse<onnx::ModelProto>(folder / "model.onnx");
        result_.files.push_back((folder / "model.onnx").string());
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
            const fs::path data = folder / fmt::format("test_data_set_{}", set);
            add_files_of(data);
            if (auto made = make_cases(*model, data, case_name); !made) {
                leave_out(case_name, made.error().message);
            }
        }
    }

    Imported take() { return std::move(result_); }

private:
    void add_files_of(const fs::path& data_set) {
        std::error_code error;
        for (fs::directory_iterator entry(data_set, error), end; !error && entry != end; entry.increment(error)) {
            if (entry->path().extension() == ".pb") {
                result_.files.push_back(entry->path().string());
            }
        }
    }

    void leave_out(const std::string& name, const std::string& reason) {
        result_.left_out.push_back(fmt::format("{}: {}", name, reason));
    }

    static bool has_doubles(const onnx::GraphProto& graph) {
        return std::ranges::any_of(graph.input(), [](const onnx::ValueInfoProto& input) {
            return input.type().tensor_type().elem_type() == double_number;
        });
    }

    /// With `rounds`, FLOAT64 is rounded to FLOAT32 in the data: DirectML computes few operators in FLOAT64.
    static core::Result<std::vector<nlohmann::ordered_json>> cases_of(const onnx::ModelProto& model,
                                                                      const TestData& tensors, const std::string& name,
                                                                      bool rounds) {
        const auto find = [&](const std::string& tensor, bool output) {
            auto found = tensors.find(tensor, output);
            return found && rounds ? with_rounded_doubles(std::move(*found)) : found;
        };
        auto made = model_cases(model, name, find, [&](const std::string& value, bool output) {
            return tensors.find_sequence(value, output);
        });
        for (std::size_t i = 0; made && rounds && i < made->size(); ++i) {
            nlohmann::ordered_json& description = (*made)[i]["description"];
            description = description.get<std::string>() + ", FLOAT64 rounded to FLOAT32";
        }
        return made;
    }

    core::Result<void> make_cases(const onnx::ModelProto& model, const fs::path& data, const std::string& name) {
        const TestData tensors(model.graph(), data);
        auto made = cases_of(model, tensors, name, false);
        if (!made && has_doubles(model.graph())) {
            if (auto rounded = cases_of(model, tensors, name, true)) {
                made = std::move(rounded);
            }
        }
        if (!made) {
            return tl::unexpected(made.error());
        }
        std::move(made->begin(), made->end(), std::back_inserter(result_.cases));
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
    // Without a trailing separator, so that the path has a file name.
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
    if (error) {
        return core::fail(fmt::format("the folder {} cannot be read: {}", folder, error.message()));
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
