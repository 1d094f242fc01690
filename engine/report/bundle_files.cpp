// Writes the files of one bundle.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "engine/cases/case_writer.h"
#include "engine/cases/corpus.h"
#include "engine/cases/data_file_names.h"
#include "engine/cases/json_text.h"
#include "engine/cases/npy_writer.h"
#include "engine/cases/recorded_case.h"
#include "engine/report/bundle.h"
#include "engine/report/command_line.h"
#include "engine/report/output_file.h"
#include "engine/run/runner.h"
#include "engine/worker/command_words.h"

namespace dmlconform::report {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

/// True if a word of the command, or what follows "=" in it, is a relative path of something that exists.
bool has_relative_paths(const std::string& command) {
    const auto words = command.empty() ? core::fail("") : worker::split_command(command);
    return words && std::ranges::any_of(*words, [](const std::string& word) {
               const fs::path path(word.substr(word.find('=') + 1));
               std::error_code error;
               return !path.empty() && path.is_relative() && fs::exists(path, error);
           });
}

class BundleFiles {
public:
    BundleFiles(fs::path folder, const BundleSettings& settings, const EngineInfo& engine,
                const run::CaseResult& result)
        : folder_(std::move(folder)), settings_(settings), engine_(engine), result_(result) {}

    core::Result<void> write(const RunContext& context) {
        if (auto written = write_evidence(); !written) {
            return written;
        }
        if (auto written = write_case(); !written) {
            return written;
        }
        if (auto written = write_text("command.txt", command_text(context)); !written) {
            return written;
        }
        return write_text("environment.json", cases::json_text(environment(context)) + "\n");
    }

    /// True if a file could not be written.
    [[nodiscard]] bool unwritten() const { return unwritten_; }

private:
    core::Result<void> write_at(const fs::path& path, const std::string& content) {
        auto written = write_file((folder_ / path).generic_string(), content);
        unwritten_ = unwritten_ || !written;
        return written;
    }

    core::Result<void> write_text(const std::string& name, const std::string& text) { return write_at(name, text); }

    core::Result<void> write_tensor(const std::string& what, const std::string& name, const core::Tensor& tensor) {
        bytes_ += std::max(tensor.desc.total_bytes, cases::data_file_bytes(tensor.desc));
        if (bytes_ > settings_.largest) {
            return core::fail(
                fmt::format("its tensors take more than {} bytes (--max-bundle-size)", settings_.largest));
        }
        std::error_code error;
        fs::create_directories(folder_ / what, error);
        if (error) {
            unwritten_ = true;
            return core::fail(fmt::format("{} cannot be made: {}", (folder_ / what).generic_string(), error.message()));
        }
        return write_at(fs::path(what) / cases::tensor_file_name(name, tensor.desc.data_type),
                        cases::data_file(tensor));
    }

    core::Result<void> write_tensors(const std::string& what, const std::vector<operators::TensorSlot>& slots,
                                     const std::vector<core::Tensor>& tensors) {
        for (std::size_t i = 0; i < slots.size() && i < tensors.size(); ++i) {
            if (slots[i].desc == nullptr || tensors[i].buffer.bytes().empty()) {
                continue;
            }
            if (auto written = write_tensor(what, slots[i].name, tensors[i]); !written) {
                return written;
            }
        }
        return {};
    }

    /// The bundle's case file, without ".json".
    [[nodiscard]] std::string stem() const {
        const std::string stem = cases::file_stem(result_.subject->id);
        const std::string file = bundle_name(stem, "json");
        return file == "environment.json" ? "environment-case" : file.substr(0, file.rfind('.'));
    }

    /// Where outputs go. Those that were computed elsewhere are judged again where `--outputs` looks for them.
    [[nodiscard]] std::string actual_folder() const {
        const std::string id = stem() + "/" + cases::case_name(result_.subject->id);
        return engine_.has_only_outputs() ? "outputs/" + cases::case_folder_name(id) : "actual";
    }

    /// What the run saw; or, when nothing was executed, at least the inputs.
    core::Result<void> write_evidence() {
        const operators::Descriptor& descriptor = *result_.subject->descriptor;
        if (result_.evidence != nullptr) {
            auto written = write_tensors("inputs", descriptor.inputs(), result_.evidence->inputs);
            written = written ? write_tensors("expected", descriptor.outputs(), result_.evidence->expected) : written;
            return written ? write_tensors(actual_folder(), descriptor.outputs(), result_.evidence->actual) : written;
        }
        const auto slots = descriptor.inputs();
        for (std::size_t i = 0; i < slots.size(); ++i) {
            if (slots[i].desc == nullptr || !result_.subject->inputs[i]) {
                continue;
            }
            if (slots[i].desc->total_bytes > settings_.largest) {
                return core::fail(
                    fmt::format("its tensors take more than {} bytes (--max-bundle-size)", settings_.largest));
            }
            core::Tensor tensor(*slots[i].desc);
            if (auto filled = result_.subject->inputs[i]->fill(tensor); !filled) {
                return filled;
            }
            if (auto written = write_tensor("inputs", slots[i].name, tensor); !written) {
                return written;
            }
        }
        return {};
    }

