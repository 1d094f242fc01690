// Which heading each option has, and which options most people need.
#include "app/help_headings.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <string_view>

namespace dmlconform::app {
namespace {

constexpr const char* first_heading = "Options that most people need";

struct Heading {
    const char* title;
    std::vector<std::string_view> options;
};

const std::vector<Heading>& headings() {
    static const std::vector<Heading> list{
        {"Cases", {"--filter", "--exclude", "--tag", "--allow-external-data", "--dim", "--input", "--input-seed"}},
        {"A case without a file", {"--sizes", "--strides", "--attr", "--type", "--batch"}},
        {"Random cases",
         {"--graph", "--seed", "--count", "--time", "--start", "--perturbed", "--extreme", "--no-reduce", "--print"}},
        {"Engines",
         {"--engine", "--adapter", "--feature-level", "--directml", "--execution-flag", "--precision", "--isolate",
          "--timeout", "--max-hangs", "--graph-mode", "--outputs", "--trust-bundle"}},
        {"What is expected",
         {"--against", "--record", "--expect", "--no-default-expectations", "--update-expectations",
          "--include-unspecified", "--strict", "--fail-on-skip"}},
        {"Order and limits",
         {"--jobs", "--shard", "--durations", "--rerun-failed", "--retries", "--repeat", "--shuffle", "--times",
          "--max-memory", "--fail-fast", "--max-failures", "--deadline"}},
        {"Comparison", {"--significance", "--force"}},
        {"Timing",
         {"--processes", "--cold", "--cpu-time", "--wall-time", "--time-budget", "--no-verify", "--no-roofline"}},
        {"Reports",
         {"--json", "--junit", "--html", "--summary", "--github", "--jsonl", "--bundle", "--max-bundles",
          "--max-bundle-size", "--output", "--quiet", "--verbose", "--no-color"}}};
    return list;
}

/// By command.
const std::map<std::string_view, std::vector<std::string_view>>& needed() {
    static const std::map<std::string_view, std::vector<std::string_view>> list{
        {"run",
         {"--filter", "--tag", "--engine", "--sizes", "--attr", "--expect", "--json", "--junit", "--rerun-failed",
          "--verbose"}},
        {"judge",
         {"--outputs", "--filter", "--tag", "--against", "--expect", "--json", "--junit", "--html", "--verbose"}},
        {"bench",
         {"--filter", "--tag", "--engine", "--sizes", "--attr", "--type", "--batch", "--processes", "--time-budget",
          "--cpu-time"}},
        {"fuzz",
         {"--engine", "--seed", "--count", "--time", "--max-failures", "--expect", "--bundle", "--json", "--junit",
          "--print"}},
        {"reduce", {"--filter", "--engine", "--against", "--time", "--output", "--trust-bundle"}},
        {"compare",
         {"--base", "--new", "--threshold", "--paired", "--history", "--allow-missing", "--json", "--markdown"}}};
    return list;
}

bool contains(const std::vector<std::string_view>& names, const std::string& name) {
    return std::ranges::find(names, name) != names.end();
}

std::string heading_of(const std::string& option) {
    for (const Heading& heading : headings()) {
        if (contains(heading.options, option)) {
            return heading.title;
        }
    }
    return "Other options";
}

/// "--jobs" for "-j,--jobs"; empty for positional arguments.
std::string name_of(const CLI::Option& option) {
    return option.get_lnames().empty() ? "" : "--" + option.get_lnames().front();
}

std::vector<CLI::Option*> options_of(CLI::App& command) {
    return command.get_options([](CLI::Option* /*any*/) { return true; });
}

void add_to(CLI::App& command, bool all) {
    const auto known = needed().find(command.get_name());
    if (known == needed().end()) {
        return;
    }
    std::size_t left_out = 0;
    for (CLI::Option* option : options_of(command)) {
        const std::string name = name_of(*option);
        if (name.empty()) {
            continue;
        }
        const bool first = contains(known->second, name) || name == "--help" || name == "--help-all";
        left_out += first ? 0 : 1;
        // CLI11 does not show options without a group.
        option->group(first ? first_heading : all ? heading_of(name) : "");
    }
    if (!all) {
        const std::string footer = command.get_footer();
        command.footer(fmt::format("{}{}{} more options: dmlconform {} --help-all", footer, footer.empty() ? "" : "\n",
                                   left_out, command.get_name()));
    }
}

}  // namespace

void add_help_headings(Command app, bool all) {
    // Subcommands of subcommands have few options.
    for (CLI::App* command : app.cli11().get_subcommands([](CLI::App* /*any*/) { return true; })) {
        if (options_of(*command).size() > most_without_headings) {
            command->set_help_all_flag("--help-all", "Print all options and exit");
            add_to(*command, all);
        }
    }
}

}  // namespace dmlconform::app
