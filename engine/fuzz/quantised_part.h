// Parts of random graphs that quantise a value, compute with integers, and dequantise the result.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/core/tensor_desc.h"
#include "engine/fuzz/random.h"
#include "engine/operators/descriptor.h"

namespace dmlconform::fuzz {

/// A FLOAT32 value that is packed, and has no flags.
struct QuantisedSource {
    std::string name;
    core::Dimensions sizes;
    /// The largest absolute value of its elements, which are finite.
    double largest = 0;
};

/// How parts are added to a graph.
struct PartSink {
    /// Adds an input of the graph with these packed elements. Returns its name.
    std::function<std::string(const core::TensorDesc& desc, std::vector<std::byte> elements)> add_input;
    /// Adds a node that reads values by name. Returns the names of its outputs; empty if the node is illegal.
    std::function<std::optional<std::vector<std::string>>(std::shared_ptr<const operators::Descriptor> descriptor,
                                                          const std::vector<std::string>& reads)>
        add_node;
};

/// Adds two to four nodes: a quantisation, static or dynamic; perhaps a sum or a product of quantised numbers; and what
/// makes numbers of the result. Returns false if the feature level does not have the operators.
bool add_quantised_part(Random& random, const QuantisedSource& source, const PartSink& sink);

}  // namespace dmlconform::fuzz
