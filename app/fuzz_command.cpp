// `dmlconform fuzz`: random cases on several engines.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <random>

#include "app/bundle_options.h"
#include "app/command.h"
#include "app/engine_choice.h"
#include "app/expectation_options.h"
#include "app/interrupt.h"
#include "app/messages.h"
#include "app/number_options.h"
#include "app/run_outputs.h"
#include "app/standard_streams.h"
#include "app/terminal.h"
#include "engine/cases/case_writer.h"
#include "engine/cpu/reference.h"
#include "engine/fuzz/failure_groups.h"
#include "engine/fuzz/fuzzer.h"
#include "engine/fuzz/random_graph.h"
#include "engine/fuzz/reducer.h"
#include "engine/report/command_line.h"
#include "engine/report/console_report.h"

namespace dmlconform::app {
namespace {

using Clock = std::chrono::steady_clock;

struct FuzzOptions {
    std::vector<std::string> operators;
    EngineChoice engines;
    std::optional<std::uint64_t> seed;
    std::uint64_t start = 0;
    std::uint64_t count = 0;
    std::optional<double> seconds;
    std::uint32_t perturbed = 20;
    std::uint32_t extreme = 10;
    std::uint64_t max_failures = 10;
    BundleOptions bundles;
    RunOutputOptions outputs;
    ExpectationOptions expectations;
    bool no_reduce = false;
    bool print = false;
    /// Graphs of random operators instead of the operators themselves.
    bool graphs = false;
};

/// The duration without --time and --count.
constexpr double default_seconds = 10;

/// Time limit for reducing a failure that gets a bundle.
constexpr std::chrono::seconds reduce_time{5};

std::optional<std::vector<const operators::OperatorSchema*>> chosen_operators(const FuzzOptions& options,
                                                                              const Engines* engines) {
    std::vector<const operators::OperatorSchema*> schemas;
    for (const std::string& name : options.operators) {
        const operators::OperatorSchema* schema = operators::find_operator(name);
        if (schema == nullptr) {
            print_error(unknown_operator(name));
            return std::nullopt;
        }
        schemas.push_back(schema);
    }
    if (!schemas.empty()) {
        return schemas;
    }
    // Operators that can be compared: those with a reference, and others if two engines might support them.
    const auto others =
        engines == nullptr ? 0 : std::count_if(engines->begin(), engines->end(), [](const auto& engine) {
            return !engine->info().is_reference && engine->info().name != "d3d12";
        });
    for (const std::string& name : operators::operator_names()) {
        const operators::OperatorSchema* schema = operators::find_operator(name);
        if (cpu::has_reference(*schema) || others > 1) {
            schemas.push_back(schema);
        }
    }
    return schemas;
}

/// The command that generates the case again and runs it on the same engines, one of which may provide the expected
/// values.
std::string command_of(const FuzzOptions& options, std::uint64_t seed, const Engines& engines,
                       const std::string& program, const cases::Case& subject) {
    const std::string& id = subject.id;
    const std::string_view what = options.graphs ? "--graph" : subject.descriptor->schema->short_name();
    std::string command = fmt::format("{} fuzz {} --seed {} --start {} --count 1 --perturbed {} --extreme {}",
                                      report::word_quoted(program), what, seed, id.substr(id.rfind('-') + 1),
                                      options.perturbed, options.extreme);
    command += " " + report::engines_options(infos_of(engines));
    for (const auto& words : {options.engines.words(), options.expectations.words()}) {
        for (const std::string& word : words) {
            command += " " + report::word_quoted(word);
        }
    }
    return command;
}

class ConsoleFuzzObserver final : public fuzz::FuzzObserver {
public:
    ConsoleFuzzObserver(const FuzzOptions& options, std::uint64_t seed, const Engines& engines,
                        run::ExpectedResults& expected, const report::RunContext& context, RunOutputs& outputs)
        : options_(options),
          seed_(seed),
          engines_(engines),
          expected_(expected),
          context_(context),
          outputs_(outputs),
          totals_(infos_of(engines)),
          style_(use_color(false)),
          show_progress_(shows_progress()) {}

