// Initializers, inputs and their sizes.
#include "engine/interop/model/importing.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "engine/core/utf8.h"
#include "engine/interop/model/sparse_data.h"
#include "engine/interop/onnx_message_memory.h"

namespace dmlconform::interop {
namespace {

/// The object that has or reads the elements of a constant.
constexpr std::uint64_t memory_of_source = 64;

core::Result<void> check_type(const std::string& name, const OnnxTensor& data, const OnnxTensor& initializer) {
    return data.type == initializer.type
               ? core::Result<void>()
               : core::fail(fmt::format("the data of \"{}\" are {}, its initializer is {}", core::shortened(name, 60),
                                        core::name(data.type), core::name(initializer.type)));
}

}  // namespace

core::Result<void> Importer::add_initializers(const onnx::GraphProto& graph, Scope& scope) {
    std::unordered_set<std::string_view> overridden;
    for (const onnx::ValueInfoProto& input : graph.input()) {
        if (options_.input_data.contains(input.name())) {
            overridden.insert(input.name());
        }
    }
    core::Result<void> all_fit;
    const auto add = [&](const std::string& name, core::Result<ConstantTensor> constant) {
        if (overridden.contains(name)) {
            const ConstantTensor& given = options_.input_data.at(name);
            all_fit = constant && all_fit ? check_type(name, given.tensor, constant->tensor) : all_fit;
            constant = given;
        }
        if (constant) {
            set_constant(name, std::move(*constant), scope);
        } else {
            scope.set(name, {{}, nullptr, constant.error().message});
        }
    };
    for (const onnx::TensorProto& tensor : graph.initializer()) {
        // The elements, and what the constant's users see of them, take no more than the numbers in the message.
        if (auto fits = check_memory(2 * onnx::memory_inside(tensor)); !fits) {
            return fits;
        }
        add(tensor.name(), constant_tensor(tensor, path_));
    }
    for (const onnx::SparseTensorProto& tensor : graph.sparse_initializer()) {
        // Values, indices, and positions in a list that doubles.
        if (auto fits = check_memory(4 * onnx::memory_inside(tensor)); !fits) {
            return fits;
        }
        add(tensor.values().name(), constant_tensor(tensor));
    }
    return all_fit;
}

void Importer::set_constant(const std::string& name, ConstantTensor constant, Scope& scope) {
    memory_ += memory_of_source + onnx::memory_of_block(constant.source_bytes) +
               onnx::memory_of_block(constant.tensor.elements.size());
    constant.tensor.value = builder_.unique_value_name(name);
    builder_.declare(constant.tensor.value, {ModelInput::Kind::constant, name, without_elements(constant.tensor),
                                             cases::Initialiser(constant.source)});
    scope.set(name, {std::move(constant.tensor), std::move(constant.source), ""});
}

OnnxTensor Importer::without_elements(OnnxTensor tensor) {
    tensor.elements = std::vector<std::byte>();  // clear() would keep the memory
    return tensor;
}

void Importer::set_input(const std::string& name, ModelInput::Kind kind, OnnxTensor tensor, Scope& scope) {
    tensor.value = builder_.unique_value_name(name);
    builder_.declare(tensor.value, {kind, name, tensor, std::nullopt});
    scope.set(name, {std::move(tensor), nullptr, ""});
}

core::Result<OnnxTensor> Importer::declared_tensor(const onnx::ValueInfoProto& value, bool all_sizes_known) {
    const onnx::TensorTypeProto& declared = value.type().tensor_type();
    if (value.type.has() && !value.type().tensor_type.has()) {
        return core::fail("it is a sequence, a map or an optional value, not a tensor");
    }
    const auto type = onnx_data_type(declared.elem_type());
    if (!type) {
        return tl::unexpected(type.error());
    }
    core::Dimensions sizes;
    if (const auto given = options_.input_sizes.find(value.name()); given != options_.input_sizes.end()) {
        sizes = given->second;
    } else if (!declared.shape.has()) {
        return core::fail("the model does not say how many dimensions it has", "give its data with --input");
    } else {
        for (const onnx::DimensionProto& dimension : declared.shape().dim()) {
            const auto size = size_of(dimension, all_sizes_known);
            if (!size) {
                return tl::unexpected(size.error());
            }
            sizes.push_back(*size);
        }
    }
    constexpr int onnx_bool = 9;
    return unknown_tensor(*type, sizes, declared.elem_type() == onnx_bool);
}

core::Result<std::uint32_t> Importer::size_of(const onnx::DimensionProto& dimension, bool all_sizes_known) {
    if (dimension.dim_value.has() && dimension.dim_value() > 0) {
        return dimension.dim_value() <= 0xffffffff
                   ? core::Result<std::uint32_t>(static_cast<std::uint32_t>(dimension.dim_value()))
                   : core::fail(fmt::format("it has the size {}", dimension.dim_value()));
    }
    const std::string& name = dimension.dim_param();
    if (const auto given = options_.dimensions.find(name); given != options_.dimensions.end()) {
        return given->second;
    }
    if (all_sizes_known) {
        return core::fail("a size is not known");
    }
    chosen_sizes_.insert(name.empty() ? "a dimension without a name" : core::shortened(name, 40));
    return 1U;
}

core::Result<void> Importer::add_inputs(Scope& scope) {
    for (const onnx::ValueInfoProto& input : model_.graph().input()) {
        if (scope.find(input.name()) != nullptr) {
            continue;  // an initializer, which older models list among the inputs
        }
        if (auto fits = check_memory(); !fits) {
            return fits;
        }
        auto tensor = declared_tensor(input, false);
        if (!tensor) {
            const core::Error& error = tensor.error();
            const std::string hint = error.hint.empty() ? "" : fmt::format(" ({})", error.hint);
            scope.set(input.name(), {{}, nullptr, error.message + hint});
            continue;
        }
        set_input(input.name(), ModelInput::Kind::given, std::move(*tensor), scope);
    }
    return {};
}

}  // namespace dmlconform::interop
