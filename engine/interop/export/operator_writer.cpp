// The parts that mappings of operators share.
#include "engine/interop/export/operator_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "engine/core/element.h"
#include "engine/interop/onnx_tensor.h"

namespace dmlconform::interop::exporting {

std::optional<std::size_t> OperatorWriter::input_index(std::string_view name) const {
    const auto slots = desc.inputs();
    const auto found = std::find_if(slots.begin(), slots.end(), [&](const auto& slot) { return slot.name == name; });
    if (found == slots.end() || !inputs_[static_cast<std::size_t>(found - slots.begin())]) {
        return std::nullopt;
    }
    return static_cast<std::size_t>(found - slots.begin());
}

bool OperatorWriter::has(std::string_view input) const {
    return input_index(input).has_value();
}

Value OperatorWriter::in(std::string_view name) {
    const auto index = input_index(name);
    return index ? w.expand(inputs_[*index]->compact, inputs_[*index]->sizes) : Value{};
}

Value OperatorWriter::compact(std::string_view name) const {
    const auto index = input_index(name);
    return index ? inputs_[*index]->compact : Value{};
}

Value OperatorWriter::precise(std::string_view name) {
    const Value value = in(name);
    return value.type == onnx_float16 ? w.cast(value, onnx_float32) : value;
}

const core::TensorDesc& OperatorWriter::tensor(std::string_view name) const {
    for (const auto& slots : {desc.inputs(), desc.outputs()}) {
        for (const operators::TensorSlot& slot : slots) {
            if (slot.name == name && slot.desc != nullptr) {
                return *slot.desc;
            }
        }
    }
    return *desc.tensor(name);
}

int OperatorWriter::type(std::string_view name) const {
    return onnx_number(tensor(name).data_type);
}

bool OperatorWriter::wants(std::string_view output) const {
    const auto slots = desc.outputs();
    return std::any_of(slots.begin(), slots.end(),
                       [&](const auto& slot) { return slot.name == output && slot.desc != nullptr; });
}

void OperatorWriter::out(std::string_view name, const Value& value) {
    const auto slots = desc.outputs();
    for (std::size_t i = 0; i < slots.size(); ++i) {
        if (slots[i].name == name && slots[i].desc != nullptr) {
            outputs_[i] = w.reshape(w.cast(value, onnx_number(slots[i].desc->data_type)), slots[i].desc->sizes);
        }
    }
}

Numbers OperatorWriter::spatial(std::string_view field, std::size_t count) const {
    const Numbers all = numbers(field);
    return {all.end() - static_cast<std::ptrdiff_t>(std::min(count, all.size())), all.end()};
}

const OperatorExport* find_export(std::string_view operator_name) {
    static const auto table = [] {
        std::map<std::string_view, const OperatorExport*> all;
        for (const auto& rows : {element_wise_exports(), activation_exports(), bit_exports(), product_exports(),
                                 movement_exports(), reduction_exports(), normalisation_exports(), window_exports(),
                                 quantised_exports(), recurrent_exports(), resampling_exports(), attention_exports()}) {
            for (const OperatorExport& row : rows) {
                all.emplace(row.name, &row);
            }
        }
        return all;
    }();
    const auto found = table.find(operator_name);
    return found == table.end() ? nullptr : found->second;
}

Value write_function(ModelWriter& w, const OperatorExport& row, const operators::Descriptor& desc, const Value& x) {
    const bool has_scale = std::any_of(desc.values.begin(), desc.values.end(), [](const auto& value) {
        return std::holds_alternative<operators::ScaleBias>(value);
    });
    if (x.type == onnx_float16 && (row.is_composed || has_scale)) {
        const Value precise = scaled(w, desc, w.cast(x, onnx_float32));
        const Value made = row.function(w, desc, precise);
        return is_real(made.type) ? w.cast(made, onnx_float16) : made;
    }
    return row.function(w, desc, scaled(w, desc, x));
}

Numbers axes_of(const operators::Descriptor& desc) {
    Numbers axes = numbers_of(desc.uints("Axes"));
    std::sort(axes.begin(), axes.end());
    axes.erase(std::unique(axes.begin(), axes.end()), axes.end());
    return axes;
}

Value activated(OperatorWriter& to, const Value& x, std::string_view field) {
    const operators::Descriptor* fused = to.desc.activation(field);
    if (fused == nullptr) {
        return x;
    }
    const OperatorExport* row = find_export(fused->schema->short_name());
    if (row == nullptr || row->function == nullptr) {
        to.fail(fmt::format("there is no node for {} as a fused activation", fused->schema->short_name()));
        return x;
    }
    return write_function(to.w, *row, *fused, x);
}

Value attribute_scalar(ModelWriter& w, int type, double number) {
    if (is_real(type)) {
        // From here on, rounding to nearest gives infinity.
        const double beyond = type == onnx_float16 ? 65520.0 : type == onnx_float32 ? 0x1.ffffffp127 : INFINITY;
        return w.scalar(type, std::abs(number) >= beyond ? std::copysign(INFINITY, number) : number);
    }
    const auto core_type = onnx_data_type(type).value_or(core::DataType::unknown);
    const std::uint32_t bits = core::bits_of(core_type);
    const bool is_signed = core::is_signed_integer(core_type);
    const double end = std::ldexp(1.0, static_cast<int>(bits) - (is_signed ? 1 : 0));
    const double whole = std::isnan(number) ? 0 : std::trunc(number);
    if (whole >= end) {
        return w.bits(core_type, is_signed ? (std::uint64_t{1} << (bits - 1)) - 1 : ~std::uint64_t{0} >> (64 - bits));
    }
    return w.scalar(type, std::max(whole, is_signed ? -end : 0.0));
}

Value union_scalar(OperatorWriter& to, std::string_view field, int type) {
    const operators::Field& declared = *to.desc.schema->find_field(field);
    const core::DataType from = to.desc.scalar_type(declared);
    const std::uint64_t bits = to.desc.get<operators::ScalarUnion>(field).bits;
    if (from == core::DataType::unknown || core::bytes_of(from) == 0) {
        to.fail("ONNX has no scalars of 4 bits");
        return to.w.scalar(type, 0);
    }
    if (onnx_number(from) == type) {
        return to.w.bits(from, bits);
    }
    return attribute_scalar(to.w, type, core::decode_element(from, bits));
}

Value within_range(ModelWriter& w, const Value& x, int type) {
    const auto core_type = onnx_data_type(type).value_or(core::DataType::unknown);
    const int bits = static_cast<int>(core::bits_of(core_type));
    const bool is_signed = core::is_signed_integer(core_type);
    const double lowest = is_signed ? -std::ldexp(1.0, bits - 1) : 0;
    // FLOAT32 cannot represent the highest 32-bit number. CAST clamps its neighbour.
    const double highest = std::ldexp(1.0, bits - (is_signed ? 1 : 0)) - (bits < 32 ? 1 : 0);
    return w.each("Max", {w.each("Min", {x, w.like(x, highest)}), w.like(x, lowest)});
}

Value scaled(ModelWriter& w, const operators::Descriptor& desc, const Value& x) {
    for (const operators::FieldValue& value : desc.values) {
        const auto* found = std::get_if<operators::ScaleBias>(&value);
        if (found == nullptr || (found->scale == 1 && found->bias == 0)) {
            continue;
        }
        if (!is_real(x.type)) {
            w.fail("ScaleBias of integers computes with real numbers");
            return x;
        }
        const Value product = found->scale == 1 ? x : w.mul(x, w.like(x, double{found->scale}));
        return found->bias == 0 ? product : w.add(product, w.like(x, double{found->bias}));
    }
    return x;
}

}  // namespace dmlconform::interop::exporting
