// End-to-end tests of tolerances for every operator: an engine whose answer is the last number within an element's
// budget must pass, and one whose answer is the next number must fail. Here the reference states the budgets;
// tests/app/budget_test.cpp derives some by hand.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "engine/cases/case_file.h"
#include "engine/cases/case_writer.h"
#include "engine/cases/filled_inputs.h"
#include "engine/core/element.h"
#include "engine/cpu/reference.h"
#include "engine/operators/rules.h"
#include "engine/run/runner.h"
#include "tests/app/expectations.h"
#include "tests/app/program.h"
#include "tests/temporary_folder.h"

namespace dmlconform::tests::every_budget_test {
namespace {

using nlohmann::json;

/// Maps the values of a type of at most 32 bits to consecutive integers, in increasing order. Both zeros are 0.
class Order {
public:
    explicit Order(core::DataType type) : type_(type), floats_(core::is_floating_point(type)) {}

    [[nodiscard]] std::int64_t rank_of(std::uint64_t bits) const {
        if (!floats_) {
            return static_cast<std::int64_t>(core::decode_element(type_, bits));
        }
        const std::uint64_t sign = std::uint64_t{1} << (core::bits_of(type_) - 1);
        const auto magnitude = static_cast<std::int64_t>(bits & (sign - 1));
        return (bits & sign) != 0 ? -magnitude : magnitude;
    }
    [[nodiscard]] std::uint64_t bits_at(std::int64_t rank) const {
        if (!floats_) {
            return static_cast<std::uint64_t>(rank) & mask();
        }
        const std::uint64_t sign = std::uint64_t{1} << (core::bits_of(type_) - 1);
        return rank < 0 ? sign | static_cast<std::uint64_t>(-rank) : static_cast<std::uint64_t>(rank);
    }
    [[nodiscard]] double value_at(std::int64_t rank) const { return core::decode_element(type_, bits_at(rank)); }

    /// The integers of the largest and of the smallest value.
    [[nodiscard]] std::int64_t last() const {
        switch (type_) {
            case core::DataType::float32:
                return rank_of(std::bit_cast<std::uint32_t>(std::numeric_limits<float>::max()));
            case core::DataType::float16:
                return 0x7bff;
            default:
                return static_cast<std::int64_t>(mask() >> (is_signed() ? 1 : 0));
        }
    }
    [[nodiscard]] std::int64_t first() const {
        if (floats_) {
            return -last();
        }
        return is_signed() ? -last() - 1 : 0;
    }

private:
    [[nodiscard]] std::uint64_t mask() const { return (std::uint64_t{1} << core::bits_of(type_)) - 1; }
    [[nodiscard]] bool is_signed() const {
        return type_ == core::DataType::int8 || type_ == core::DataType::int16 || type_ == core::DataType::int32;
    }

    core::DataType type_;
    bool floats_;
};

/// An element and the values that are accepted for it. Meeting one criterion is enough, see docs/case-files.md.
struct Budget {
    core::Tolerance tolerance;
    double below = 0;
    double above = 0;
    double expected = 0;
    std::int64_t rank = 0;

