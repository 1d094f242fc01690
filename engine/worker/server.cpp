// Handles one request after another. Requests are untrusted and must not be able to break the worker.
#include "engine/worker/server.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <new>
#include <nlohmann/json.hpp>
#include <vector>

#include "engine/operators/descriptor_json.h"
#include "engine/operators/graph_json.h"
#include "engine/operators/rules.h"
#include "engine/worker/cbor.h"
#include "engine/worker/frame.h"
#include "engine/worker/messages.h"

namespace dmlconform::worker {
namespace {

using nlohmann::json;

/// A compiled descriptor. The executable refers to descriptor and inputs, so it is destroyed first.
struct Program {
    std::shared_ptr<const operators::Descriptor> descriptor;
    std::vector<core::Tensor> inputs;
    /// One for each of Descriptor::inputs(); null for absent ones.
    std::vector<const core::Tensor*> pointers;
    bool bound = false;
    std::unique_ptr<Executable> executable;
};

json error_answer(std::string message) {
    return {{"error", to_json(core::Error{std::move(message), ""})}};
}

json answer_for(const core::Result<void>& result) {
    return result ? json::object() : json{{"error", to_json(result.error())}};
}

std::uint64_t nanoseconds(std::chrono::nanoseconds time) {
    return static_cast<std::uint64_t>(std::max<std::int64_t>(time.count(), 0));
}

class Server {
public:
    Server(const core::Result<std::unique_ptr<Engine>>& engine, const ReferenceAnswer& reference)
        : engine_(engine), reference_(reference) {}

    /// The members of an answer except its id.
    json answer(const json& request) {
        if (!engine_) {
            return {{"error", to_json(engine_.error())}};
        }
        try {
            return dispatch(request);
        } catch (const std::bad_alloc&) {
            return error_answer("out of memory");
        } catch (const std::exception& exception) {
            return error_answer(fmt::format("exception: {}", exception.what()));
        }
    }

private:
    json dispatch(const json& request) {
        const std::string name = text_member(request, "request").value_or("");
        if (name == "info") {
            return info(request);
        }
        if (name == "compile") {
            return compile(request);
        }
        if (name == "compileGraph") {
            return compile_graph(request);
        }
        if (name == "roofline") {
            const auto roofline = (*engine_)->measure_roofline();
            return roofline ? to_json(*roofline) : json{{"error", to_json(roofline.error())}};
        }
        const auto program = programs_.find(unsigned_member(request, "executable").value_or(0));
        if (program == programs_.end()) {
            return error_answer(fmt::format("there is no such executable, or no request `{}`", name));
        }
        if (name == "bind") {
            return bind(*program->second, request);
        }
        if (name == "release") {
            programs_.erase(program);
            return json::object();
        }
        const bool asks_for_reference = name == "reference" && reference_;
        if (name != "execute" && name != "read" && !asks_for_reference) {
            return error_answer(fmt::format("there is no request `{}`", name));
        }
        if (!program->second->bound) {
            return error_answer("no inputs are bound");
        }
        if (asks_for_reference) {
            return reference_(*program->second->descriptor, program->second->pointers, request);
        }
        return name == "execute" ? execute(*program->second) : read(*program->second);
    }

    json info(const json& request) {
        const auto protocol = unsigned_member(request, "protocol");
        if (protocol != protocol_version) {
            return error_answer(fmt::format("this worker speaks version {} of the protocol", protocol_version));
        }
        return to_json((*engine_)->info());
    }

    json compile(const json& request) {
        auto descriptor = operators::descriptor_from_json(request);
        if (!descriptor) {
            return {{"error", to_json(descriptor.error())}};
        }
        auto program = std::make_unique<Program>();
        program->descriptor = operators::sealed(std::move(*descriptor));
        return compile(request, std::move(program));
    }

    json compile_graph(const json& request) {
        const auto graph = operators::graph_from_json(request.value("graph", json()));
        if (!graph) {
            return {{"error", to_json(graph.error())}};
        }
        auto program = std::make_unique<Program>();
        program->descriptor = operators::graph_descriptor(*graph);
        return compile(request, std::move(program));
    }

    json compile(const json& request, std::unique_ptr<Program> program) {
        Engine& engine = **engine_;
        const operators::Descriptor& descriptor = *program->descriptor;
        const bool is_graph = descriptor.graph != nullptr;
        if (auto reason = is_graph ? engine.unsupported_graph(descriptor) : engine.unsupported(descriptor)) {
            return {{"unsupported", std::move(*reason)}};
        }
        auto executable = is_graph ? engine.compile_graph(descriptor) : engine.compile(descriptor);
        if (!executable) {
            const CompileFailure& failure = executable.error();
            return failure.kind == CompileFailure::Kind::rejected ? json{{"rejected", to_json(failure.rejection)}}
                                                                  : error_answer(failure.rejection.message);
        }
        program->executable = std::move(*executable);
        programs_[unsigned_member(request, "id").value_or(0)] = std::move(program);
        return {{"accepted", true}};
    }

