// Reads commands and the operators that they dispatch.
#include "engine/interop/dxdispatch_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "engine/cases/case_writer.h"
#include "engine/cases/descriptor_reader.h"
#include "engine/cases/element_reader.h"
#include "engine/cases/unique_names.h"
#include "engine/core/checked.h"
#include "engine/core/utf8.h"
#include "engine/interop/dxdispatch_buffers.h"
#include "engine/interop/dxdispatch_graphs.h"
#include "engine/operators/in_place.h"
#include "engine/operators/rules.h"

namespace dmlconform::interop {
namespace {

using cases::JsonValue;
using operators::TensorSlot;

/// A resource as it is bound to a tensor.
struct Binding {
    std::string resource;
    /// In elements.
    std::uint64_t offset = 0;
    /// In bytes; 0: the size of the resource's initial values.
    std::uint64_t element_size = 0;
};

const std::string* string_member(const JsonValue& object, const char* key) {
    const JsonValue* value = object.find(key);
    return value == nullptr ? nullptr : value->string();
}

/// 0 if it is absent.
core::Result<std::uint64_t> optional_number(const JsonValue& object, const char* key) {
    const JsonValue* value = object.find(key);
    if (value == nullptr) {
        return 0;
    }
    const auto integer = cases::integer_of(*value);
    return integer && !integer->negative ? core::Result<std::uint64_t>(integer->magnitude)
                                         : core::fail(fmt::format("\"{}\" must be an integer of at least 0", key));
}

core::Result<Binding> read_binding(const JsonValue& value) {
    if (value.string() != nullptr) {
        return Binding{*value.string()};
    }
    const std::string* name = string_member(value, "name");
    if (name == nullptr) {
        return core::fail("a binding is the name of a resource, or an object with a \"name\"");
    }
    const auto offset = optional_number(value, "elementOffset");
    const auto size = optional_number(value, "elementSizeInBytes");
    if (!offset || !size) {
        return tl::unexpected((offset ? size : offset).error());
    }
    return Binding{*name, *offset, *size};
}

/// The offset of the tensor in bytes.
core::Result<std::uint64_t> offset_of(const Binding& binding, const DxDispatchBuffer& buffer) {
    const std::uint64_t size = binding.element_size != 0 ? binding.element_size : core::bytes_of(buffer.type);
    if (binding.offset != 0 && size == 0) {
        return core::fail(
            "\"elementOffset\" needs an \"elementSizeInBytes\": the resource's values are of several types");
    }
    const auto bytes = core::checked_multiply(binding.offset, size);
    return bytes ? core::Result<std::uint64_t>(*bytes) : core::fail("\"elementOffset\" is beyond 64 bits");
}

/// Limit for all cases together, because their elements are listed in the file.
constexpr std::uint64_t most_read_elements = std::uint64_t{1} << 25;

/// The binding of a tensor: "InputTensors[1]" is the second element of the list that is bound to InputTensors.
const JsonValue* find_binding(const JsonValue& bindings, const std::string& slot) {
    const std::size_t bracket = slot.find('[');
    const JsonValue* bound = bindings.find(slot.substr(0, bracket));
    if (bound == nullptr || bracket == std::string::npos) {
        return bound != nullptr && bound->array() != nullptr && bound->array()->size() == 1 ? &bound->array()->front()
                                                                                            : bound;
    }
    const auto index = static_cast<std::size_t>(std::stoul(slot.substr(bracket + 1)));
    if (bound->array() == nullptr) {
        return index == 0 ? bound : nullptr;
    }
    return index < bound->array()->size() ? &(*bound->array())[index] : nullptr;
}

/// Names of tensors and their bindings; null if absent.
struct Bindings {
    const JsonValue* at_initialization = nullptr;
    const JsonValue* at_execution = nullptr;
};

std::optional<Binding> bound_to(const JsonValue* bindings, const std::string& slot) {
    const JsonValue* bound = bindings == nullptr ? nullptr : find_binding(*bindings, slot);
    auto binding = bound == nullptr ? core::Result<Binding>(core::fail("")) : read_binding(*bound);
    return binding ? std::optional(std::move(*binding)) : std::nullopt;
}

/// Outputs that share the binding of an input, if that is allowed.
operators::InPlaceNames in_place_names(const operators::Descriptor& descriptor, const JsonValue* bindings) {
    operators::InPlaceNames names;
    for (const TensorSlot& output : descriptor.outputs()) {
        const auto to = bound_to(bindings, output.name);
        for (const TensorSlot& input : descriptor.inputs()) {
            const auto from = bound_to(bindings, input.name);
            if (!to || !from || to->resource != from->resource || to->offset != from->offset ||
                (to->offset != 0 && to->element_size != from->element_size)) {
                continue;
            }
            operators::InPlaceNames more = names;
            more.emplace(output.name, input.name);
            if (!operators::in_place_problem(descriptor, more)) {
                names = std::move(more);
            }
        }
    }
    return names;
}

/// The files that buffers and graphs are read from.
std::vector<std::string> files_of(const JsonValue& resources, const JsonValue& dispatchables,
                                  const std::filesystem::path& folder) {
    std::vector<std::string> files;
    const auto add = [&](const JsonValue& value) {
        if (const std::string* source = string_member(value, "sourcePath")) {
            files.push_back((folder / *source).string());
        }
    };
    for (const cases::JsonMember& dispatchable : *dispatchables.object()) {
        add(dispatchable.value);
    }
    for (const cases::JsonMember& resource : *resources.object()) {
        if (const JsonValue* values = resource.value.find("initialValues")) {
            add(*values);
        }
    }
    return files;
}

class CommandReader {
public:
    CommandReader(const std::string& file, std::string_view text, const JsonValue& resources,
                  const JsonValue& dispatchables)
        : positions_(file, text),
          dispatchables_(dispatchables),
          by_name_(cases::index_of(dispatchables)),
          folder_(std::filesystem::path(file).parent_path()),
          buffers_(resources, std::filesystem::path(file).parent_path(), positions_) {}

