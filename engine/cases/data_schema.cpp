// Schema of initialisers. One key, such as "random" or "file", decides which others are allowed.
#include "engine/cases/data_schema.h"

namespace dmlconform::cases {
namespace {

/// Elements in lists that may be nested.
Schema elements_schema() {
    Schema schema = number_value();
    schema["type"].push_back("array");
    schema["items"] = reference("elements");
    return schema;
}

Schema data_schema() {
    const Schema number = number_value();
    const Schema random = members({{"random", {{"enum", {"uniform", "integer", "normal", "bits", "special"}}}},
                                   {"seed", integer_value(0, UINT64_MAX)},
                                   {"min", number},
                                   {"max", number},
                                   {"mean", number},
                                   {"stddev", number}});
    const Schema file = members({{"file", {{"type", "string"}}}});
    const Schema sequence = members(
        {{"value", number}, {"start", number}, {"step", number}, {"valueStart", number}, {"valueDelta", number}});
    Schema schema =
        object_value(when({{"required", {"random"}}}, random, when({{"required", {"file"}}}, file, sequence)));
    schema["type"].push_back("array");
    schema["items"] = reference("elements");
    return described(
        R"(A list of elements, { "value": 1 }, { "start": 1, "step": 1 }, { "random": "uniform" }, { "file": "x" }.)",
        std::move(schema));
}

Schema tolerance_schema() {
    const Schema largest = integer_value(0, UINT64_MAX);
    Schema schema = members({{"ulp", described("Units in the last place.", largest)},
                             {"abs", described("An absolute difference.", bound_value())},
                             {"rel", described("A difference as a part of the expected value.", bound_value())},
                             {"exact", {{"const", true}}},
                             {"halfPrecision", described("Sums may be kept in FLOAT16.", {{"const", true}})}});
    schema["minProperties"] = 1;
    return object_value(std::move(schema));
}

}  // namespace

Schema data_definitions() {
    return {{"elements", elements_schema()}, {"data", data_schema()}, {"tolerance", tolerance_schema()}};
}

}  // namespace dmlconform::cases
