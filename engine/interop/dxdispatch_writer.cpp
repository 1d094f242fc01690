// Writes buffers with their memory layout, and operators with all fields.
#include "engine/interop/dxdispatch_writer.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/cases/case_writer.h"
#include "engine/cases/element_writer.h"
#include "engine/cases/json_text.h"
#include "engine/core/element.h"
#include "engine/core/strided.h"
#include "engine/operators/in_place.h"

namespace dmlconform::interop {
namespace {

using core::DataType;
using nlohmann::ordered_json;
using operators::TensorSlot;

/// Limit; the text of larger buffers would be useless.
constexpr std::uint64_t most_written_elements = std::uint64_t{1} << 22;

DataType unsigned_of_width(DataType type) {
    switch (core::bytes_of(type)) {
        case 1:
            return DataType::uint8;
        case 2:
            return DataType::uint16;
        case 4:
            return DataType::uint32;
        default:
            return DataType::uint64;
    }
}

/// The tensor's memory with zeros between its elements.
core::Tensor with_zero_gaps(const core::Tensor& tensor) {
    const core::Tensor packed = core::packed_copy(tensor);
    core::Tensor result(tensor.desc);
    std::ranges::fill(result.buffer.bytes(), std::byte{0});
    const core::StridedRuns<1> runs(tensor.desc.sizes, {core::signed_strides(tensor.desc)});
    std::uint64_t index = 0;
    runs.for_each_element([&](const auto& offset) {
        const std::uint64_t bits = core::load_element(packed.buffer.bytes(), tensor.desc.data_type, index++);
        core::store_element(result.buffer.bytes(), tensor.desc.data_type, static_cast<std::uint64_t>(offset[0]), bits);
    });
    return result;
}

ordered_json resource(const core::TensorDesc& desc, ordered_json values, DataType type) {
    ordered_json object{{"initialValuesDataType", core::name(type)}, {"initialValues", std::move(values)}};
    object["sizeInBytes"] = (desc.total_bytes + 3) / 4 * 4;
    return object;
}

ordered_json filled_resource(const core::Tensor& tensor) {
    const core::Tensor memory = with_zero_gaps(tensor);
    const DataType type = memory.desc.data_type;
    const std::uint64_t count = memory.desc.total_bytes / core::bytes_of(type);
    const auto listed = [&](DataType as) {
        ordered_json list = ordered_json::array();
        for (std::uint64_t i = 0; i < count; ++i) {
            list.push_back(cases::element_json(as, core::load_element(memory.buffer.bytes(), type, i)));
        }
        return list;
    };
    ordered_json values = listed(type);
    // NaNs with a payload, and negative zeros, which the reader may take for integers, are written as bits. The type of
    // a buffer's initial values does not restrict its use.
    const bool exact = std::all_of(values.begin(), values.end(), [](const ordered_json& value) {
        return value.is_string() ? !value.get_ref<const std::string&>().starts_with("0x")
                                 : !(value.is_number_float() && value.get<double>() == 0);
    });
    return exact ? resource(memory.desc, std::move(values), type)
                 : resource(memory.desc, listed(unsigned_of_width(type)), unsigned_of_width(type));
}

core::Result<void> check(const cases::Case& subject) {
    if (subject.expect_error) {
        return core::fail("it has to be rejected: a model has no way to say so");
    }
    if (subject.descriptor->graph != nullptr) {
        return core::fail("it is a graph, and a model has operators");
    }
    for (const auto& slots : {subject.descriptor->inputs(), subject.descriptor->outputs()}) {
        for (const TensorSlot& slot : slots) {
            if (slot.desc == nullptr) {
                continue;
            }
            if (core::bytes_of(slot.desc->data_type) == 0) {
                return core::fail(fmt::format("{} has elements narrower than a byte", slot.name));
            }
            // With strides of 0 there are more elements than memory.
            if (slot.desc->total_bytes / core::bytes_of(slot.desc->data_type) > most_written_elements ||
                core::element_count(slot.desc->sizes).value_or(most_written_elements + 1) > most_written_elements) {
                return core::fail(fmt::format("{} has more than {} elements", slot.name, most_written_elements));
            }
        }
    }
    return {};
}

/// "InputTensors[1]" is the second element of the list that is bound to InputTensors.
void bind(ordered_json& bindings, const std::string& slot, const std::string& resource_name) {
    const std::size_t bracket = slot.find('[');
    if (bracket == std::string::npos) {
        bindings[slot] = resource_name;
    } else {
        bindings[slot.substr(0, bracket)].push_back(resource_name);
    }
}

}  // namespace

core::Result<void> DxDispatchModel::add(const cases::Case& subject) {
    if (auto possible = check(subject); !possible) {
        return possible;
    }
    ordered_json resources = ordered_json::object();
    ordered_json bindings = ordered_json::object();
    ordered_json owned_bindings = ordered_json::object();
    ordered_json prints = ordered_json::array();
    const auto inputs = subject.descriptor->inputs();
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        if (inputs[i].desc == nullptr) {
            continue;
        }
        core::Tensor tensor(*inputs[i].desc);
        if (auto filled = subject.inputs[i]->fill(tensor); !filled) {
            return filled;
        }
        const std::string name = fmt::format("{} {}", subject.id, inputs[i].name);
        resources[name] = filled_resource(tensor);
        bind(inputs[i].desc->flags == core::TensorFlags::owned_by_dml ? owned_bindings : bindings, inputs[i].name,
             name);
    }
    const operators::InPlaceNames in_place = operators::in_place_names(*subject.descriptor);
    for (const TensorSlot& slot : subject.descriptor->outputs()) {
        if (slot.desc == nullptr) {
            continue;
        }
        const auto shared = in_place.find(slot.name);
        const std::string name =
            fmt::format("{} {}", subject.id, shared == in_place.end() ? slot.name : shared->second);
        if (shared == in_place.end()) {
            const std::uint64_t count = slot.desc->total_bytes / core::bytes_of(slot.desc->data_type);
            resources[name] = resource(*slot.desc, {{"valueCount", count}, {"value", 0}}, slot.desc->data_type);
        }
        bind(bindings, slot.name, name);
        prints.push_back({{"type", "print"}, {"resource", name}});
    }
    resources_.update(resources);
    dispatchables_[subject.id] = {{"type", subject.descriptor->schema->name},
                                  {"desc", cases::desc_to_json(*subject.descriptor, cases::Counts::written)}};
    if (!owned_bindings.empty()) {
        dispatchables_[subject.id]["bindings"] = std::move(owned_bindings);
    }
    commands_.push_back({{"type", "dispatch"}, {"dispatchable", subject.id}, {"bindings", std::move(bindings)}});
    for (ordered_json& print : prints) {
        commands_.push_back(std::move(print));
    }
    return {};
}

std::string DxDispatchModel::text() const {
    return cases::json_text({{"resources", resources_}, {"dispatchables", dispatchables_}, {"commands", commands_}}) +
           "\n";
}

}  // namespace dmlconform::interop