    void command(const JsonValue& value, std::size_t index) {
        position_ = positions_.position(value.offset);
        const std::string* type = string_member(value, "type");
        if (type == nullptr) {
            return leave_out(fmt::format("command {}", index), {"it has no \"type\"", ""});
        }
        if (*type != "dispatch") {
            // Commands that print or write results are for people; a case compares instead.
            if (*type != "print" && *type != "writeFile") {
                leave_out(
                    fmt::format("command {}", index),
                    {fmt::format("\"{}\" is not a command that is known", core::shortened(*type)), known_commands});
            }
            return;
        }
        const std::string* name = string_member(value, "dispatchable");
        const auto dispatchable = name == nullptr ? by_name_.end() : by_name_.find(*name);
        if (dispatchable == by_name_.end()) {
            return leave_out(fmt::format("command {}", index),
                             {name == nullptr ? "it names no dispatchable"
                                              : fmt::format("there is no dispatchable \"{}\"", core::shortened(*name)),
                              ""});
        }
        dispatched_.insert(*name);
        if (auto made = dispatch(*name, *dispatchable->second, value); !made) {
            leave_out(*name, made.error());
        }
    }

    Imported finish() {
        for (const cases::JsonMember& member : *dispatchables_.object()) {
            if (!dispatched_.contains(member.key)) {
                position_ = positions_.position(member.key_offset);
                leave_out(member.key, {"no command dispatches it", ""});
            }
        }
        return std::move(result_);
    }

private:
    static constexpr const char* known_commands =
        "\"dispatch\" becomes a case; \"print\" and \"writeFile\" say nothing of it";

    void leave_out(const std::string& what, const core::Error& reason) {
        result_.left_out.push_back(fmt::format("{}:{}:{}: {}: {}{}", positions_.file(), position_.line,
                                               position_.column, what, reason.message,
                                               reason.hint.empty() ? "" : fmt::format(" ({})", reason.hint)));
    }

