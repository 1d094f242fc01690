// Implements the engine interface by requests over a connection.
#include "engine/worker/worker_engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "engine/core/checked.h"
#include "engine/core/guard.h"
#include "engine/engine_lost.h"
#include "engine/operators/descriptor_json.h"
#include "engine/operators/graph_json.h"
#include "engine/operators/rules.h"
#include "engine/worker/frame.h"
#include "engine/worker/messages.h"

namespace dmlconform::worker {
namespace {

using nlohmann::json;

json binary(std::span<const std::byte> bytes) {
    const auto* data = reinterpret_cast<const std::uint8_t*>(bytes.data());
    return json::binary(std::vector<std::uint8_t>(data, data + bytes.size()));
}

/// Converts an answer to its error, if it has one.
core::Result<void> outcome(const json& answer) {
    const auto error = answer.find("error");
    return error == answer.end() ? core::Result<void>() : tl::unexpected(error_from_json(*error));
}

/// Maximum size of an answer to `read`: the outputs with their guards, and the rest of the message.
std::uint64_t largest_reading(const operators::Descriptor& descriptor) {
    std::uint64_t sum = small_answer;
    for (const operators::TensorSlot& slot : descriptor.outputs()) {
        const auto more = core::checked_add(sum, slot.desc == nullptr ? 0 : slot.desc->total_bytes);
        sum = std::min<std::uint64_t>(more.value_or(largest_message), largest_message);
        sum += core::guard_bytes + sizeof(std::uint32_t);
    }
    return sum;
}

std::uint64_t largest_reading(const WantedModel& model) {
    std::uint64_t sum = small_answer;
    for (const auto& output : model.outputs) {
        const auto more = core::checked_add(sum, output ? output->bytes() : 0);
        sum = std::min<std::uint64_t>(more.value_or(largest_message), largest_message);
    }
    return sum;
}

/// What came of compiling a descriptor: exactly one of an executable, a reason why there is none, a failure.
struct Compiled {
    /// What was compiled: a graph, or an operator's description.
    std::shared_ptr<const operators::Graph> graph;
    json description;
    std::optional<Connection::Id> executable;
    std::uint64_t largest_reading = 0;
    /// The number of nodes of a graph.
    std::size_t nodes = 0;
    /// What was sent instead of the descriptor; null: the descriptor itself.
    std::shared_ptr<const WantedModel> model;
    std::optional<std::string> unsupported;
    CompileFailure failure;
};

CompileFailure broken(std::string message) {
    return {CompileFailure::Kind::broken, {core::HResult::fail, "", std::move(message), {}}};
}

/// True if the answer has exactly one of these results.
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

/// Binding also requests one execution and its outputs, so that these answers are already on the way. Further
/// executions and reads send new requests. If there are none, the release is on the way as well, and waiting for its
/// answer costs no round trip.
class WorkerExecutable final : public Executable {
public:
    /// `limit`: what an execution beyond the first may take.
    WorkerExecutable(std::shared_ptr<Connection> connection, const Compiled& compiled, std::chrono::nanoseconds limit)
        : connection_(std::move(connection)),
          executable_(compiled.executable.value()),
          largest_reading_(compiled.largest_reading),
          nodes_(compiled.nodes),
          model_(compiled.model),
          limit_(limit) {}

    ~WorkerExecutable() override { release(); }

    void execute_only_once() override { only_once_ = true; }

