// engine/report/output_file: files that are complete or not there, and what cannot be written.
#include "engine/report/output_file.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "tests/temporary_folder.h"

namespace dmlconform::tests {
namespace {

namespace fs = std::filesystem;

using report::check_writable;
using report::write_file;

/// Names of what is in the folder, sorted.
std::vector<std::string> names_in(const fs::path& folder) {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder)) {
        names.push_back(entry.path().filename().string());
    }
    std::sort(names.begin(), names.end());
    return names;
}

using Names = std::vector<std::string>;

TEST(OutputFile, IsWrittenAndReplaced) {
    const TemporaryFolder folder;
    const std::string path = folder.at("result.json");
    EXPECT_TRUE(check_writable(path).has_value());
    EXPECT_TRUE(names_in(folder.path()).empty()) << "the check leaves nothing behind";
    ASSERT_TRUE(write_file(path, "a long first content").has_value());
    EXPECT_EQ(content_of(path), "a long first content");
    EXPECT_TRUE(check_writable(path).has_value());
    EXPECT_EQ(content_of(path), "a long first content") << "the check leaves the file as it is";
    ASSERT_TRUE(write_file(path, std::string("short\0\n", 7)).has_value());
    EXPECT_EQ(content_of(path), std::string("short\0\n", 7));
    ASSERT_TRUE(write_file(path, "").has_value());
    EXPECT_EQ(content_of(path), "");
    EXPECT_EQ(names_in(folder.path()), (Names{"result.json"})) << "no temporary file stays";
}

TEST(OutputFile, ReadersOfTheOldFileKeepIt) {
    const TemporaryFolder folder;
    const std::string path = folder.write("result.json", "old");
    std::ifstream reader(path);
    ASSERT_TRUE(write_file(path, "new").has_value());
    std::string seen;
    reader >> seen;
    EXPECT_EQ(seen, "old") << "the file was replaced, not written over";
    EXPECT_EQ(content_of(path), "new");
}

TEST(OutputFile, UnusualNames) {
    const TemporaryFolder folder;
    for (const char* name : {"with space.json", "-dash", "ü.json", "'quote\"", "no extension"}) {
        ASSERT_TRUE(check_writable(folder.at(name)).has_value()) << name;
        ASSERT_TRUE(write_file(folder.at(name), name).has_value()) << name;
        EXPECT_EQ(content_of(folder.at(name)), name);
    }
    EXPECT_EQ(names_in(folder.path()).size(), 5u);
}

TEST(OutputFile, WhatCannotBeWritten) {
    const TemporaryFolder folder;
    folder.write("file", "x");
    fs::create_directory(folder.at("folder"));
    const std::pair<std::string, std::string> rows[] = {
        {folder.at("nowhere/result.json"), "No such file or directory"},
        {folder.at("file/result.json"), "Not a directory"},
        {folder.at("folder"), "it is a folder"},
        {"/proc/result.json", ""},
    };
    for (const auto& [path, reason] : rows) {
        const auto checked = check_writable(path);
        ASSERT_FALSE(checked.has_value()) << path;
        EXPECT_NE(checked.error().message.find(fmt::format("{} cannot be written: {}", path, reason)),
                  std::string::npos)
            << checked.error().message;
        EXPECT_FALSE(checked.error().hint.empty());
        EXPECT_FALSE(write_file(path, "x").has_value()) << path;
    }
    EXPECT_EQ(names_in(folder.path()), (Names{"file", "folder"}));
    EXPECT_TRUE(names_in(folder.at("folder")).empty());
    EXPECT_EQ(content_of(folder.at("file")), "x");
}

#ifndef _WIN32
TEST(OutputFile, DevicesAreWrittenInPlaceAndStay) {
    ASSERT_TRUE(check_writable("/dev/null").has_value());
    EXPECT_TRUE(write_file("/dev/null", "x").has_value());
    EXPECT_TRUE(fs::is_character_file("/dev/null"));
    if (!fs::exists("/dev/full")) {
        GTEST_SKIP() << "there is no /dev/full here";
    }
    EXPECT_TRUE(check_writable("/dev/full").has_value());
    const auto written = write_file("/dev/full", std::string(100000, 'x'));
    ASSERT_FALSE(written.has_value());
    EXPECT_NE(written.error().message.find("No space left on device"), std::string::npos) << written.error().message;
    EXPECT_TRUE(fs::is_character_file("/dev/full"));
}

TEST(OutputFile, LinksAreWrittenThrough) {
    const TemporaryFolder folder;
    const std::string target = folder.write("target.json", "a long old content");
    fs::create_symlink("target.json", folder.at("link.json"));
    EXPECT_TRUE(check_writable(folder.at("link.json")).has_value());
    EXPECT_EQ(content_of(target), "a long old content");
    ASSERT_TRUE(write_file(folder.at("link.json"), "new").has_value());
    EXPECT_TRUE(fs::is_symlink(folder.at("link.json")));
    EXPECT_EQ(content_of(target), "new");
    EXPECT_EQ(names_in(folder.path()), (Names{"link.json", "target.json"}));
}
#endif

}  // namespace
}  // namespace dmlconform::tests
