// The engine interface, spoken over a connection.
#include "engine/worker/worker_engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "engine/core/checked.h"
#include "engine/core/guard.h"
#include "engine/engine_lost.h"
#include "engine/operators/descriptor_json.h"
#include "engine/worker/frame.h"
#include "engine/worker/messages.h"

namespace dmlconform::worker {
namespace {

using nlohmann::json;

json binary(std::span<const std::byte> bytes) {
    const auto* data = reinterpret_cast<const std::uint8_t*>(bytes.data());
    return json::binary(std::vector<std::uint8_t>(data, data + bytes.size()));
}

/// The error that the answer is, if it is one.
core::Result<void> outcome(const json& answer) {
    const auto error = answer.find("error");
    return error == answer.end() ? core::Result<void>() : tl::unexpected(error_from_json(*error));
}

/// How large an answer to `read` may be: the outputs with their guards, and the rest of the message.
std::uint64_t largest_reading(const operators::Descriptor& descriptor) {
    std::uint64_t sum = small_answer;
    for (const operators::TensorSlot& slot : descriptor.outputs()) {
        const auto more = core::checked_add(sum, slot.desc == nullptr ? 0 : slot.desc->total_bytes);
        sum = std::min<std::uint64_t>(more.value_or(largest_message), largest_message);
        sum += core::guard_bytes + sizeof(std::uint32_t);
    }
    return sum;
}

/// What came of compiling a descriptor: exactly one of an executable, a reason why there is none, a failure.
struct Compiled {
    json description;
    std::optional<Connection::Id> executable;
    std::uint64_t largest_reading = 0;
    std::optional<std::string> unsupported;
    CompileFailure failure;
};

CompileFailure broken(std::string message) {
    return {CompileFailure::Kind::broken, {core::HResult::fail, "", std::move(message), {}}};
}

/// Whether the answer says one thing only.
bool is_plain(const json& answer) {
    const auto said = [&](const char* key) { return answer.contains(key) ? 1 : 0; };
    return said("error") + said("unsupported") + said("rejected") + said("accepted") == 1;
}

Compiled read_compiled(const json& answer, Connection::Id id) {
    Compiled compiled;
    if (!is_plain(answer)) {
        compiled.failure = broken(
            "the worker's answer to `compile` must have exactly one of `accepted`, `unsupported`, `rejected` and "
            "`error`");
    } else if (const auto done = outcome(answer); !done) {
        compiled.failure = broken(done.error().message);
    } else if (const auto reason = text_member(answer, "unsupported")) {
        compiled.unsupported = *reason;
    } else if (const auto rejected = answer.find("rejected"); rejected != answer.end()) {
        auto rejection = rejection_from_json(*rejected);
        compiled.failure =
            rejection ? CompileFailure{CompileFailure::Kind::rejected, std::move(*rejection)}
                      : broken("the worker's answer to `compile` is not understood: " + rejection.error().message);
    } else if (answer.value("accepted", json()) == json(true)) {
        compiled.executable = id;
    } else {
        compiled.failure = broken("the worker's answer to `compile` says neither that it is accepted nor why not");
    }
    return compiled;
}

/// Binding already asks for one execution and for what it computes: their answers are on the way by the time they are
/// wanted. Whoever executes again, or reads again, asks again.
class WorkerExecutable final : public Executable {
public:
    /// `limit`: what an execution beyond the first may take.
    WorkerExecutable(std::shared_ptr<Connection> connection, Connection::Id executable, std::uint64_t largest_reading,
                     std::chrono::nanoseconds limit)
        : connection_(std::move(connection)),
          executable_(executable),
          largest_reading_(largest_reading),
          limit_(limit) {}

    ~WorkerExecutable() override {
        if (connection_->is_usable()) {
            // Goes along with the next request; an answer is not waited for.
            (void)connection_->queue("release", request());
        }
    }

    core::Result<void> bind(std::span<const core::Tensor* const> inputs) override {
        json message = request();
        json& list = message["inputs"] = json::array();
        for (const core::Tensor* input : inputs) {
            list.push_back(input == nullptr ? json() : binary(input->buffer.bytes()));
        }
        const auto bound = connection_->queue("bind", std::move(message));
        if (!bound) {
            return tl::unexpected(bound.error());
        }
        execution_ = connection_->queue("execute", request()).value();
        ask_to_read();
        return outcome(connection_->answer(*bound));
    }

