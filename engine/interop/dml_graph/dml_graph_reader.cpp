// Connects the nodes of a file by the names of their tensors.
#include "engine/interop/dml_graph/dml_graph_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "engine/cases/sources/sources.h"
#include "engine/core/text_file.h"
#include "engine/core/utf8.h"
#include "engine/interop/dml_graph/stored_operator.h"
#include "engine/interop/neighbour_file.h"
#include "engine/interop/plain_names.h"
#include "engine/operators/graph_rules.h"

namespace dmlconform::interop {
namespace {

namespace fs = std::filesystem;

std::string in_quotes(std::string_view name) {
    return fmt::format("\"{}\"", core::shortened(std::string(name), 60));
}

/// The number of bytes up to the end of the last element. The descriptor is legal.
std::uint64_t bytes_seen(const core::TensorDesc& desc) {
    return core::bytes_of(desc.data_type, *core::addressed_extent(desc));
}

/// Describes the memory of an input: as one of its readers does if that one sees all of it without gaps, otherwise as a
/// list of elements. Readers describe the bytes themselves.
core::TensorDesc desc_for(const std::vector<const core::TensorDesc*>& readers) {
    std::uint64_t bytes = 0;
    for (const core::TensorDesc* reader : readers) {
        bytes = std::max(bytes, bytes_seen(*reader));
    }
    for (const core::TensorDesc* reader : readers) {
        if (bytes_seen(*reader) == bytes && core::is_packed(*reader)) {
            return core::TensorDesc::packed(reader->data_type, reader->sizes);
        }
    }
    const core::DataType type = readers.front()->data_type;
    const std::uint64_t bits = core::bits_of(type);
    const std::uint64_t count = (bytes * 8 + bits - 1) / bits;
    return core::TensorDesc::packed(type, {static_cast<std::uint32_t>(std::min<std::uint64_t>(count, 0xffffffff))});
}

class DmlGraphReader {
public:
    DmlGraphReader(const StoredGraph& file, const fs::path& path) : file_(file), path_(path) {}

    core::Result<DmlGraph> read() {
        for (const auto step : {&DmlGraphReader::read_nodes, &DmlGraphReader::connect, &DmlGraphReader::add_inputs,
                                &DmlGraphReader::add_outputs}) {
            if (auto done = (this->*step)(); !done) {
                return tl::unexpected(done.error());
            }
        }
        if (const auto verdict = operators::validate_graph(graph_, core::highest_feature_level)) {
            return core::fail(fmt::format("the graph is illegal: {} [{}]", verdict->message, verdict->rule));
        }
        result_.graph = std::make_shared<const operators::Graph>(std::move(graph_));
        return std::move(result_);
    }

private:
    /// An input of the graph or a constant.
    struct Source {
        /// Null for an input.
        const stored::Constant* constant = nullptr;
        std::string name;
        operators::ValueIndex value = operators::no_value;
        std::vector<const core::TensorDesc*> readers = {};
    };

    core::Result<void> read_nodes() {
        const auto* nodes = file_.root().nodes();
        for (std::uint32_t i = 0; nodes != nullptr && i < nodes->size(); ++i) {
            const stored::Node& node = *nodes->Get(i);
            const auto name = stored_name(node.name(), "its name");
            auto done = name ? read_node(node, std::string(*name)) : tl::unexpected(name.error());
            if (!done) {
                return core::fail(
                    fmt::format("node {}{}: {}", i, name ? ", " + in_quotes(*name) : "", done.error().message),
                    done.error().hint);
            }
        }
        return {};
    }

