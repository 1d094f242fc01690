// Tests of ONNX's messages in protobuf's binary format. The bytes are written by hand, by protobuf's documentation.
#include "engine/interop/onnx_messages.h"

#include <gmock/gmock.h>

#include "engine/interop/onnx_message_memory.h"

namespace dmlconform::tests {
namespace onnx_messages_test {
namespace {

using testing::ElementsAre;

/// A field of bytes: the tag with wire type 2, the length, the bytes.
std::string bytes_field(char number, const std::string& content) {
    return std::string{static_cast<char>(number << 3 | 2), static_cast<char>(content.size())} + content;
}

TEST(OnnxMessages, ReadsPackedAndSingleNumbers) {
    onnx::TensorProto tensor;
    // dims: 2 and 300 one by one, then 5 and 6 packed; data type: 7; the name; an unknown field 20 of each wire type.
    const std::string text = std::string("\x08\x02\x08\xac\x02", 5) + bytes_field(1, "\x05\x06") + "\x10\x07" +
                             bytes_field(8, "w") + std::string("\xa0\x01\x01\xa5\x01", 5) + "abcd" + "\xa1\x01" +
                             "abcdefgh" + "\xa2\x01\x01z";
    ASSERT_TRUE(onnx::read_message(text, tensor));
    EXPECT_THAT(tensor.dims(), ElementsAre(2, 300, 5, 6));
    EXPECT_EQ(tensor.data_type(), 7);
    EXPECT_EQ(tensor.name(), "w");
    EXPECT_FALSE(tensor.raw_data.has());
}

TEST(OnnxMessages, AFieldOfAnotherWireTypeIsUnknown) {
    onnx::TensorProto tensor;
    ASSERT_TRUE(onnx::read_message(bytes_field(2, "x") + std::string("\x40\x01", 2), tensor));
    EXPECT_FALSE(tensor.data_type.has());
    EXPECT_FALSE(tensor.name.has());
}

TEST(OnnxMessages, TheLastValueOfAFieldCountsAndMessagesAreMerged) {
    onnx::ModelProto model;
    const std::string graph = bytes_field(7, bytes_field(2, "a")) + bytes_field(7, bytes_field(1, ""));
    ASSERT_TRUE(onnx::read_message(std::string("\x08\x01\x08\x03", 4) + graph, model));
    EXPECT_EQ(model.ir_version(), 3);
    EXPECT_EQ(model.graph().name(), "a");
    EXPECT_EQ(model.graph().node.size(), 1);
}

TEST(OnnxMessages, RefusesWhatIsCutOffOrNestedTooDeep) {
    onnx::ModelProto model;
    for (const std::string& text : {std::string("\x08", 1), std::string("\x08\xff", 2), std::string("\x3a\x05zz", 4),
                                    std::string("\x0b\x0c", 2), std::string("\x00\x01", 2)}) {
        EXPECT_FALSE(onnx::read_message(text, model));
    }
    // Attribute 6 is a graph, whose field 1 is a node, whose field 5 is an attribute.
    std::string nested;
    for (int level = 0; level < 40 && nested.size() < 100; ++level) {
        nested = bytes_field(1, bytes_field(5, bytes_field(6, nested)));
    }
    EXPECT_TRUE(onnx::read_message(bytes_field(7, nested), model));
    onnx::GraphProto* inner = &model.graph.edit();
    for (int level = 0; level < 40; ++level) {
        inner = &inner->node.add().attribute.add().g.edit();
    }
    onnx::ModelProto deep;
    EXPECT_FALSE(onnx::read_message(onnx::message_bytes(model), deep));
}

TEST(OnnxMessages, RefusesWhatTakesTooMuchMemory) {
    // A graph with nodes of nothing: each takes two bytes here, and much more in memory.
    std::string nodes;
    for (int i = 0; i < 60; ++i) {
        nodes += bytes_field(1, "");
    }
    onnx::ModelProto model;
    ASSERT_EQ(onnx::read_message(bytes_field(7, nodes), model, 1 << 20), onnx::ReadResult::read);
    const std::uint64_t needed = onnx::memory_inside(model);
    EXPECT_GE(needed, sizeof(onnx::GraphProto) + 60 * sizeof(onnx::NodeProto));
    onnx::ModelProto again;
    EXPECT_EQ(onnx::read_message(bytes_field(7, nodes), again, needed), onnx::ReadResult::read);
    onnx::ModelProto refused;
    EXPECT_EQ(onnx::read_message(bytes_field(7, nodes), refused, needed - 1), onnx::ReadResult::too_large);
    EXPECT_EQ(onnx::read_message(bytes_field(7, nodes) + "\x08", refused, needed), onnx::ReadResult::malformed);
    // Numbers that are packed take eight times as much as in the file, and a text as much as it has characters.
    onnx::TensorProto tensor;
    const std::string numbers = bytes_field(7, std::string(100, '\x01'));
    EXPECT_EQ(onnx::read_message(numbers, tensor, 700), onnx::ReadResult::too_large);
    EXPECT_EQ(onnx::read_message(numbers, tensor, 900), onnx::ReadResult::read);
    EXPECT_EQ(onnx::read_message(bytes_field(8, std::string(100, 'n')), tensor, 90), onnx::ReadResult::too_large);
}

TEST(OnnxMessages, WritesFieldsInOrderAndEmptyMessages) {
    onnx::TensorProto tensor;
    tensor.name.set("");
    tensor.data_type.set(-1);
    tensor.dims.add(3);
    tensor.int32_data.add(1);
    tensor.int32_data.add(-1);
    const std::string minus_one = std::string(9, '\xff') + '\x01';
    EXPECT_EQ(onnx::message_bytes(tensor),
              "\x08\x03\x10" + minus_one + bytes_field(5, '\x01' + minus_one) + bytes_field(8, ""));
    onnx::ModelProto model;
    model.graph.edit().input.add().type.edit().tensor_type.edit().shape.edit();
    // The shape is field 2 of a tensor's type, and empty for a scalar.
    const std::string type = bytes_field(1, bytes_field(2, ""));
    EXPECT_EQ(onnx::message_bytes(model), bytes_field(7, bytes_field(11, bytes_field(2, type))));
    onnx::ModelProto again;
    ASSERT_TRUE(onnx::read_message(onnx::message_bytes(model), again));
    EXPECT_TRUE(again.graph().input(0).type().tensor_type().shape.has());
}

}  // namespace
}  // namespace onnx_messages_test
}  // namespace dmlconform::tests