    core::Result<void> execute() override {
        if (!is_awaited(execution_)) {
            connection_->set_time(limit_);
            reading_.reset();
            execution_ = connection_->queue("execute", request()).value();
        }
        const json answer = connection_->answer(*std::exchange(execution_, std::nullopt));
        if (auto done = outcome(answer); !done) {
            return done;
        }
        auto taken = take_time(answer, "deviceNanoseconds", device_time_);
        return taken ? take_time(answer, "nanoseconds", execute_time_) : taken;
    }

    core::Result<void> read(std::span<core::Tensor* const> outputs) override {
        if (!is_awaited(reading_)) {
            ask_to_read();
        }
        const json answer = connection_->answer(*std::exchange(reading_, std::nullopt));
        if (auto done = outcome(answer); !done) {
            return done;
        }
        const auto list = answer.find("outputs");
        if (list == answer.end() || !list->is_array() || list->size() != outputs.size()) {
            return core::fail(
                fmt::format("the worker's answer to `read` has not one entry for each of {} outputs", outputs.size()));
        }
        for (std::size_t i = 0; i < outputs.size(); ++i) {
            if (auto copied = copy((*list)[i], outputs[i], i); !copied) {
                return copied;
            }
        }
        return {};
    }

    [[nodiscard]] std::optional<std::chrono::nanoseconds> device_time() const override { return device_time_; }
    [[nodiscard]] std::optional<std::chrono::nanoseconds> execute_time() const override { return execute_time_; }

private:
    /// False for requests that were not made, and for those whose answers were passed over because another executable's
    /// were wanted first.
    [[nodiscard]] bool is_awaited(const std::optional<Connection::Id>& request) const {
        return request && connection_->is_awaited(*request);
    }

    [[nodiscard]] json request() const { return {{"executable", executable_}}; }

    void ask_to_read() { reading_ = connection_->queue("read", request(), largest_reading_).value(); }

    /// A time that the worker may tell; an error when it tells something else.
    static core::Result<void> take_time(const json& answer, const char* key,
                                        std::optional<std::chrono::nanoseconds>& time) {
        constexpr std::uint64_t longest = 1'000'000'000'000'000'000;
        time.reset();
        if (!answer.contains(key)) {
            return {};
        }
        const auto nanoseconds = unsigned_member(answer, key);
        if (!nanoseconds) {
            return core::fail(fmt::format(
                "the worker's answer to `execute` has a `{}` that is not a whole number of at least 0", key));
        }
        time = std::chrono::nanoseconds(std::min(*nanoseconds, longest));
        return {};
    }

    static core::Result<void> copy(const json& from, core::Tensor* to, std::size_t index) {
        if (to == nullptr) {
            return {};
        }
        const std::span<std::byte> bytes = to->buffer.bytes();
        if (!from.is_binary() || from.get_binary().size() != bytes.size()) {
            return core::fail(fmt::format(
                "output {} is {} in the worker's answer to `read`; {} bytes were to come", index,
                from.is_binary() ? fmt::format("{} bytes", from.get_binary().size()) : std::string("no byte string"),
                bytes.size()));
        }
        const auto source = std::as_bytes(std::span(from.get_binary()));
        std::copy(source.begin(), source.end(), bytes.begin());
        return {};
    }

    std::shared_ptr<Connection> connection_;
    Connection::Id executable_;
    std::uint64_t largest_reading_;
    std::chrono::nanoseconds limit_;
    /// Requests that were made in advance.
    std::optional<Connection::Id> execution_;
    std::optional<Connection::Id> reading_;
    std::optional<std::chrono::nanoseconds> device_time_;
    std::optional<std::chrono::nanoseconds> execute_time_;
};

}  // namespace

class WorkerEngine::Process {
public:
    Process(WorkerCommand command, const WorkerSettings& settings, std::shared_ptr<Connection> connection)
        : command_(std::move(command)), settings_(settings), connection_(std::move(connection)) {}

