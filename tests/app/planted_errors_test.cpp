// Plants errors in the repository's own cases: in every case, an expected element that is one bit off must be found on
// every engine.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>
#include <set>

#include "engine/cases/case_file.h"
#include "engine/cases/filled_inputs.h"
#include "engine/compare/comparison.h"
#include "engine/core/element.h"
#include "engine/cpu/reference.h"
#include "engine/operators/rules.h"
#include "engine/run/runner.h"
#include "tests/app/engine_limits.h"
#include "tests/app/expectations.h"
#include "tests/app/program.h"
#include "tests/temporary_folder.h"

namespace dmlconform::tests::planted_errors_test {
namespace {

using Json = nlohmann::ordered_json;

/// Merges a case into defaults, as described in docs/case-files.md.
Json merged(const Json& base, const Json& overlay) {
    if (!base.is_object() || !overlay.is_object()) {
        return overlay;
    }
    Json result = base;
    for (const auto& [key, value] : overlay.items()) {
        result[key] = result.contains(key) ? merged(result[key], value) : value;
    }
    return result;
}

/// The largest number of the opposite sign, because the bounds of single elements may be wide.
std::uint64_t far_from(core::DataType type, std::uint64_t bits) {
    const double value = core::decode_element(type, bits);
    const double largest = type == core::DataType::float16   ? 65504
                           : type == core::DataType::float32 ? double{std::numeric_limits<float>::max()}
                                                             : std::numeric_limits<double>::max();
    return *core::encode_element(type, value > 0 ? -largest : largest);
}

/// The accepted range of each element of an output; empty if the output's tolerance has no such ranges.
core::ElementSlack slack_of(const cases::Case& entry, std::size_t output) {
    return cpu::compute_reference(*entry.descriptor, cases::filled_inputs(entry).value().pointers).slack[output];
}

/// An element with a planted error.
struct Planted {
    std::string id;
    std::string file;
    std::string output;
    core::Dimensions coordinates;
    core::DataType type = core::DataType::unknown;
    std::string operator_name;
};

/// A bit whose flipping no tolerance accepts: any bit for an exact tolerance, otherwise one that changes the magnitude.
std::uint32_t bit_to_flip(const core::Tolerance& tolerance, core::DataType type, std::uint64_t bits,
                          std::mt19937& random) {
    const std::uint32_t top = core::bits_of(type) - 1;
    const double value = core::decode_element(type, bits);
    // NaN remains NaN unless an exponent bit changes, and equals every other NaN.
    const bool any = tolerance.exact && !tolerance.ulp && !tolerance.abs && !tolerance.rel &&
                     !tolerance.element_slack && !tolerance.alternatives && !tolerance.meaningful_part &&
                     value == value;
    return any ? static_cast<std::uint32_t>(random() % (top + 1)) : top - 1;
}

/// Copies every case to `folder` with explicit expected values, elements in hexadecimal, and optionally plants an error
/// in each.
class Copier {
public:
    Copier(const TemporaryFolder& folder, bool plant) : folder_(folder), plant_(plant) {}

    std::vector<Planted> copy() {
        const std::vector<std::string> paths{cases_folder()};
        const cases::Suite suite = cases::load_suite(paths);
        EXPECT_TRUE(suite.problems.empty());
        for (const cases::Case& entry : suite.cases) {
            const bool has_expected = std::any_of(entry.expected.begin(), entry.expected.end(),
                                                  [](const auto& data) { return data.has_value(); });
            // A sweep stands for several cases, which cannot be changed individually. Operators without a reference
            // have no kernel that could notice an error.
            const bool can_run = cpu::has_reference(*entry.descriptor->schema);
            if (can_run && has_expected && entry.id.find('[') == std::string::npos &&
                !entry.has_tag(run::unspecified_tag)) {
                copy_case(entry);
            }
        }
        for (const auto& [file, cases] : copies_) {
            folder_.write(file, Json{{"cases", cases}}.dump(1));
        }
        return planted_;
    }

private:
    void copy_case(const cases::Case& entry) {
        Json text = source_of(entry);
        const auto slots = entry.descriptor->outputs();
        std::vector<std::size_t> with_values;
        for (std::size_t i = 0; i < slots.size(); ++i) {
            if (entry.expected[i]) {
                with_values.push_back(i);
            }
        }
        // Excludes outputs that may contain meaningless elements, where an error would go unnoticed.
        std::vector<std::size_t> choice = with_values;
        std::erase_if(choice, [&](std::size_t i) {
            return entry.tolerances[i].value_or(cpu::default_tolerance(*entry.descriptor, slots[i])).meaningful_part;
        });
        const std::size_t chosen = choice[random_() % choice.size()];
        const std::optional<std::uint64_t> wrong = plant_ ? wrong_element(entry, chosen) : std::nullopt;
        if (plant_ && !wrong) {
            return;
        }
        for (const std::size_t i : with_values) {
            text["expected"][slots[i].name] = elements_of(entry, i, i == chosen ? wrong : std::nullopt);
        }
        // Data files are not copied.
        copies_[copy_name(entry.file)].push_back(text);
    }

