// Reads tensors and attributes in the order of the operator's struct.
#include "engine/interop/dml_graph/stored_operator.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "engine/core/utf8.h"
#include "engine/interop/dml_graph/stored_attribute.h"

namespace dmlconform::interop {
namespace {

using operators::Field;
using operators::FieldKind;
using operators::FieldType;
using operators::FieldValue;

using StoredTensors = flatbuffers::Vector<flatbuffers::Offset<stored::Tensor>>;

core::Result<core::Dimensions> dimensions_of(const flatbuffers::Vector<std::uint32_t>* stored, const char* what) {
    if (stored == nullptr || stored->size() > core::max_dimension_count) {
        return core::fail(stored == nullptr ? fmt::format("a tensor has no {}", what)
                                            : fmt::format("a tensor has {} {}", stored->size(), what),
                          fmt::format("tensors have up to {} dimensions", core::max_dimension_count));
    }
    return core::Dimensions(stored->begin(), stored->end());
}

core::Result<core::TensorDesc> tensor_desc(const stored::Tensor& stored) {
    const auto name = stored_name(stored.data_type(), "the data type of a tensor");
    const auto type = name ? core::parse_data_type(*name) : std::nullopt;
    auto sizes = dimensions_of(stored.sizes(), "sizes");
    if (!type || !sizes) {
        return !name   ? core::Result<core::TensorDesc>(tl::unexpected(name.error()))
               : !type ? core::fail(fmt::format("\"{}\" is not a data type", core::shortened(std::string(*name))))
                       : core::Result<core::TensorDesc>(tl::unexpected(sizes.error()));
    }
    core::TensorDesc desc{*type, core::TensorFlags::none, std::move(*sizes), std::nullopt, stored.total_bytes(), 0};
    if (stored.strides() != nullptr) {
        auto strides = dimensions_of(stored.strides(), "strides");
        if (!strides || strides->size() != desc.sizes.size()) {
            return core::fail(
                fmt::format("a tensor has {} strides for {} sizes", stored.strides()->size(), desc.sizes.size()));
        }
        desc.strides = std::move(*strides);
    }
    return desc;
}

/// The tensors of one direction, which the operator's fields take one after the other.
class TensorReader {
public:
    TensorReader(const StoredGraph& file, const StoredNames* names, const StoredTensors* tensors)
        : file_(file), names_(names), tensors_(tensors) {}

    /// The tensors of a field; `count` is the length of an array.
    core::Result<FieldValue> read(const Field& field, std::uint32_t count) {
        if (field.type == FieldType::tensor_desc) {
            auto tensor = next();
            if (!tensor || !*tensor) {
                return tensor ? core::Result<FieldValue>(operators::Null{}) : tl::unexpected(tensor.error());
            }
            return FieldValue(std::move(**tensor));
        }
        operators::TensorDescArray array;
        for (std::uint32_t i = 0; i < count; ++i) {
            auto tensor = next();
            if (!tensor || !*tensor) {
                return tensor ? core::fail(fmt::format("{} tensors are too few for {}", i, count))
                              : tl::unexpected(tensor.error());
            }
            array.items.push_back(std::move(**tensor));
        }
        return FieldValue(std::move(array));
    }

    /// Fails if some are left.
    [[nodiscard]] core::Result<void> finish() const {
        const std::uint32_t tensors = tensors_ == nullptr ? 0 : tensors_->size();
        const std::uint32_t names = names_ == nullptr ? 0 : names_->size();
        if (used_ != tensors || named_.size() < names) {
            return core::fail(fmt::format("it has {} tensors and {} names for {} tensors of the operator", tensors,
                                          names, named_.size()));
        }
        return {};
    }

    [[nodiscard]] std::vector<std::string_view> take_names() { return std::move(named_); }

private:
    /// Nothing for an absent tensor.
    core::Result<std::optional<core::TensorDesc>> next() {
        const auto position = static_cast<std::uint32_t>(named_.size());
        const auto name = names_ == nullptr || position >= names_->size()
                              ? core::Result<std::string_view>(std::string_view())
                              : file_.name_at(*names_, position);
        if (!name) {
            return tl::unexpected(name.error());
        }
        named_.push_back(*name);
        if (name->empty()) {
            return std::nullopt;
        }
        if (tensors_ == nullptr || used_ >= tensors_->size()) {
            return core::fail(fmt::format("it has {} tensors, fewer than names of them", used_));
        }
        auto desc = tensor_desc(*tensors_->Get(used_++));
        return desc ? core::Result<std::optional<core::TensorDesc>>(std::move(*desc)) : tl::unexpected(desc.error());
    }

    const StoredGraph& file_;
    const StoredNames* names_;
    const StoredTensors* tensors_;
    std::uint32_t used_ = 0;
    std::vector<std::string_view> named_;
};

/// The length of an array of tensors, which an attribute has. Attributes are read before tensors.
std::uint32_t count_of(const Field& field, const operators::Descriptor& descriptor) {
    const auto* count =
        field.count_field.empty() ? nullptr : std::get_if<std::uint32_t>(&descriptor.value(field.count_field));
    return count == nullptr ? 0 : *count;
}

core::Result<void> read_tensors(FieldKind kind, TensorReader& reader, operators::Descriptor& descriptor) {
    const auto& fields = descriptor.schema->fields;
    for (std::size_t i = 0; i < fields.size(); ++i) {
        if (fields[i].kind != kind) {
            continue;
        }
        auto value = reader.read(fields[i], count_of(fields[i], descriptor));
        if (!value) {
            return core::fail(fmt::format("{}: {}", fields[i].name, value.error().message), value.error().hint);
        }
        descriptor.values[i] = std::move(*value);
    }
    return reader.finish();
}

}  // namespace

core::Result<StoredOperator> read_stored_operator(const StoredGraph& file, const stored::Node& node,
                                                  const stored::Operator& stored) {
    const auto name = stored_name(stored.type(), "the operator's type");
    if (!name) {
        return tl::unexpected(name.error());
    }
    const operators::OperatorSchema* schema = operators::find_operator(*name);
    if (schema == nullptr) {
        return core::fail(fmt::format("the catalogue has no operator \"{}\"", core::shortened(std::string(*name))),
                          "`dmlconform describe` lists them");
    }
    auto descriptor = read_stored_attributes(file, *schema, stored.attributes());
    if (!descriptor) {
        return tl::unexpected(descriptor.error());
    }
    StoredOperator result{std::move(*descriptor), {}, {}};
    TensorReader inputs(file, node.inputs(), stored.inputs());
    TensorReader outputs(file, node.outputs(), stored.outputs());
    for (const auto& done :
         {read_tensors(FieldKind::input, inputs, result.descriptor),
          read_tensors(FieldKind::output, outputs, result.descriptor), check_stored_counts(result.descriptor)}) {
        if (!done) {
            return tl::unexpected(done.error());
        }
    }
    result.inputs = inputs.take_names();
    result.outputs = outputs.take_names();
    return result;
}

}  // namespace dmlconform::interop
