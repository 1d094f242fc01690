// A connection to a running worker: sends requests, and waits for answers with time limits.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/core/error.h"
#include "engine/engine.h"
#include "engine/worker/child_process.h"

namespace dmlconform::worker {

/// Limits for waiting.
struct Patience {
    std::chrono::nanoseconds limit{};
    /// Called while waiting: true if the user interrupts the run. Then the process has a moment longer. Null: never.
    std::function<bool()> interrupted{};
};

/// The maximum size of an answer without tensors.
inline constexpr std::uint64_t small_answer = std::uint64_t{1} << 20;

/// Requests are numbered, and answers come in their order. queue() only buffers requests, which are written when an
/// answer is awaited. Answers that nobody waits for are dropped.
class Connection {
public:
    using Id = std::uint64_t;

    /// Starts the process and asks for its identity. Fails, with the process's standard error, if it does not answer
    /// correctly in time. Throws EngineLost if interrupted.
    [[nodiscard]] static core::Result<std::shared_ptr<Connection>> open(const WorkerCommand& command,
                                                                        const Patience& patience);

    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;
    /// Gives the process a moment to end by itself.
    ~Connection();

    [[nodiscard]] const EngineInfo& info() const { return info_; }
    /// What the process has used so far.
    [[nodiscard]] std::optional<core::ProcessorUse> processor_use() const { return process_->processor_use(); }
    /// True if the worker runs graphs as a whole.
    [[nodiscard]] bool takes_graphs() const { return takes_graphs_; }
    /// The opset of the ONNX models that the worker wants; nothing if it wants descriptors.
    [[nodiscard]] std::optional<std::int64_t> wanted_opset() const { return wanted_opset_; }
    /// False once EngineLost was thrown: the process has ended.
    [[nodiscard]] bool is_usable() const { return usable_; }
    /// True if it was lost because it did not answer in time.
    [[nodiscard]] bool has_hung() const { return hung_; }

    /// Sets the total time that the process has for answers from now on. Only the time that is spent waiting counts.
    void set_time(std::chrono::nanoseconds limit) { limit_ = left_ = limit; }

    /// Adds "request" and "id" to `message` and queues it. Fails if the message is too large for a frame. Answers of
    /// more than `most` bytes are rejected.
    [[nodiscard]] core::Result<Id> queue(const char* request, nlohmann::json message,
                                         std::uint64_t most = small_answer);
    /// True if the answer to the request is outstanding.
    [[nodiscard]] bool is_awaited(Id id) const { return id > last_id_ - unanswered_.size() && id <= last_id_; }
    /// Waits for the answer to a request, which must be outstanding. It may have the member "error". Throws EngineLost.
    [[nodiscard]] nlohmann::json answer(Id id);

    /// Queues `release`, whose answer only settle() reports on.
    void queue_release(nlohmann::json message);
    /// Waits for all outstanding answers. Fails if one to a `release` since the last call was an error. Throws
    /// EngineLost.
    [[nodiscard]] core::Result<void> settle();

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
    /// What the process has to answer next, for messages.
    [[nodiscard]] std::string awaited() const;
    void check(ChildProcess::Outcome outcome);
    /// The answer to the first outstanding request.
    [[nodiscard]] nlohmann::json next_answer();
    [[nodiscard]] nlohmann::json read_message();
    void read_into(std::span<std::byte> to);
    [[noreturn]] void lose_for_interrupt();
    [[noreturn]] void lose_for(const core::Error& rubbish);
    [[nodiscard]] std::string last_words() const;

    std::unique_ptr<ChildProcess> process_;
    EngineInfo info_;
    bool takes_graphs_ = false;
    std::optional<std::int64_t> wanted_opset_;
    bool usable_ = true;
    bool hung_ = false;
    std::chrono::nanoseconds left_{};
    std::chrono::nanoseconds limit_{};
    std::function<bool()> interrupted_;
    std::vector<std::uint8_t> outgoing_;
    Id last_id_ = 0;
    /// Outstanding requests, oldest first; the number of the last one is last_id_.
    std::vector<Request> unanswered_;
    /// The answer that is waited for; empty while settle() waits for all of them.
    std::optional<Id> wanted_;
    /// The first error of a `release` that was not reported yet.
    std::optional<core::Error> unreleased_;
};

}  // namespace dmlconform::worker