    core::Result<const operators::OperatorSchema*> read_type(const JsonValue& dispatchable) {
        const std::string* type = string_member(dispatchable, "type");
        if (type == nullptr) {
            return core::fail("it has no \"type\"");
        }
        if (const operators::OperatorSchema* schema = operators::find_operator(*type)) {
            return schema;
        }
        return *type == "hlsl"
                   ? core::fail("it is a shader in HLSL", "operators, ONNX models and serialised graphs become cases")
                   : core::fail(fmt::format("the catalogue has no operator \"{}\"", core::shortened(*type)),
                                "`dmlconform describe` lists them");
    }

    core::Result<operators::Descriptor> read_operator(const JsonValue& dispatchable) {
        const auto schema = read_type(dispatchable);
        if (!schema) {
            return tl::unexpected(schema.error());
        }
        const JsonValue* desc = dispatchable.find("desc");
        desc = desc == nullptr ? dispatchable.find("Desc") : desc;
        if (desc == nullptr) {
            return core::fail("it has no \"desc\"");
        }
        // The long form, which repeats the type.
        const JsonValue* inner = desc->find("Desc");
        cases::ProblemSink problems = positions_.fresh();
        auto descriptor = cases::read_descriptor(inner == nullptr ? *desc : *inner, **schema, problems);
        if (!descriptor) {
            const auto found = problems.take({});
            if (found.empty()) {
                return core::fail("its desc cannot be read");
            }
            position_ = {found.front().line, found.front().column};
            return core::fail(found.front().message, found.front().hint);
        }
        return std::move(*descriptor);
    }

    core::Result<void> check(const operators::Descriptor& descriptor) {
        if (const auto rejection = operators::validate(descriptor, core::highest_feature_level)) {
            return core::fail("the descriptor is illegal: " + rejection->message);
        }
        return {};
    }

    /// The binding of a tensor. Tensors that DirectML owns are bound by the dispatchable when the operator is
    /// initialised, all others by the command.
    core::Result<Binding> binding_of(const TensorSlot& slot, const Bindings& bindings) {
        const bool owned = slot.desc->flags == core::TensorFlags::owned_by_dml;
        const JsonValue* those = owned ? bindings.at_initialization : bindings.at_execution;
        const JsonValue* bound = those == nullptr ? nullptr : find_binding(*those, slot.name);
        if (bound == nullptr) {
            return core::fail(fmt::format("nothing is bound to {}", slot.name),
                              owned ? "\"bindings\" of the dispatchable bind what is OWNED_BY_DML"
                                    : "\"bindings\" of the command bind what is not OWNED_BY_DML");
        }
        position_ = positions_.position(bound->offset);
        auto binding = read_binding(*bound);
        if (!binding) {
            return core::fail(fmt::format("{}: {}", slot.name, binding.error().message));
        }
        // Operators are initialised before the first command.
        if (!owned && written_.contains(binding->resource)) {
            return core::fail(fmt::format("{} is \"{}\", which an earlier command writes: a case has no earlier ones",
                                          slot.name, core::shortened(binding->resource)));
        }
        return binding;
    }

