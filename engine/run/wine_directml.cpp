// Finding what scripts/setup-directml has made.
#include "engine/run/wine_directml.h"

#include <cstdlib>
#include <filesystem>
#include <string_view>

namespace dmlconform::run {
namespace {

namespace fs = std::filesystem;

fs::path checkout() {
    const char* const named = std::getenv("DMLCONFORM_ROOT");
    return named != nullptr && *named != '\0' ? named : DMLCONFORM_ROOT;
}

/// Wine's name of a file: its drive Z is the whole file system here.
std::string windows_path(const std::string& path) {
    std::error_code error;
    const fs::path absolute = fs::absolute(path, error);
    return error ? path : "Z:" + absolute.string();
}

}  // namespace

core::Result<worker::WorkerCommand> wine_directml_command(const std::vector<std::string>& arguments) {
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

}  // namespace dmlconform::run
