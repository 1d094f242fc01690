// Folders, and the messages in their files.
#include "engine/interop/onnx_node_test.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <filesystem>
#include <iterator>

#include "engine/cases/case_writer.h"
#include "engine/core/text_file.h"
#include "engine/core/utf8.h"
#include "engine/interop/onnx_model.h"

namespace dmlconform::interop {
namespace {

namespace fs = std::filesystem;

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

/// The tensor called `name`: from the data set, in the order of the graph's inputs or outputs, or an initializer. An
/// input may be an empty list.
core::Result<OnnxTensor> find_tensor(const std::string& name, const onnx::GraphProto& graph, const fs::path& data,
                                     bool output) {
    const auto& values = output ? graph.output() : graph.input();
    for (int i = 0; i < values.size(); ++i) {
        if (values.Get(i).name() == name && values.Get(i).has_type() && !values.Get(i).type().has_tensor_type()) {
            return core::fail(
                fmt::format("\"{}\" is a sequence, a map or an optional value, not a tensor", core::shortened(name)));
        }
        const fs::path path = data / fmt::format("{}_{}.pb", output ? "output" : "input", i);
        std::error_code error;
        if (values.Get(i).name() == name && fs::is_regular_file(path, error)) {
            return read_tensor(path, values.Get(i), !output);
        }
    }
    for (const onnx::TensorProto& initializer : graph.initializer()) {
        if (!output && initializer.name() == name) {
            return onnx_tensor(initializer, true);
        }
    }
    return core::fail(fmt::format("there are no data for \"{}\"", core::shortened(name)));
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
            if (auto made = make_cases(*model, folder / fmt::format("test_data_set_{}", set), case_name); !made) {
                leave_out(case_name, made.error().message);
            }
        }
    }

    Imported take() { return std::move(result_); }

private:
    void leave_out(const std::string& name, const std::string& reason) {
        result_.left_out.push_back(fmt::format("{}: {}", name, reason));
    }

    core::Result<void> make_cases(const onnx::ModelProto& model, const fs::path& data, const std::string& name) {
        auto made = model_cases(model, name, [&](const std::string& tensor, bool output) {
            return find_tensor(tensor, model.graph(), data, output);
        });
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