    core::Result<void> read_node(const stored::Node& node, const std::string& name) {
        if (const auto* constant = node.kind_as_Constant()) {
            return read_constant(node, name, *constant);
        }
        const auto* stored = node.kind_as_Operator();
        if (stored == nullptr) {
            return core::fail("it is neither an operator nor a constant");
        }
        auto read = read_stored_operator(file_, node, *stored);
        if (!read) {
            return tl::unexpected(read.error());
        }
        auto descriptor = std::make_shared<const operators::Descriptor>(std::move(read->descriptor));
        if (const auto rejection = operators::validate(*descriptor, core::highest_feature_level)) {
            return core::fail(
                fmt::format("{} is illegal: {} [{}]", descriptor->schema->name, rejection->message, rejection->rule));
        }
        operators::GraphNode put{node_names_.unique(name), descriptor, {}, {}};
        const auto slots = descriptor->outputs();
        for (std::size_t i = 0; i < slots.size(); ++i) {
            put.outputs.push_back(operators::no_value);
            if (slots[i].desc == nullptr) {
                continue;
            }
            put.outputs.back() = graph_.values.size();
            if (auto done = add_name(read->outputs[i], graph_.values.size()); !done) {
                return done;
            }
            graph_.values.push_back({value_names_.unique(std::string(read->outputs[i])), *slots[i].desc,
                                     operators::GraphValue::Producer{graph_.nodes.size(), i}, false});
        }
        graph_.nodes.push_back(std::move(put));
        input_names_.push_back(std::move(read->inputs));
        return {};
    }

    core::Result<void> add_name(std::string_view name, operators::ValueIndex value) {
        if (sources_.contains(name) || !computed_.emplace(name, value).second) {
            return core::fail(fmt::format("{} is computed twice", in_quotes(name)));
        }
        return {};
    }

    core::Result<void> read_constant(const stored::Node& node, const std::string& name,
                                     const stored::Constant& constant) {
        if (node.outputs() == nullptr || node.outputs()->size() != 1) {
            return core::fail("a constant has one output");
        }
        const auto output = file_.name_at(*node.outputs(), 0);
        if (!output) {
            return tl::unexpected(output.error());
        }
        if (computed_.contains(*output) || !sources_.emplace(*output, Source{&constant, name}).second) {
            return core::fail(fmt::format("{} is computed twice", in_quotes(*output)));
        }
        constants_.push_back(*output);
        return {};
    }

    /// Gives each input of each node its value.
    core::Result<void> connect() {
        const auto* inputs = file_.root().inputs();
        for (std::uint32_t i = 0; inputs != nullptr && i < inputs->size(); ++i) {
            const auto name = file_.name_at(*inputs, i);
            if (!name) {
                return tl::unexpected(name.error());
            }
            if (name->empty()) {
                continue;
            }
            if (computed_.contains(*name) || !sources_.emplace(*name, Source{nullptr, std::string(*name)}).second) {
                return core::fail(fmt::format("input {} of the graph is there twice", in_quotes(*name)));
            }
            inputs_.push_back(*name);
        }
        for (std::size_t n = 0; n < graph_.nodes.size(); ++n) {
            operators::GraphNode& node = graph_.nodes[n];
            const auto slots = node.descriptor->inputs();
            for (std::size_t i = 0; i < slots.size(); ++i) {
                const auto value = slots[i].desc == nullptr ? core::Result<operators::ValueIndex>(operators::no_value)
                                                            : value_of(input_names_[n][i], *slots[i].desc);
                if (!value) {
                    return core::fail(
                        fmt::format("node {}: {}: {}", in_quotes(node.name), slots[i].name, value.error().message));
                }
                node.inputs.push_back(*value);
            }
        }
        return {};
    }

    core::Result<operators::ValueIndex> value_of(std::string_view name, const core::TensorDesc& desc) {
        if (const auto computed = computed_.find(name); computed != computed_.end()) {
            return computed->second;
        }
        const auto source = sources_.find(name);
        if (source == sources_.end()) {
            return core::fail(fmt::format("no node computes {}, and it is not an input of the graph", in_quotes(name)));
        }
        if (source->second.value == operators::no_value) {
            source->second.value = graph_.values.size();
            graph_.values.push_back(
                {value_names_.unique(source->second.name), {}, std::nullopt, source->second.constant != nullptr});
        }
        source->second.readers.push_back(&desc);
        return source->second.value;
    }

