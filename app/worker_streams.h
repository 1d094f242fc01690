// The standard streams of a worker: frames in, frames out, and nothing else.
#pragma once

#include <cstddef>
#include <cstdio>
#include <span>

namespace dmlconform::app {

/// Takes standard output away from the rest of the program: what a driver prints there goes to standard error instead.
class WorkerStreams {
public:
    WorkerStreams();
    WorkerStreams(const WorkerStreams&) = delete;
    WorkerStreams& operator=(const WorkerStreams&) = delete;
    ~WorkerStreams();

    /// False at the end of the input.
    [[nodiscard]] bool read(std::span<std::byte> to);
    /// Not held back. False when nobody reads any more.
    [[nodiscard]] bool write(std::span<const std::byte> bytes);

private:
    std::FILE* output_ = nullptr;
};

/// Watches standard input from now on, in a thread: when the other end is gone and the program has not ended some
/// seconds later, because it hangs in a computation that nobody waits for, it is ended.
void end_with_client();

}  // namespace dmlconform::app
