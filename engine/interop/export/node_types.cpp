// Parses node_types.txt into a table.
#include <algorithm>
#include <map>
#include <span>
#include <sstream>

#include "engine/core/embedded_text.h"
#include "engine/interop/export/model_writer.h"

namespace dmlconform::interop::exporting {

extern const std::span<const core::EmbeddedText> node_type_texts;

namespace {

struct NodeTypes {
    std::int64_t opset = 0;
    /// For each input, the numbers of its types.
    std::vector<std::vector<int>> inputs;
};

int number_of_type(const std::string& name) {
    static const std::map<std::string, int, std::less<>> numbers{{"f16", onnx_float16},
                                                                 {"f32", onnx_float32},
                                                                 {"f64", onnx_float64},
                                                                 {"i8", onnx_int8},
                                                                 {"i16", 5},
                                                                 {"i32", onnx_int32},
                                                                 {"i64", onnx_int64},
                                                                 {"u8", onnx_uint8},
                                                                 {"u16", 4},
                                                                 {"u32", onnx_uint32},
                                                                 {"u64", onnx_uint64},
                                                                 {"bool", onnx_bool},
                                                                 {"u4", 21},
                                                                 {"i4", 22}};
    return numbers.at(name);
}

std::vector<int> types_of(const std::string& written, const NodeTypes& so_far) {
    if (written.starts_with('=')) {
        return so_far.inputs.at(static_cast<std::size_t>(written[1] - '0'));
    }
    std::vector<int> types;
    std::istringstream names(written);
    for (std::string name; std::getline(names, name, ',');) {
        types.push_back(number_of_type(name));
    }
    return types;
}

/// By node, opsets ascending.
std::map<std::string, std::vector<NodeTypes>, std::less<>> read_table() {
    std::map<std::string, std::vector<NodeTypes>, std::less<>> table;
    std::istringstream lines(std::string(node_type_texts.front().text));
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with('#')) {
            continue;
        }
        std::istringstream words(line);
        std::string name;
        NodeTypes types;
        words >> name >> types.opset;
        for (std::string word; words >> word;) {
            types.inputs.push_back(types_of(word, types));
        }
        table[name].push_back(std::move(types));
    }
    return table;
}

}  // namespace

bool takes_type(std::string_view node, std::int64_t opset, std::size_t input, int type) {
    static const auto table = read_table();
    const auto found = table.find(node);
    if (found == table.end()) {
        return false;
    }
    const NodeTypes* last = nullptr;
    for (const NodeTypes& types : found->second) {
        last = types.opset <= opset ? &types : last;
    }
    if (last == nullptr || last->inputs.empty()) {
        return false;
    }
    const std::vector<int>& types = last->inputs[std::min(input, last->inputs.size() - 1)];
    return std::find(types.begin(), types.end(), type) != types.end();
}

}  // namespace dmlconform::interop::exporting
