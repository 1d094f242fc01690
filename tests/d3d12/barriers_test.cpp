// Tests of engine/d3d12/executable: the commands recorded for an execution order all accesses that depend on each
// other.
#include <gmock/gmock.h>

#include <set>

#include "engine/cases/case_file.h"
#include "engine/d3d12/device/executable.h"
#include "tests/d3d12/against_reference.h"
#include "tests/d3d12/hazards.h"

namespace dmlconform::tests::barriers_test {
namespace {

using d3d12::BufferRef;
using d3d12::DispatchPlan;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using Kind = RecordedCommand::Kind;
using Commands = std::vector<RecordedCommand>;

class Barriers : public D3d12Test {
protected:
    /// The executable of a descriptor, bound to inputs of zeros. Null if it has a single dispatch, or needs too much
    /// memory for this test.
    std::unique_ptr<Executable> several_dispatches(const operators::Descriptor& descriptor) {
        const d3d12::Binding* binding = d3d12::find_binding(descriptor.schema->short_name());
        if (binding == nullptr || operators::validate(descriptor, core::highest_feature_level) ||
            engine().unsupported(descriptor) || too_large(descriptor)) {
            return nullptr;
        }
        plan_ = binding->plan(descriptor);
        if (plan_.dispatches.size() < 2) {
            return nullptr;
        }
        auto executable = engine().compile(descriptor);
        EXPECT_TRUE(executable.has_value());
        std::vector<core::Tensor> inputs;
        for (const operators::TensorSlot& slot : descriptor.inputs()) {
            inputs.push_back(slot.desc == nullptr ? core::Tensor() : core::Tensor(*slot.desc));
        }
        EXPECT_TRUE((*executable)->bind(pointers_to(inputs)).has_value());
        return std::move(*executable);
    }

    static bool too_large(const operators::Descriptor& descriptor) {
        constexpr std::uint64_t most_bytes = 4u << 20;
        for (const auto& slots : {descriptor.inputs(), descriptor.outputs()}) {
            for (const operators::TensorSlot& slot : slots) {
                if (slot.desc != nullptr && slot.desc->total_bytes > most_bytes) {
                    return true;
                }
            }
        }
        return false;
    }

    static Commands recorded(Executable& executable) {
        RecordingList list;
        std::size_t next = 0;
        EXPECT_FALSE(dynamic_cast<d3d12::D3d12Executable&>(executable).record(list, next));
        return list.commands;
    }