    /// What comes of the descriptor; kept, for whoever asks again.
    const Compiled& compile(const operators::Descriptor& descriptor) {
        json description = operators::descriptor_to_json(descriptor);
        if (latest_ && connection_->is_usable() && latest_->description == description) {
            return *latest_;
        }
        forget();
        Connection& connection = running();
        connection.set_time(settings_.case_limit);
        if (const auto id = connection.queue("compile", description)) {
            latest_ = read_compiled(connection.answer(*id), *id);
            latest_->largest_reading = largest_reading(descriptor);
        } else {
            latest_.emplace().failure = broken(id.error().message);
        }
        latest_->description = std::move(description);
        return *latest_;
    }

    core::Result<Roofline> measure_roofline() {
        Connection& connection = running();
        connection.set_time(settings_.case_limit);
        const auto id = connection.queue("roofline", json::object());
        if (!id) {
            return tl::unexpected(id.error());
        }
        const json answer = connection.answer(*id);
        if (const auto done = outcome(answer); !done) {
            return tl::unexpected(done.error());
        }
        return roofline_from_json(answer);
    }

    [[nodiscard]] core::Result<std::unique_ptr<WorkerEngine>> another() const {
        return WorkerEngine::start(command_, settings_);
    }

    /// Gives the executable away; there must be one.
    std::unique_ptr<Executable> take() {
        const Connection::Id executable = latest_->executable.value();
        const std::uint64_t largest = latest_->largest_reading;
        latest_.reset();
        return std::make_unique<WorkerExecutable>(connection_, executable, largest, settings_.case_limit);
    }

private:
    void forget() {
        if (latest_ && latest_->executable) {
            const std::unique_ptr<Executable> released = take();
        }
        latest_.reset();
    }

    /// The connection to a process that runs: a new one when the last one was lost.
    Connection& running() {
        constexpr int most_failures = 3;
        if (connection_->is_usable()) {
            return *connection_;
        }
        if (failures_ < most_failures) {
            auto opened = Connection::open(command_, {settings_.start_limit, settings_.interrupted});
            if (opened) {
                failures_ = 0;
                connection_ = std::move(*opened);
                return *connection_;
            }
            ++failures_;
            why_ = opened.error().message;
        }
        throw EngineLost(EngineLost::Kind::broken, "the worker cannot be started again: " + why_);
    }

    WorkerCommand command_;
    WorkerSettings settings_;
    std::shared_ptr<Connection> connection_;
    std::optional<Compiled> latest_;
    int failures_ = 0;
    std::string why_;
};

namespace {

EngineInfo own_process(EngineInfo info) {
    info.in_own_process = true;
    return info;
}

}  // namespace

WorkerEngine::WorkerEngine(WorkerCommand command, const WorkerSettings& settings,
                           std::shared_ptr<Connection> connection)
    : info_(own_process(connection->info())),
      process_(std::make_shared<Process>(std::move(command), settings, std::move(connection))) {}

core::Result<std::unique_ptr<WorkerEngine>> WorkerEngine::start(WorkerCommand command, const WorkerSettings& settings) {
    auto connection = Connection::open(command, {settings.start_limit, settings.interrupted});
    if (!connection) {
        return tl::unexpected(std::move(connection.error()));
    }
    return std::unique_ptr<WorkerEngine>(new WorkerEngine(std::move(command), settings, std::move(*connection)));
}

core::Result<std::unique_ptr<Engine>> WorkerEngine::another() const {
    auto started = process_->another();
    if (!started) {
        return tl::unexpected(std::move(started.error()));
    }
    (*started)->set_origin(info_.name, info_.command);
    (*started)->set_reference(info_.is_reference);
    return std::move(*started);
}

core::Result<Roofline> WorkerEngine::measure_roofline() {
    try {
        return process_->measure_roofline();
    } catch (const EngineLost& lost) {
        return core::fail(lost.what());
    }
}

std::optional<std::string> WorkerEngine::unsupported(const operators::Descriptor& descriptor) const {
    return process_->compile(descriptor).unsupported;
}

tl::expected<std::unique_ptr<Executable>, CompileFailure> WorkerEngine::compile(
    const operators::Descriptor& descriptor) {
    const Compiled& compiled = process_->compile(descriptor);
    if (compiled.executable) {
        return process_->take();
    }
    return tl::unexpected(compiled.unsupported ? broken(*compiled.unsupported) : compiled.failure);
}

}  // namespace dmlconform::worker