    /// Prints the first failure of each kind. The others are counted.
    void on_failure(const fuzz::Failure& failure) override {
        if (!groups_.add(failure)) {
            return;
        }
        clear_progress();
        const EngineInfo& info = engines_[failure.engine]->info();
        say("{} {} on {}: {}\n",
            style_.status(failure.result.status, core::show("{}", run::to_string(failure.result.status))),
            failure.subject->id, info.name, failure.result.reason);
        print(report::comparison_lines(failure.result));
        if (!failure.subject->description.empty()) {
            say("  {}\n", failure.subject->description);
        }
        say("  again: {}\n", again_command(*failure.subject));
        write_bundle(failure);
        std::fflush(stdout);
    }

    void on_case(std::span<const run::CaseResult> results) override {
        if (!outputs_.any()) {
            return;
        }
        for (const run::CaseResult& result : results) {
            totals_.add(result);
            outputs_.add(result);
        }
        totals_.add_case(results);
    }

    /// Finishes the reports. The exit code.
    [[nodiscard]] int finish_outputs(int exit_code) {
        totals_.duration = Clock::now() - start_;
        outputs_.finish_reports(totals_, exit_code);
        return outputs_.finish_result(totals_, exit_code);
    }

    /// For each kind with several failures, prints their number and the smallest case.
    void print_groups() const {
        for (const fuzz::FailureGroup* group : groups_.all()) {
            if (group->count > 1) {
                const cases::Case& smallest = *group->smallest;
                say("{} failures of this kind: {} on {}: {}\n  the smallest: {}\n  again: {}\n", group->count,
                    smallest.descriptor->schema->short_name(), engines_[group->engine]->info().name, group->reason,
                    smallest.id, again_command(smallest));
            }
        }
    }

    /// True if a requested bundle could not be written.
    [[nodiscard]] bool bundles_failed() const { return bundles_failed_; }

    bool stop_requested(std::uint64_t done, std::uint64_t failures) override {
        const auto now = Clock::now();
        show_progress(done, failures, now);
        const double limit = options_.seconds.value_or(options_.count == 0 ? default_seconds : 1e9);
        return interrupted() || failures >= options_.max_failures ||
               std::chrono::duration<double>(now - start_).count() >= limit;
    }

    void clear_progress() {
        if (progress_visible_) {
            warn("\r\x1b[K");
            progress_visible_ = false;
        }
    }

private:
    [[nodiscard]] std::string again_command(const cases::Case& subject) const {
        return command_of(options_, seed_, engines_, context_.command.front(), subject);
    }

    void write_bundle(const fuzz::Failure& failure) {
        if (options_.bundles.folder.empty()) {
            return;
        }
        if (bundles_ >= options_.bundles.most) {
            say("  no bundle: there are {} (--max-bundles)\n", bundles_);
            return;
        }
        const auto folder = report::write_bundle(options_.bundles.settings(options_.engines.words()), context_,
                                                 engines_[failure.engine]->info(), failure.result);
        if (!folder) {
            bundles_failed_ = bundles_failed_ || folder.error().unwritten;
            say("  no bundle: {}\n", folder.error().error.message);
            return;
        }
        ++bundles_;
        say("  bundle: {}\n", *folder);
        if (!options_.no_reduce) {
            reduce_into(*folder, failure);
        }
    }

    void reduce_into(const std::string& folder, const fuzz::Failure& failure) {
        Engine* other = failure.expected_by ? engines_[*failure.expected_by].get() : nullptr;
        const auto reduced = fuzz::reduce(*failure.subject, *engines_[failure.engine], other,
                                          {reduce_time, [] { return interrupted(); }, &expected_, failure.engine,
                                           options_.engines.precisions(engines_)[failure.engine]});
        const std::string path = folder + "/reduced.json";
        const auto written = reduced ? fuzz::write_reduced(reduced->subject, path) : tl::unexpected(reduced.error());
        if (!written) {
            say("  not reduced: {}\n", written.error().message);
            return;
        }
        say("  reduced: {}{}\n", path, reduced->steps == 0 ? " (it could not be made smaller)" : "");
    }