    static json bind(Program& program, const json& request) {
        program.bound = false;
        program.inputs.clear();
        const auto slots = program.descriptor->inputs();
        const auto list = request.find("inputs");
        if (list == request.end() || !list->is_array() || list->size() != slots.size()) {
            return error_answer(fmt::format("`bind` takes one entry for each of {} inputs", slots.size()));
        }
        program.inputs.reserve(slots.size());
        program.pointers.clear();
        for (std::size_t i = 0; i < slots.size(); ++i) {
            const json& bytes = (*list)[i];
            if (slots[i].desc == nullptr) {
                program.pointers.push_back(nullptr);
                continue;
            }
            if (!bytes.is_binary() || bytes.get_binary().size() != slots[i].desc->total_bytes) {
                return error_answer(
                    fmt::format("{} must be a string of {} bytes", slots[i].name, slots[i].desc->total_bytes));
            }
            core::Tensor& input = program.inputs.emplace_back(*slots[i].desc);
            std::ranges::copy(std::as_bytes(std::span(bytes.get_binary())), input.buffer.bytes().begin());
            program.pointers.push_back(&input);
        }
        const auto bound = program.executable->bind(program.pointers);
        program.bound = bound.has_value();
        return answer_for(bound);
    }

    static json execute(Program& program) {
        const auto start = std::chrono::steady_clock::now();
        json answer = answer_for(program.executable->execute());
        const std::chrono::nanoseconds elapsed = std::chrono::steady_clock::now() - start;
        answer["nanoseconds"] = nanoseconds(elapsed);
        if (const auto time = program.executable->device_time()) {
            answer["deviceNanoseconds"] = nanoseconds(*time);
        }
        for (const std::chrono::nanoseconds time : program.executable->node_times()) {
            answer["nodeNanoseconds"].push_back(nanoseconds(time));
        }
        return answer;
    }

    static json read(Program& program) {
        std::vector<core::Tensor> outputs;
        std::vector<core::Tensor*> targets;
        const auto slots = program.descriptor->outputs();
        outputs.reserve(slots.size());
        for (const operators::TensorSlot& slot : slots) {
            outputs.push_back(slot.desc == nullptr ? core::Tensor() : core::output_tensor(*slot.desc));
            targets.push_back(slot.desc == nullptr ? nullptr : &outputs.back());
        }
        if (const auto done = program.executable->read(targets); !done) {
            return answer_for(done);
        }
        json list = json::array();
        for (const core::Tensor* output : targets) {
            if (output == nullptr) {
                list.push_back(nullptr);
                continue;
            }
            const auto bytes = output->buffer.bytes();
            const auto* data = reinterpret_cast<const std::uint8_t*>(bytes.data());
            list.push_back(json::binary(std::vector<std::uint8_t>(data, data + bytes.size())));
        }
        return {{"outputs", std::move(list)}};
    }

    const core::Result<std::unique_ptr<Engine>>& engine_;
    const ReferenceAnswer& reference_;
    /// By the id of the request that compiled them.
    std::map<std::uint64_t, std::unique_ptr<Program>> programs_;
};

/// The message after a header; empty if the input ends within it.
core::Result<std::vector<std::byte>> read_content(std::uint32_t size, const Source& source) {
    std::vector<std::byte> content;
    while (content.size() < size) {
        const std::size_t start = content.size();
        content.resize(start + std::min<std::size_t>(size - start, arrival_step));
        if (!source(std::span(content).subspan(start))) {
            return core::fail("the input ended within a message");
        }
    }
    return content;
}

/// Writes an answer, or an error if it is too large for a frame.
bool write(json answer, const json& id, const Sink& sink) {
    std::vector<std::uint8_t> frame;
    answer["id"] = id;
    if (const auto appended = append_frame(answer, frame); !appended) {
        answer = error_answer(appended.error().message);
        answer["id"] = id;
        (void)append_frame(answer, frame);  // an error's text fits
    }
    return sink(std::as_bytes(std::span(frame)));
}

}  // namespace

core::Result<void> serve(const core::Result<std::unique_ptr<Engine>>& engine, const Source& source, const Sink& sink,
                         const ReferenceAnswer& reference) {
    Server server(engine, reference);
    std::array<std::byte, frame_header_size> header{};
    while (source(header)) {
        const auto size = message_size(header);
        if (!size) {
            return core::fail("this is not a request: " + size.error().message);
        }
        auto content = read_content(*size, source);
        if (!content) {
            return tl::unexpected(std::move(content.error()));
        }
        auto request = decode_cbor(*content);
        if (!request) {
            return core::fail("this is not a request: " + request.error().message);
        }
        content->clear();
        const auto id = unsigned_member(*request, "id");
        if (!id) {
            return core::fail("this is not a request: it has no id");
        }
        if (!write(server.answer(*request), *id, sink)) {
            return {};
        }
    }
    return {};
}

}  // namespace dmlconform::worker
