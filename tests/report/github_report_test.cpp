// Tests of engine/report/github_report: where annotations point to.
#include "engine/report/github_report.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <memory>
#include <string>

#include "tests/temporary_folder.h"

namespace dmlconform::tests::github_report_test {
namespace {

/// The annotation of a failure.
std::string annotation_of(const std::string& file, std::size_t line) {
    const TemporaryFolder folder;
    const std::string path = folder.at("log.txt");
    std::FILE* stream = std::fopen(path.c_str(), "wb");
    report::GithubReport report(stream, "");
    EngineInfo engine;
    engine.name = "other";
    EXPECT_TRUE(report.begin({}, {&engine, 1}));
    cases::Case subject;
    subject.id = "net/model/a";
    subject.file = file;
    subject.line = line;
    run::CaseResult result;
    result.subject = std::make_shared<const cases::Case>(std::move(subject));
    result.finish(run::Status::fail, "wrong");
    EXPECT_TRUE(report.add(result));
    (void)std::fclose(stream);
    return content_of(path);
}

TEST(GithubReport, PointsToTheLineOfACase) {
    EXPECT_EQ(annotation_of("net.json", 7),
              "\n::error file=net.json,line=7,title=fail%3A net/model/a on other::wrong\n");
}

TEST(GithubReport, PointsToAModelWithoutALine) {
    EXPECT_EQ(annotation_of("net.onnx", 0), "\n::error file=net.onnx,title=fail%3A net/model/a on other::wrong\n");
}

}  // namespace
}  // namespace dmlconform::tests::github_report_test