    void show_progress(std::uint64_t done, std::uint64_t failures, Clock::time_point now) {
        if (!show_progress_ || now - last_progress_ < std::chrono::milliseconds(100)) {
            return;
        }
        last_progress_ = now;
        progress_visible_ = true;
        warn("\r\x1b[K{} cases, {} failures", done, failures);
    }

    const FuzzOptions& options_;
    std::uint64_t seed_;
    const Engines& engines_;
    run::ExpectedResults& expected_;
    const report::RunContext& context_;
    RunOutputs& outputs_;
    run::RunTotals totals_;
    report::ConsoleStyle style_;
    fuzz::FailureGroups groups_;
    std::size_t bundles_ = 0;
    bool bundles_failed_ = false;
    bool show_progress_;
    bool progress_visible_ = false;
    Clock::time_point start_ = Clock::now();
    Clock::time_point last_progress_;
};

std::uint64_t known_of(const fuzz::OperatorTally& tally) {
    std::uint64_t known = 0;
    for (const auto& [finding, count] : tally.known) {
        known += count.failed;
    }
    return known;
}

void print_table(const fuzz::FuzzResult& result, core::FeatureLevel level) {
    say("{:<40} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9}  {}\n", "operator", "cases", "legal", "rejected", "compared",
        "skipped", "known", "failures", "data types");
    for (const auto& [name, tally] : result.operators) {
        std::size_t types = 0;
        const operators::OperatorSchema* known_schema = operators::find_operator(name);
        if (known_schema == nullptr) {
            say("{:<40} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9}\n", name, tally.cases, tally.legal, tally.rejected,
                tally.compared, tally.skipped, known_of(tally), tally.failures);
            continue;
        }
        const operators::OperatorSchema& schema = *known_schema;
        for (const operators::Field& field : schema.fields) {
            if (const auto* support = field.is_tensor() ? schema.support_at(field.name, level) : nullptr) {
                types = static_cast<std::size_t>(
                    std::count_if(support->data_types.begin(), support->data_types.end(),
                                  [](core::DataType type) { return core::bits_of(type) != 0; }));
                break;
            }
        }
        say("{:<40} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9}  {} of {}\n", name, tally.cases, tally.legal,
            tally.rejected, tally.compared, tally.skipped, known_of(tally), tally.failures, tally.types.size(), types);
    }
    for (const auto& [name, tally] : result.operators) {
        for (const auto& [finding, count] : tally.known) {
            say("{}: known: {} ({}{})\n", name, finding, count.failed,
                count.passed == 0 ? "" : fmt::format(", and {} that pass", count.passed));
        }
    }
}

int conclude(const fuzz::FuzzResult& result, std::uint64_t seed) {
    const fuzz::OperatorTally total = result.total();
    for (const auto& [name, tally] : result.operators) {
        if (tally.compared == 0 && tally.failures == 0) {
            say("{}: nothing to compare\n", name);
        }
    }
    std::uint64_t known = 0;
    for (const auto& [finding, count] : total.known) {
        known += count.failed;
    }
    say("{} cases of seed {}, {} results compared, {}{} failures\n", total.cases, seed, total.compared,
        known == 0 ? "" : fmt::format("{} known, ", known), total.failures);
    if (interrupted()) {
        warn("dmlconform: interrupted\n");
        return interrupt_exit_code();
    }
    if (total.failures != 0) {
        return exit_unexpected;
    }
    if (total.compared == 0 && !result.skips.empty()) {
        say("Skipped:\n");
        for (const std::string& line : run::reason_lines(result.skips, "case")) {
            say("  {}\n", line);
        }
        print_error({"nothing was compared: cases were skipped for the reasons above", ""});
        return exit_not_run;
    }
    if (total.compared == 0) {
        return failure({"nothing was compared: no two engines here run these operators",
                        "--engine names engines to compare, and exec:COMMAND one of your own"},
                       exit_not_run);
    }
    return exit_ok;
}

/// Prints the cases as a case file instead of running them.
int print_cases(const FuzzOptions& options, std::uint64_t seed) {
    const auto operators = chosen_operators(options, nullptr);
    if (!operators || !check_engines(options.engines)) {
        return exit_usage;
    }
    const std::uint64_t most = cases::ReadOptions().most_cases;
    if (options.count > most) {
        return failure({fmt::format("--print --count {}: a case file has at most {} cases", options.count, most),
                        "--start continues where a file ends"},
                       exit_usage);
    }
    const std::uint64_t count = options.count != 0 ? options.count : options.seconds ? most : 1;
    const auto end = Clock::now() + std::chrono::duration<double>(options.seconds.value_or(1e9));
    const fuzz::GeneratorSettings settings{seed, options.engines.options.feature_level, options.perturbed,
                                           options.extreme};
    std::vector<nlohmann::ordered_json> written;
    for (std::uint64_t n = 0; n < count && Clock::now() < end; ++n) {
        const operators::OperatorSchema& schema = *(*operators)[n % operators->size()];
        const auto subject = options.graphs ? fuzz::generate_graph(settings, options.start + n)
                                            : fuzz::generate(schema, settings, options.start + n / operators->size());
        auto object = subject ? cases::case_to_json(*subject) : core::Result<nlohmann::ordered_json>();
        if (subject && object) {
            written.push_back(std::move(*object));
        }
    }
    if (written.empty()) {
        return failure({fmt::format("no case was found at feature level {}",
                                    core::to_string(options.engines.options.feature_level)),
                        ""},
                       exit_not_run);
    }
    print_document(cases::case_file_text("", written));
    return exit_ok;
}

void print_header(const Engines& engines, const ExpectationOptions& expectations, std::uint64_t seed) {
    say("seed {}\n", seed);
    for (const auto& engine : engines) {
        say("  {:<8} {}\n", engine->info().name, device_text(engine->info().adapter, engine->info().driver));
    }
    if (expectations.are_defaults) {
        say("  known: what {} says of this engine (--no-default-expectations: nothing)\n",
            core::show_list(expectations.files, ", "));
    }
    say("\n");
    std::fflush(stdout);
}

/// All settings but the expectations.
fuzz::FuzzSettings settings_of(const FuzzOptions& options, std::uint64_t seed, const Engines& engines) {
    fuzz::FuzzSettings settings;
    settings.generator = {seed, core::highest_feature_level, options.perturbed, options.extreme};
    for (const auto& engine : engines) {
        settings.generator.level = std::min(settings.generator.level, engine->info().feature_level);
    }
    settings.operators = *chosen_operators(options, &engines);
    settings.graphs = options.graphs;
    settings.start = options.start;
    settings.count = options.count;
    settings.precisions = options.engines.precisions(engines);
    return settings;
}

core::Result<RunOutputs> create_outputs(const FuzzOptions& options, std::uint64_t seed, const Engines& engines,
                                        const Invocation& invocation) {
    const std::string& program = invocation.words.front();
    report::Caller caller{program, {}};
    caller.again = [&, seed](const run::CaseResult& failed) {
        return command_of(options, seed, engines, program, *failed.subject);
    };
    RunOutputOptions output_options = options.outputs;
    output_options.needed_files = options.expectations.files;
    return RunOutputs::create(output_options, caller);
}

int fuzz_command(const FuzzOptions& options, const Invocation& invocation) {
    const std::uint64_t seed = options.seed ? *options.seed : std::random_device{}();
    if (options.print) {
        return print_cases(options, seed);
    }
    if (!chosen_operators(options, nullptr)) {
        return exit_usage;
    }
    if (!options.bundles.folder.empty()) {
        if (const auto usable = report::check_bundle_folder(options.bundles.folder); !usable) {
            return failure(usable.error(), exit_usage);
        }
    }
    ExpectationOptions expectation_options = options.expectations;
    auto expected = load_expectations(expectation_options);
    if (!expected) {
        return exit_usage;
    }
    int exit_code = exit_ok;
    const auto engines = make_engines(options.engines, invocation, exit_code);
    if (!engines) {
        return exit_code;
    }
    auto outputs = create_outputs(options, seed, *engines, invocation);
    if (!outputs) {
        return failure(outputs.error(), exit_usage);
    }
    if (expectation_options.take_defaults(infos_of(*engines))) {
        expected = load_expectations(expectation_options);
        if (!expected) {
            return exit_usage;
        }
    }
    expected->set_engines(infos_of(*engines));
    fuzz::FuzzSettings settings = settings_of(options, seed, *engines);
    settings.expected = expected.get();
    catch_interrupts();
    print_header(*engines, expectation_options, seed);
    const report::RunContext context = run_context(invocation);
    outputs->begin(context, infos_of(*engines));
    ConsoleFuzzObserver observer(options, seed, *engines, *expected, context, *outputs);
    const fuzz::FuzzResult result = fuzz::fuzz(settings, *engines, observer);
    observer.clear_progress();
    observer.print_groups();
    print_table(result, settings.generator.level);
    exit_code = conclude(result, seed);
    return observer.finish_outputs(observer.bundles_failed() && !interrupted() ? exit_not_run : exit_code);
}

}  // namespace

void add_fuzz_command(Command app, const Invocation& invocation, int& exit_code) {
    auto options = std::make_shared<FuzzOptions>();
    const Command command = app.add_subcommand(
        "fuzz", "Run random cases on several engines, and compare them with the reference and with each other");
    command
        .add_option("operators", options->operators,
                    "The operators to make cases of. Default: all that can be compared")
        .type_name("OPERATOR");
    command.add_flag("--graph", options->graphs, "Make graphs of 2 to 20 random operators")
        .excludes(command.get_option("operators"));
    options->engines.add_to(command, "compare");
    command
        .add_option("--seed", options->seed,
                    "The seed. The same seed gives the same cases everywhere. Default: a random one")
        .type_name("N")
        .transform(whole_number());
    command.add_option("--count", options->count, "End after this many cases")
        .type_name("N")
        .transform(whole_number(1));
    command.add_option("--time", options->seconds, "End after this many seconds. Default: 10, unless --count is given")
        .type_name("SECONDS")
        .transform(number(0.001, 1e9));
    command.add_option("--start", options->start, "Begin with this case of each operator. Default: 0")
        .type_name("N")
        .transform(whole_number());
    command
        .add_option(
            "--perturbed", options->perturbed,
            "Of a hundred cases, change one thing in this many. They have to be rejected if they are then illegal. "
            "Default: 20")
        .type_name("N")
        .transform(whole_number(0, 100));
    command
        .add_option("--extreme", options->extreme,
                    "Of a hundred legal cases, give this many NaN, infinities, huge and tiny numbers in attributes and "
                    "inputs that are computed with. Default: 10")
        .type_name("N")
        .transform(whole_number(0, 100));
    command.add_option("--max-failures", options->max_failures, "End after this many failures. Default: 10")
        .type_name("N")
        .transform(whole_number(1));
    options->expectations.add_reading_to(command);
    options->outputs.add_files_to(command);
    options->bundles.add_to(command);
    command.add_flag("--no-reduce", options->no_reduce, "Do not make the cases in bundles smaller");
    const Option print =
        command.add_flag("--print", options->print, "Print the cases as a case file instead of running them");
    for (const char* report : {"--json", "--junit", "--html", "--summary", "--github", "--jsonl", "--bundle"}) {
        print.excludes(report);
    }
    command.callback([options, &invocation, &exit_code] { exit_code = fuzz_command(*options, invocation); });
}

}  // namespace dmlconform::app
