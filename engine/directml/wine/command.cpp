// Finds the files that scripts/setup-directml has made.
#include "engine/directml/wine/command.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string_view>

namespace dmlconform::directml::wine {
namespace {

namespace fs = std::filesystem;

fs::path checkout() {
    const char* const named = std::getenv("DMLCONFORM_ROOT");
    return named != nullptr && *named != '\0' ? named : DMLCONFORM_ROOT;
}

/// Wine's name of a file: its drive Z is the root of the file system.
std::string windows_path(const std::string& path) {
    std::error_code error;
    const fs::path absolute = fs::absolute(path, error);
    return error ? path : "Z:" + absolute.string();
}

/// Empty if the engine does not list the library.
std::string version_of(std::string_view library, const EngineInfo& engine) {
    const auto found = std::find_if(engine.libraries.begin(), engine.libraries.end(),
                                    [&](const auto& entry) { return entry.first == library; });
    return found == engine.libraries.end() ? std::string() : found->second;
}

/// "1.15.4" for "1.15.4.0". Empty if the text is not a version, because it becomes part of a path.
std::string first_three_numbers(const std::string& version) {
    if (version.find_first_not_of("0123456789.") != std::string::npos) {
        return {};
    }
    std::size_t end = 0;
    for (int number = 0; number < 3 && end != std::string::npos; ++number) {
        end = version.find('.', end == 0 ? 0 : end + 1);
    }
    return version.substr(0, end);
}

}  // namespace

std::optional<std::string> default_expectations(const EngineInfo& engine) {
    const std::string version = first_three_numbers(version_of("DirectML", engine));
    if (engine.name != "directml" || version.empty() || version_of("Wine", engine).empty()) {
        return std::nullopt;
    }
    const fs::path file = checkout() / "cases/expectations" / ("directml-" + version + "-wine.json");
    std::error_code error;
    if (!fs::exists(file, error)) {
        return std::nullopt;
    }
    // The path relative to the current folder if that is shorter.
    const fs::path near = fs::proximate(file, error);
    return (error || near.begin()->string() == ".." ? file : near).string();
}

core::Result<worker::WorkerCommand> worker_command(const std::vector<std::string>& arguments) {
    const fs::path root = checkout();
    std::error_code error;
    if (!fs::exists(root / "build/directml/ready", error)) {
        return core::fail("DirectML is not set up here",
                          "run " + (root / "scripts/setup-directml").string() + ", which installs what it needs");
    }
    worker::WorkerCommand command;
    command.argv = {(root / "scripts/directml").string(), "worker", "--engine", "directml"};
    constexpr std::string_view library = "--directml=";
    for (const std::string& argument : arguments) {
        command.argv.push_back(argument.starts_with(library)
                                   ? std::string(library) + windows_path(argument.substr(library.size()))
                                   : argument);
    }
    return command;
}

}  // namespace dmlconform::directml::wine
