// Frames and numbers messages, and handles workers that fail.
#include "engine/worker/connection.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "engine/engine_lost.h"
#include "engine/worker/cbor.h"
#include "engine/worker/frame.h"
#include "engine/worker/messages.h"

namespace dmlconform::worker {
namespace {

using nlohmann::json;
using Clock = ChildProcess::Clock;
using Outcome = ChildProcess::Outcome;

/// For processes that are asked to end, or seem to be ending.
constexpr std::chrono::milliseconds grace{2000};

/// Interval for checking whether the run is interrupted.
constexpr std::chrono::milliseconds heartbeat{100};

/// The request whose answer settle() reports on.
constexpr const char* release_request = "release";

bool is_release(std::string_view request) {
    return request == release_request;
}

std::string seconds(std::chrono::nanoseconds time) {
    return fmt::format("{:g} s", std::chrono::duration<double>(time).count());
}

}  // namespace

core::Result<std::shared_ptr<Connection>> Connection::open(const WorkerCommand& command, const Patience& patience) {
    auto process = ChildProcess::start(command);
    if (!process) {
        return tl::unexpected(std::move(process.error()));
    }
    const std::shared_ptr<Connection> connection(new Connection(std::move(*process), patience));
    try {
        const auto id = connection->queue("info", {{"protocol", protocol_version}});
        const json answer = connection->answer(id.value());
        if (const auto error = answer.find("error"); error != answer.end()) {
            return tl::unexpected(error_from_json(*error));
        }
        auto info = info_from_json(answer);
        const auto wanted = worker::wanted_opset(answer);
        if (!info || !wanted) {
            return core::fail(fmt::format("`{}` is not a worker to talk to: {}{}", to_string(command),
                                          info ? wanted.error().message : info.error().message,
                                          connection->last_words()));
        }
        connection->info_ = std::move(*info);
        connection->wanted_opset_ = *wanted;
        connection->takes_graphs_ = worker::takes_graphs(answer);
    } catch (const EngineLost& lost) {
        if (lost.kind() == EngineLost::Kind::interrupted) {
            throw;
        }
        return core::fail(fmt::format("`{}` does not answer as a worker: {}", to_string(command), lost.what()));
    }
    return connection;
}

Connection::~Connection() {
    process_->end(usable_ ? grace : std::chrono::milliseconds(0));
}

core::Result<Connection::Id> Connection::queue(const char* request, json message, std::uint64_t most) {
    message["id"] = last_id_ + 1;
    message["request"] = request;
    if (auto appended = append_frame(message, outgoing_); !appended) {
        return tl::unexpected(std::move(appended.error()));
    }
    unanswered_.push_back({request, most});
    return ++last_id_;
}

void Connection::flush() {
    if (outgoing_.empty()) {
        return;
    }
    const Outcome outcome = transfer(&ChildProcess::write, std::as_bytes(std::span(outgoing_)));
    // The message may have contained tensors, whose memory is released here.
    outgoing_ = {};
    // A process that has ended may have left output that explains why.
    if (outcome == Outcome::timed_out) {
        check(outcome);
    }
}

json Connection::answer(Id id) {
    if (!is_awaited(id)) {
        throw std::logic_error("an answer was passed over and is wanted now");
    }
    wanted_ = id;
    flush();
    for (;;) {
        const bool is_wanted = last_id_ - unanswered_.size() + 1 == id;
        json message = next_answer();
        if (is_wanted) {
            return message;
        }
    }
}

json Connection::next_answer() {
    json message = read_message();
    const Id expected = last_id_ - unanswered_.size() + 1;
    if (!message.is_object() || unsigned_member(message, "id") != expected) {
        lose_for({fmt::format("it is none to request {}", expected), ""});
    }
    const auto error = message.find("error");
    if (is_release(unanswered_.front().name) && error != message.end() && !unreleased_) {
        unreleased_ = error_from_json(*error);
    }
    unanswered_.erase(unanswered_.begin());
    return message;
}

void Connection::queue_release(json message) {
    (void)queue(release_request, std::move(message));  // small enough for a frame
}

core::Result<void> Connection::settle() {
    wanted_.reset();
    flush();
    while (!unanswered_.empty()) {
        (void)next_answer();
    }
    if (const auto error = std::exchange(unreleased_, std::nullopt)) {
        return core::fail(fmt::format("the worker's answer to `release` is an error: {}", error->message));
    }
    return {};
}

std::string Connection::awaited() const {
    if (unanswered_.empty()) {
        return "nothing";
    }
    const Request& next = unanswered_.front();
    const bool is_of_another = is_release(next.name) && wanted_;
    return fmt::format("`{}`{}", next.name, is_of_another ? " of what was compiled before" : "");
}

json Connection::read_message() {
    std::array<std::byte, frame_header_size> header{};
    read_into(header);
    const auto size = message_size(header, unanswered_.front().largest_answer);
    if (!size) {
        lose_for(size.error());
    }
    std::vector<std::byte> content;
    while (content.size() < *size) {
        const std::size_t start = content.size();
        content.resize(start + std::min<std::size_t>(*size - start, arrival_step));
        read_into(std::span(content).subspan(start));
    }
    auto message = decode_cbor(content);
    if (!message) {
        lose_for(message.error());
    }
    return std::move(*message);
}

void Connection::read_into(std::span<std::byte> to) {
    check(transfer(&ChildProcess::read, to));
}

/// Transfers the bytes before the deadline; after an interruption only for a moment longer.
template <class Bytes>
Outcome Connection::transfer(Outcome (ChildProcess::*move)(Bytes&, Clock::time_point), Bytes bytes) {
    const auto start = Clock::now();
    auto deadline = start + left_;
    bool ending = false;
    for (;;) {
        const Outcome outcome = (*process_.*move)(bytes, std::min(deadline, Clock::now() + heartbeat));
        const auto now = Clock::now();
        if (outcome != Outcome::timed_out || now >= deadline) {
            left_ -= now - start;
            if (outcome == Outcome::timed_out && ending) {
                lose_for_interrupt();
            }
            return outcome;
        }
        if (!ending && interrupted_ && interrupted_()) {
            ending = now + grace < deadline;
            deadline = std::min(deadline, now + grace);
        }
    }
}

void Connection::check(Outcome outcome) {
    if (outcome == Outcome::done) {
        return;
    }
    usable_ = false;
    const std::string request = awaited();
    if (outcome == Outcome::timed_out) {
        hung_ = true;
        process_->end(std::chrono::milliseconds(0));
        throw EngineLost(EngineLost::Kind::timed_out, fmt::format("no answer to {} within {}, so it was ended{}",
                                                                  request, seconds(limit_), last_words()));
    }
    const std::string how = process_->end(grace);
    const std::string what = how == had_to_be_ended
                                 ? fmt::format("the worker closed its standard output in {}, and did not end", request)
                                 : fmt::format("the worker ended in {}: {}", request, how);
    throw EngineLost(EngineLost::Kind::crashed, what + last_words());
}

void Connection::lose_for_interrupt() {
    usable_ = false;
    process_->end(std::chrono::milliseconds(0));
    throw EngineLost(EngineLost::Kind::interrupted,
                     fmt::format("the run was interrupted while {} was to be answered", awaited()));
}

void Connection::lose_for(const core::Error& rubbish) {
    usable_ = false;
    process_->end(std::chrono::milliseconds(0));
    throw EngineLost(EngineLost::Kind::broken, fmt::format("the worker's answer to {} is not understood: {}{}",
                                                           awaited(), rubbish.message, last_words()));
}

std::string Connection::last_words() const {
    std::string text = process_->errors();
    text.erase(text.find_last_not_of(" \r\n\t") + 1);
    constexpr std::size_t longest = 300;
    if (const std::size_t line = text.rfind('\n'); line != std::string::npos) {
        text.erase(0, line + 1);
    }
    if (text.size() > longest) {
        text.erase(0, text.size() - longest);
    }
    return text.empty() ? "" : fmt::format("; it said: {}", text);
}

}  // namespace dmlconform::worker