    core::Result<void> write_case() {
        cases::WriteOptions options;
        options.store = [&](std::string_view what, const std::string& name,
                            const core::Tensor& tensor) -> core::Result<std::string> {
            const std::string path = fmt::format("{}/{}", what, cases::tensor_file_name(name, tensor.desc.data_type));
            std::error_code error;
            if (!fs::exists(folder_ / path, error)) {
                if (auto written = write_tensor(std::string(what), name, tensor); !written) {
                    return tl::unexpected(written.error());
                }
            }
            return path;
        };
        // Another engine's outputs are not available elsewhere.
        const bool by_engine = std::any_of(result_.outputs.begin(), result_.outputs.end(),
                                           [](const run::OutputResult& output) { return !output.expected_by.empty(); });
        const cases::Case subject = by_engine && result_.evidence != nullptr
                                        ? cases::recorded_case(*result_.subject, result_.evidence->expected)
                                        : *result_.subject;
        const auto object = cases::case_to_json(subject, options);
        if (!object) {
            return tl::unexpected(object.error());
        }
        return write_text(stem() + ".json", cases::case_file_text("", {&*object, 1}));
    }

    /// The command that runs the bundle in which a shell is, from another folder.
    static std::string run_in_folder(const std::string& folder) {
#ifdef _WIN32
        return fmt::format("set bundle=%CD%\ncd /d {}\ndmlconform run \"%bundle%\"", folder);
#else
        return fmt::format("bundle=$PWD; cd {} && dmlconform run \"$bundle\"", folder);
#endif
    }

    [[nodiscard]] std::string command_text(const RunContext& context) const {
        std::string text =
            fmt::format("# in this folder; on the machine where it failed, with {} too\ndmlconform run . {}",
                        word_quoted("--adapter=" + engine_.adapter), engine_options(engine_, false));
        if (engine_.has_only_outputs()) {
            text = "# in this folder\ndmlconform judge . --outputs outputs";
        } else if (has_relative_paths(engine_.command)) {
            std::error_code error;
            text = fmt::format(
                "# in this folder, on the machine where it failed: relative paths in the engine's command begin at the "
                "folder of that run\n{} {}",
                run_in_folder(word_quoted(fs::current_path(error).generic_string())), engine_options(engine_, false));
        } else if (engine_.is_reference || !engine_.command.empty()) {
            text = fmt::format("# in this folder\ndmlconform run . {}", engine_options(engine_, false));
        }
        if (result_.subject->has_tag(run::unspecified_tag)) {
            text += " --include-unspecified";
        }
        for (const std::string& option : settings_.options) {
            text += " " + word_quoted(option);
        }
        text += "\n\n# the run in which it failed\n#";
        for (const std::string& word : context.command) {
            text += " " + word_quoted(word);
        }
        return text + "\n";
    }

    [[nodiscard]] ordered_json environment(const RunContext& context) const {
        ordered_json libraries = ordered_json::object();
        for (const auto& [name, version] : engine_.libraries) {
            libraries[name] = version;
        }
        ordered_json versions = ordered_json::object();
        for (const auto& [name, version] : context.versions) {
            versions[name] = version;
        }
        return {{std::string(cases::bundle_key), 1},
                {"case", result_.subject->id},
                {"file", result_.subject->file},
                {"status", run::to_string(result_.status)},
                {"reason", result_.reason},
                {"engine",
                 {{"name", engine_.name},
                  {"command", engine_.command},
                  {"adapter", engine_.adapter},
                  {"driver", engine_.driver},
                  {"featureLevel", core::to_string(engine_.feature_level)},
                  {"libraries", std::move(libraries)}}},
                {"versions", std::move(versions)},
                {"started", context.started},
                {"command", context.command}};
    }

    fs::path folder_;
    const BundleSettings& settings_;
    const EngineInfo& engine_;
    const run::CaseResult& result_;
    std::uint64_t bytes_ = 0;
    bool unwritten_ = false;
};

/// Creates a new folder, with a number appended if the name is taken.
core::Result<fs::path> fresh_folder(const fs::path& parent, const std::string& name) {
    constexpr int most_numbers = 10'000;
    for (int number = 1; number <= most_numbers; ++number) {
        const fs::path folder = parent / (number == 1 ? name : fmt::format("{}-{}", name, number));
        std::error_code error;
        if (fs::create_directory(folder, error)) {
            return folder;
        }
        if (error) {
            return core::fail(fmt::format("{} cannot be made: {}", folder.generic_string(), error.message()));
        }
    }
    return core::fail(fmt::format("there are {} bundles of that name in {}", most_numbers, parent.generic_string()));
}

}  // namespace

tl::expected<std::string, NoBundle> write_bundle(const BundleSettings& settings, const RunContext& context,
                                                 const EngineInfo& engine, const run::CaseResult& result) {
    const auto folder = fresh_folder(settings.folder, bundle_name(result.subject->id, engine.name));
    if (!folder) {
        return tl::unexpected(NoBundle{folder.error(), true});
    }
    BundleFiles files(*folder, settings, engine, result);
    if (const auto written = files.write(context); !written) {
        std::error_code ignored;
        fs::remove_all(*folder, ignored);
        return tl::unexpected(NoBundle{written.error(), files.unwritten()});
    }
    return folder->generic_string();
}

}  // namespace dmlconform::report
