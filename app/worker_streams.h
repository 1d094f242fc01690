// The standard streams of a worker, which carry only frames.
#pragma once

#include <cstddef>
#include <cstdio>
#include <span>

namespace dmlconform::app {

/// Redirects the standard output of the rest of the program, such as drivers, to the standard error.
class WorkerStreams {
public:
    WorkerStreams();
    WorkerStreams(const WorkerStreams&) = delete;
    WorkerStreams& operator=(const WorkerStreams&) = delete;
    ~WorkerStreams();

    /// False at the end of the input.
    [[nodiscard]] bool read(std::span<std::byte> to);
    /// Unbuffered. False if the client no longer reads.
    [[nodiscard]] bool write(std::span<const std::byte> bytes);

private:
    std::FILE* output_ = nullptr;
};

/// Starts a thread that watches standard input: if the client has gone and the program has not ended some seconds
/// later, because it hangs in a computation, it is ended.
void end_with_client();

}  // namespace dmlconform::app