    [[nodiscard]] bool holds(const Order& order, std::int64_t other) const {
        const double difference = std::fabs(order.value_at(other) - expected);
        const auto steps = static_cast<std::uint64_t>(std::llabs(other - rank));
        return other == rank || (tolerance.ulp && steps <= *tolerance.ulp) ||
               (tolerance.abs && difference <= *tolerance.abs) ||
               (tolerance.rel && difference <= *tolerance.rel * std::fabs(expected)) ||
               (tolerance.element_slack && difference <= (other > rank ? above : below));
    }
    /// The last accepted value in this direction; nothing if all values are accepted.
    [[nodiscard]] std::optional<std::int64_t> last(const Order& order, bool upwards) const {
        std::int64_t inside = rank;
        std::int64_t outside = upwards ? order.last() : order.first();
        if (holds(order, outside)) {
            return std::nullopt;
        }
        while (std::llabs(outside - inside) > 1) {
            const std::int64_t middle = inside + (outside - inside) / 2;
            (holds(order, middle) ? inside : outside) = middle;
        }
        return inside;
    }
};

/// A case with the reference's answers.
struct Known {
    cases::Case subject;
    cpu::Reference reference;
};

/// An element of a case whose budget ends on both sides, so that an answer can be just within it or just beyond.
struct Spot {
    std::size_t output = 0;
    std::uint64_t element = 0;
    Budget budget;
};

constexpr std::uint64_t most_elements = 256;

bool is_small(const core::TensorDesc& desc) {
    const auto count = core::element_count(desc.sizes);
    return count && *count <= most_elements && desc.total_bytes <= 8 * most_elements;
}

/// Whether the case can be written to a file and answered by a worker that only replays bytes.
bool is_plain(const cases::Case& subject) {
    if (subject.expect_error || subject.has_tag(run::unspecified_tag) || !subject.problem.empty() ||
        !cpu::has_reference(*subject.descriptor->schema)) {
        return false;
    }
    const auto fits = [](const operators::TensorSlot& slot) { return slot.desc == nullptr || is_small(*slot.desc); };
    const auto inputs = subject.descriptor->inputs();
    const auto outputs = subject.descriptor->outputs();
    return std::all_of(inputs.begin(), inputs.end(), fits) && std::all_of(outputs.begin(), outputs.end(), fits);
}

std::optional<Known> known(const cases::Case& subject) {
    const auto inputs = cases::filled_inputs(subject);
    if (!inputs) {
        return std::nullopt;
    }
    Known all{subject, cpu::compute_reference(*subject.descriptor, inputs->pointers)};
    // Makes the reference judge by the operator's tolerance instead of the case's.
    std::fill(all.subject.expected.begin(), all.subject.expected.end(), std::nullopt);
    std::fill(all.subject.tolerances.begin(), all.subject.tolerances.end(), std::nullopt);
    return all;
}

/// The budget of that element if it is finite, numeric and bounded on both sides.
std::optional<Budget> budget_of(const Known& known, std::size_t output, std::uint64_t element) {
    const core::Tensor& tensor = known.reference.outputs[output];
    const core::ElementSlack& slack = known.reference.slack[output];
    const std::uint64_t bits = core::load_element(tensor.buffer.bytes(), tensor.desc.data_type, element);
    const operators::Descriptor& descriptor = *known.subject.descriptor;
    Budget budget{cpu::default_tolerance(descriptor, descriptor.outputs()[output])};
    budget.expected = core::decode_element(tensor.desc.data_type, bits);
    const Order order(tensor.desc.data_type);
    budget.rank = order.rank_of(bits);
    if (!std::isfinite(budget.expected) || budget.expected == 0 ||
        (budget.tolerance.meaningful_part && element >= slack.meaningful)) {
        return std::nullopt;
    }
    if (budget.tolerance.alternatives && std::any_of(slack.alternatives.begin(), slack.alternatives.end(),
                                                     [&](const auto& other) { return other.first == element; })) {
        return std::nullopt;
    }
    if (budget.tolerance.element_slack) {
        budget.below = slack.below[element];
        budget.above = slack.above[element];
    }
    return budget.last(order, true) && budget.last(order, false) ? std::optional(budget) : std::nullopt;
}

/// The first usable element of the case; prefers one with accepted values besides the exact one.
std::optional<Spot> spot_of(const Known& known) {
    std::optional<Spot> found;
    for (std::size_t output = 0; output < known.reference.outputs.size(); ++output) {
        const core::TensorDesc& desc = known.reference.outputs[output].desc;
        if (known.subject.descriptor->outputs()[output].desc == nullptr || !core::is_packed(desc) ||
            core::bits_of(desc.data_type) < 8 || core::bits_of(desc.data_type) > 32) {
            continue;
        }
        const std::uint64_t count = core::element_count(desc.sizes).value_or(0);
        for (std::uint64_t element = 0; element < count; ++element) {
            const auto budget = budget_of(known, output, element);
            if (budget && budget->last(Order(desc.data_type), true) != budget->rank) {
                return Spot{output, element, *budget};
            }
            found = !found && budget ? Spot{output, element, *budget} : found;
        }
    }
    return found;
}

/// Returns the bytes of all outputs in hexadecimal, with one element replaced.
std::vector<std::string> answer(const Known& known, const Spot& spot, std::int64_t rank) {
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < known.reference.outputs.size(); ++i) {
        const core::Tensor& output = known.reference.outputs[i];
        std::vector<std::byte> bytes(output.buffer.bytes().begin(), output.buffer.bytes().end());
        if (i == spot.output) {
            const core::DataType type = output.desc.data_type;
            core::store_element(bytes, type, spot.element, Order(type).bits_at(rank));
        }
        std::string& text = texts.emplace_back();
        for (const std::byte byte : bytes) {
            text += fmt::format("{:02x}", std::to_integer<unsigned>(byte));
        }
    }
    return texts;
}

/// The cases to run, the engine's answer to each, and the expected verdicts.
struct Trials {
    json cases = json::array();
    json answers = json::array();
    std::vector<std::string> statuses;
    std::vector<std::string> what;