    core::Result<void> add_inputs() {
        std::vector<std::string_view> order = inputs_;
        order.insert(order.end(), constants_.begin(), constants_.end());
        for (const std::string_view name : order) {
            const Source& source = sources_.at(name);
            if (source.value == operators::no_value) {
                if (source.constant == nullptr) {
                    result_.notes.push_back(fmt::format("no node reads input {}", in_quotes(source.name)));
                }
                continue;
            }
            core::TensorDesc& desc = graph_.values[source.value].desc;
            desc = desc_for(source.readers);
            DmlGraphInput input{source.name, std::nullopt};
            if (source.constant != nullptr) {
                auto data = constant_data(*source.constant, desc);
                if (!data) {
                    return core::fail(fmt::format("constant {}: {}", in_quotes(source.name), data.error().message),
                                      data.error().hint);
                }
                input.data = std::move(*data);
            }
            graph_.inputs.push_back(source.value);
            result_.inputs.push_back(std::move(input));
        }
        return {};
    }

    core::Result<cases::Initialiser> constant_data(const stored::Constant& constant, const core::TensorDesc& desc) {
        const auto count = core::element_count(desc.sizes);
        const std::uint64_t needed = core::bytes_of(desc.data_type, count.value_or(0));
        if (const auto* stored = constant.data_as_ConstantBytes()) {
            const std::uint64_t size = stored->bytes() == nullptr ? 0 : stored->bytes()->size();
            if (size < needed) {
                return core::fail(fmt::format("it has {} bytes, and its readers need {}", size, needed));
            }
            const auto* bytes = reinterpret_cast<const std::byte*>(stored->bytes()->data());
            return cases::given_elements({bytes, bytes + needed});
        }
        const auto* file = constant.data_as_ConstantFile();
        const auto name = file == nullptr ? core::fail("it has no data") : stored_name(file->name(), "its file's name");
        if (!name) {
            return tl::unexpected(name.error());
        }
        return file_data(std::string(*name) + ".bin", needed);
    }

    core::Result<cases::Initialiser> file_data(const std::string& name, std::uint64_t needed) {
        const auto path = neighbour_file(name, path_, "its file");
        if (!path) {
            return tl::unexpected(path.error());
        }
        if (const auto stream = core::open_regular_file(*path, std::numeric_limits<std::uintmax_t>::max()); !stream) {
            return core::fail(fmt::format("{}: {}", in_quotes(name), stream.error().message),
                              "ONNX Runtime writes constants beside the graph");
        }
        std::error_code error;
        const std::uintmax_t size = fs::file_size(*path, error);
        if (error || size < needed) {
            return core::fail(
                fmt::format("{} has {} bytes, and its readers need {}", in_quotes(name), error ? 0 : size, needed));
        }
        return cases::Initialiser(cases::file_elements(*path, 0));
    }

    core::Result<void> add_outputs() {
        const auto* outputs = file_.root().outputs();
        std::unordered_set<operators::ValueIndex> taken;
        for (std::uint32_t i = 0; outputs != nullptr && i < outputs->size(); ++i) {
            const auto name = file_.name_at(*outputs, i);
            if (!name) {
                return tl::unexpected(name.error());
            }
            const auto computed = computed_.find(*name);
            if (computed == computed_.end()) {
                return core::fail(fmt::format("no node computes output {} of the graph", in_quotes(*name)));
            }
            if (!taken.insert(computed->second).second) {
                return core::fail(fmt::format("output {} of the graph is there twice", in_quotes(*name)));
            }
            graph_.outputs.push_back(computed->second);
            result_.outputs.emplace_back(*name);
        }
        return {};
    }

    const StoredGraph& file_;
    const fs::path& path_;
    operators::Graph graph_;
    DmlGraph result_;
    PlainNames node_names_;
    PlainNames value_names_;
    /// For each node of the graph, the names of its inputs.
    std::vector<std::vector<std::string_view>> input_names_;
    std::unordered_map<std::string_view, operators::ValueIndex> computed_;
    std::unordered_map<std::string_view, Source> sources_;
    /// Names of the file's inputs and constants, in its order.
    std::vector<std::string_view> inputs_;
    std::vector<std::string_view> constants_;
};

}  // namespace

core::Result<DmlGraph> read_dml_graph(const fs::path& path) {
    const auto file = StoredGraph::read(path);
    return file ? DmlGraphReader(*file, path).read() : tl::unexpected(file.error());
}

}  // namespace dmlconform::interop
