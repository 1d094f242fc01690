// Expands Einsum to matrix products, sums and transpositions.
#include <array>
#include <map>
#include <optional>
#include <set>

#include "engine/interop/onnx_expansion_steps.h"

namespace dmlconform::interop::expansion {
namespace {

std::vector<std::int64_t> order_of(const std::string& from, const std::string& to) {
    std::vector<std::int64_t> order;
    for (const char label : to) {
        order.push_back(static_cast<std::int64_t>(from.find(label)));
    }
    return order;
}

/// The labels of the output that an equation without an arrow has: those that occur once, in order.
std::string implied_labels(std::string terms) {
    std::erase(terms, ',');
    std::ranges::sort(terms);
    std::string once;
    for (const char label : terms) {
        once += std::ranges::count(terms, label) == 1 ? std::string(1, label) : "";
    }
    return once;
}

/// Replaces the dots with as many digits as there are dimensions without a label.
std::string without_dots(std::string labels, std::size_t digits) {
    const std::size_t dots = labels.find("...");
    return dots == std::string::npos ? labels : labels.replace(dots, 3, std::string("0123456789").substr(0, digits));
}

/// Einsum of one tensor, with a label for each dimension. If these are all different, some are summed, and the others
/// change their order.
Nodes expand_einsum_of_one(Expansion& to, const std::string& equation) {
    const OnnxTensor* data = to.known(0);
    const std::size_t arrow = equation.find("->");
    std::string from = equation.substr(0, arrow);
    std::string out = arrow == std::string::npos ? implied_labels(from) : equation.substr(arrow + 2);
    if (from.find('.') != std::string::npos) {
        const std::size_t rank = data == nullptr ? 0 : data->onnx_sizes().size();
        const std::size_t labelled = from.size() - std::min<std::size_t>(from.size(), 3);
        if (rank < labelled || rank - labelled > 10 || from.find("...") == std::string::npos) {
            return unchanged(to);
        }
        out = arrow == std::string::npos ? "..." + implied_labels(without_dots(from, 0)) : out;
        from = without_dots(std::move(from), rank - labelled);
        out = without_dots(std::move(out), rank - labelled);
    }
    std::vector<std::int64_t> summed;
    std::string left;
    for (std::size_t d = 0; d < from.size(); ++d) {
        if (out.find(from[d]) == std::string::npos) {
            summed.push_back(static_cast<std::int64_t>(d));
        } else {
            left += from[d];
        }
    }
    const std::set<char> different(from.begin(), from.end());
    const bool is_plain = summed.empty() && equation == from + "->" + out;
    if (is_plain || from.empty() || different.size() != from.size() || left.size() != out.size()) {
        return unchanged(to);
    }
    if (summed.empty()) {
        to.add("Transpose", {to.input(0)}, to.output(0), {integers("perm", order_of(left, out))});
        return to.take();
    }
    const std::string name = out.empty() ? to.output(0) : "";
    const std::string sum =
        to.opset() >= 13 ? to.add("ReduceSum", {to.input(0), to.whole_numbers(summed)}, name, {integer("keepdims", 0)})
                         : to.add("ReduceSum", {to.input(0)}, name, {integer("keepdims", 0), integers("axes", summed)});
    if (out.empty()) {
        return to.take();
    }
    to.add("Transpose", {sum}, to.output(0), {integers("perm", order_of(left, out))});
    return to.take();
}

/// An equation of two factors: a label for each dimension of the factors and of the output.
struct Equation {
    std::array<std::string, 2> factors;
    std::string out;
};

std::optional<Equation> equation_of_two(std::string text) {
    if (text.find("->") == std::string::npos && text.find('.') == std::string::npos) {
        text += "->" + implied_labels(text);
    }
    const std::size_t comma = text.find(',');
    const std::size_t arrow = text.find("->");
    if (comma == std::string::npos || arrow == std::string::npos || comma > arrow) {
        return std::nullopt;
    }
    return Equation{{text.substr(0, comma), text.substr(comma + 1, arrow - comma - 1)}, text.substr(arrow + 2)};
}

using LabelSizes = std::map<char, std::int64_t>;

/// The size of each label; of two different ones, the larger.
core::Result<LabelSizes> label_sizes(const Expansion& to, const Equation& equation) {
    LabelSizes sizes;
    for (std::size_t i = 0; i < equation.factors.size(); ++i) {
        const std::string& labels = equation.factors[i];
        const OnnxTensor* data = to.known(static_cast<int>(i));
        if (data == nullptr || data->onnx_sizes().size() != labels.size()) {
            return core::fail("Einsum's labels are not those of the dimensions");
        }
        for (std::size_t d = 0; d < labels.size(); ++d) {
            if (labels.find(labels[d], d + 1) != std::string::npos) {
                return core::fail("Einsum with a label twice in a factor is not mapped");
            }
            sizes[labels[d]] = std::max<std::int64_t>(sizes[labels[d]], data->sizes[d]);
        }
    }
    return sizes;
}

/// The labels of two factors by their role in the product.
struct Labels {
    std::string batch;
    std::string left;
    std::string right;
    std::string summed;
};

core::Result<Labels> labels_by_role(const Equation& equation) {
    const auto& [a, b] = equation.factors;
    Labels labels;
    for (const char c : a + b) {
        const bool in_a = a.find(c) != std::string::npos;
        const bool in_b = b.find(c) != std::string::npos;
        const bool in_out = equation.out.find(c) != std::string::npos;
        std::string& kind = in_a && in_b ? (in_out ? labels.batch : labels.summed) : in_a ? labels.left : labels.right;
        if (!in_out && !(in_a && in_b)) {
            return core::fail("Einsum that sums a label of one factor is not mapped");
        }
        kind += kind.find(c) == std::string::npos ? std::string(1, c) : "";
    }
    return labels;
}

/// Moves a factor's dimensions into the order of these groups of labels, and merges those of a group.
std::string moved_and_merged(Expansion& to, int index, const std::string& from,
                             const std::array<std::string, 3>& groups, const LabelSizes& sizes) {
    std::vector<std::int64_t> counts;
    for (const std::string& group : groups) {
        std::int64_t& count = counts.emplace_back(1);
        for (const char label : group) {
            count *= sizes.at(label);
        }
    }
    const std::vector<std::int64_t> order = order_of(from, groups[0] + groups[1] + groups[2]);
    const std::string moved = to.add("Transpose", {to.input(index)}, "", {integers("perm", order)});
    return to.add("Reshape", {moved, to.whole_numbers(counts)});
}

/// Einsum of two factors without repeated labels: a matrix product between transpositions.
Nodes expand_einsum_of_two(Expansion& to, const Equation& equation) {
    const auto sizes = label_sizes(to, equation);
    if (!sizes) {
        return tl::unexpected(sizes.error());
    }
    const auto labels = labels_by_role(equation);
    if (!labels) {
        return tl::unexpected(labels.error());
    }
    const auto& [batch, left, right, summed] = *labels;
    const std::string made = batch + left + right;
    if (made.size() != equation.out.size()) {
        return core::fail("Einsum's output does not have each label once");
    }
    const std::string a = moved_and_merged(to, 0, equation.factors[0], {batch, left, summed}, *sizes);
    const std::string b = moved_and_merged(to, 1, equation.factors[1], {batch, summed, right}, *sizes);
    const std::string product = to.add("MatMul", {a, b});
    if (made.empty()) {
        to.opset() >= 13 ? to.add("Squeeze", {product, to.whole_numbers({0, 1, 2})}, to.output(0))
                         : to.add("Squeeze", {product}, to.output(0), {integers("axes", {0, 1, 2})});
        return to.take();
    }
    std::vector<std::int64_t> shape;
    for (const char label : made) {
        shape.push_back(sizes->at(label));
    }
    const std::string parted = to.add("Reshape", {product, to.whole_numbers(shape)});
    to.add("Transpose", {parted}, to.output(0), {integers("perm", order_of(made, equation.out))});
    return to.take();
}

}  // namespace

Nodes expand_einsum(Expansion& to) {
    std::string equation = to.text_of("equation", "");
    std::erase(equation, ' ');
    if (to.node().input.size() == 1 && equation.find(',') == std::string::npos) {
        return expand_einsum_of_one(to, equation);
    }
    const auto of_two = to.node().input.size() == 2 ? equation_of_two(std::move(equation)) : std::nullopt;
    return of_two ? expand_einsum_of_two(to, *of_two) : unchanged(to);
}

}  // namespace dmlconform::interop::expansion
