// Nodes with equal descriptors are found by their texts. Data files come first, the case file that names them last.
#include "engine/report/written_nodes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <unordered_map>

#include "engine/cases/case_writer.h"
#include "engine/cases/npy_writer.h"
#include "engine/core/counted.h"
#include "engine/operators/graph.h"
#include "engine/operators/in_place.h"
#include "engine/report/output_file.h"
#include "engine/run/node_cases.h"

namespace dmlconform::report {
namespace {

namespace fs = std::filesystem;

/// Longer lists would hide what the case is about.
constexpr std::size_t most_inline_elements = 16;

std::string whole_text(const operators::Descriptor& descriptor) {
    std::string text = fmt::format("{}; {}", descriptor.schema->name, fmt::join(operators::to_lines(descriptor), ";"));
    for (const auto& [output, input] : operators::in_place_names(descriptor)) {
        text += fmt::format("; {} in {}", output, input);
    }
    return text;
}

/// The node's name, as far as a case file can hold it.
std::string unique_case_name(const std::string& node, std::set<std::string>& taken) {
    constexpr std::size_t most_characters = 200;
    std::string plain = cases::case_name("/" + node.substr(0, most_characters));
    plain.erase(0, plain.find_first_not_of('/'));
    plain = plain.empty() ? "node" : plain;
    std::string name = plain;
    for (std::size_t number = 2; !taken.insert(name).second; ++number) {
        name = fmt::format("{}-{}", plain, number);
    }
    return name;
}

class NodesWriter {
public:
    explicit NodesWriter(const std::string& path) : path_(path), folder_(path_.stem().generic_string() + "-data") {}

    [[nodiscard]] core::Result<WrittenNodes> write(const std::shared_ptr<const cases::Case>& whole,
                                                   const std::string& description) {
        collect(whole);
        std::vector<nlohmann::ordered_json> objects;
        for (Distinct& node : distinct_) {
            node.subject.description = core::counted(node.count, "node") + " of the graph";
            auto object = written_case(node.subject);
            if (!object) {
                return core::fail(fmt::format("{}: {}", node.subject.id, object.error().message), object.error().hint);
            }
            objects.push_back(std::move(*object));
            written_.nodes += node.count;
        }
        written_.cases = objects.size();
        if (!objects.empty()) {
            if (auto done = write_file(path_.generic_string(), cases::case_file_text(description, objects)); !done) {
                return tl::unexpected(done.error());
            }
        }
        return written_;
    }

private:
    struct Distinct {
        cases::Case subject;
        std::size_t count = 0;
    };

    void collect(const std::shared_ptr<const cases::Case>& whole) {
        const run::GraphCase graph_case(whole);
        const operators::Graph& graph = *whole->descriptor->graph;
        std::set<std::string> names;
        std::unordered_map<std::string, std::size_t> seen;
        for (const std::size_t n : graph.execution_order()) {
            const operators::GraphNode& node = graph.nodes[n];
            const auto [known, is_new] = seen.try_emplace(whole_text(*node.descriptor), distinct_.size());
            if (!is_new) {
                ++distinct_[known->second].count;
                continue;
            }
            const auto subject = graph_case.node(n);
            if (subject == nullptr) {
                seen.erase(known);
                written_.left_out.push_back(fmt::format("{} ({}): it, or a node before it, has no reference", node.name,
                                                        node.descriptor->schema->short_name()));
                continue;
            }
            distinct_.push_back({*subject, 1});
            distinct_.back().subject.id =
                fmt::format("{}/{}", path_.stem().generic_string(), unique_case_name(node.name, names));
        }
    }

    core::Result<nlohmann::ordered_json> written_case(const cases::Case& subject) {
        cases::WriteOptions options;
        options.most_inline = most_inline_elements;
        options.store = [&](std::string_view /*what*/, const std::string& name, const core::Tensor& tensor) {
            return store(cases::case_name(subject.id), name, tensor);
        };
        return cases::case_to_json(subject, options);
    }

    /// The path of the file relative to the case file.
    core::Result<std::string> store(const std::string& case_name, const std::string& tensor_name,
                                    const core::Tensor& tensor) {
        const fs::path folder = path_.parent_path() / folder_;
        std::error_code error;
        fs::create_directories(folder, error);
        if (error) {
            return core::fail(fmt::format("{} cannot be made: {}", folder.generic_string(), error.message()));
        }
        std::string stem = fmt::format("{}.{}", case_name, tensor_name);
        std::ranges::replace(stem, '/', '-');
        std::ranges::replace(stem, '[', '-');
        std::erase(stem, ']');
        const std::string_view ending = cases::data_file_ending(tensor.desc.data_type);
        std::string file = fmt::format("{}{}", stem, ending);
        for (std::size_t number = 2; !file_names_.insert(file).second; ++number) {
            file = fmt::format("{}-{}{}", stem, number, ending);
        }
        const std::string content = cases::data_file(tensor);
        if (auto done = write_file((folder / file).generic_string(), content); !done) {
            return tl::unexpected(done.error());
        }
        ++written_.files;
        written_.bytes += content.size();
        return fmt::format("{}/{}", folder_, file);
    }

    fs::path path_;
    /// Beside the case file.
    std::string folder_;
    std::set<std::string> file_names_;
    std::vector<Distinct> distinct_;
    WrittenNodes written_;
};

}  // namespace

core::Result<void> check_nodes_path(const std::string& path) {
    std::error_code error;
    const bool is_other = fs::exists(path, error) && !fs::is_regular_file(path, error);
    if (path.empty() || path == "-" || is_other) {
        return core::fail("the data of the cases lie beside their file, which needs a path of its own",
                          "-o FILE.json names one");
    }
    return check_writable(path);
}

core::Result<WrittenNodes> write_nodes(const std::shared_ptr<const cases::Case>& whole, const std::string& path,
                                       const std::string& description) {
    return NodesWriter(path).write(whole, description);
}

}  // namespace dmlconform::report
