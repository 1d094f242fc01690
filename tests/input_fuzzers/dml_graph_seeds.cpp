// Writes the seeds of the fuzzer of serialised graphs: a graph of each operator of the given case files.
// usage: dml_graph_seeds FOLDER CASE_FILE…
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "engine/cases/case_file.h"
#include "engine/interop/dxdispatch_graphs.h"
#include "tests/interop/dml_graph_files.h"

int main(int argc, char** argv) {
    namespace fs = std::filesystem;
    using namespace dmlconform;
    if (argc < 3) {
        return 2;
    }
    const fs::path folder(argv[1]);
    const cases::Suite suite = cases::load_suite(std::vector<std::string>(argv + 2, argv + argc));
    std::set<std::string> seen;
    for (const cases::Case& entry : suite.cases) {
        const std::string& name = entry.descriptor->schema->name;
        if (entry.descriptor->graph == nullptr && !entry.expect_error && seen.insert(name).second) {
            const auto graph = interop::graph_of_one("node", entry.descriptor);
            std::ofstream(folder / name, std::ios::binary) << tests::dml_graph_file(*graph->graph);
        }
    }
    return suite.problems.empty() && !seen.empty() ? 0 : 1;
}