    DispatchPlan plan_;
};

/// Whether the dispatches of this operator are independent, because each writes a different output.
bool are_independent(std::string_view op) {
    return op == "SPLIT";
}

/// Checks every plan of a corpus case with several dispatches, and that the check would notice missing barriers.
TEST_F(Barriers, BetweenTheDispatchesOfAllOperators) {
    const std::string folder = DMLCONFORM_CASES;
    const cases::Suite suite = cases::load_suite({&folder, 1});
    ASSERT_TRUE(suite.problems.empty());
    std::set<std::string> operators_seen;
    std::size_t plans = 0;
    for (const cases::Case& subject : suite.cases) {
        SCOPED_TRACE(subject.id);
        const auto executable = several_dispatches(*subject.descriptor);
        if (executable == nullptr) {
            continue;
        }
        ++plans;
        operators_seen.insert(std::string(subject.descriptor->schema->short_name()));
        Commands commands = recorded(*executable);
        ASSERT_THAT(hazards_in(commands, plan_), IsEmpty());
        std::erase_if(commands,
                      [](const RecordedCommand& command) { return command.kind == Kind::unordered_access_barrier; });
        if (are_independent(subject.descriptor->schema->short_name())) {
            ASSERT_THAT(hazards_in(commands, plan_), IsEmpty());
        } else {
            ASSERT_THAT(hazards_in(commands, plan_), testing::Contains(HasSubstr("no barrier between dispatches ")));
        }
    }
    EXPECT_GE(plans, 100u);
    for (const char* name : {"MEAN_VARIANCE_NORMALIZATION1", "QUANTIZED_LINEAR_CONVOLUTION", "TOP_K1"}) {
        EXPECT_TRUE(operators_seen.contains(name)) << name;
    }
}

RecordedCommand dispatch(std::vector<D3D12_GPU_VIRTUAL_ADDRESS> buffers) {
    return {.kind = Kind::dispatch, .buffers = std::move(buffers)};
}

/// A fake resource, which is only compared with others.
ID3D12Resource* resource(std::uintptr_t number) {
    return reinterpret_cast<ID3D12Resource*>(number * 64);
}

RecordedCommand barrier(const ID3D12Resource* about = nullptr) {
    return {.kind = Kind::unordered_access_barrier, .resource = about};
}

RecordedCommand copy(const ID3D12Resource* to, const ID3D12Resource* from) {
    return {.kind = Kind::copy, .resource = to, .source = from};
}

RecordedCommand to_use(const ID3D12Resource* about,
                       D3D12_RESOURCE_STATES state = D3D12_RESOURCE_STATE_UNORDERED_ACCESS) {
    return {.kind = Kind::transition, .resource = about, .before = D3D12_RESOURCE_STATE_COPY_DEST, .after = state};
}

RecordedCommand from_use(const ID3D12Resource* about) {
    return {.kind = Kind::transition,
            .resource = about,
            .before = D3D12_RESOURCE_STATE_UNORDERED_ACCESS,
            .after = D3D12_RESOURCE_STATE_COPY_SOURCE};
}

DispatchPlan plan_of(const std::vector<std::vector<BufferRef>>& dispatches) {
    DispatchPlan plan;
    for (const auto& buffers : dispatches) {
        plan.dispatches.emplace_back().buffers = buffers;
    }
    return plan;
}

TEST(Hazards, BetweenDispatches) {
    const auto input = d3d12::input(0);
    const auto output = d3d12::output(0);
    const auto first = d3d12::temporary(0);
    const auto second = d3d12::temporary(1);
    const DispatchPlan chain = plan_of({{input, first}, {first, second}, {second, output}});
    const auto a = dispatch({1, 10});
    const auto b = dispatch({10, 11});
    const auto c = dispatch({11, 2});
    EXPECT_THAT(hazards_in({a, barrier(), b, barrier(), c}, chain), IsEmpty());
    EXPECT_THAT(hazards_in({a, b, barrier(), c}, chain), ElementsAre("no barrier between dispatches 0 and 1"));
    EXPECT_THAT(hazards_in({a, barrier(), b, c}, chain), ElementsAre("no barrier between dispatches 1 and 2"));
    EXPECT_THAT(hazards_in({barrier(), a, b, c, barrier()}, chain),
                ElementsAre("no barrier between dispatches 0 and 1", "no barrier between dispatches 1 and 2"));
    EXPECT_THAT(hazards_in({a, barrier(resource(9)), b, barrier(), c}, chain),
                ElementsAre("no barrier between dispatches 0 and 1"))
        << "a barrier for something else";
    EXPECT_THAT(hazards_in({a, barrier(), b}, chain), ElementsAre("2 dispatches for 3 in the plan"));

    // The third dispatch overwrites what the first wrote, so it must wait. The first two share only an input and need
    // no order.
    const DispatchPlan again = plan_of({{input, first}, {input, second}, {input, first}});
    EXPECT_THAT(hazards_in({dispatch({1, 10}), dispatch({1, 11}), dispatch({1, 10})}, again),
                ElementsAre("no barrier between dispatches 0 and 2"));
    EXPECT_THAT(hazards_in({dispatch({1, 10}), dispatch({1, 11}), barrier(), dispatch({1, 10})}, again), IsEmpty());
}

TEST(Hazards, AroundCopies) {
    const DispatchPlan plan = plan_of({{d3d12::output(0)}});
    const auto* shared = resource(1);
    const auto* upload = resource(2);
    const auto* readback = resource(3);
    const auto use = dispatch({1});
    const auto in = copy(shared, upload);
    const auto out = copy(readback, shared);
    EXPECT_THAT(hazards_in({in, to_use(shared), use, from_use(shared), out}, plan), IsEmpty());
    EXPECT_THAT(hazards_in({in, use, from_use(shared), out}, plan), ElementsAre(HasSubstr("0 copies to what")));
    const auto to_constants = to_use(shared, D3D12_RESOURCE_STATE_VERTEX_AND_CONSTANT_BUFFER);
    EXPECT_THAT(hazards_in({in, to_constants, use}, plan), IsEmpty());
    EXPECT_THAT(hazards_in({in, to_use(shared, D3D12_RESOURCE_STATE_COPY_SOURCE), use}, plan),
                ElementsAre(HasSubstr("0 copies to what")));
    EXPECT_THAT(hazards_in({to_use(shared), in, use, from_use(shared), out}, plan),
                ElementsAre(HasSubstr("1 copies to what")));
    EXPECT_THAT(hazards_in({in, to_use(shared), use, out}, plan), ElementsAre(HasSubstr("3 copies what")));
    EXPECT_THAT(hazards_in({in, to_use(shared), use, from_use(upload), out}, plan),
                ElementsAre(HasSubstr("4 copies what")));
    const DispatchPlan two = plan_of({{d3d12::output(0)}, {d3d12::output(1)}});
    EXPECT_THAT(hazards_in({use, copy(shared, upload), dispatch({2})}, two),
                ElementsAre("command 1 copies between dispatches"));
    EXPECT_THAT(hazards_in({in}, plan_of({})), ElementsAre("nothing is dispatched"));
}

}  // namespace
}  // namespace dmlconform::tests::barriers_test
