// Compares the errors of an implementation with those that the reference expects of a correct FP32 implementation.
#pragma once

#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "engine/cpu/reference.h"
#include "tests/tensor_values.h"

namespace dmlconform::tests {

/// Covers the elements whose expected error is not 0.
struct ErrorStatistics {
    std::size_t count = 0;
    /// The root mean square of error / expected error.
    double q = 0;
};

/// Computes the statistics of an implementation's results against the exact ones.
[[nodiscard]] inline ErrorStatistics error_statistics(std::span<const double> exact, std::span<const float> actual,
                                                      std::span<const double> expected_errors) {
    ErrorStatistics result;
    double squares = 0;
    for (std::size_t i = 0; i < exact.size(); ++i) {
        if (expected_errors[i] > 0) {
            const double error = (double{actual[i]} - exact[i]) / expected_errors[i];
            squares += error * error;
            ++result.count;
        }
    }
    result.q = result.count == 0 ? 0 : std::sqrt(squares / static_cast<double>(result.count));
    return result;
}

/// Accumulates the statistics of several implementations or cases, against the reference's results rounded to FLOAT32.
class ErrorStatisticsOfAll {
public:
    void add(const cpu::Reference& reference, std::span<const float> actual, std::size_t output = 0) {
        const std::vector<float> stored = values_of<float>(reference.outputs[output]);
        exact_.insert(exact_.end(), stored.begin(), stored.end());
        actual_.insert(actual_.end(), actual.begin(), actual.end());
        const std::vector<double>& sigma = reference.slack[output].sigma;
        expected_.insert(expected_.end(), sigma.begin(), sigma.end());
    }
    [[nodiscard]] ErrorStatistics result() const { return error_statistics(exact_, actual_, expected_); }

private:
    std::vector<double> exact_;
    std::vector<float> actual_;
    std::vector<double> expected_;
};

}  // namespace dmlconform::tests
