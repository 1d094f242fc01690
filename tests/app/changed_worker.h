// Changes the example worker, to simulate an engine with a bug.
#pragma once

#include <fmt/format.h>

#include <filesystem>
#include <string>
#include <string_view>

#include "tests/temporary_folder.h"

namespace dmlconform::tests {

/// Writes a worker in which `changes`, lines of Python, replace functions of the module `worker`. Returns the argument
/// for --engine.
[[nodiscard]] inline std::string changed_worker(const TemporaryFolder& folder, std::string_view changes) {
    const std::string script = folder.write(
        "changed worker.py", fmt::format("import sys\nsys.path.insert(0, \"{}\")\nimport worker\n{}\nworker.main()\n",
                                         std::filesystem::path(EXAMPLE_WORKER).parent_path().string(), changes));
    return "exec:python3 -B '" + script + "'";
}

/// A worker that knows every operator and rejects descriptors whose output has at least this many elements in its last
/// dimension.
[[nodiscard]] inline std::string rejecting_worker(const TemporaryFolder& folder, int from) {
    return changed_worker(folder, fmt::format(R"(right = worker.answer
def answer(request, programs):
    if request["request"] == "compile" and request["desc"]["OutputTensor"]["Sizes"][-1] >= {}:
        return {{"rejected": {{"code": 0x80070057, "rule": "size", "message": "too large for me"}}}}
    return right(request, programs)
worker.answer = answer)",
                                              from));
}

}  // namespace dmlconform::tests
