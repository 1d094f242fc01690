// GEMM: Alpha * A x B + Beta * C, and a fused activation, which may be a softmax over the result. What comments say
// about DirectML 1.15.4 is undocumented and was measured on it. Equals definitions/product.cpp.
#include <algorithm>
#include <cmath>
#include <string_view>

#include "engine/cpu/movement/computed_element.h"
#include "engine/cpu/normalisation/formula.h"
#include "engine/cpu/parallel.h"
#include "engine/cpu/product/finish.h"
#include "engine/cpu/reduction/sets.h"
#include "engine/cpu/reduction/totals.h"
#include "engine/cpu/tensor_numbers.h"
#include "engine/operators/enumerators.h"

namespace dmlconform::cpu::gemm_kernels {
namespace {

using operators::Descriptor;
using product::Finish;

/// Indices into Descriptor::inputs().
enum Input : std::size_t { a_tensor, b_tensor, c_tensor };

bool is_softmax(const Descriptor* activation) {
    return activation != nullptr && !activation->schema->element_wise;
}

// ---- a fused softmax ---------------------------------------------------------------------------------------------

/// The elements of the product before the softmax. `ranges` is empty if bounds are not wanted.
struct Products {
    std::vector<double> values;
    std::vector<Interval> ranges;
};

/// The elements of one slice of the softmax: their row-major indices and results.
class SoftmaxSet {
public:
    SoftmaxSet(const Products& products, const std::vector<std::int64_t>& numbers, core::DataType type)
        : products_(products), numbers_(numbers), type_(type) {
        for (const std::int64_t number : numbers) {
            const double x = products.values[static_cast<std::size_t>(number)];
            maximum_ = x > maximum_ ? x : maximum_;
        }
        for (const std::int64_t number : numbers) {
            sum_ += std::exp(products.values[static_cast<std::size_t>(number)] - maximum_);
        }
        if (!products.ranges.empty()) {
            take_ranges();
        }
    }

    [[nodiscard]] double value(std::int64_t number) const {
        return std::exp(products_.values[static_cast<std::size_t>(number)] - maximum_) / sum_;
    }
    [[nodiscard]] Interval range(std::int64_t number) const {
        const Interval power = power_of(products_.ranges[static_cast<std::size_t>(number)]);
        return hull(power / sum_range_, power * (Interval(1) / sum_range_));
    }

private:
    void take_ranges() {
        maximum_range_ = products_.ranges[static_cast<std::size_t>(numbers_.front())];
        for (const std::int64_t number : numbers_) {
            maximum_range_ = max(maximum_range_, products_.ranges[static_cast<std::size_t>(number)]);
        }
        reduction::SumRange sum;
        for (const std::int64_t number : numbers_) {
            sum.add(power_of(products_.ranges[static_cast<std::size_t>(number)]));
        }
        // Measured on DirectML 1.15.4: the sum may be stored as a tensor before elements are divided by it, as in the
        // separate softmax.
        sum_range_ = normalisation::maybe_stored(type_, sum.result());
    }

    /// No element exceeds the maximum, even if both have errors.
    [[nodiscard]] Interval power_of(const Interval& x) const {
        Interval distance = x - maximum_range_;
        distance.high = std::min(distance.high, 0.0);
        return exp(distance);
    }