    /// Chooses an element whose value can be made wrong. One that may be infinite or NaN has no wrong value for all
    /// engines.
    std::optional<std::uint64_t> wrong_element(const cases::Case& entry, std::size_t output) {
        const auto slot = entry.descriptor->outputs()[output];
        const auto tolerance = entry.tolerances[output].value_or(cpu::default_tolerance(*entry.descriptor, slot));
        const core::ElementSlack slack = tolerance.element_slack ? slack_of(entry, output) : core::ElementSlack();
        const std::uint64_t count = core::element_count(slot.desc->sizes).value();
        const std::uint64_t first = random_() % count;
        for (std::uint64_t i = 0; i < count; ++i) {
            const std::uint64_t number = (first + i) % count;
            const bool may_be_nan = !slack.nan.empty() && slack.nan[number] != 0;
            const bool may_be_infinite =
                !slack.below.empty() && !(std::isfinite(slack.below[number]) && std::isfinite(slack.above[number]));
            if (!may_be_nan && !may_be_infinite) {
                return number;
            }
        }
        return std::nullopt;
    }

    /// The elements in hexadecimal.
    Json elements_of(const cases::Case& entry, std::size_t output, std::optional<std::uint64_t> wrong) {
        const auto slot = entry.descriptor->outputs()[output];
        core::Tensor tensor(core::TensorDesc::packed(slot.desc->data_type, slot.desc->sizes));
        EXPECT_TRUE(entry.expected[output]->fill(tensor).has_value());
        const std::uint64_t count = core::element_count(slot.desc->sizes).value();
        Json list = Json::array();
        for (std::uint64_t i = 0; i < count; ++i) {
            std::uint64_t bits = core::load_element(tensor.buffer.bytes(), slot.desc->data_type, i);
            if (i == wrong) {
                const auto tolerance =
                    entry.tolerances[output].value_or(cpu::default_tolerance(*entry.descriptor, slot));
                bits = tolerance.element_slack && core::is_floating_point(slot.desc->data_type)
                           ? far_from(slot.desc->data_type, bits)
                           : bits ^ std::uint64_t{1} << bit_to_flip(tolerance, slot.desc->data_type, bits, random_);
                planted_.push_back({entry.id, entry.file, slot.name, compare::coordinates_of(i, slot.desc->sizes),
                                    slot.desc->data_type, std::string(entry.descriptor->schema->short_name())});
            }
            list.push_back(core::format_bits(slot.desc->data_type, bits));
        }
        return list;
    }

    /// The case as in its file, merged with the defaults.
    const Json& source_of(const cases::Case& entry) {
        auto& cases = sources_[entry.file];
        if (cases.empty()) {
            std::ifstream stream(entry.file);
            const Json document = Json::parse(stream, nullptr, true, true);
            for (const Json& source : document.at("cases")) {
                Json complete = merged(document.value("defaults", Json::object()), source);
                const auto name = complete.at("name").get<std::string>();
                cases.emplace(name, std::move(complete));
            }
        }
        return cases.at(entry.id.substr(entry.id.find('/') + 1));
    }

    /// Stems need not be unique across folders, only ids.
    static std::string copy_name(const std::string& file) { return file.substr(cases_folder().size() + 1); }

