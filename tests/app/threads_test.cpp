// Tests that the work is done with fewer threads if the system provides no more.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/app/case_texts.h"
#include "tests/app/expectations.h"
#include "tests/app/program.h"
#include "tests/temporary_folder.h"

namespace dmlconform::tests::threads_test {
namespace {

ProgramResult with_threads(int most, const std::vector<std::string>& words) {
    return dmlconform(words, {.environment = {{"LD_PRELOAD", REFUSED_THREADS},
                                              {"MOST_THREADS", std::to_string(most)},
                                              {"ASAN_OPTIONS", "verify_asan_link_order=0"}}});
}

TEST(Threads, FewerDoTheWork) {
    const TemporaryFolder folder;
    const std::string file =
        folder.write("x.json", file_of({convolution_case("large", 64, 128, 8, 1), slice_case("a", right_values),
                                        slice_case("b", right_values), slice_case("c", wrong_values)}));
    for (int most = 0; most < 4; ++most) {
        for (const char* jobs : {"1", "4"}) {
            const std::string json = folder.at("z.json");
            const ProgramResult result =
                with_threads(most, {"run", file, "--engine", "cpu", "--jobs", jobs, "--json", json});
            SCOPED_TRACE(fmt::format("{} threads, {} jobs", most, jobs));
            EXPECT_TRUE(ends_with_code(result, 1));
            EXPECT_TRUE(prints(result, "3 pass, 1 fail"));
            EXPECT_EQ(nlohmann::json::parse(content_of(json)).at("results").size(), 4u);
        }
    }
}

/// The watchdog thread only ends a hanging worker after its client has gone.
TEST(Threads, AWorkerWorksWithoutItsWatchman) {
    const TemporaryFolder folder;
    const std::string file = folder.write("x.json", good_file());
    const ProgramResult result = with_threads(0, {"run", file, "--engine", "cpu", "--isolate"});
    EXPECT_TRUE(ends_with_code(result, 0));
    EXPECT_TRUE(prints(result, "1 pass"));
}

}  // namespace
}  // namespace dmlconform::tests::threads_test
