// Tests of engine/executions_in_turn on the D3D12 engine: executions are timed one at a time or in groups, with the
// same results.
#include "engine/executions_in_turn.h"

#include <deque>

#include "engine/d3d12/device/commands.h"
#include "tests/d3d12/against_reference.h"
#include "tests/descriptor_builder.h"

namespace dmlconform::tests::executions_in_turn_test {
namespace {

using core::DataType;

class InTurn : public D3d12Test {
protected:
    std::unique_ptr<Executable> adding(float value) {
        descriptor_ = describe("ELEMENT_WISE_ADD", {{"ATensor", tensor(DataType::float32, {1000})},
                                                    {"BTensor", tensor(DataType::float32, {1000})},
                                                    {"OutputTensor", tensor(DataType::float32, {1000})}});
        inputs_.push_back(tensor_of<float>(*descriptor_.tensor("ATensor"), std::vector<float>(1000, value)));
        const core::Tensor* const both[] = {&inputs_.back(), &inputs_.back()};
        auto executable = engine().compile(descriptor_);
        EXPECT_TRUE(executable.has_value());
        EXPECT_TRUE((*executable)->bind(both).has_value());
        return std::move(*executable);
    }

    operators::Descriptor descriptor_;
    /// The inputs of all executables. A deque keeps their addresses valid.
    std::deque<core::Tensor> inputs_;
};

TEST_F(InTurn, EachOrSeveralHaveATime) {
    const auto first = adding(1);
    const auto second = adding(2);
    auto* const in_turn = dynamic_cast<ExecutionsInTurn*>(first.get());
    ASSERT_NE(in_turn, nullptr);
    EXPECT_EQ(in_turn->most_times(), d3d12::Commands::most_spans);
    std::vector<Executable*> turn;
    while (turn.size() < 4 * in_turn->most_times()) {
        turn.push_back(turn.size() % 2 == 0 ? first.get() : second.get());
    }
    for (const auto& [count, per_time] : {std::pair{turn.size(), std::size_t{4}},
                                          {in_turn->most_times(), std::size_t{1}},
                                          {std::size_t{1}, std::size_t{1}},
                                          {std::size_t{21}, std::size_t{3}}}) {
        const auto times = in_turn->execute_in_turn({turn.data(), count}, per_time);
        ASSERT_TRUE(times.has_value()) << times.error().message;
        EXPECT_EQ(times->size(), count / per_time);
    }
    ASSERT_TRUE(second->execute().has_value());
    core::Tensor output = core::output_tensor(*descriptor_.tensor("OutputTensor"));
    core::Tensor* const outputs[] = {&output};
    ASSERT_TRUE(second->read(outputs).has_value());
    EXPECT_EQ(values_of<float>(output), std::vector<float>(1000, 4));
}

}  // namespace
}  // namespace dmlconform::tests::executions_in_turn_test