    void add(const Known& known, const Spot& spot, std::int64_t rank, bool passes) {
        const core::DataType type = known.reference.outputs[spot.output].desc.data_type;
        auto written = cases::case_to_json(known.subject);
        ASSERT_TRUE(written) << known.subject.id;
        json object = json::parse(written->dump());
        object["name"] = std::to_string(statuses.size());
        cases.push_back(std::move(object));
        answers.push_back(answer(known, spot, rank));
        statuses.emplace_back(passes ? "pass" : "fail");
        what.push_back(fmt::format("{}: element {} of output {}: {:.9g} expected, {:.9g} found", known.subject.id,
                                   spot.element, spot.output, spot.budget.expected, Order(type).value_at(rank)));
    }
};

/// Chooses a case and an element for each operator. Tries a few cases and prefers one with accepted values besides the
/// exact one.
std::map<std::string, std::pair<Known, Spot>> cases_of_operators(std::map<std::string, int>& tried) {
    constexpr int most_tried = 40;
    const std::vector<std::string> paths{cases_folder()};
    const cases::Suite suite = cases::load_suite(paths);
    std::map<std::string, std::pair<Known, Spot>> found;
    for (const cases::Case& subject : suite.cases) {
        if (!is_plain(subject)) {
            continue;
        }
        const std::string name(subject.descriptor->schema->short_name());
        if (tried[name] == most_tried) {
            continue;
        }
        ++tried[name];
        auto all = known(subject);
        const auto spot = all ? spot_of(*all) : std::nullopt;
        if (!spot) {
            continue;
        }
        const auto type = all->reference.outputs[spot->output].desc.data_type;
        const bool has_room = spot->budget.last(Order(type), true) != spot->budget.rank;
        if (has_room || found.find(name) == found.end()) {
            found.insert_or_assign(name, std::pair(std::move(*all), *spot));
            tried[name] = has_room ? most_tried : tried[name];
        }
    }
    return found;
}

TEST(EveryBudget, EndsWhereTheReferenceSaysSo) {
    std::map<std::string, int> tried;
    const auto chosen = cases_of_operators(tried);
    for (const auto& [name, count] : tried) {
        EXPECT_TRUE(chosen.find(name) != chosen.end()) << name << ": none of " << count << " cases has such an element";
    }
    EXPECT_GE(chosen.size(), 170u);
    Trials trials;
    for (const auto& [name, entry] : chosen) {
        const auto& [all, spot] = entry;
        const Order order(all.reference.outputs[spot.output].desc.data_type);
        for (const bool upwards : {true, false}) {
            const std::int64_t last = spot.budget.last(order, upwards).value();
            // Outputs that are all zero would be reported as another kind of failure.
            if (order.value_at(last) != 0) {
                trials.add(all, spot, last, true);
            }
            trials.add(all, spot, last + (upwards ? 1 : -1), false);
        }
    }
    const TemporaryFolder folder;
    const std::string file = folder.write("budget.json", json{{"cases", trials.cases}}.dump());
    const std::string answers = folder.write("answers.txt", trials.answers.dump());
    const std::string report = folder.at("result.json");
    const ProgramResult result =
        dmlconform({"run", file, "--jobs", "1", "--quiet", "--json", report, "--engine",
                    fmt::format("exec:python3 '{}' '{}' '{}'", ANSWERING_WORKER, EXAMPLE_WORKER, answers)});
    ASSERT_TRUE(ends_with_code(result, 1)) << "some of them have to fail";
    const json results = json::parse(content_of(report)).at("results");
    ASSERT_EQ(results.size(), trials.statuses.size());
    for (std::size_t i = 0; i < results.size(); ++i) {
        EXPECT_EQ(results[i].at("id"), fmt::format("budget/{}", i));
        EXPECT_EQ(results[i].at("status"), trials.statuses[i]) << trials.what[i] << "\n" << results[i].dump(2);
    }
}

}  // namespace
}  // namespace dmlconform::tests::every_budget_test
