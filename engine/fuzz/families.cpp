// The functions of each family.
#include <map>

#include "engine/fuzz/operator_fuzz.h"
#include "engine/operators/rules.h"

namespace dmlconform::fuzz {

const OperatorFuzz& find_fuzz(const operators::OperatorSchema& schema) {
    static const std::map<std::string_view, const OperatorFuzz*> families{
        {"attention", &attention_fuzz},
        {"mean_variance_normalization1", &normalisation_fuzz},
        {"movement", &movement_fuzz},
        {"movement_indexed", &movement_fuzz},
        {"normalisation", &normalisation_fuzz},
        {"product", &product_fuzz},
        {"quantized_linear_convolution", &product_fuzz},
        {"random_generator", &movement_fuzz},
        {"recurrent", &recurrent_fuzz},
        {"reduction", &reduction_fuzz},
        {"regions", &regions_fuzz},
        {"resampling", &resampling_fuzz},
        {"slice1", &movement_fuzz},
        {"top_k1", &top_k_fuzz},
        {"window", &window_fuzz},
    };
    const auto found = families.find(operators::family_of(schema));
    return found == families.end() ? generic_fuzz : *found->second;
}

}  // namespace dmlconform::fuzz
