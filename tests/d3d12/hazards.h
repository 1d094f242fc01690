// Finds accesses to memory that recorded commands leave unordered. Lavapipe runs one command after the other, so
// results computed there reveal nothing.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "engine/d3d12/planning/dispatch_plan.h"
#include "tests/d3d12/recording_list.h"

namespace dmlconform::tests {

class HazardSearch {
public:
    HazardSearch(const std::vector<RecordedCommand>& commands, const d3d12::DispatchPlan& plan)
        : commands_(commands), plan_(plan) {
        for (std::size_t i = 0; i < commands.size(); ++i) {
            if (commands[i].kind == Kind::dispatch) {
                dispatches_.push_back(i);
            }
        }
    }

    /// One line per unordered pair of accesses.
    [[nodiscard]] std::vector<std::string> hazards() && {
        if (dispatches_.size() != plan_.dispatches.size()) {
            return {fmt::format("{} dispatches for {} in the plan", dispatches_.size(), plan_.dispatches.size())};
        }
        if (dispatches_.empty()) {
            return {"nothing is dispatched"};
        }
        find_between_dispatches();
        find_around_copies();
        return std::move(found_);
    }

private:
    using Kind = RecordedCommand::Kind;
    using Addresses = std::vector<D3D12_GPU_VIRTUAL_ADDRESS>;
    static constexpr D3D12_RESOURCE_STATES used_states[] = {D3D12_RESOURCE_STATE_UNORDERED_ACCESS,
                                                            D3D12_RESOURCE_STATE_VERTEX_AND_CONSTANT_BUFFER};

    /// The addresses of buffers that a dispatch may write. Other dispatches that read or write these must wait for it.
    [[nodiscard]] Addresses written_by(std::size_t number) const {
        const auto& refs = plan_.dispatches[number].buffers;
        Addresses written;
        for (std::size_t i = 0; i < refs.size(); ++i) {
            if (refs[i].kind == d3d12::BufferRef::Kind::output || refs[i].kind == d3d12::BufferRef::Kind::temporary) {
                written.push_back(commands_[dispatches_[number]].buffers.at(i));
            }
        }
        return written;
    }

    /// Whether `matches` is true for a command between the two.
    template <class Matches>
    [[nodiscard]] bool any_between(std::size_t first, std::size_t last, Matches&& matches) const {
        return std::any_of(commands_.begin() + static_cast<std::ptrdiff_t>(first) + 1,
                           commands_.begin() + static_cast<std::ptrdiff_t>(last), matches);
    }

    void find_between_dispatches() {
        for (std::size_t b = 1; b < dispatches_.size(); ++b) {
            for (std::size_t a = 0; a < b; ++a) {
                const Addresses first = written_by(a);
                const Addresses second = written_by(b);
                const bool dependent = std::ranges::find_first_of(first, second) != first.end();
                // A barrier for all resources; the engine uses no other kind.
                const bool ordered = any_between(dispatches_[a], dispatches_[b], [](const RecordedCommand& command) {
                    return command.kind == Kind::unordered_access_barrier && command.resource == nullptr;
                });
                if (dependent && !ordered) {
                    found_.push_back(fmt::format("no barrier between dispatches {} and {}", a, b));
                }
            }
        }
    }

    [[nodiscard]] bool has_transition(std::size_t first, std::size_t last, const ID3D12Resource* resource,
                                      D3D12_RESOURCE_STATES before, D3D12_RESOURCE_STATES after) const {
        return any_between(first, last, [&](const RecordedCommand& command) {
            return command.kind == Kind::transition && command.resource == resource && command.before == before &&
                   command.after == after;
        });
    }

    /// Whether the target of a copy before the first dispatch is transitioned to the state in which it is used, as a
    /// tensor or as constants.
    [[nodiscard]] bool is_made_ready(std::size_t copy) const {
        return std::ranges::any_of(used_states, [&](D3D12_RESOURCE_STATES state) {
            return has_transition(copy, dispatches_.front(), commands_[copy].resource, D3D12_RESOURCE_STATE_COPY_DEST,
                                  state);
        });
    }

    void find_around_copies() {
        for (std::size_t i = 0; i < commands_.size(); ++i) {
            const RecordedCommand& command = commands_[i];
            if (command.kind != Kind::copy) {
                continue;
            }
            if (i < dispatches_.front() && !is_made_ready(i)) {
                found_.push_back(fmt::format("command {} copies to what dispatches may already use", i));
            }
            if (i > dispatches_.back() &&
                !has_transition(dispatches_.back(), i, command.source, D3D12_RESOURCE_STATE_UNORDERED_ACCESS,
                                D3D12_RESOURCE_STATE_COPY_SOURCE)) {
                found_.push_back(fmt::format("command {} copies what dispatches may not have written yet", i));
            }
            if (i > dispatches_.front() && i < dispatches_.back()) {
                found_.push_back(fmt::format("command {} copies between dispatches", i));
            }
        }
    }

    const std::vector<RecordedCommand>& commands_;
    const d3d12::DispatchPlan& plan_;
    std::vector<std::size_t> dispatches_;
    std::vector<std::string> found_;
};

/// The accesses that the plan requires to be ordered, but that the commands leave unordered.
inline std::vector<std::string> hazards_in(const std::vector<RecordedCommand>& commands,
                                           const d3d12::DispatchPlan& plan) {
    return HazardSearch(commands, plan).hazards();
}

}  // namespace dmlconform::tests
