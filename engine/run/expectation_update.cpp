// Edits expectation files: removes what passes, keeps what still fails, adds new failures.
#include "engine/run/expectation_update.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <tuple>

#include "engine/core/glob.h"
#include "engine/expectations/array_edits.h"
#include "engine/expectations/expectation_file.h"

namespace dmlconform::run {
namespace {

using cases::JsonValue;
using Json = nlohmann::ordered_json;

std::string quoted(const std::string& text) {
    return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

bool is_pattern(const std::string& text) {
    return text.find_first_of("*?") != std::string::npos;
}

/// True if two entries are equal apart from their lines. Of version ranges only their presence counts, and conditions
/// are ignored; entries that differ only in these keep their order.
bool say_the_same(const expectations::Expectation& a, const expectations::Expectation& b) {
    const auto names = [](const auto& entry) {
        std::vector<std::string> list;
        for (const auto& [name, range] : entry.libraries) {
            list.push_back(name);
        }
        return list;
    };
    const auto content = [](const expectations::Expectation& entry) {
        return std::tie(entry.cases, entry.operators, entry.engine, entry.adapter, entry.expected, entry.happens,
                        entry.finding, entry.reason, entry.issue, entry.retries, entry.expires);
    };
    return content(a) == content(b) && a.driver.has_value() == b.driver.has_value() && names(a) == names(b);
}

/// The ids as a JSON list, one per line if there are several.
std::string id_list(const std::set<std::string>& ids, std::string_view indentation) {
    std::vector<std::string> texts;
    for (const std::string& id : ids) {
        texts.push_back(quoted(id));
    }
    if (texts.size() == 1) {
        return texts.front();
    }
    return fmt::format("[\n{0}  {1}\n{0}]", indentation, fmt::join(texts, fmt::format(",\n{}  ", indentation)));
}

/// Edits one entry of a file.
class EntryEdit {
public:
    EntryEdit(const JsonValue& entry, const std::set<std::string>& passed, const std::set<std::string>& needed,
              bool complete)
        : list_(*entry.find("cases")), complete_(complete) {
        for (const std::string& id : passed) {
            (needed.count(id) == 0 ? gone_ : mixed_).insert(id);
        }
        std::ranges::copy(needed, std::inserter(needed_, needed_.end()));
    }

    /// True if nothing of the entry is left.
    bool apply(expectations::ArrayEdits& edits) {
        if (list_.array() == nullptr) {
            return apply_to(list_, edits);
        }
        std::vector<bool> remove;
        for (const JsonValue& element : *list_.array()) {
            remove.push_back(apply_to(element, edits));
        }
        if (std::ranges::find(remove, false) == remove.end()) {
            return true;
        }
        edits.remove(list_, remove);
        return false;
    }

    [[nodiscard]] const std::vector<std::string>& notes() const { return notes_; }

private:
    /// True if the element must be removed. Narrows an element that is a pattern of which only a part must be removed.
    bool apply_to(const JsonValue& element, expectations::ArrayEdits& edits) {
        const std::string& pattern = *element.string();
        const auto matched = [&](const std::set<std::string>& ids) {
            std::set<std::string> found;
            std::ranges::copy_if(ids, std::inserter(found, found.end()),
                                 [&](const std::string& id) { return core::glob_matches(pattern, id); });
            return found;
        };
        for (const std::string& id : matched(mixed_)) {
            notes_.push_back(
                fmt::format("{} passes on one engine and fails on another: narrow \"{}\" by hand", id, pattern));
        }
        if (matched(gone_).empty()) {
            return false;
        }
        if (is_pattern(pattern) && !complete_) {
            notes_.push_back(fmt::format("\"{}\" stays: not all cases were run", pattern));
            return false;
        }
        const std::set<std::string> still = matched(needed_);
        if (still.empty()) {
            return true;
        }
        std::string ids = id_list(still, "");
        std::ranges::replace(ids, '\n', ' ');
        const bool within_list = list_.array() != nullptr && still.size() > 1;
        edits.replace(element, within_list ? ids.substr(1, ids.size() - 2) : ids);
        notes_.push_back(fmt::format("\"{}\" narrowed to the {} that still fail", pattern, still.size()));
        return false;
    }

    const JsonValue& list_;
    bool complete_;
    std::set<std::string> gone_;
    std::set<std::string> mixed_;
    std::set<std::string> needed_;
    std::vector<std::string> notes_;
};

}  // namespace

void ExpectationUpdate::add(const CaseResult& result) {
    const std::string& id = result.subject->id;
    if (result.status == Status::xpass || result.status == Status::xfail) {
        for (const std::size_t index : expected_.matching(*result.subject, result.engine)) {
            if (result.status == Status::xpass && !expected_.all()[index].forbids_a_pass()) {
                continue;
            }
            Outcome& outcome = outcomes_[index];
            (result.status == Status::xpass ? outcome.passed : outcome.needed).insert(id);
        }
    } else if (is_failure(result.status) && result.gated) {
        failures_[{result.engine, result.status, result.reason}].insert(id);
        for (const std::size_t index : expected_.matching(*result.subject, result.engine)) {
            outcomes_[index].needed.insert(id);
        }
    }
}

std::vector<std::string> ExpectationUpdate::entries_for_failures(
    std::span<const EngineInfo> engines, std::span<const expectations::Expectation> fresh) const {
    std::vector<std::string> entries;
    for (const auto& [failure, all_ids] : failures_) {
        const EngineInfo& engine = engines[failure.engine];
        // Another run may have added the same entry since this one began.
        const std::string_view status = to_string(failure.status);
        const auto is_there = [&](const std::string& id) {
            return std::ranges::any_of(fresh, [&](const expectations::Expectation& entry) {
                return status == expectations::to_string(entry.expected) && entry.concerns(engine) &&
                       std::ranges::any_of(entry.cases, [&](const auto& glob) { return core::glob_matches(glob, id); });
            });
        };
        std::set<std::string> ids = all_ids;
        std::erase_if(ids, is_there);
        if (ids.empty()) {
            continue;
        }
        std::string entry =
            fmt::format("{{\n  \"cases\": {},\n  \"engine\": {},\n", id_list(ids, "  "), quoted(engine.name));
        // The processor's name does not affect failures of the CPU engine.
        if (!engine.adapter.empty() && !engine.is_reference && !engine.name.starts_with("exec:")) {
            entry += fmt::format("  \"adapter\": {},\n", quoted(engine.adapter));
        }
        entries.push_back(entry + fmt::format("  \"status\": \"{}\",\n  \"reason\": {}\n}}", to_string(failure.status),
                                              quoted(failure.reason)));
    }
    return entries;
}

core::Result<ExpectationUpdate::Entries> ExpectationUpdate::entries_of(const std::string& path,
                                                                       const std::string& text) const {
    auto now = expectations::read_expectations(path, text);
    if (!now.problems.empty()) {
        return core::fail(fmt::format("{} has changed since the run began: {}", path, now.problems.front().message));
    }
    const auto all = expected_.all();
    std::vector<std::size_t> left;
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (all[i].file == path) {
            left.push_back(i);
        }
    }
    Entries entries;
    for (auto& entry : now.expectations) {
        const auto same = std::ranges::find_if(left, [&](std::size_t i) { return say_the_same(all[i], entry); });
        if (same == left.end()) {
            entries.known.emplace_back();
            entries.fresh.push_back(std::move(entry));
        } else {
            entries.known.emplace_back(*same);
            left.erase(same);
        }
    }
    return entries;
}

core::Result<UpdatedFile> ExpectationUpdate::update(const std::string& path, const std::string& text,
                                                    std::span<const EngineInfo> engines, bool complete,
                                                    bool add_failures) const {
    const auto document = cases::parse_json(text);
    const JsonValue* list = document ? document->find("expectations") : nullptr;
    if (list == nullptr || list->array() == nullptr) {
        return core::fail(fmt::format("{} has changed since the run began", path));
    }
    UpdatedFile updated;
    expectations::ArrayEdits edits(text);
    std::vector<bool> remove(list->array()->size(), false);
    const auto all = expected_.all();
    const auto entries = entries_of(path, text);
    if (!entries) {
        return tl::unexpected(entries.error());
    }
    const auto& known = entries->known;
    for (std::size_t i = 0; i < remove.size(); ++i) {
        const auto outcome = known[i] ? outcomes_.find(*known[i]) : outcomes_.end();
        if (outcome == outcomes_.end() || outcome->second.passed.empty()) {
            continue;
        }
        const std::size_t index = *known[i];
        if (all[index].cases.empty()) {
            updated.changes.push_back(fmt::format("{}: {} passes: the condition is too wide, narrow it by hand",
                                                  all[index].location(), *outcome->second.passed.begin()));
            continue;
        }
        EntryEdit edit((*list->array())[i], outcome->second.passed, outcome->second.needed, complete);
        expectations::ArrayEdits trial = edits;
        remove[i] = edit.apply(trial);
        if (!remove[i]) {
            edits = trial;
        }
        const std::string location = all[index].location();
        if (remove[i] || edit.notes().empty()) {
            updated.changes.push_back(
                fmt::format("{}: {}: {}", location, remove[i] ? "removed" : "cases removed", all[index].reason));
        }
        for (const std::string& note : edit.notes()) {
            updated.changes.push_back(fmt::format("{}: {}", location, note));
        }
    }
    edits.remove(*list, remove);
    if (add_failures) {
        const auto added = entries_for_failures(engines, entries->fresh);
        edits.append(*list, remove, added);
        if (!added.empty()) {
            updated.changes.push_back(
                fmt::format("{}: added {} for new failures: write why into \"reason\"", path,
                            added.size() == 1 ? "an entry" : fmt::format("{} entries", added.size())));
        }
    }
    updated.text = edits.text();
    return updated;
}

std::string empty_expectations() {
    return "{\n  \"format\": \"dmlconform-expectations\",\n  \"formatVersion\": 1,\n  \"expectations\": [\n  ]\n}\n";
}

}  // namespace dmlconform::run
