// Tests of engine/report/output_file: files are either complete or missing, and errors are reported.
#include "engine/report/output_file.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <thread>
#include <vector>

#ifndef _WIN32
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#endif
#ifdef __linux__
#include <sys/inotify.h>
#endif

#include "engine/report/file_lock.h"
#include "engine/report/new_file.h"

#include "tests/temporary_folder.h"

namespace dmlconform::tests::output_file_test {
namespace {

namespace fs = std::filesystem;

using report::check_writable;
using report::write_file;

/// The sorted names of all files in the folder.
std::vector<std::string> names_in(const fs::path& folder) {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder)) {
        names.push_back(entry.path().filename().string());
    }
    std::sort(names.begin(), names.end());
    return names;
}

using Names = std::vector<std::string>;

#ifdef __linux__
/// Signals are not caught before a run begins. If testing whether the folder is writable created a visible file, that
/// file would remain after a kill.
TEST(OutputFile, ATrialIsNeverInTheFolder) {
    const TemporaryFolder folder;
    if (!report::make_nameless_file(folder.path())) {
        GTEST_SKIP() << "this file system has no files without a name";
    }
    const int events = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    ASSERT_GE(events, 0);
    ASSERT_GE(inotify_add_watch(events, folder.path().c_str(), IN_CREATE), 0);
    EXPECT_TRUE(check_writable(folder.at("report.json")).has_value());
    std::array<char, 4096> event{};
    const auto first = read(events, event.data(), event.size());
    const int reason = errno;
    close(events);
    EXPECT_EQ(first, -1) << "something was made";
    EXPECT_EQ(reason, EAGAIN);
}
#endif

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

TEST(OutputFile, APipeIsNotWaitedForWithoutEnd) {
    const TemporaryFolder folder;
    const std::string pipe = folder.at("pipe");
    ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
    const auto alone = write_file(pipe, "x");
    ASSERT_FALSE(alone.has_value());
    EXPECT_NE(alone.error().message.find("pipe cannot be written"), std::string::npos) << alone.error().message;
    const int reader = open(pipe.c_str(), O_RDONLY | O_NONBLOCK);
    ASSERT_GE(reader, 0);
    EXPECT_TRUE(write_file(pipe, "read").has_value());
    std::array<char, 8> text{};
    EXPECT_EQ(read(reader, text.data(), text.size()), 4);
    EXPECT_STREQ(text.data(), "read");
    close(reader);
}

TEST(OutputFile, LinksStayAndWhatIsBehindThemIsReplaced) {
    const TemporaryFolder folder;
    fs::create_directory(folder.at("elsewhere"));
    const std::string target = folder.write("elsewhere/target.json", "a long old content");
    fs::create_symlink("elsewhere/target.json", folder.at("link.json"));
    fs::create_symlink(folder.at("link.json"), folder.at("link to link.json"));
    for (const char* name : {"link.json", "link to link.json"}) {
        const std::string content = std::string("new by ") + name;
        std::ifstream reader(target);
        const std::string before = content_of(target);
        EXPECT_TRUE(check_writable(folder.at(name)).has_value());
        EXPECT_EQ(content_of(target), before);
        ASSERT_TRUE(write_file(folder.at(name), content).has_value());
        EXPECT_TRUE(fs::is_symlink(folder.at(name)));
        EXPECT_EQ(content_of(target), content);
        std::string seen;
        std::getline(reader, seen);
        EXPECT_EQ(seen, before) << "the file was replaced, not written over";
    }
    EXPECT_EQ(names_in(folder.path()), (Names{"elsewhere", "link to link.json", "link.json"}));
    EXPECT_EQ(names_in(folder.at("elsewhere")), (Names{"target.json"}));
}

TEST(OutputFile, LinksThatLeadNowhere) {
    const TemporaryFolder folder;
    fs::create_symlink("not-yet.json", folder.at("dangling.json"));
    ASSERT_TRUE(write_file(folder.at("dangling.json"), "x").has_value());
    EXPECT_TRUE(fs::is_symlink(folder.at("dangling.json")));
    EXPECT_EQ(content_of(folder.at("not-yet.json")), "x");
    fs::create_symlink("b", folder.at("a"));
    fs::create_symlink("a", folder.at("b"));
    EXPECT_FALSE(check_writable(folder.at("a")).has_value());
    EXPECT_FALSE(write_file(folder.at("a"), "x").has_value());
    fs::create_symlink("none/x.json", folder.at("into no folder"));
    EXPECT_FALSE(write_file(folder.at("into no folder"), "x").has_value());
    EXPECT_EQ(names_in(folder.path()), (Names{"a", "b", "dangling.json", "into no folder", "not-yet.json"}));
}

/// Anybody who may write to the folder could create such files by guessing the name.
TEST(OutputFile, WhatIsPlantedUnderATemporaryNameIsNotTouched) {
    const TemporaryFolder folder;
    const std::string victim = folder.write("victim", "precious");
    fs::create_symlink("victim", folder.at("result.json.partial"));
    ASSERT_EQ(mkfifo(folder.at("other.json.partial").c_str(), 0600), 0);
    for (const char* name : {"result.json", "other.json"}) {
        EXPECT_TRUE(check_writable(folder.at(name)).has_value());
        ASSERT_TRUE(write_file(folder.at(name), "x").has_value());
        EXPECT_EQ(content_of(folder.at(name)), "x");
    }
    EXPECT_EQ(content_of(victim), "precious");
    // An existing file with the correct temporary name is not opened.
    EXPECT_EQ(report::make_new_file(folder.at("result.json.partial")), nullptr);
    EXPECT_EQ(errno, EEXIST);
    EXPECT_EQ(report::make_new_file(folder.at("other.json.partial")), nullptr);
    EXPECT_EQ(content_of(victim), "precious");
    EXPECT_EQ(names_in(folder.path()),
              (Names{"other.json", "other.json.partial", "result.json", "result.json.partial", "victim"}));
}