    /// A tensor of the buffer's bytes from an offset on.
    core::Result<cases::Initialiser> view(const TensorSlot& slot, const Binding& binding,
                                          const DxDispatchBuffer& buffer) {
        const auto offset = offset_of(binding, buffer);
        if (!offset) {
            return core::fail(fmt::format("{}: {}", slot.name, offset.error().message));
        }
        const std::uint64_t size = buffer.bytes.size();
        if (*offset > size || slot.desc->total_bytes > size - *offset) {
            return core::fail(fmt::format("{} takes {} bytes; \"{}\" has {} from byte {} on", slot.name,
                                          slot.desc->total_bytes, core::shortened(binding.resource),
                                          size - std::min(size, *offset), *offset));
        }
        // With strides of 0, far more than the buffer.
        const auto elements = core::element_count(slot.desc->sizes).value_or(most_read_elements + 1);
        if (elements > most_read_elements - std::min(elements_, most_read_elements)) {
            return core::fail(fmt::format("{} has too many elements for a case file", slot.name));
        }
        elements_ += elements;
        core::Tensor tensor(*slot.desc);
        std::copy_n(buffer.bytes.begin() + static_cast<std::ptrdiff_t>(*offset), slot.desc->total_bytes,
                    tensor.buffer.bytes().begin());
        const core::Tensor packed = core::packed_copy(tensor);
        const auto count = static_cast<std::size_t>(*core::element_count(slot.desc->sizes));
        const auto bytes =
            packed.buffer.bytes().first(static_cast<std::size_t>(core::bytes_of(slot.desc->data_type, count)));
        return cases::given_elements({bytes.begin(), bytes.end()});
    }

    core::Result<cases::Initialiser> input(const TensorSlot& slot, const Bindings& bindings) {
        const auto binding = binding_of(slot, bindings);
        if (!binding) {
            return tl::unexpected(binding.error());
        }
        const auto buffer = buffers_.contents(binding->resource);
        return buffer ? view(slot, *binding, **buffer) : tl::unexpected(buffer.error());
    }

    core::Result<void> dispatch(const std::string& name, const JsonValue& dispatchable, const JsonValue& command) {
        position_ = positions_.position(dispatchable.offset);
        const std::string* type = string_member(dispatchable, "type");
        if (type != nullptr && is_dispatched_file(*type)) {
            return dispatch_file(name, *type, dispatchable, command);
        }
        auto descriptor = read_operator(dispatchable);
        if (!descriptor) {
            return tl::unexpected(descriptor.error());
        }
        const Bindings bindings{dispatchable.find("bindings"), command.find("bindings")};
        if (bindings.at_execution == nullptr || bindings.at_execution->object() == nullptr) {
            position_ = positions_.position(command.offset);
            return core::fail("the command has no \"bindings\"");
        }
        const std::string* compile_type = string_member(dispatchable, "dmlCompileType");
        const bool as_graph = compile_type != nullptr && *compile_type == "DmlCompileGraph";
        auto made = make_case(name, *descriptor, bindings, as_graph);
        // Later commands see what this one wrote, whether it becomes a case or not.
        for (const TensorSlot& slot : descriptor->outputs()) {
            const auto binding = slot.desc == nullptr ? std::nullopt : bound_to(bindings.at_execution, slot.name);
            if (binding) {
                written_.insert(binding->resource);
            }
        }
        return made;
    }

    core::Result<void> make_case(const std::string& name, const operators::Descriptor& descriptor,
                                 const Bindings& bindings, bool as_graph) {
        if (auto legal = check(descriptor); !legal) {
            return legal;
        }
        cases::Case subject;
        const auto bound = std::make_shared<operators::Descriptor>(descriptor);
        if (as_graph) {
            subject.descriptor = graph_of_one(node_name(name), bound);
        } else {
            bound->in_place = operators::in_place_slots(*bound, in_place_names(*bound, bindings.at_execution));
            subject.descriptor = bound;
        }
        subject.min_feature_level = *operators::minimum_feature_level(descriptor);
        for (const TensorSlot& slot : subject.descriptor->inputs()) {
            if (slot.desc == nullptr) {
                subject.inputs.emplace_back();
                continue;
            }
            auto data = input(slot, bindings);
            if (!data) {
                return tl::unexpected(data.error());
            }
            subject.inputs.emplace_back(std::move(*data));
        }
        return add_case(name, std::move(subject));
    }

    static std::string node_name(const std::string& name) { return cases::case_name("dxdispatch/" + name); }

