// Compares two results.
#include "engine/report/result_diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <tuple>

#include "engine/report/result_file.h"

namespace dmlconform::report {
namespace {

using Json = nlohmann::ordered_json;

/// Identifies a result by case, engine and repetition.
using Key = std::tuple<std::string, std::string, std::uint64_t>;

struct Seen {
    std::string op;
    run::Status status = run::Status::error;
    bool gated = true;
    std::string reason;
    /// True if an output had no expected values, or was compared within a tolerance that accepts anything.
    bool in_part = false;
    bool met = false;
};

struct ComparedFile {
    ResultHeader header;
    std::map<Key, Seen> results;
};

bool is_verified_in_part(const Json& result) {
    return result.contains("uncompared") ||
           std::ranges::any_of(result["outputs"], [](const Json& output) { return output.contains("powerless"); });
}

core::Result<ComparedFile> read(const std::string& path) {
    ComparedFile file;
    auto header = read_result_file(path, [&](Json& result) -> core::Result<void> {
        const Json repetition = result.value("repetition", Json(0));
        Key key{result["id"].get<std::string>(), result["engine"].get<std::string>(),
                repetition.is_number_unsigned() ? repetition.get<std::uint64_t>() : 0};
        Seen seen{result["operator"].get<std::string>(), *status_named(result["status"].get_ref<const std::string&>()),
                  result["gated"].get<bool>(), result.value("reason", ""), is_verified_in_part(result)};
        const std::string id = std::get<0>(key);
        return file.results.emplace(std::move(key), std::move(seen)).second
                   ? core::Result<void>()
                   : core::fail(fmt::format("{}: there are two results of {} on one engine", path, id));
    });
    if (!header) {
        return tl::unexpected(header.error());
    }
    file.header = std::move(*header);
    return file;
}

/// Ranks how much expectations excuse.
int excuses(run::Status status) {
    return status == run::Status::xfail ? 2 : status == run::Status::flake ? 1 : 0;
}

bool is_same(const Seen& before, const Seen& now) {
    return before.status == now.status && before.gated == now.gated && before.in_part == now.in_part;
}

DiffKind kind_of(const Seen& before, const Seen& now) {
    if (before.gated && !now.gated) {
        return DiffKind::left_gate;
    }
    const bool failed = run::is_failure(before.status);
    const bool verified = run::is_verified(before.status);
    if (run::is_failure(now.status)) {
        return failed && before.gated == now.gated ? DiffKind::other : DiffKind::newly_failing;
    }
    if (!run::is_verified(now.status)) {
        return failed || verified ? DiffKind::unverified : DiffKind::other;
    }
    if (excuses(now.status) > excuses(before.status) && (failed || verified)) {
        return DiffKind::excused;
    }
    if (verified && now.in_part && !before.in_part) {
        return DiffKind::unverified;
    }
    return failed || (excuses(before.status) != 0 && excuses(now.status) == 0) ? DiffKind::fixed : DiffKind::other;
}

std::string device(const StoredEngine& engine) {
    return engine.adapter + (engine.driver.empty() ? "" : ", driver " + engine.driver);
}

void note_devices(const ResultHeader& base, const ResultHeader& now, ResultDiff& diff) {
    for (const StoredEngine& engine : now.engines) {
        const auto before = std::find_if(base.engines.begin(), base.engines.end(),
                                         [&](const StoredEngine& candidate) { return candidate.name == engine.name; });
        if (before != base.engines.end() && device(*before) != device(engine)) {
            diff.devices.push_back(fmt::format("{}: {}, was {}", engine.name, device(engine), device(*before)));
        }
    }
}

void add(ResultDiff& diff, DiffKind kind, const Key& key, const Seen* before, const Seen* now) {
    const Seen& known = now == nullptr ? *before : *now;
    const auto& [id, engine, repetition] = key;
    const bool gated = (before != nullptr && before->gated) || (now != nullptr && now->gated);
    std::string reason = now == nullptr ? "" : now->reason;
    if (now != nullptr && reason.empty() && now->in_part && kind == DiffKind::unverified) {
        reason = "an output has no expected values, or its tolerance accepts anything";
    }
    diff.changes.push_back({kind, id, known.op, engine, gated, before == nullptr ? "" : to_string(before->status),
                            now == nullptr ? "" : to_string(now->status), std::move(reason)});
    if (gated) {
        ++diff.counts[{known.op, engine}][static_cast<std::size_t>(kind)];
    }
}

}  // namespace

const char* to_string(DiffKind kind) {
    constexpr std::array<const char*, diff_kind_count> names{"newly failing", "newly excused", "no longer verified",
                                                             "left the gate", "missing",       "fixed",
                                                             "new",           "other status"};
    return names[static_cast<std::size_t>(kind)];
}

std::size_t ResultDiff::count(DiffKind kind) const {
    std::size_t sum = 0;
    for (const auto& [key, of_kind] : counts) {
        sum += of_kind[static_cast<std::size_t>(kind)];
    }
    return sum;
}

bool ResultDiff::regressed(const std::set<DiffKind>& allowed) const {
    for (std::size_t kind = 0; kind < diff_kind_count; ++kind) {
        const auto which = static_cast<DiffKind>(kind);
        if (is_regression(which) && !allowed.contains(which) && count(which) != 0) {
            return true;
        }
    }
    return false;
}

core::Result<ResultDiff> diff_results(const std::string& base, const std::string& now) {
    auto before = read(base);
    if (!before) {
        return tl::unexpected(before.error());
    }
    const auto after = read(now);
    if (!after) {
        return tl::unexpected(after.error());
    }
    ResultDiff diff;
    note_devices(before->header, after->header, diff);
    for (const auto& [key, result] : after->results) {
        const auto found = before->results.find(key);
        if (found == before->results.end()) {
            add(diff, run::is_failure(result.status) ? DiffKind::newly_failing : DiffKind::added, key, nullptr,
                &result);
            continue;
        }
        found->second.met = true;
        if (is_same(found->second, result)) {
            ++diff.same;
            diff.still_failing += run::is_failure(result.status) && result.gated ? 1 : 0;
        } else {
            add(diff, kind_of(found->second, result), key, &found->second, &result);
        }
    }
    for (const auto& [key, result] : before->results) {
        if (!result.met) {
            add(diff, DiffKind::missing, key, &result, nullptr);
        }
    }
    std::stable_sort(diff.changes.begin(), diff.changes.end(), [](const ChangedResult& a, const ChangedResult& b) {
        return std::tie(a.kind, a.op, a.engine, a.id) < std::tie(b.kind, b.op, b.engine, b.id);
    });
    return diff;
}

Json to_json(const ResultDiff& diff) {
    Json counts = Json::object();
    for (std::size_t kind = 0; kind < diff_kind_count; ++kind) {
        counts[to_string(static_cast<DiffKind>(kind))] = diff.count(static_cast<DiffKind>(kind));
    }
    Json changes = Json::array();
    for (const ChangedResult& change : diff.changes) {
        changes.push_back({{"change", to_string(change.kind)},
                           {"id", change.id},
                           {"operator", change.op},
                           {"engine", change.engine},
                           {"gated", change.gated},
                           {"before", change.before},
                           {"now", change.now},
                           {"reason", change.reason}});
    }
    return {{"format", "dmlconform-diff"},        {"counts", std::move(counts)}, {"same", diff.same},
            {"stillFailing", diff.still_failing}, {"devices", diff.devices},     {"changes", std::move(changes)}};
}

}  // namespace dmlconform::report