TEST(OutputFile, PermissionsStay) {
    const TemporaryFolder folder;
    const std::string path = folder.write("secret.json", "old");
    fs::permissions(path, fs::perms::owner_read | fs::perms::owner_write);
    ASSERT_TRUE(write_file(path, "new").has_value());
    EXPECT_EQ(fs::status(path).permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

TEST(OutputFile, DescriptorsAreWrittenToAsTheyAre) {
    const TemporaryFolder folder;
    const std::string path = folder.write("held.json", "a long old content");
    const int held = open(path.c_str(), O_RDWR | O_CLOEXEC);
    struct stat before {};
    struct stat after {};
    ASSERT_EQ(fstat(held, &before), 0);
    ASSERT_TRUE(write_file(fmt::format("/dev/fd/{}", held), "new").has_value());
    ASSERT_EQ(stat(path.c_str(), &after), 0);
    close(held);
    EXPECT_EQ(before.st_ino, after.st_ino) << "somebody holds the file open, and would not see another one";
    EXPECT_EQ(content_of(path), "new");
}
#endif

TEST(OutputFile, WritersOfOneFileDoNotMeet) {
    const TemporaryFolder folder;
    const std::string path = folder.at("result.json");
    constexpr int writers = 4;
    constexpr int times = 50;
    std::vector<std::thread> threads;
    for (int writer = 0; writer < writers; ++writer) {
        threads.emplace_back([&, writer] {
            const std::string content(20'000, static_cast<char>('a' + writer));
            for (int i = 0; i < times; ++i) {
                EXPECT_TRUE(write_file(path, content).has_value());
                const std::string seen = content_of(path);
                EXPECT_EQ(seen, std::string(20'000, seen.front())) << "one writer's, and all of it";
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    EXPECT_EQ(names_in(folder.path()), (Names{"result.json"}));
}

#ifndef _WIN32
TEST(PartialFiles, AreRemovedWhereASignalEndsTheProgram) {
    const TemporaryFolder folder;
    const std::string done = folder.at("done");
    ASSERT_TRUE(write_file(done, "done").has_value());
    report::OutputFile first;
    report::OutputFile second;
    ASSERT_TRUE(first.open(folder.at("a")).has_value());
    ASSERT_TRUE(second.open(done).has_value());
    ASSERT_EQ(names_in(folder.path()).size(), 3u);
    report::remove_partial_files();
    EXPECT_EQ(names_in(folder.path()), (Names{"done"}));
    EXPECT_EQ(content_of(done), "done");
}

TEST(PartialFiles, AreForgottenOnceTheyAreComplete) {
    const TemporaryFolder folder;
    for (int i = 0; i < 200; ++i) {
        report::OutputFile file;
        ASSERT_TRUE(file.open(folder.at("a")).has_value());
        if (i % 2 == 0) {
            ASSERT_TRUE(file.commit().has_value());
        }
    }
    report::OutputFile last;
    ASSERT_TRUE(last.open(folder.at("b")).has_value());
    report::remove_partial_files();
    EXPECT_EQ(names_in(folder.path()), (Names{"a"}));
}
#endif

TEST(OutputFile, SaysWhatTheSystemLacks) {
    if (!fs::exists("/dev/full")) {
        GTEST_SKIP() << "there is no /dev/full here";
    }
    const auto full = write_file("/dev/full", "a");
    ASSERT_FALSE(full.has_value());
    EXPECT_EQ(full.error().hint, "the disk is full: free some space, or write to another one");
    const TemporaryFolder folder;
    const auto missing = write_file(folder.at("none/a"), "a");
    ASSERT_FALSE(missing.has_value());
    EXPECT_EQ(missing.error().hint, "does the folder exist?");
}

TEST(FileLock, OneAtATime) {
    const TemporaryFolder folder;
    const std::string path = folder.write("count", "0");
#ifndef _WIN32
    fs::create_directory(folder.at("links"));
    fs::create_symlink(path, folder.at("links/count"));
    const std::string other = folder.at("links/count");
#else
    const std::string other = path;
#endif
    constexpr int times = 50;
    std::vector<std::thread> threads;
    for (const std::string& name : {path, other, path, other}) {
        threads.emplace_back([&, name] {
            for (int i = 0; i < times; ++i) {
                const auto lock = report::FileLock::take(name);
                ASSERT_TRUE(lock.has_value()) << lock.error().message;
                const int count = std::stoi(content_of(name));
                ASSERT_TRUE(write_file(name, std::to_string(count + 1)).has_value());
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    EXPECT_EQ(content_of(path), std::to_string(4 * times)) << "no change is lost";
    EXPECT_FALSE(report::FileLock::take(folder.at("none/count")).has_value());
}

}  // namespace
}  // namespace dmlconform::tests::output_file_test
