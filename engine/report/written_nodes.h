// The distinct operators of a graph as a case file, with the tensors that they read in a folder beside it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine/cases/case.h"
#include "engine/core/error.h"

namespace dmlconform::report {

struct WrittenNodes {
    std::size_t cases = 0;
    /// Nodes of the graph that these cases are about.
    std::size_t nodes = 0;
    std::size_t files = 0;
    std::uint64_t bytes = 0;
    /// Nodes that the reference does not compute, or that come after such a node; a line each.
    std::vector<std::string> left_out;
};

/// An error if data cannot lie beside that file: it is the standard output or a device, or nothing can be written
/// there.
[[nodiscard]] core::Result<void> check_nodes_path(const std::string& path);

/// Nodes with the same operator and descriptor become one case, with what the first of them reads. Tensors of more than
/// a few elements go into the folder "<stem>-data", whose files of the same names are replaced. The case file is
/// written last, and only if there are cases.
[[nodiscard]] core::Result<WrittenNodes> write_nodes(const std::shared_ptr<const cases::Case>& whole,
                                                     const std::string& path, const std::string& description);

}  // namespace dmlconform::report