    core::Result<void> bind(std::span<const core::Tensor* const> inputs) override {
        json message = request();
        json& list = message["inputs"] = json::array();
        for (std::size_t i = 0; i < inputs.size(); ++i) {
            add_input(inputs[i], i, list);
        }
        const auto bound = connection_->queue("bind", std::move(message));
        if (!bound) {
            return tl::unexpected(bound.error());
        }
        execution_ = connection_->queue("execute", request()).value();
        ask_to_read();
        if (only_once_) {
            release();
        }
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
        if (taken) {
            taken = take_time(answer, "nanoseconds", execute_time_);
        }
        return taken ? take_node_times(answer) : taken;
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
        const std::size_t count = model_ == nullptr ? outputs.size() : outputs_of_model();
        if (list == answer.end() || !list->is_array() || list->size() != count) {
            return core::fail(
                fmt::format("the worker's answer to `read` has not one entry for each of {} outputs", count));
        }
        for (std::size_t i = 0, next = 0; i < outputs.size(); ++i) {
            if (model_ != nullptr && !model_->outputs[i]) {
                continue;
            }
            const json& from = (*list)[next++];
            if (auto copied = model_ == nullptr ? copy(from, outputs[i], i) : store(from, outputs[i], i); !copied) {
                return copied;
            }
        }
        return {};
    }

    [[nodiscard]] std::optional<std::chrono::nanoseconds> device_time() const override { return device_time_; }
    [[nodiscard]] std::optional<std::chrono::nanoseconds> execute_time() const override { return execute_time_; }
    [[nodiscard]] std::vector<std::chrono::nanoseconds> node_times() const override { return node_times_; }

private:
    /// False for requests that were not sent, and for those whose answers were dropped because another executable's
    /// were needed first.
    [[nodiscard]] bool is_awaited(const std::optional<Connection::Id>& request) const {
        return request && connection_->is_awaited(*request);
    }

    [[nodiscard]] json request() const { return {{"executable", executable_}}; }

    /// Queues the request, once. Connection::settle() takes the answer.
    void release() {
        if (connection_->is_usable() && !std::exchange(released_, true)) {
            connection_->queue_release(request());
        }
    }

    void ask_to_read() { reading_ = connection_->queue("read", request(), largest_reading_).value(); }

    /// Takes an optional time from the answer. Fails if it is malformed.
    static core::Result<void> take_time(const json& answer, const char* key,
                                        std::optional<std::chrono::nanoseconds>& time) {
        time.reset();
        if (!answer.contains(key)) {
            return {};
        }
        const auto nanoseconds = unsigned_member(answer, key);
        if (!nanoseconds) {
            return core::fail(fmt::format(
                "the worker's answer to `execute` has a `{}` that is not a whole number of at least 0", key));
        }
        time = std::chrono::nanoseconds(std::min(*nanoseconds, longest_time));
        return {};
    }

    /// Takes the optional times of a graph's nodes. An operator has none.
    core::Result<void> take_node_times(const json& answer) {
        node_times_.clear();
        const auto times = answer.find("nodeNanoseconds");
        if (times == answer.end() || nodes_ == 0) {
            return {};
        }
        if (!times->is_array() || times->size() != nodes_) {
            return core::fail(fmt::format(
                "the worker's answer to `execute` has `nodeNanoseconds`, but not one for each of {} nodes", nodes_));
        }
        for (const json& time : *times) {
            std::optional<std::chrono::nanoseconds> taken;
            if (auto done = take_time({{"nodeNanoseconds", time}}, "nodeNanoseconds", taken); !done) {
                return done;
            }
            node_times_.push_back(*taken);
        }
        return {};
    }

    static constexpr std::uint64_t longest_time = 1'000'000'000'000'000'000;

    /// Adds the bytes that the worker gets of an input, unless its model does not have it.
    void add_input(const core::Tensor* input, std::size_t index, json& list) const {
        if (model_ != nullptr) {
            if (const auto& wanted = model_->inputs[index]; input != nullptr && wanted) {
                const core::Tensor packed = wanted->packed(*input);
                // Total sizes are rounded up.
                list.push_back(binary(packed.buffer.bytes().first(static_cast<std::size_t>(wanted->bytes()))));
            }
            return;
        }
        // What another node of a graph has computed has a guard behind it.
        list.push_back(input == nullptr ? json() : binary(input->buffer.bytes().first(input->desc.total_bytes)));
    }

