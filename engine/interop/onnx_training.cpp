// ONNX's optimisers and signal windows as element-wise operators, by the formulas of ONNX's documentation.
#include <cmath>
#include <numbers>

#include "engine/interop/onnx_expansion_steps.h"

namespace dmlconform::interop::expansion {
namespace {

/// The inputs of an optimised tensor: parameters come first, then gradients and states, one of each for each tensor.
struct Group {
    std::string parameters;
    std::string gradient;
    std::string state;
    /// Adam's second moment.
    std::string second = {};
};

/// Empty unless there are `kinds` inputs for each tensor after rate and step, and one kind fewer of outputs.
std::vector<Group> groups_of(const Expansion& to, int kinds) {
    const int count = (to.node().input.size() - 2) / kinds;
    std::vector<Group> groups;
    if (count < 1 || to.node().input.size() != 2 + kinds * count || to.node().output.size() != (kinds - 1) * count) {
        return groups;
    }
    for (int i = 0; i < count; ++i) {
        groups.push_back({to.input(2 + i), to.input(2 + count + i), to.input(2 + 2 * count + i),
                          kinds == 4 ? to.input(2 + 3 * count + i) : ""});
    }
    return groups;
}

/// The gradient of the regularised loss.
std::string regularised(Expansion& to, const Group& group) {
    const float coefficient = to.number_of("norm_coefficient", 0);
    return coefficient == 0
               ? group.gradient
               : to.add("Add", {to.add("Mul", {group.parameters, to.number(coefficient)}), group.gradient});
}

bool is_first_step(const Expansion& to) {
    const OnnxTensor* step = to.known(1);
    return step != nullptr && step->has_elements() && step->integer(0) == 0;
}

}  // namespace

Nodes expand_adagrad(Expansion& to) {
    const auto groups = groups_of(to, 3);
    const OnnxTensor* time = to.known(1);
    if (groups.empty() || time == nullptr || !time->has_elements()) {
        return core::fail("Adagrad is mapped with a known step, and a gradient and a state for each tensor");
    }
    const float slower = 1 + static_cast<float>(time->integer(0)) * to.number_of("decay_factor", 0);
    const std::string rate = to.add("Div", {to.input(0), to.number(slower)});
    const auto count = static_cast<int>(groups.size());
    for (int i = 0; i < count; ++i) {
        const Group& group = groups[static_cast<std::size_t>(i)];
        const std::string gradient = regularised(to, group);
        const std::string state =
            to.add("Add", {group.state, to.add("Mul", {gradient, gradient})}, to.output(count + i));
        const std::string adaptive =
            to.add("Add", {to.add("Sqrt", {state}), to.number(to.number_of("epsilon", 1e-6F))});
        const std::string step = to.add("Div", {to.add("Mul", {rate, gradient}), adaptive});
        to.add("Sub", {group.parameters, step}, to.output(i));
    }
    return to.take();
}

Nodes expand_momentum(Expansion& to) {
    const auto groups = groups_of(to, 3);
    const onnx::AttributeProto* mode = to.attribute("mode");
    if (groups.empty() || mode == nullptr || to.known(1) == nullptr || !to.known(1)->has_elements()) {
        return core::fail("Momentum is mapped with a known step, and a gradient and a state for each tensor");
    }
    const float beta = is_first_step(to) ? 1 : to.number_of("beta", 1);
    const float alpha = to.number_of("alpha", 0);
    const auto count = static_cast<int>(groups.size());
    for (int i = 0; i < count; ++i) {
        const Group& group = groups[static_cast<std::size_t>(i)];
        const std::string gradient = regularised(to, group);
        const std::string old_part = to.add("Mul", {group.state, to.number(alpha)});
        const std::string new_part = to.add("Mul", {gradient, to.number(beta)});
        const std::string state = to.add("Add", {old_part, new_part}, to.output(count + i));
        const std::string direction =
            mode->s() == "nesterov" ? to.add("Add", {gradient, to.add("Mul", {state, to.number(alpha)})}) : state;
        to.add("Sub", {group.parameters, to.add("Mul", {to.input(0), direction})}, to.output(i));
    }
    return to.take();
}

/// What DirectML's operator does not compute: several tensors, regularisation, and the step 0.
Nodes expand_adam(Expansion& to) {
    const auto groups = groups_of(to, 4);
    const OnnxTensor* step = to.known(1);
    const float post = to.number_of("norm_coefficient_post", 0);
    if (groups.empty() || step == nullptr || !step->has_elements() || step->count() != 1 ||
        (groups.size() == 1 && to.number_of("norm_coefficient", 0) == 0 && post == 0 && !is_first_step(to))) {
        return unchanged(to);
    }
    const double alpha = to.number_of("alpha", 0.9F);
    const double beta = to.number_of("beta", 0.999F);
    const auto time = static_cast<double>(step->integer(0));
    const double correction = time > 0 ? std::sqrt(1 - std::pow(beta, time)) / (1 - std::pow(alpha, time)) : 1;
    const auto number = [&](double value) { return to.number(static_cast<float>(value)); };
    const std::string rate = to.add("Mul", {to.input(0), number(correction)});
    const auto average = [&](const std::string& old, double weight, const std::string& added, int output) {
        return to.add("Add", {to.add("Mul", {old, number(weight)}), to.add("Mul", {added, number(1 - weight)})},
                      to.output(output));
    };
    const auto count = static_cast<int>(groups.size());
    for (int i = 0; i < count; ++i) {
        const Group& group = groups[static_cast<std::size_t>(i)];
        const std::string gradient = regularised(to, group);
        const std::string first = average(group.state, alpha, gradient, count + i);
        const std::string second = average(group.second, beta, to.add("Mul", {gradient, gradient}), 2 * count + i);
        const std::string root = to.add("Add", {to.add("Sqrt", {second}), to.number(to.number_of("epsilon", 1e-6F))});
        const std::string change = to.add("Div", {to.add("Mul", {rate, first}), root});
        const std::string updated = to.add("Sub", {group.parameters, change}, post == 0 ? to.output(i) : std::string());
        if (post != 0) {
            to.add("Mul", {updated, number(1 - double{post})}, to.output(i));
        }
    }
    return to.take();
}

/// a0 - a1 cos(2πn / N) + a2 cos(4πn / N), of floating-point numbers.
Nodes expand_signal_window(Expansion& to) {
    const std::string& type = to.node().op_type();
    const OnnxTensor* size = to.known(0);
    if (size == nullptr || !size->has_elements() || size->count() != 1 || size->integer(0) < 2 ||
        size->integer(0) > 0xffffff || to.integer_of("output_datatype", onnx_float) != onnx_float) {
        return core::fail(type + " is mapped with a known size, of FLOAT");
    }
    const bool periodic = to.integer_of("periodic", 1) != 0;
    const auto count = static_cast<double>(size->integer(0) - (periodic ? 0 : 1));
    const double a0 = type == "HannWindow" ? 0.5 : type == "HammingWindow" ? 25.0 / 46 : 0.42;
    const double a1 = type == "HannWindow" ? 0.5 : type == "HammingWindow" ? 1 - 25.0 / 46 : 0.5;
    const std::string end = to.number(static_cast<float>(size->integer(0)));
    const std::string positions = to.add("Range", {to.number(0), end, to.number(1)});
    const auto wave = [&](double frequency, double factor, const std::string& output) {
        const std::string angle =
            to.add("Mul", {positions, to.number(static_cast<float>(frequency * 2 * std::numbers::pi / count))});
        return to.add("Mul", {to.add("Cos", {angle}), to.number(static_cast<float>(factor))}, output);
    };
    const bool blackman = type == "BlackmanWindow";
    const std::string first = wave(1, a1, "");
    const std::string sum = to.add("Sub", {to.number(static_cast<float>(a0)), first}, blackman ? "" : to.output(0));
    if (blackman) {
        to.add("Add", {sum, wave(2, 0.08, "")}, to.output(0));
    }
    return to.take();
}

}  // namespace dmlconform::interop::expansion
