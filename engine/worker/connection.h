// A worker that runs: requests to it, answers from it, and the time that it has for them.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "engine/core/error.h"
#include "engine/engine.h"
#include "engine/worker/child_process.h"

namespace dmlconform::worker {

/// What to wait for while the process has something to do.
struct Patience {
    std::chrono::nanoseconds limit{};
    /// Asked while something is awaited: whether the user wants the run to end. Then the process has a moment more.
    /// Null: never.
    std::function<bool()> interrupted{};
};

/// The largest answer to a request that asks for no tensors.
inline constexpr std::uint64_t small_answer = std::uint64_t{1} << 20;

/// Requests are numbered, and answers come in their order. A request is only queued; all that are queued are written
/// when an answer is awaited. Answers that nobody has awaited are passed over.
class Connection {
public:
    using Id = std::uint64_t;

    /// Starts the process and asks it who it is. An error, with what the process wrote to its standard error, when it
    /// does not answer in time as the protocol wants. Throws EngineLost when it is interrupted.
    [[nodiscard]] static core::Result<std::shared_ptr<Connection>> open(const WorkerCommand& command,
                                                                        const Patience& patience);

    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;
    /// Lets the process end by itself, for a moment.
    ~Connection();

    [[nodiscard]] const EngineInfo& info() const { return info_; }
    /// False once EngineLost was thrown: the process has ended.
    [[nodiscard]] bool is_usable() const { return usable_; }

    /// From now on the process has this long in all to answer. Only the time in which we wait for it counts.
    void set_time(std::chrono::nanoseconds limit) { limit_ = left_ = limit; }

    /// Adds "request" and "id" to `message` and queues it. An error when the message is too large for a frame. An
    /// answer of more than `most` bytes is not read.
    [[nodiscard]] core::Result<Id> queue(const char* request, nlohmann::json message,
                                         std::uint64_t most = small_answer);
    /// Whether the answer to a request is still to come.
    [[nodiscard]] bool is_awaited(Id id) const { return id > last_id_ - unanswered_.size() && id <= last_id_; }
    /// The answer to a request, which must still be awaited. It may have the member "error". Throws EngineLost.
    [[nodiscard]] nlohmann::json answer(Id id);

private:
    struct Request {
        const char* name;
        std::uint64_t largest_answer;
    };

    Connection(std::unique_ptr<ChildProcess> process, const Patience& patience)
        : process_(std::move(process)), interrupted_(patience.interrupted) {
        set_time(patience.limit);
    }

    void flush();
    template <class Bytes>
    ChildProcess::Outcome transfer(ChildProcess::Outcome (ChildProcess::*move)(Bytes&, ChildProcess::Clock::time_point),
                                   Bytes bytes);
    [[nodiscard]] const char* awaited() const { return unanswered_.empty() ? "nothing" : unanswered_.front().name; }
    void check(ChildProcess::Outcome outcome);
    [[nodiscard]] nlohmann::json read_message();
    void read_into(std::span<std::byte> to);
    [[noreturn]] void lose_for_interrupt();
    [[noreturn]] void lose_for(const core::Error& rubbish);
    [[nodiscard]] std::string last_words() const;

    std::unique_ptr<ChildProcess> process_;
    EngineInfo info_;
    bool usable_ = true;
    std::chrono::nanoseconds left_{};
    std::chrono::nanoseconds limit_{};
    std::function<bool()> interrupted_;
    std::vector<std::uint8_t> outgoing_;
    Id last_id_ = 0;
    /// The requests that are not answered yet, the oldest first; the last one's number is last_id_.
    std::vector<Request> unanswered_;
};

}  // namespace dmlconform::worker