    [[nodiscard]] std::size_t outputs_of_model() const {
        return static_cast<std::size_t>(
            std::ranges::count_if(model_->outputs, [](const auto& output) { return output.has_value(); }));
    }

    /// The bytes of an output. Fails unless there are exactly `size` bytes.
    static core::Result<std::span<const std::byte>> bytes_of(const json& from, std::uint64_t size, std::size_t index) {
        if (!from.is_binary() || from.get_binary().size() != size) {
            return core::fail(fmt::format(
                "output {} is {} in the worker's answer to `read`; {} bytes were to come", index,
                from.is_binary() ? fmt::format("{} bytes", from.get_binary().size()) : std::string("no byte string"),
                size));
        }
        return std::as_bytes(std::span(from.get_binary()));
    }

    static core::Result<void> copy(const json& from, core::Tensor* to, std::size_t index) {
        if (to == nullptr) {
            return {};
        }
        const auto source = bytes_of(from, to->buffer.bytes().size(), index);
        if (!source) {
            return tl::unexpected(source.error());
        }
        std::ranges::copy(*source, to->buffer.bytes().begin());
        return {};
    }

    /// The same of a model's output.
    core::Result<void> store(const json& from, core::Tensor* to, std::size_t index) const {
        const ModelTensor& output = *model_->outputs[index];
        const auto source = bytes_of(from, output.bytes(), index);
        if (!source) {
            return tl::unexpected(source.error());
        }
        if (to != nullptr) {
            output.store(*source, *to);
        }
        return {};
    }

    std::shared_ptr<Connection> connection_;
    Connection::Id executable_;
    std::uint64_t largest_reading_;
    std::size_t nodes_;
    /// Null for a worker that gets descriptors.
    std::shared_ptr<const WantedModel> model_;
    std::chrono::nanoseconds limit_;
    /// There is one execution and one reading, so that the release is sent together with them.
    bool only_once_ = false;
    bool released_ = false;
    /// Requests that were sent in advance.
    std::optional<Connection::Id> execution_;
    std::optional<Connection::Id> reading_;
    std::optional<std::chrono::nanoseconds> device_time_;
    std::optional<std::chrono::nanoseconds> execute_time_;
    std::vector<std::chrono::nanoseconds> node_times_;
};

/// Name, type and sizes of the tensors that the model has.
json tensors_of(const std::vector<std::optional<ModelTensor>>& tensors) {
    json list = json::array();
    for (const auto& tensor : tensors) {
        if (tensor) {
            list.push_back({{"name", tensor->name}, {"type", core::name(tensor->type)}, {"sizes", tensor->sizes}});
        }
    }
    return list;
}

/// The model that stands for a descriptor, or why there is none.
core::Result<WantedModel> model_of(const operators::Descriptor& descriptor, const ModelMaker& maker,
                                   std::int64_t opset) {
    if (!maker) {
        return core::fail("the engine wants ONNX models, which this program was built without");
    }
    if (operators::validate(descriptor, core::highest_feature_level)) {
        return core::fail("the descriptor is illegal, and the engine gets ONNX models, which cannot say that");
    }
    auto model = maker(descriptor, opset);
    return model ? std::move(model) : core::fail("ONNX cannot express it: " + model.error().message);
}

}  // namespace

class WorkerEngine::Process {
public:
    Process(WorkerCommand command, const WorkerSettings& settings, std::shared_ptr<Connection> connection)
        : command_(std::move(command)), settings_(settings), connection_(std::move(connection)) {}

    [[nodiscard]] std::optional<core::ProcessorUse> processor_use() const { return connection_->processor_use(); }

    /// The process may be another one when it is asked to compile.
    [[nodiscard]] bool takes_graphs() const { return connection_->takes_graphs() || connection_->wanted_opset(); }

