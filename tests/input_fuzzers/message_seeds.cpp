// Writes the seeds of the message fuzzer: the `compile` request of each case of the given files.
// usage: message_seeds FOLDER CASE_FILE…
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "engine/cases/case_file.h"
#include "engine/operators/descriptor_json.h"

int main(int argc, char** argv) {
    namespace fs = std::filesystem;
    using namespace dmlconform;
    if (argc < 3) {
        return 2;
    }
    const fs::path folder(argv[1]);
    const cases::Suite suite = cases::load_suite(std::vector<std::string>(argv + 2, argv + argc));
    // One seed per operator and structure of the descriptor. Other cases differ only in numbers, which the fuzzer
    // varies itself.
    std::set<std::string> seen;
    for (const cases::Case& entry : suite.cases) {
        const nlohmann::json request = operators::descriptor_to_json(*entry.descriptor);
        std::string structure = request["operator"];
        for (const auto& [name, value] : request["desc"].items()) {
            structure += name + value.type_name();
        }
        if (seen.insert(structure).second) {
            const std::vector<std::uint8_t> bytes = nlohmann::json::to_cbor(request);
            std::ofstream(folder / std::to_string(seen.size()), std::ios::binary)
                .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
        }
    }
    return suite.problems.empty() && !seen.empty() ? 0 : 1;
}
