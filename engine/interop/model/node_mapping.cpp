// Converts the case-file objects that mappings create to descriptors.
#include "engine/interop/model/node_mapping.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>

#include "engine/cases/descriptor_reader.h"
#include "engine/core/element.h"
#include "engine/core/feature_level.h"
#include "engine/core/tensor.h"
#include "engine/cpu/reference.h"
#include "engine/operators/rules.h"

namespace dmlconform::interop {
namespace {

using nlohmann::ordered_json;

/// The mapping's message is the first problem.
core::Error first_problem(cases::ProblemSink& problems, const cases::JsonValue& document) {
    const auto found = problems.take(document);
    return {found.empty() ? "the mapping is not readable" : found.front().message, ""};
}

core::Result<MappedNode::Input> input_of(const ordered_json& object, const operators::TensorSlot& slot) {
    const auto inputs = object.find("inputs");
    if (slot.desc == nullptr || inputs == object.end() || !inputs->contains(slot.name)) {
        return MappedNode::Input();
    }
    const ordered_json& given = (*inputs)[slot.name];
    if (given.is_string()) {
        return given.get<std::string>();
    }
    const std::string text = given.dump();
    cases::ProblemSink problems("", text);
    const auto value = cases::parse_json(text);
    auto initialiser = value ? cases::read_initialiser(*value, *slot.desc, problems) : std::nullopt;
    if (!initialiser) {
        return tl::unexpected(first_problem(problems, {}));
    }
    return std::move(*initialiser);
}

core::Result<std::shared_ptr<const operators::Descriptor>> descriptor_of(const ordered_json& object,
                                                                         KnownDescriptors* known) {
    const std::string& name = object["operator"].get_ref<const std::string&>();
    const std::string text = object["desc"].dump();
    if (auto descriptor = known == nullptr ? nullptr : known->find(name + text)) {
        return descriptor;
    }
    const auto* schema = operators::find_operator(name);
    const auto document = cases::parse_json(text);
    if (schema == nullptr || !document) {
        return core::fail("the mapping is not readable");
    }
    cases::ProblemSink problems("", text);
    auto descriptor = cases::read_descriptor(*document, *schema, problems);
    if (!descriptor) {
        return tl::unexpected(first_problem(problems, *document));
    }
    if (const auto verdict = operators::validate(*descriptor, core::highest_feature_level)) {
        return core::fail(fmt::format("{} is illegal: {} [{}]", schema->short_name(), verdict->message, verdict->rule));
    }
    auto result = operators::sealed(std::move(*descriptor));
    if (known != nullptr) {
        known->add(name + text, result);
    }
    return result;
}

/// Tensors of a node whose inputs are all constants.
core::Result<std::vector<core::Tensor>> filled_inputs(const MappedNode& node) {
    std::vector<core::Tensor> tensors;
    const auto slots = node.descriptor->inputs();
    for (std::size_t i = 0; i < slots.size(); ++i) {
        if (slots[i].desc == nullptr) {
            tensors.emplace_back();
            continue;
        }
        const auto* initialiser = std::get_if<cases::Initialiser>(&node.inputs[i]);
        if (initialiser == nullptr) {
            return core::fail(fmt::format("{} is not known", slots[i].name));
        }
        tensors.emplace_back(*slots[i].desc);
        if (const auto done = initialiser->fill(tensors.back()); !done) {
            return tl::unexpected(done.error());
        }
    }
    return tensors;
}

/// Converts computed elements to ONNX's type, which is the same, or a wider integer or floating-point type.
core::Result<OnnxTensor> as_output(const core::Tensor& computed, OnnxTensor like) {
    const core::Tensor packed = core::packed_copy(computed);
    const core::DataType type = packed.desc.data_type;
    if (core::element_count(packed.desc.sizes) != like.count()) {
        return core::fail("the reference computes another number of elements");
    }
    like.elements.resize(like.bytes());
    if (core::bits_of(type) == core::bits_of(like.type)) {
        const auto bytes = packed.buffer.bytes().first(like.elements.size());
        std::ranges::copy(bytes, like.elements.begin());
        return like;
    }
    for (std::size_t i = 0; i < like.count(); ++i) {
        const double value = core::decode_element(type, core::load_element(packed.buffer.bytes(), type, i));
        const auto bits = core::encode_element(like.type, value);
        if (!bits) {
            return tl::unexpected(bits.error());
        }
        core::store_element(like.elements, like.type, i, *bits);
    }
    return like;
}

core::Result<std::vector<OnnxTensor>> computed(const OnnxNode& node, const std::vector<OnnxTensor>& outputs) {
    const auto mapped = mapped_node(node);
    if (!mapped) {
        return tl::unexpected(mapped.error());
    }
    if (!cpu::has_reference(*mapped->descriptor->schema)) {
        return core::fail("there is no reference");
    }
    const auto inputs = filled_inputs(*mapped);
    if (!inputs) {
        return tl::unexpected(inputs.error());
    }
    std::vector<const core::Tensor*> pointers;
    const auto slots = mapped->descriptor->inputs();
    for (std::size_t i = 0; i < slots.size(); ++i) {
        pointers.push_back(slots[i].desc == nullptr ? nullptr : &(*inputs)[i]);
    }
    const cpu::Reference reference = cpu::compute_reference(*mapped->descriptor, pointers);
    std::vector<OnnxTensor> result = outputs;
    for (std::size_t i = 0; i < mapped->outputs.size(); ++i) {
        const auto wanted = std::ranges::find(outputs, mapped->outputs[i], &OnnxTensor::value);
        if (mapped->outputs[i].empty() || wanted == outputs.end()) {
            continue;
        }
        auto tensor = as_output(reference.outputs[i], *wanted);
        if (!tensor) {
            return tl::unexpected(tensor.error());
        }
        result[static_cast<std::size_t>(wanted - outputs.begin())] = std::move(*tensor);
    }
    return result;
}

struct KnownInputs {
    std::string_view type;
    /// The range of these inputs.
    std::size_t first = 1;
    std::size_t last = 1;
};

constexpr KnownInputs known_inputs[] = {{"Col2Im", 1, 2},
                                        {"Compress", 1, 1},
                                        {"ConstantOfShape", 0, 0},
                                        {"CumProd", 1, 1},
                                        {"CumSum", 1, 1},
                                        {"Expand", 1, 1},
                                        {"MaxUnpool", 2, 2},
                                        {"OneHot", 1, 1},
                                        {"Pad", 1, 3},
                                        {"Range", 0, 2},
                                        {"Reshape", 1, 1},
                                        {"Resize", 1, 3},
                                        {"Slice", 1, 4},
                                        {"Split", 1, 1},
                                        {"Squeeze", 1, 1},
                                        {"Tile", 1, 1},
                                        {"TopK", 1, 1},
                                        {"Trilu", 1, 1},
                                        {"Unsqueeze", 1, 1},
                                        {"Upsample", 1, 1},
                                        {"NonZero", 0, 0},
                                        {"ai.onnx.preview.training.Adam", 0, 1}};

}  // namespace

std::vector<std::size_t> inputs_to_know(const OnnxNode& node) {
    const auto row = std::ranges::find(known_inputs, std::string_view(node.type), &KnownInputs::type);
    std::size_t first = row == std::end(known_inputs) ? 0 : row->first;
    std::size_t end = row == std::end(known_inputs) ? 0 : row->last + 1;
    if (node.type.starts_with("Reduce")) {
        first = 1;
        end = 2;
    }
    std::vector<std::size_t> indices(end - first);
    std::iota(indices.begin(), indices.end(), first);
    std::erase_if(indices, [&](std::size_t index) { return node.input(index) == nullptr; });
    return indices;
}

void KnownDescriptors::add(const std::string& text, std::shared_ptr<const operators::Descriptor> descriptor) {
    // Their texts must not take much memory.
    constexpr std::size_t most = 1024;
    constexpr std::size_t most_characters = 1 << 20;
    if (by_text_.size() >= most || characters_ + text.size() > most_characters) {
        by_text_.clear();
        characters_ = 0;
    }
    characters_ += text.size();
    by_text_.emplace(text, std::move(descriptor));
}

core::Result<MappedNode> mapped_node(const OnnxNode& node, KnownDescriptors* known) {
    const auto object = map_node(node);
    if (!object) {
        return tl::unexpected(object.error());
    }
    auto descriptor = descriptor_of(*object, known);
    if (!descriptor) {
        return tl::unexpected(descriptor.error());
    }
    MappedNode mapped{std::move(*descriptor), {}, {}};
    for (const operators::TensorSlot& slot : mapped.descriptor->inputs()) {
        auto input = input_of(*object, slot);
        if (!input) {
            return tl::unexpected(input.error());
        }
        mapped.inputs.push_back(std::move(*input));
    }
    const auto expected = object->find("expected");
    for (const operators::TensorSlot& slot : mapped.descriptor->outputs()) {
        const bool named =
            expected != object->end() && expected->contains(slot.name) && (*expected)[slot.name].is_string();
        mapped.outputs.push_back(named ? (*expected)[slot.name].get<std::string>() : "");
    }
    return mapped;
}

core::Result<std::vector<OnnxTensor>> folded(OnnxNode node, const std::vector<OnnxTensor>& outputs) {
    for (auto& input : node.inputs) {
        if (input) {
            input->value.clear();
        }
    }
    auto result = computed(node, outputs);
    for (const bool integers_too : {false, true}) {
        const auto narrow = result ? std::nullopt : narrowed(node, integers_too);
        if (narrow) {
            result = computed(*narrow, outputs);
        }
    }
    return result;
}

}  // namespace dmlconform::interop
