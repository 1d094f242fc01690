// Tests of engine/operators/in_place: which outputs may share an input's memory.
#include "engine/operators/in_place.h"

#include <gtest/gtest.h>

#include <string_view>

#include "tests/packed_tensors.h"

namespace dmlconform::tests::in_place_test {
namespace {

using core::DataType;
using core::TensorDesc;
using operators::Descriptor;
using operators::InPlaceNames;

struct Row {
    std::string_view what;
    std::vector<Setting> change;
    InPlaceNames names;
    /// The start of the message; empty if accepted.
    std::string_view message;
};

void expect_problems(const Descriptor& base, const std::vector<Row>& rows) {
    for (const Row& row : rows) {
        SCOPED_TRACE(row.what);
        const auto problem = operators::in_place_problem(with(base, row.change), row.names);
        EXPECT_EQ(problem.value_or("").substr(0, row.message.size()), row.message);
        EXPECT_EQ(problem.has_value(), !row.message.empty());
    }
}

TensorDesc larger(TensorDesc desc) {
    desc.total_bytes += 4;
    return desc;
}

TensorDesc owned(TensorDesc desc) {
    desc.flags = core::TensorFlags::owned_by_dml;
    return desc;
}

TEST(InPlace, OnlyTensorsThatAreAlike) {
    const TensorDesc plain = real({2, 3});
    const Descriptor add =
        describe("ELEMENT_WISE_ADD", {{"ATensor", plain}, {"BTensor", plain}, {"OutputTensor", plain}});
    const InPlaceNames a{{"OutputTensor", "ATensor"}};
    TensorDesc two_columns = tensor(DataType::float32, {2, 2}, {3, 1});
    two_columns.total_bytes = plain.total_bytes;
    const std::string_view unlike = "OutputTensor and ATensor must have the same data type, sizes, strides";
    const std::string_view kept = "ATensor is kept by DirectML";
    expect_problems(
        add, {{"alike", {}, a, ""},
              {"the second input", {}, {{"OutputTensor", "BTensor"}}, ""},
              {"neither output nor input", {}, {{"ATensor", "OutputTensor"}}, "ELEMENT_WISE_ADD has no output ATensor"},
              {"no such input", {}, {{"OutputTensor", "CTensor"}}, "OutputTensor may share the memory of ATensor"},
              {"a type of the same size", {{"ATensor", tensor(DataType::int32, {2, 3})}}, a, unlike},
              {"fewer elements at the same addresses", {{"ATensor", two_columns}}, a, unlike},
              {"as many elements", {{"ATensor", real({3, 2})}}, a, unlike},
              {"other strides", {{"ATensor", tensor(DataType::float32, {2, 3}, {1, 2})}}, a, unlike},
              {"written strides of a packed tensor", {{"ATensor", tensor(DataType::float32, {2, 3}, {3, 1})}}, a, ""},
              {"another total size", {{"ATensor", larger(plain)}}, a, unlike},
              {"an owned input", {{"ATensor", owned(plain)}}, a, kept},
              {"an owned output", {{"OutputTensor", owned(plain)}}, a, kept}});
}

TEST(InPlace, OnlyTensorsThatArePresent) {
    const TensorDesc plain = real({1, 1, 2, 3});
    const Descriptor adam = describe("ADAM_OPTIMIZER", {{"InputParametersTensor", plain},
                                                        {"InputFirstMomentTensor", plain},
                                                        {"InputSecondMomentTensor", plain},
                                                        {"GradientTensor", plain},
                                                        {"TrainingStepTensor", tensor(DataType::uint32, {1, 1, 1, 1})},
                                                        {"OutputParametersTensor", plain},
                                                        {"OutputFirstMomentTensor", plain},
                                                        {"OutputSecondMomentTensor", plain}});
    expect_problems(adam, {{"the same moment", {}, {{"OutputFirstMomentTensor", "InputFirstMomentTensor"}}, ""},
                           {"no output",
                            {{"OutputFirstMomentTensor", nullptr}},
                            {{"OutputFirstMomentTensor", "InputFirstMomentTensor"}},
                            "OutputFirstMomentTensor is absent"},
                           {"no input",
                            {{"InputFirstMomentTensor", nullptr}},
                            {{"OutputFirstMomentTensor", "InputFirstMomentTensor"}},
                            "InputFirstMomentTensor is absent"}});
}

}  // namespace
}  // namespace dmlconform::tests::in_place_test
