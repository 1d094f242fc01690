// Tests files that disappear during a run: a worker deletes them when it receives the first case.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/app/case_texts.h"
#include "tests/app/program.h"
#include "tests/temporary_folder.h"

namespace dmlconform::tests::deleted_files_test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

std::string deleting_worker(const TemporaryFolder& folder, const std::vector<std::string>& victims) {
    std::string list;
    for (const std::string& victim : victims) {
        list += fmt::format("\"{}\", ", victim);
    }
    const std::string script =
        folder.write("deleting.py", fmt::format(R"(import os, sys
sys.path.insert(0, "{}")
import worker
answer = worker.answer
def deleting(request, programs):
    for path in [{}]:
        if request["request"] == "compile" and os.path.exists(path):
            os.remove(path)
    return answer(request, programs)
worker.answer = deleting
worker.main()
)",
                                                fs::path(EXAMPLE_WORKER).parent_path().string(), list));
    return "exec:python3 -B " + script;
}

std::string case_with_data(std::string_view name, std::string_view file) {
    return fmt::format(R"({{ "name": "{}", "operator": "SLICE1",
    "desc": {{ "InputTensor": {{ "DataType": "FLOAT32", "Sizes": [4] }}, "OutputTensor": {{ "DataType": "FLOAT32", "Sizes": [2] }},
              "InputWindowOffsets": [0], "InputWindowSizes": [4], "InputWindowStrides": [2] }},
    "inputs": {{ "InputTensor": {{ "file": "{}" }} }} }})",
                       name, file);
}

TEST(DeletedFiles, ADataFileCostsItsCaseAndACaseFileNothing) {
    const TemporaryFolder folder;
    const std::string data = folder.write("gone.bin", std::string(16, '\1'));
    folder.write("kept.bin", std::string(16, '\1'));
    const std::string file =
        folder.write("x.json", file_of({slice_case("first", right_values), case_with_data("with-gone", "gone.bin"),
                                        case_with_data("with-kept", "kept.bin"), slice_case("last", right_values)}));
    const auto run = dmlconform({"run", file, "--engine", deleting_worker(folder, {file, data}), "-v"});
    EXPECT_FALSE(fs::exists(file));
    EXPECT_FALSE(fs::exists(data));
    EXPECT_EQ(run.exit_code, 1) << run.all();
    for (const char* passed : {"x/first", "x/with-kept", "x/last"}) {
        EXPECT_THAT(run.output, testing::ContainsRegex(fmt::format("(PASS|pass).*{}", passed)));
    }
    EXPECT_THAT(run.output, testing::ContainsRegex("(ERROR|error).*x/with-gone"));
    EXPECT_THAT(run.output, HasSubstr("there is no file"));
}

}  // namespace
}  // namespace dmlconform::tests::deleted_files_test
