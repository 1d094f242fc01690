// How many roundings a sum has.
#pragma once

namespace dmlconform::core {

/// A sum of an element, as far as roundings are concerned.
struct RoundedSum {
    /// The number of roundings of which the expected error has the variance: one for each term, and those of operations
    /// beside the sum.
    double roundings = 0;
    /// The number of roundings of each term of which it has none, such as that of a product.
    double of_each_term = 0;
};

}  // namespace dmlconform::core
