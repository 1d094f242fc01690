// Runs an operator's cases against each planted bug until one of them fails, and prints the score.
// usage: planted_bugs OPERATOR [BUG]
// A case counts as catching a bug only if it passes without the bug. The case that caught the bug before, by
// caught_by.txt, is tried first: that saves most of the time, and proves as much. Exit codes: 0 if every bug was
// caught; 1 if one was not, or a case fails without bugs; 2 for wrong usage; 77 without a D3D12 device.
#include "tests/planted_bugs/planted_bugs.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/cases/case_file.h"
#include "engine/d3d12/d3d12_engine.h"
#include "engine/d3d12/device/adapters.h"
#include "engine/d3d12/device/device.h"
#include "engine/operators/rules.h"
#include "engine/run/engine_list.h"
#include "engine/run/runner.h"

std::uint32_t planted_bug = 0;

namespace {

using namespace dmlconform;

using Engines = std::vector<std::unique_ptr<Engine>>;
using Cases = std::vector<const cases::Case*>;

/// A bug may also break an engine, or make it reject the case.
bool failed(const run::CaseResult& result) {
    return result.gated && (result.status == run::Status::fail || result.status == run::Status::error);
}

struct Failure {
    const cases::Case* subject = nullptr;
    std::size_t engine = 0;
};

/// Ends a run at the first case that fails on any engine.
class FirstFailure final : public run::Observer {
public:
    void on_case(const cases::Case& /*subject*/, std::size_t /*position*/) override {}
    void on_result(const run::CaseResult& result) override {
        if (failure.subject == nullptr && failed(result)) {
            failure = {result.subject.get(), result.engine};
        }
    }
    bool stop_requested() override { return failure.subject != nullptr; }