    /// The result for the descriptor or graph; cached for later calls.
    const Compiled& compile(const operators::Descriptor& descriptor) {
        const bool is_graph = descriptor.graph != nullptr;
        json description = is_graph ? json() : operators::descriptor_to_json(descriptor);
        if (latest_ && connection_->is_usable() && latest_->graph == descriptor.graph &&
            latest_->description == description) {
            return *latest_;
        }
        forget();
        Connection& connection = running();
        connection.set_time(settings_.case_limit);
        if (connection.wanted_opset()) {
            compile_model(connection, descriptor);
        } else if (const auto id = is_graph
                                       ? connection.queue("compileGraph", {{"graph", graph_to_json(*descriptor.graph)}})
                                       : connection.queue("compile", description)) {
            latest_ = read_compiled(connection.answer(*id), *id);
            latest_->largest_reading = largest_reading(descriptor);
            latest_->nodes = is_graph ? descriptor.graph->nodes.size() : 0;
        } else {
            latest_.emplace().failure = broken(id.error().message);
        }
        latest_->graph = descriptor.graph;
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

    /// Waits until everything is released that is not in use any more.
    core::Result<void> end_case() {
        if (!connection_->is_usable()) {
            return {};
        }
        if (latest_ && latest_->executable) {
            forget();
        }
        return connection_->settle();
    }

    /// Returns the executable, which must exist.
    std::unique_ptr<Executable> take() {
        auto executable = std::make_unique<WorkerExecutable>(connection_, *latest_, settings_.case_limit);
        latest_.reset();
        return executable;
    }

private:
    void compile_model(Connection& connection, const operators::Descriptor& descriptor) {
        auto made = model_of(descriptor, settings_.model_maker, *connection.wanted_opset());
        if (!made) {
            latest_.emplace().unsupported = made.error().message;
            return;
        }
        const auto model = std::make_shared<const WantedModel>(std::move(*made));
        const auto id = connection.queue("compileModel", {{"model", binary(std::as_bytes(std::span(model->bytes)))},
                                                          {"inputs", tensors_of(model->inputs)},
                                                          {"outputs", tensors_of(model->outputs)}});
        if (!id) {
            latest_.emplace().failure = broken(id.error().message);
            return;
        }
        latest_ = read_compiled(connection.answer(*id), *id);
        latest_->largest_reading = largest_reading(*model);
        latest_->model = model;
    }

    void forget() {
        if (latest_ && latest_->executable) {
            const std::unique_ptr<Executable> released = take();
        }
        latest_.reset();
    }

    /// The connection to a running process; a new one if the last one was lost.
    Connection& running() {
        constexpr int most_failures = 3;
        if (connection_->is_usable()) {
            return *connection_;
        }
        hangs_ += connection_->has_hung() && connection_ != counted_ ? 1 : 0;
        counted_ = connection_;
        if (settings_.most_hangs != 0 && hangs_ >= settings_.most_hangs) {
            throw EngineLost(
                EngineLost::Kind::broken,
                fmt::format("it did not answer in {} cases before, and is not asked any more (--max-hangs)", hangs_));
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
    std::size_t hangs_ = 0;
    /// The last connection whose hang was counted.
    std::shared_ptr<Connection> counted_;
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

core::Result<void> WorkerEngine::end_case() {
    return process_->end_case();
}

std::optional<core::ProcessorUse> WorkerEngine::processor_use() const {
    return process_->processor_use();
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

std::optional<std::string> WorkerEngine::unsupported_graph(const operators::Descriptor& graph) const {
    return process_->takes_graphs() ? unsupported(graph) : Engine::unsupported_graph(graph);
}

tl::expected<std::unique_ptr<Executable>, CompileFailure> WorkerEngine::compile_graph(
    const operators::Descriptor& graph) {
    return process_->takes_graphs() ? compile(graph) : Engine::compile_graph(graph);
}

}  // namespace dmlconform::worker
