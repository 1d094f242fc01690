// Maps a node, narrows types if necessary, and reads the result as a case.
#include "engine/interop/onnx_case.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "engine/cases/case_file.h"
#include "engine/cases/case_writer.h"
#include "engine/cases/filled_inputs.h"
#include "engine/core/strided.h"
#include "engine/cpu/reference.h"
#include "engine/operators/operator_name.h"

namespace dmlconform::interop {
namespace {

using nlohmann::ordered_json;

/// Operators whose result is one of their elements, or a number that every type has: the default tolerance applies.
constexpr std::array<std::string_view, 34> exact_operators{"ACTIVATION_RELU",
                                                           "ACTIVATION_THRESHOLDED_RELU",
                                                           "CAST",
                                                           "DEPTH_TO_SPACE1",
                                                           "DIAGONAL_MATRIX",
                                                           "DIAGONAL_MATRIX1",
                                                           "ELEMENT_WISE_ABS",
                                                           "ELEMENT_WISE_CEIL",
                                                           "ELEMENT_WISE_CLIP",
                                                           "ELEMENT_WISE_CLIP1",
                                                           "ELEMENT_WISE_FLOOR",
                                                           "ELEMENT_WISE_IDENTITY",
                                                           "ELEMENT_WISE_IF",
                                                           "ELEMENT_WISE_MAX",
                                                           "ELEMENT_WISE_MIN",
                                                           "ELEMENT_WISE_NEGATE",
                                                           "ELEMENT_WISE_ROUND",
                                                           "ELEMENT_WISE_SIGN",
                                                           "FILL_VALUE_CONSTANT",
                                                           "GATHER",
                                                           "GATHER_ELEMENTS",
                                                           "GATHER_ND1",
                                                           "JOIN",
                                                           "MAX_UNPOOLING",
                                                           "ONE_HOT",
                                                           "PADDING1",
                                                           "REVERSE_SUBSEQUENCES",
                                                           "SCATTER",
                                                           "SCATTER_ND",
                                                           "SLICE1",
                                                           "SPACE_TO_DEPTH1",
                                                           "SPLIT",
                                                           "TILE",
                                                           "TOP_K1"};

core::Result<cases::Case> read_back(ordered_json object) {
    object["name"] = "it";
    auto suite = cases::read_case_file("onnx.json", cases::case_file_text("", {&object, 1}));
    if (!suite.problems.empty()) {
        return core::fail(suite.problems.front().message);
    }
    if (suite.cases.size() != 1) {
        return core::fail("it is not one case");
    }
    return std::move(suite.cases.front());
}

core::Result<ordered_json> legal_object(const OnnxNode& node) {
    auto object = map_node(node);
    if (!object) {
        return object;
    }
    const auto subject = read_back(*object);
    return subject ? std::move(object) : tl::unexpected(subject.error());
}

/// A description of narrowed types: "FLOAT64 as FLOAT32".
std::string narrowing_of(const OnnxNode& wide, const OnnxNode& narrow) {
    std::string text;
    const auto add = [&](const auto& from, const auto& to) {
        for (std::size_t i = 0; i < from.size(); ++i) {
            if (from[i] && from[i]->type != to[i]->type) {
                const std::string pair = fmt::format(", {} as {}", core::name(from[i]->type), core::name(to[i]->type));
                text += text.find(pair) == std::string::npos ? pair : "";
            }
        }
    };
    add(wide.inputs, narrow.inputs);
    add(wide.outputs, narrow.outputs);
    return text;
}

}  // namespace

core::Result<ordered_json> case_object(const OnnxNode& node, bool may_narrow) {
    auto object = legal_object(node);
    for (const bool integers_too : {false, true}) {
        const auto narrow = object || !may_narrow ? std::nullopt : narrowed(node, integers_too);
        const std::string difference = narrow ? narrowing_of(node, *narrow) : "";
        if (difference.empty()) {
            continue;
        }
        if (auto other = legal_object(*narrow)) {
            (*other)["description"] = difference;
            return other;
        }
    }
    return object;
}

core::Result<OnnxTensor> computed_output(const ordered_json& object, const OnnxTensor& like) {
    const auto subject = read_back(object);
    if (!subject) {
        return tl::unexpected(subject.error());
    }
    const operators::Descriptor& descriptor = *subject->descriptor;
    const auto outputs = descriptor.outputs();
    if (!cpu::has_reference(*descriptor.schema) || outputs.empty() || outputs.front().desc == nullptr) {
        return core::fail("the reference does not compute what other nodes need");
    }
    const auto inputs = cases::filled_inputs(*subject);
    if (!inputs) {
        return tl::unexpected(inputs.error());
    }
    const cpu::Reference reference = cpu::compute_reference(descriptor, inputs->pointers);
    const core::Tensor packed = core::packed_copy(reference.outputs.front());
    OnnxTensor result = like;
    if (packed.desc.data_type != like.type || core::element_count(packed.desc.sizes) != like.count()) {
        return core::fail(
            "what other nodes need is of another type or size than "
            "DirectML's output");
    }
    const auto bytes = packed.buffer.bytes().first(like.bytes());
    result.elements.assign(bytes.begin(), bytes.end());
    return result;
}

ordered_json completed(ordered_json object, const std::string& name, std::string description, bool rounded_inputs) {
    // Keeps an existing note about narrowing.
    if (const auto narrowing = object.find("description"); narrowing != object.end()) {
        description += narrowing->get<std::string>();
    }
    ordered_json result{{"name", name}, {"description", description}};
    object.erase("description");
    result.update(object);
    const auto full_name = object["operator"].get<std::string>();
    const std::string_view op = operators::short_name_of(full_name);
    const bool exact = std::find(exact_operators.begin(), exact_operators.end(), op) != exact_operators.end();
    if ((exact && !rounded_inputs) || !object.contains("expected")) {
        return result;
    }
    // The scale's rounding error is far below a step, so it only matters near ties: at most one step.
    if (rounded_inputs && op == "ELEMENT_WISE_QUANTIZE_LINEAR") {
        result["tolerance"]["OutputTensor"] = {{"abs", 1}};
    }
    // The quotient is rounded before its code is, and may become a tie.
    if (op.find("QUANTIZE") != std::string::npos) {
        result["expectedPrecision"] = "fp32";
    }
    const auto put_tolerance = [&](const std::string& tensor, const ordered_json& desc) {
        if (object["expected"].contains(tensor) && desc["DataType"].get<std::string>().starts_with("FLOAT")) {
            result["tolerance"][tensor] = {{"rel", 1e-3}, {"abs", 1e-7}};
            result["expectedPrecision"] = "fp32";
        }
    };
    for (const auto& [field, desc] : object["desc"].items()) {
        put_tolerance(field, desc);
        for (std::size_t i = 0; desc.is_array() && i < desc.size(); ++i) {
            put_tolerance(fmt::format("{}[{}]", field, i), desc[i]);
        }
    }
    return result;
}

}  // namespace dmlconform::interop