    const TemporaryFolder& folder_;
    bool plant_;
    std::mt19937 random_{1};
    std::map<std::string, std::map<std::string, Json>> sources_;
    std::map<std::string, Json> copies_;
    std::vector<Planted> planted_;
};

std::vector<std::string> run_on_all_engines(const TemporaryFolder& folder) {
    std::vector<std::string> words{"run",    folder.path().string(),  "--verbose",
                                   "--json", folder.at("result.txt"), "--allow-external-data"};
    for (const std::string& engine : usable_engines()) {
        words.insert(words.end(), {"--engine", engine});
    }
    return words;
}

TEST(PlantedErrors, WithoutThemTheCopiesPass) {
    const TemporaryFolder folder;
    EXPECT_TRUE(Copier(folder, false).copy().empty());
    // Checking the reference is enough: on the copies with errors, no other engine fails in an element without one.
    EXPECT_TRUE(
        ends_with_code(dmlconform({"run", folder.path().string(), "--allow-external-data", "--engine", "cpu"}), 0));
}

TEST(PlantedErrors, EachIsFoundOnEveryEngine) {
    const TemporaryFolder folder;
    const std::vector<Planted> planted = Copier(folder, true).copy();
    std::set<std::string> operators;
    std::set<core::DataType> types;
    std::set<std::string> files;
    std::map<std::string, const Planted*> by_id;
    for (const Planted& error : planted) {
        operators.insert(error.operator_name);
        types.insert(error.type);
        files.insert(error.file);
        by_id.emplace(error.id, &error);
    }
    EXPECT_GE(operators.size(), 40u) << "some operator has no case with expected values";
    EXPECT_GE(types.size(), 8u);
    EXPECT_GT(files.size(), 20u);
    ASSERT_EQ(by_id.size(), planted.size());

    const ProgramResult result = dmlconform(run_on_all_engines(folder));
    EXPECT_EQ(result.exit_code, 1);
    const Json document = Json::parse(content_of(folder.at("result.txt")));
    EXPECT_EQ(document.at("summary").at("pass"), 0);
    EXPECT_EQ(document.at("results").size(), planted.size() * usable_engines().size());
    std::map<std::string, std::set<std::string>> computed;
    for (const std::string& engine : usable_engines()) {
        computed[engine] = operators_of(engine);
    }
    for (const Json& found : document.at("results")) {
        const std::string id = found.at("id");
        SCOPED_TRACE(id + " on " + found.at("engine").get<std::string>());
        ASSERT_TRUE(by_id.count(id));
        if (!computed.at(found.at("engine")).contains(found.at("operator")) || is_beyond_shaders(found)) {
            EXPECT_EQ(found.at("status"), "skip");
            continue;
        }
        const Planted& error = *by_id.at(id);
        EXPECT_EQ(found.at("status"), "fail");
        for (const Json& output : found.at("outputs")) {
            if (output.at("name") != error.output) {
                EXPECT_EQ(output.at("beyondTolerance"), 0);
                continue;
            }
            EXPECT_EQ(output.at("beyondTolerance"), 1) << "that one and no other";
            EXPECT_EQ(output.at("worst").at("coordinates"), Json(error.coordinates));
        }
        const std::string name = fmt::format("worst       {}[{}]\n", error.output, fmt::join(error.coordinates, ","));
        EXPECT_NE(result.output.find(name), std::string::npos) << "a person is told, too";
    }
}

TEST(PlantedErrors, OneIsEnoughForTheExitCode) {
    const TemporaryFolder folder;
    const std::vector<Planted> planted = Copier(folder, true).copy();
    std::set<std::string> seen;
    for (const Planted& error : planted) {
        // One for each data type.
        if (!seen.insert(std::string(core::name(error.type))).second) {
            continue;
        }
        const ProgramResult result = dmlconform(
            {"run", folder.path().string(), "--allow-external-data", "--engine", "cpu", "--filter", error.id});
        EXPECT_TRUE(ends_with_code(result, 1));
        EXPECT_TRUE(prints(result, "FAIL " + error.id + " on cpu"));
        EXPECT_TRUE(
            prints(result, fmt::format("worst       {}[{}]\n", error.output, fmt::join(error.coordinates, ","))));
    }
    EXPECT_GE(seen.size(), 8u);
}

}  // namespace
}  // namespace dmlconform::tests::planted_errors_test
