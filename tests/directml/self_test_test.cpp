// Tests that the self-test recognises installations on which DirectML does not work.
#include "engine/directml/self_test.h"

#include <gtest/gtest.h>

#include "tests/run/fake_engine.h"

namespace dmlconform::directml::self_test_test {
namespace {

TEST(SelfTest, FindsNothingWhereFourNumbersAreCopied) {
    tests::FakeEngine engine({});
    EXPECT_TRUE(self_test(engine).has_value());
}

TEST(SelfTest, FindsWhatDoesNotWork) {
    using tests::Behaviour;
    struct Row {
        std::function<void(Behaviour& behaviour)> fault;
        const char* message;
    };
    const char* const wrong = "self-test: DirectML succeeds on this device, but does not write the right numbers";
    const Row rows[] = {
        {[](Behaviour& b) { b.writes_nothing = true; }, wrong},
        {[](Behaviour& b) { b.change = [](auto outputs) { outputs[0]->template as<float>().data()[3] = 65535; }; },
         wrong},
        {[](Behaviour& b) { b.compile_failure = tests::rejected(core::HResult::invalid_argument, "E_INVALIDARG"); },
         "self-test: E_INVALIDARG"},
        {[](Behaviour& b) { b.bind_error = "no memory"; }, "self-test: no memory"},
        {[](Behaviour& b) { b.execute_error = "device removed"; }, "self-test: device removed"},
        {[](Behaviour& b) { b.read_error = "device hung"; }, "self-test: device hung"},
    };
    for (const Row& row : rows) {
        Behaviour behaviour;
        row.fault(behaviour);
        tests::FakeEngine engine(behaviour);
        const auto result = self_test(engine);
        ASSERT_FALSE(result.has_value()) << row.message;
        EXPECT_EQ(result.error().message, row.message);
    }
}

}  // namespace
}  // namespace dmlconform::directml::self_test_test