    Failure failure;
};

Failure first_failure(const Cases& subjects, const Engines& engines, std::uint32_t bug) {
    // A descriptor keeps its verdict. Copies are validated anew, by rules that may have a bug.
    std::vector<cases::Case> copies;
    copies.reserve(subjects.size());
    Cases fresh;
    for (const cases::Case* subject : subjects) {
        cases::Case& copy = copies.emplace_back(*subject);
        copy.descriptor = std::make_shared<const operators::Descriptor>(*subject->descriptor);
        fresh.push_back(&copy);
    }
    planted_bug = bug;
    FirstFailure observer;
    static_cast<void>(run::run_cases(run::these_cases(fresh), {&engines, 1}, observer));
    planted_bug = 0;
    Failure failure = observer.failure;
    const auto found = std::ranges::find(fresh, failure.subject);
    failure.subject = found == fresh.end() ? nullptr : subjects[static_cast<std::size_t>(found - fresh.begin())];
    return failure;
}

/// By the operator's and the bug's name, the id of the case that caught it when caught_by.txt was written. Lines of
/// other bugs, and of cases that are gone, do no harm.
std::map<std::string, std::string, std::less<>> earlier_catches() {
    std::map<std::string, std::string, std::less<>> catches;
    std::ifstream file(CAUGHT_BY);
    for (std::string line; std::getline(file, line);) {
        if (const std::size_t tab = line.find('\t'); tab != std::string::npos) {
            catches.emplace(line.substr(0, tab), line.substr(tab + 1));
        }
    }
    return catches;
}

Failure first_failure_of(const PlantedBug& bug, const Cases& subjects, const Engines& engines) {
    static const auto catches = earlier_catches();
    if (const auto earlier = catches.find(fmt::format("{}/{}", bug.operator_name, bug.name));
        earlier != catches.end()) {
        const auto subject = std::ranges::find(subjects, earlier->second, &cases::Case::id);
        if (subject != subjects.end()) {
            if (const Failure failure = first_failure({*subject}, engines, bug.number); failure.subject != nullptr) {
                return failure;
            }
        }
    }
    return first_failure(subjects, engines, bug.number);
}

bool is_caught(const PlantedBug& bug, const Cases& subjects, const Engines& engines) {
    const Failure failure = first_failure_of(bug, subjects, engines);
    if (failure.subject == nullptr) {
        fmt::print("NOT CAUGHT  {}\n", bug.name);
        return false;
    }
    if (first_failure({failure.subject}, engines, 0).subject != nullptr) {
        fmt::print("NOT CAUGHT  {}: {} fails without it too\n", bug.name, failure.subject->id);
        return false;
    }
    fmt::print("caught      {}: by {} on {}\n", bug.name, failure.subject->id, engines[failure.engine]->info().name);
    return true;
}

std::vector<std::string> paths_of(std::string_view operator_name) {
    std::vector<std::string> paths;
    for (const CatchingCases& entry : catching_cases) {
        if (entry.operator_name == operator_name) {
            paths.push_back(fmt::format("{}/{}", DMLCONFORM_CASES, entry.path));
        }
    }
    return paths;
}

double cost_of(const cases::Case& subject) {
    if (subject.expect_error) {
        return 0;
    }
    const operators::Cost cost = operators::minimum_cost(*subject.descriptor);
    return cost.bytes + cost.operations;
}

/// Sorts cases by cost. Cheap ones catch most bugs, and then the others need not run.
Cases by_cost(const cases::Suite& suite) {
    std::vector<std::pair<double, const cases::Case*>> costs;
    for (const cases::Case& subject : suite.cases) {
        costs.emplace_back(cost_of(subject), &subject);
    }
    std::ranges::stable_sort(costs, {}, &std::pair<double, const cases::Case*>::first);
    Cases subjects;
    for (const auto& [cost, subject] : costs) {
        subjects.push_back(subject);
    }
    return subjects;
}

/// An engine that always converts FLOAT16 by integer arithmetic, because bugs are planted in these conversions.
core::Result<std::unique_ptr<Engine>> d3d12_engine() {
    auto engine = d3d12::create_engine("", core::highest_feature_level);
    if (!engine) {
        return engine;
    }
    const auto adapters = d3d12::enumerate_adapters();
    const d3d12::AdapterInfo& adapter = (*adapters)[*d3d12::choose_adapter(*adapters, "")];
    auto device = d3d12::create_device(dynamic_cast<d3d12::D3d12Engine&>(**engine).pipelines(), adapter);
    if (!device) {
        return tl::unexpected(device.error());
    }
    (*device)->half_conversions = false;
    return std::make_unique<d3d12::D3d12Engine>(std::move(*device), adapter, core::highest_feature_level);
}

Engines all_engines() {
    Engines engines;
    for (const auto& create : {+[] { return run::create_engine("cpu", {}); }, +[] { return d3d12_engine(); }}) {
        auto engine = create();
        if (!engine) {
            fmt::print("an engine is not usable here: {}\n", engine.error().message);
            return {};
        }
        engines.push_back(std::move(*engine));
    }
    return engines;
}

}  // namespace

int main(int argc, char** argv) {
    const std::vector<std::string_view> arguments(argv + 1, argv + argc);
    if (arguments.empty() || arguments.size() > 2) {
        fmt::print(stderr, "usage: planted_bugs OPERATOR [BUG]\n");
        return 2;
    }
    const cases::Suite suite = cases::load_suite(paths_of(arguments[0]));
    if (!suite.problems.empty() || suite.cases.empty()) {
        fmt::print(stderr, "planted_bugs: no cases, or bad ones, for {}\n", arguments[0]);
        return 2;
    }
    const Engines engines = all_engines();
    if (engines.empty()) {
        return 77;
    }
    const Cases subjects = by_cost(suite);
    std::size_t count = 0;
    std::size_t caught = 0;
    for (const PlantedBug& bug : planted_bugs) {
        if (bug.operator_name == arguments[0] && (arguments.size() < 2 || bug.name == arguments[1])) {
            ++count;
            caught += is_caught(bug, subjects, engines) ? 1u : 0u;
        }
    }
    fmt::print("{} of {} bugs planted in {} are caught by its {} cases\n", caught, count, arguments[0],
               subjects.size());
    return count > 0 && caught == count ? 0 : 1;
}
