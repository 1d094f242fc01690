// Finds all processes that a run has started, directly or indirectly, even if they have another parent by now, such as
// Wine's server.
#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/running_process.h"

namespace dmlconform::tests {

/// Recognises processes by an environment variable that they inherit. Linux only.
class ProcessesOfARun {
public:
    /// The environment variable to set for the program.
    [[nodiscard]] const std::pair<std::string, std::string>& variable() const { return variable_; }

    struct Process {
        pid_t id = 0;
        /// The arguments, each followed by a zero byte.
        std::string command;
    };

    /// The running processes whose command contains `part`.
    [[nodiscard]] std::vector<Process> running(const std::string& part = "") const {
        const std::string line = variable_.first + "=" + variable_.second;
        std::vector<Process> found;
        std::error_code error;
        for (const auto& entry : std::filesystem::directory_iterator("/proc", error)) {
            const std::string name = entry.path().filename();
            if (name.find_first_not_of("0123456789") != std::string::npos ||
                content(entry.path() / "environ").find(line) == std::string::npos) {
                continue;
            }
            Process process{std::stoi(name), content(entry.path() / "cmdline")};
            if (process.command.find(part) != std::string::npos && is_running(process.id)) {
                found.push_back(std::move(process));
            }
        }
        return found;
    }

    /// The processes that are still running after `limit`. Wine's server waits some seconds for further programs before
    /// it ends.
    [[nodiscard]] std::string left_behind(std::chrono::seconds limit = std::chrono::seconds(20)) const {
        const auto deadline = std::chrono::steady_clock::now() + limit;
        std::vector<Process> left = running();
        while (!left.empty() && std::chrono::steady_clock::now() < deadline) {
            std::this_thread::sleep_for(std::chrono::milliseconds(100));
            left = running();
        }
        std::string text;
        for (Process& process : left) {
            std::replace(process.command.begin(), process.command.end(), '\0', ' ');
            text += std::to_string(process.id) + ": " + process.command + "\n";
        }
        return text;
    }

private:
    static std::string content(const std::filesystem::path& path) {
        std::ifstream file(path, std::ios::binary);
        return {std::istreambuf_iterator<char>(file), {}};
    }

    std::pair<std::string, std::string> variable_{
        "DMLCONFORM_TEST_RUN",
        std::to_string(getpid()) + "." + std::to_string(std::chrono::steady_clock::now().time_since_epoch().count())};
};

}  // namespace dmlconform::tests