    const Products& products_;
    const std::vector<std::int64_t>& numbers_;
    core::DataType type_;
    double maximum_ = -std::numeric_limits<double>::infinity();
    double sum_ = 0;
    Interval maximum_range_;
    Interval sum_range_;
};

void store_softmax(const KernelArguments& arguments, const Products& products, const Descriptor& softmax) {
    core::Tensor& output = *arguments.outputs[0];
    core::ElementSlack* const slack = movement::wanted_slack(arguments);
    const core::Dimensions& sizes = output.desc.sizes;
    const auto addresses = product::addresses_of(output.desc);
    const reduction::Sets<1> sets(sizes, reduction::axes_or_last_dimension(softmax, sizes.size()),
                                  {reduction::numbering_strides(sizes)});
    parallel_for(sets.count(), sets.size() * 8, [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t set = first; set < last; ++set) {
            std::vector<std::int64_t> numbers;
            const std::int64_t start = sets.kept().offsets_of(set)[0];
            sets.inside().for_each_element([&](const auto& offsets) { numbers.push_back(start + offsets[0]); });
            const SoftmaxSet one(products, numbers, output.desc.data_type);
            for (const std::int64_t number : numbers) {
                movement::store_computed(output, addresses.offsets_of(number)[0], number, one.value(number), slack,
                                         [&] { return one.range(number); });
            }
        }
    });
}

/// Implementations may store the product in the output's type before the softmax.
void compute_with_softmax(const KernelArguments& arguments, const product::Factors& factors, const Finish& finish,
                          const Descriptor& softmax) {
    const core::DataType type = arguments.outputs[0]->desc.data_type;
    const bool with_ranges = movement::wanted_slack(arguments) != nullptr;
    Products products;
    products.values.resize(*core::element_count(arguments.outputs[0]->desc.sizes));
    products.ranges.resize(with_ranges ? products.values.size() : 0);
    product::finish_each(factors, finish, with_ranges, [&](const product::Finished& finished) {
        const auto first = static_cast<std::size_t>(finished.first);
        std::ranges::copy(finished.values, products.values.begin() + finished.first);
        for (std::size_t i = 0; with_ranges && i < finished.values.size(); ++i) {
            products.ranges[first + i] = normalisation::maybe_stored(type, finished.range(i));
        }
    });
    store_softmax(arguments, products, softmax);
}

// ---- the operator ------------------------------------------------------------------------------------------------

bool is_transposed(const Descriptor& descriptor, std::string_view field) {
    using operators::MatrixTransform;
    return enumerator<MatrixTransform>(descriptor, field) == MatrixTransform::transpose;
}

void compute(const KernelArguments& arguments) {
    const Descriptor& descriptor = arguments.descriptor;
    const Descriptor* const activation = descriptor.activation("FusedActivation");
    const bool transposed_a = is_transposed(descriptor, "TransA");
    const core::Tensor& a = *arguments.inputs[a_tensor];
    const core::Tensor& b = *arguments.inputs[b_tensor];
    const bool transposed_b = is_transposed(descriptor, "TransB");
    const product::Shape shape = product::shape_of(a.desc.sizes, transposed_a, arguments.outputs[0]->desc.sizes);
    const auto numbers = [&](const core::Tensor& tensor, bool transposed) {
        return transposed ? product::Numbers{.values = numbers_of(tensor, true)} : product::numbers_in_place(tensor);
    };
    // With one row, the product equals that of B and A, both transposed. B need not be copied then.
    const bool swapped = shape.rows == 1 && shape.columns > 1 && transposed_b && !transposed_a;
    const product::MatrixFactors factors =
        swapped ? product::MatrixFactors({shape.batches, shape.columns, shape.depth, 1}, product::numbers_in_place(b),
                                         product::numbers_in_place(a))
                : product::MatrixFactors(shape, numbers(a, transposed_a), numbers(b, transposed_b));
    Finish finish{.factor = double{descriptor.get<float>("Alpha")}, .accumulation = arguments.accumulation};
    // Without C, Beta is ignored.
    if (arguments.inputs[c_tensor] != nullptr) {
        finish.weight = double{descriptor.get<float>("Beta")};
        finish.addends = numbers_of(*arguments.inputs[c_tensor]);
    }
    // Measured on DirectML 1.15.4: with a fused activation, the product is stored as FLOAT16 before C is added.
    finish.sum_type = activation == nullptr ? core::DataType::float32 : arguments.outputs[0]->desc.data_type;
    if (is_softmax(activation)) {
        compute_with_softmax(arguments, factors, finish, *activation);
        return;
    }
    finish.activation = element_wise::FusedActivation(activation);
    finish.type = arguments.outputs[0]->desc.data_type;
    product::store_product(arguments, factors, finish);
}

core::Tolerance tolerance(const Descriptor& /*descriptor*/, const operators::TensorSlot& /*output*/) {
    return movement::computed_tolerance(
        true,
        "one rounding of each product, and of the sum of all magnitudes for each addition, in any order, with Alpha "
        "and Beta * C in front of the sum or behind it; then what Direct3D allows the activation, which may be applied "
        "to a FLOAT16 tensor");
}

}  // namespace

Kernels kernels() {
    return {{.name = "GEMM",
             .compute = compute,
             .tolerance = tolerance,
             .loads_numbers = true,
             .counts_float16_sums = true}};
}

}  // namespace dmlconform::cpu::gemm_kernels