    core::Result<void> add_case(const std::string& name, cases::Case subject) {
        const std::size_t outputs = subject.descriptor->outputs().size();
        subject.expected.resize(outputs);
        subject.tolerances.resize(outputs);
        subject.id = "dxdispatch/" + names_.unique(node_name(name));
        auto object = cases::case_to_json(subject);
        if (!object) {
            return tl::unexpected(object.error());
        }
        result_.cases.push_back(std::move(*object));
        return {};
    }

    core::Result<void> dispatch_file(const std::string& name, const std::string& type, const JsonValue& dispatchable,
                                     const JsonValue& command) {
        const JsonValue* bindings = command.find("bindings");
        const auto graph = read_dispatched_file(type, dispatchable, bindings, folder_);
        if (!graph) {
            return tl::unexpected(graph.error());
        }
        for (const std::string& note : graph->notes) {
            leave_out(name, {note, ""});
        }
        auto made = make_graph_case(name, *graph, bindings);
        for (const std::string& output : graph->outputs) {
            if (const auto binding = bound_to(bindings, output)) {
                written_.insert(binding->resource);
            }
        }
        return made;
    }

    core::Result<void> make_graph_case(const std::string& name, const DispatchedGraph& graph,
                                       const JsonValue* bindings) {
        cases::Case subject = *graph.subject;
        const auto slots = subject.descriptor->inputs();
        for (std::size_t i = 0; i < slots.size(); ++i) {
            const std::string& bound_as = graph.inputs[i];
            const bool unbound = bound_as.empty() || (graph.may_be_unbound && !bound_to(bindings, bound_as));
            if (unbound) {
                // Constants, and what DxDispatch binds to memory with any contents.
                const auto elements = core::element_count(slots[i].desc->sizes).value_or(most_read_elements + 1);
                if (elements > most_read_elements - std::min(elements_, most_read_elements)) {
                    return core::fail(fmt::format("{} has too many elements for a case file", slots[i].name),
                                      "`run` reads the dispatchable's own file, too");
                }
                elements_ += elements;
                continue;
            }
            auto data = input({bound_as, slots[i].desc}, {nullptr, bindings});
            if (!data) {
                return tl::unexpected(data.error());
            }
            subject.inputs[i] = std::move(*data);
        }
        return add_case(name, std::move(subject));
    }

    cases::ProblemSink positions_;
    const JsonValue& dispatchables_;
    cases::JsonIndex by_name_;
    std::filesystem::path folder_;
    DxDispatchBuffers buffers_;
    std::set<std::string> dispatched_;
    /// Resources that preceding commands have written.
    std::set<std::string> written_;
    cases::UniqueNames names_;
    /// The current position in the model.
    cases::Position position_;
    /// The number of elements of all tensors so far.
    std::uint64_t elements_ = 0;
    Imported result_;
};

}  // namespace

core::Result<Imported> read_dxdispatch(const std::string& file, std::string_view text) {
    const std::string clean = without_trailing_commas(text);
    const auto document = cases::parse_json(clean);
    if (!document) {
        const auto position = cases::position_of(clean, document.error().offset);
        return core::fail(
            fmt::format("{}:{}:{}: {}", file, position.line, position.column, document.error().error.message),
            document.error().error.hint);
    }
    const JsonValue* resources = document->find("resources");
    const JsonValue* dispatchables = document->find("dispatchables");
    const JsonValue* commands = document->find("commands");
    if (resources == nullptr || resources->object() == nullptr || dispatchables == nullptr ||
        dispatchables->object() == nullptr || commands == nullptr || commands->array() == nullptr) {
        return core::fail(fmt::format("{} is not a DxDispatch model", file),
                          "a model has \"resources\", \"dispatchables\" and \"commands\"");
    }
    CommandReader reader(file, clean, *resources, *dispatchables);
    for (std::size_t i = 0; i < commands->array()->size(); ++i) {
        reader.command((*commands->array())[i], i);
    }
    Imported result = reader.finish();
    result.files = files_of(*resources, *dispatchables, std::filesystem::path(file).parent_path());
    return result;
}

}  // namespace dmlconform::interop
