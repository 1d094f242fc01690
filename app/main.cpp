// dmlconform's command line: subcommands, help, and the exit code for usage errors.
#include <fmt/format.h>

#include <exception>
#include <new>

#include "app/command.h"
#include "engine/cases/problems.h"

namespace {

using dmlconform::app::Invocation;

std::string version_text() {
    std::string text;
    for (const auto& [name, version] : dmlconform::app::versions()) {
        text += fmt::format("{} {}\n", name, version);
    }
    text.pop_back();
    return text;
}

constexpr const char* general_hint = "`dmlconform --help` and `dmlconform COMMAND --help` list what there is";

/// What is wrong with the command line, and what may have been meant.
void print_usage_error(const CLI::App& app, const CLI::ParseError& error, int argc, char** argv) {
    std::string message = error.what();
    std::string hint;
    if (app.get_subcommands().empty() && argc > 1 && argv[1][0] != '-') {
        // CLI11 only says that a subcommand is required.
        std::vector<std::string> names;
        for (const CLI::App* command : app.get_subcommands(nullptr)) {
            names.push_back(command->get_name());
        }
        message = fmt::format("there is no command \"{}\"", argv[1]);
        hint = dmlconform::cases::suggestion(argv[1], names);
    }
    fmt::print(stderr, "dmlconform: {}\n    hint: {}\n", message, hint.empty() ? general_hint : hint);
}

int run(int argc, char** argv) {
    CLI::App app{"Conformance and benchmarks for DirectML operators", "dmlconform"};
    app.set_version_flag("--version", version_text(), "Versions of the program and of everything linked into it");
    app.require_subcommand(1);
    app.get_formatter()->column_width(34);
    app.footer(
        "Exit codes: 0 everything as expected, 1 unexpected results, 2 usage or input error, 3 the run could not be "
        "done.\n"
        "`dmlconform COMMAND --help` tells more.");

    const Invocation invocation{{argv, argv + argc}};
    int exit_code = dmlconform::app::exit_ok;
    dmlconform::app::add_run_command(app, invocation, exit_code);
    dmlconform::app::add_list_command(app, exit_code);
    dmlconform::app::add_adapters_command(app, exit_code);
    dmlconform::app::add_describe_command(app, exit_code);
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        if (error.get_exit_code() == 0) {
            return app.exit(error);  // --help, --version
        }
        print_usage_error(app, error, argc, argv);
        return dmlconform::app::exit_usage;
    }
    return exit_code;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        return run(argc, argv);
    } catch (const std::bad_alloc&) {
        fmt::print(stderr, "dmlconform: out of memory\n");
    } catch (const std::exception& error) {
        fmt::print(stderr, "dmlconform: internal error: {}\n", error.what());
    }
    return dmlconform::app::exit_not_run;
}
