// Tells whether a process is still running, for tests of leftover processes.
#pragma once

#include <sys/types.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <fstream>
#include <string>
#include <thread>

namespace dmlconform::tests {

/// Returns false for a process that has ended, even if it is still a zombie.
[[nodiscard]] inline bool is_running(pid_t process) {
    if (kill(process, 0) != 0 && errno == ESRCH) {
        return false;
    }
    std::ifstream file("/proc/" + std::to_string(process) + "/stat");
    std::string text;
    std::getline(file, text);
    const std::size_t name_end = text.rfind(") ");
    return name_end == std::string::npos || text[name_end + 2] != 'Z';
}

/// Waits for the end of the process; returns false if it is still running after `limit`.
[[nodiscard]] inline bool ends(pid_t process, std::chrono::seconds limit = std::chrono::seconds(10)) {
    const auto deadline = std::chrono::steady_clock::now() + limit;
    while (is_running(process)) {
        if (std::chrono::steady_clock::now() > deadline) {
            return false;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return true;
}

}  // namespace dmlconform::tests
