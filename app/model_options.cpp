// Reads models as case files.
#include "app/model_options.h"

#include <fmt/format.h>

#include <filesystem>
#include <limits>
#include <map>

#include "app/number_options.h"
#include "app/standard_streams.h"
#include "engine/core/utf8.h"
#include "engine/interop/model/model_case.h"
#if DMLCONFORM_HAS_DML_GRAPH
#include "engine/interop/dml_graph/dml_graph_case.h"
#endif

namespace dmlconform::app {
namespace {

using Cases = std::vector<std::shared_ptr<const cases::Case>>;
using Files = std::map<std::string, std::filesystem::path>;

[[maybe_unused]] core::Result<Files> input_files(const ModelFileOptions& options) {
    Files files;
    for (const std::string& text : options.inputs) {
        const std::size_t equals = text.find('=');
        if (equals == std::string::npos || equals == 0 || equals + 1 == text.size()) {
            return core::fail(fmt::format("--input {} does not give a file", core::shortened(text)),
                              "for example --input image=cat.npy");
        }
        files.insert_or_assign(text.substr(0, equals), text.substr(equals + 1));
    }
    return files;
}

core::Result<interop::ModelCaseOptions> case_options(const ModelFileOptions& options) {
    interop::ModelCaseOptions result;
    result.seed = options.seed;
    result.is_judged = options.is_judged;
    for (const std::string& text : options.dimensions) {
        const std::size_t equals = text.rfind('=');
        const auto size = equals == std::string::npos ? std::nullopt : parse_whole_number(text.substr(equals + 1));
        if (!size || *size < 1 || *size > std::numeric_limits<std::int32_t>::max()) {
            return core::fail(fmt::format("--dim {} does not give a size", core::shortened(text)),
                              "for example --dim batch=1");
        }
        result.dimensions.insert_or_assign(text.substr(0, equals), static_cast<std::uint32_t>(*size));
    }
    auto files = input_files(options);
    if (!files) {
        return tl::unexpected(files.error());
    }
    result.inputs = std::move(*files);
    return result;
}

void print_about(const std::string& file, const interop::ImportedModel& model) {
    constexpr std::size_t most_cuts = 20;
    for (const std::string& note : model.notes) {
        warn("dmlconform: note: {}: {}\n", file, note);
    }
    if (model.cuts.empty()) {
        return;
    }
    warn("dmlconform: note: {}: {} of {} nodes not judged:\n", file,
         model.needed_nodes - model.judged_nodes - model.folded_nodes, model.needed_nodes);
    for (std::size_t i = 0; i < std::min(model.cuts.size(), most_cuts); ++i) {
        warn("    {}\n", interop::cut_text(model.cuts[i]));
    }
    if (model.cuts.size() > most_cuts) {
        warn("    {} more\n", model.cuts.size() - most_cuts);
    }
}

core::Result<Cases> read_model(const ModelFileOptions& options, const std::filesystem::path& path) {
    const auto how = case_options(options);
    if (!how) {
        return tl::unexpected(how.error());
    }
    auto model = interop::read_model_case(path, *how);
    if (!model) {
        return tl::unexpected(model.error());
    }
    print_about(path.generic_string(), model->model);
    return Cases{model->subject};
}

#if DMLCONFORM_HAS_DML_GRAPH

core::Result<Cases> read_serialised_graph(const ModelFileOptions& options, const std::filesystem::path& path) {
    if (!options.dimensions.empty()) {
        return core::fail("a serialised graph has no dimensions without a size", "leave out --dim");
    }
    auto files = input_files(options);
    if (!files) {
        return tl::unexpected(files.error());
    }
    const auto graph = interop::read_dml_graph_case(path, {std::move(*files), options.seed});
    if (!graph) {
        return tl::unexpected(graph.error());
    }
    for (const std::string& note : graph->notes) {
        warn("dmlconform: note: {}: {}\n", path.generic_string(), note);
    }
    return Cases{graph->subject};
}

#else

core::Result<Cases> read_serialised_graph(const ModelFileOptions& /*options*/, const std::filesystem::path& /*path*/) {
    return core::fail("this program was built without FlatBuffers, with which serialised graphs are read");
}

#endif

}  // namespace

void ModelFileOptions::add_to(Command command) {
    command
        .add_option("--dim", dimensions,
                    "Of a model: the size of a dimension that it calls NAME. Default: 1. Repeat it for more")
        .type_name("NAME=SIZE")
        .allow_extra_args(false);
    command
        .add_option("--input", inputs,
                    "Of a model: a .npy or .pb file with the data of its input NAME. Default: test_data_set_0 beside "
                    "the model, otherwise random data. Repeat it for more")
        .type_name("NAME=FILE")
        .allow_extra_args(false);
    command.add_option("--input-seed", seed, "Of a model: the seed of random inputs. Default: 1")
        .type_name("N")
        .transform(whole_number(0, std::numeric_limits<std::uint32_t>::max()));
}

std::vector<cases::CaseFileKind> ModelFileOptions::kinds() const {
    return {{".onnx", [options = *this](const std::filesystem::path& path) { return read_model(options, path); }},
            {".bin",
             [options = *this](const std::filesystem::path& path) { return read_serialised_graph(options, path); }}};
}

std::vector<std::string> ModelFileOptions::words() const {
    std::vector<std::string> words;
    for (const std::string& option : dimensions) {
        words.push_back("--dim=" + option);
    }
    for (const std::string& option : inputs) {
        words.push_back("--input=" + option);
    }
    if (seed != 1) {
        words.push_back(fmt::format("--input-seed={}", seed));
    }
    return words;
}

}  // namespace dmlconform::app
