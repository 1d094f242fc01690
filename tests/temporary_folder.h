// A separate folder for a test, which is empty at first and removed afterwards.
#pragma once

#include <atomic>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>

namespace dmlconform::tests {

class TemporaryFolder {
public:
    TemporaryFolder() {
        static std::atomic<unsigned> counter{0};
        static const unsigned process = std::random_device{}();
        path_ = std::filesystem::temp_directory_path() /
                ("dmlconform-test-" + std::to_string(process) + "-" + std::to_string(++counter));
        if (!std::filesystem::create_directory(path_)) {
            throw std::runtime_error("there is " + path_.string() + " already");
        }
    }
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;
    ~TemporaryFolder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }

    [[nodiscard]] const std::filesystem::path& path() const { return path_; }
    /// The path of a file or folder with this name, whether or not it exists.
    [[nodiscard]] std::string at(std::string_view name) const { return (path_ / name).generic_string(); }

    /// Writes a file, creating the folders above it; returns its path.
    std::string write(std::string_view name, std::string_view content) const {
        const std::filesystem::path file = path_ / name;
        std::filesystem::create_directories(file.parent_path());
        std::ofstream stream(file, std::ios::binary);
        stream.write(content.data(), static_cast<std::streamsize>(content.size()));
        stream.close();
        if (!stream) {
            throw std::runtime_error("cannot write " + file.string());
        }
        return file.generic_string();
    }

private:
    std::filesystem::path path_;
};

/// The content of a file. Throws if there is none.
[[nodiscard]] inline std::string content_of(const std::string& path) {
    std::ifstream stream(path, std::ios::binary);
    if (!stream) {
        throw std::runtime_error("cannot read " + path);
    }
    std::ostringstream content;
    content << stream.rdbuf();
    return content.str();
}

}  // namespace dmlconform::tests
