// Files are looked for when a case is compiled, so that what is wrong with one is known before anything is compared.
#include "engine/outputs/outputs_engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "engine/cases/data_file_names.h"
#include "engine/core/text_file.h"
#include "engine/outputs/output_file.h"
#include "engine/worker/messages.h"

namespace dmlconform::outputs {
namespace {

namespace fs = std::filesystem;

class OutputsExecutable final : public Executable {
public:
    explicit OutputsExecutable(std::vector<std::optional<cases::Initialiser>> outputs) : outputs_(std::move(outputs)) {}

    core::Result<void> bind(std::span<const core::Tensor* const> /*inputs*/) override { return {}; }
    core::Result<void> execute() override { return {}; }

    core::Result<void> read(std::span<core::Tensor* const> outputs) override {
        for (std::size_t i = 0; i < outputs.size(); ++i) {
            if (outputs[i] == nullptr) {
                continue;
            }
            // Initialisers fill all of a tensor's memory, and this one has a guard behind it.
            core::Tensor filled(outputs[i]->desc);
            if (auto done = outputs_[i]->fill(filled); !done) {
                return done;
            }
            std::ranges::copy(filled.buffer.bytes(), outputs[i]->buffer.bytes().begin());
        }
        return {};
    }

    /// Returns 0: outputs are read from files, so no execution was timed here.
    [[nodiscard]] std::optional<std::chrono::nanoseconds> execute_time() const override {
        return std::chrono::nanoseconds(0);
    }

private:
    /// In the order of Descriptor::outputs(); nothing for an absent one.
    std::vector<std::optional<cases::Initialiser>> outputs_;
};

class OutputsEngine final : public Engine {
public:
    OutputsEngine(EngineInfo info, fs::path folder) : info_(std::move(info)), folder_(std::move(folder)) {}

    [[nodiscard]] const EngineInfo& info() const override { return info_; }

    void next_case(const std::string& id) override { case_ = id; }

    [[nodiscard]] std::optional<std::string> unsupported(const operators::Descriptor& /*descriptor*/) const override {
        return std::nullopt;
    }
    [[nodiscard]] std::optional<std::string> unsupported_graph(const operators::Descriptor& /*graph*/) const override {
        return std::nullopt;
    }

    [[nodiscard]] tl::expected<std::unique_ptr<Executable>, CompileFailure> compile(
        const operators::Descriptor& descriptor) override {
        std::vector<std::optional<cases::Initialiser>> outputs;
        const auto slots = descriptor.outputs();
        for (std::size_t i = 0; i < slots.size(); ++i) {
            if (slots[i].desc == nullptr) {
                outputs.emplace_back();
                continue;
            }
            auto output = find_output(folder_ / cases::case_folder_name(case_), descriptor, i);
            if (!output) {
                return tl::unexpected(broken(info_.name, output.error()));
            }
            outputs.emplace_back(std::move(*output));
        }
        return std::make_unique<OutputsExecutable>(std::move(outputs));
    }
    [[nodiscard]] tl::expected<std::unique_ptr<Executable>, CompileFailure> compile_graph(
        const operators::Descriptor& graph) override {
        return compile(graph);
    }

    [[nodiscard]] core::Result<std::unique_ptr<Engine>> another() const override {
        return std::make_unique<OutputsEngine>(info_, folder_);
    }

private:
    EngineInfo info_;
    fs::path folder_;
    std::string case_;
};

/// What engine.json says, if there is one.
core::Result<void> read_info(const fs::path& path, EngineInfo& info) {
    constexpr std::uintmax_t largest = std::uintmax_t{1} << 20;
    std::error_code error;
    if (!fs::exists(fs::symlink_status(path, error))) {
        return {};
    }
    const auto text = core::read_text_file(path, largest);
    if (!text) {
        return core::fail(fmt::format("{}: {}", path.generic_string(), text.error().message));
    }
    const auto object = nlohmann::json::parse(*text, nullptr, false);
    if (!object.is_object()) {
        return core::fail(fmt::format("{} is not a JSON object", path.generic_string()));
    }
    if (auto read = worker::read_device(object, info); !read) {
        return core::fail(fmt::format("{}: {}", path.generic_string(), read.error().message));
    }
    return {};
}

}  // namespace

core::Result<std::unique_ptr<Engine>> create_outputs_engine(const std::string& name, core::FeatureLevel feature_level) {
    const fs::path folder = name.substr(outputs_prefix.size());
    std::error_code error;
    if (folder.empty() || !fs::is_directory(folder, error)) {
        return core::fail(fmt::format("there is no folder \"{}\"", folder.generic_string()),
                          "`dmlconform export raw` writes what has to be computed");
    }
    EngineInfo info;
    info.name = name;
    info.feature_level = feature_level;
    if (auto read = read_info(folder / "engine.json", info); !read) {
        return tl::unexpected(std::move(read.error()));
    }
    return std::make_unique<OutputsEngine>(std::move(info), folder);
}

}  // namespace dmlconform::outputs
