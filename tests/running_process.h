// Whether a process still runs, for tests of what is left behind.
#pragma once

#include <sys/types.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <fstream>
#include <string>
#include <thread>

namespace dmlconform::tests {

/// False for a process that has ended, also while nobody has taken note of it.
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

/// Waits for its end; false when it is still there after some seconds.
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
