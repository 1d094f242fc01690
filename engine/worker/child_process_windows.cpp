// Child processes on Windows.
//
// Windows cannot wait for anonymous pipes with a time limit. So there are separate threads for writing, reading, and
// reading errors, which callers wait for. The child belongs to a job that ends when its last handle is closed, which
// happens at the latest when this process ends.
#ifdef _WIN32

#include <fmt/format.h>
#include <windows.h>

#include <algorithm>
#include <array>
#include <condition_variable>
#include <cstdint>
#include <cwchar>
#include <mutex>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>

#include "engine/core/windows_words.h"
#include "engine/worker/child_process.h"

namespace dmlconform::worker {
namespace {

using Outcome = ChildProcess::Outcome;

constexpr std::size_t chunk = 65536;
/// Limit for buffered output; beyond it, the child must wait.
constexpr std::size_t most_received = std::size_t{1} << 22;
constexpr std::size_t most_errors = 4096;

class Handle {
public:
    Handle() = default;
    explicit Handle(HANDLE handle) : handle_(handle) {}
    Handle(Handle&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
    Handle& operator=(Handle&& other) noexcept {
        std::swap(handle_, other.handle_);
        return *this;
    }
    ~Handle() { close(); }

    [[nodiscard]] HANDLE get() const { return handle_; }
    void close() {
        if (handle_ != nullptr) {
            CloseHandle(std::exchange(handle_, nullptr));
        }
    }

private:
    HANDLE handle_ = nullptr;
};

struct Pipe {
    Handle read;
    Handle write;
};

/// The end `inherited` is for the child.
bool open_pipe(Pipe& opened, Handle Pipe::*inherited) {
    SECURITY_ATTRIBUTES attributes{sizeof attributes, nullptr, FALSE};
    HANDLE read = nullptr;
    HANDLE write = nullptr;
    if (CreatePipe(&read, &write, &attributes, chunk) == 0) {
        return false;
    }
    opened.read = Handle(read);
    opened.write = Handle(write);
    return SetHandleInformation((opened.*inherited).get(), HANDLE_FLAG_INHERIT, HANDLE_FLAG_INHERIT) != 0;
}

/// Converts UTF-8.
std::wstring wide(const std::string& text) {
    const auto size = static_cast<int>(text.size());
    std::wstring result(static_cast<std::size_t>(MultiByteToWideChar(CP_UTF8, 0, text.data(), size, nullptr, 0)),
                        L'\0');
    MultiByteToWideChar(CP_UTF8, 0, text.data(), size, result.data(), static_cast<int>(result.size()));
    return result;
}

std::string system_error(DWORD code) {
    std::array<char, 512> text{};
    DWORD length = FormatMessageA(FORMAT_MESSAGE_FROM_SYSTEM | FORMAT_MESSAGE_IGNORE_INSERTS, nullptr, code, 0,
                                  text.data(), static_cast<DWORD>(text.size()), nullptr);
    while (length > 0 && (text[length - 1] == '\n' || text[length - 1] == '\r' || text[length - 1] == '.')) {
        --length;
    }
    return length == 0 ? fmt::format("error {}", code) : std::string(text.data(), length);
}

// ---- starting ----------------------------------------------------------------------------------------------------

std::string command_line(const WorkerCommand& command) {
    std::string line;
    for (const std::string& word : command.argv) {
        line += (line.empty() ? "" : " ") + core::windows_quoted(word);
    }
    return line;
}

/// The environment with changes, as consecutive "NAME=value" strings followed by an empty one.
std::wstring environment_block(const WorkerCommand& command) {
    std::wstring block;
    wchar_t* const own = GetEnvironmentStringsW();
    for (const wchar_t* entry = own; entry != nullptr && *entry != L'\0'; entry += std::wcslen(entry) + 1) {
        const std::wstring_view line = entry;
        // Names of Windows' internal variables begin with '='.
        const std::wstring name(line.substr(0, line.find(L'=', 1)));
        if (std::ranges::none_of(command.environment, [&](const auto& change) {
                return lstrcmpiW(wide(change.first).c_str(), name.c_str()) == 0;
            })) {
            block.append(line).push_back(L'\0');
        }
    }
    FreeEnvironmentStringsW(own);
    for (const auto& [name, value] : command.environment) {
        block.append(wide(name)).append(L"=").append(wide(value)).push_back(L'\0');
    }
    block.push_back(L'\0');
    return block;
}

Handle make_job() {
    Handle job(CreateJobObjectA(nullptr, nullptr));
    JOBOBJECT_EXTENDED_LIMIT_INFORMATION limits{};
    limits.BasicLimitInformation.LimitFlags = JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE;
    SetInformationJobObject(job.get(), JobObjectExtendedLimitInformation, &limits, sizeof limits);
    return job;
}

/// An attribute that lets a child inherit only these handles.
class InheritedHandles {
public:
    explicit InheritedHandles(std::array<HANDLE, 3> handles) : handles_(handles) {
        SIZE_T size = 0;
        InitializeProcThreadAttributeList(nullptr, 1, 0, &size);
        storage_.resize(size);
        auto* list = reinterpret_cast<LPPROC_THREAD_ATTRIBUTE_LIST>(storage_.data());
        if (InitializeProcThreadAttributeList(list, 1, 0, &size) != 0) {
            list_ = list;
            UpdateProcThreadAttribute(list, 0, PROC_THREAD_ATTRIBUTE_HANDLE_LIST, handles_.data(), sizeof handles_,
                                      nullptr, nullptr);
        }
    }
    InheritedHandles(const InheritedHandles&) = delete;
    InheritedHandles& operator=(const InheritedHandles&) = delete;
    ~InheritedHandles() {
        if (list_ != nullptr) {
            DeleteProcThreadAttributeList(list_);
        }
    }

    [[nodiscard]] LPPROC_THREAD_ATTRIBUTE_LIST list() const { return list_; }

private:
    std::array<HANDLE, 3> handles_;
    std::vector<std::byte> storage_;
    LPPROC_THREAD_ATTRIBUTE_LIST list_ = nullptr;
};

/// Starts the process within the job; null on failure.
Handle start_process(const WorkerCommand& command, std::array<HANDLE, 3> streams, const Handle& job) {
    const InheritedHandles inherited(streams);
    STARTUPINFOEXW startup{};
    startup.StartupInfo.cb = sizeof startup;
    startup.StartupInfo.dwFlags = STARTF_USESTDHANDLES;
    startup.StartupInfo.hStdInput = streams[0];
    startup.StartupInfo.hStdOutput = streams[1];
    startup.StartupInfo.hStdError = streams[2];
    startup.lpAttributeList = inherited.list();
    std::wstring line = wide(command_line(command));
    std::wstring environment = environment_block(command);
    const std::wstring folder = wide(command.folder);
    PROCESS_INFORMATION started{};
    // A separate process group: Ctrl-C reaches only this process, which ends the child after the current case.
    constexpr DWORD flags =
        EXTENDED_STARTUPINFO_PRESENT | CREATE_UNICODE_ENVIRONMENT | CREATE_SUSPENDED | CREATE_NEW_PROCESS_GROUP;
    if (CreateProcessW(nullptr, line.data(), nullptr, nullptr, TRUE, flags, environment.data(),
                       folder.empty() ? nullptr : folder.c_str(), &startup.StartupInfo, &started) == 0) {
        return {};
    }
    const Handle thread(started.hThread);
    AssignProcessToJobObject(job.get(), started.hProcess);
    ResumeThread(thread.get());
    return Handle(started.hProcess);
}

}  // namespace

struct ChildProcess::State {
    Handle job;
    Handle process;
    Handle input;
    Handle output;
    Handle errors;

    std::mutex mutex;
    std::condition_variable changed;
    std::vector<std::byte> received;
    std::size_t taken = 0;
    bool output_ended = false;
    std::vector<std::byte> outgoing;
    bool writing = false;
    bool input_ended = false;
    bool closing = false;
    std::string last_errors;
    std::string how_it_ended;

    std::thread writer;
    std::thread reader;
    std::thread error_reader;

    void close() {
        const std::lock_guard lock(mutex);
        closing = true;
        changed.notify_all();
    }

    /// Also ends processes that the child has started, which would keep the pipes open.
    void terminate() {
        TerminateJobObject(job.get(), 1);
        TerminateProcess(process.get(), 1);
    }

    void join() {
        close();
        for (std::thread* const thread : {&writer, &reader, &error_reader}) {
            if (thread->joinable()) {
                thread->join();
            }
        }
    }

    void write_all() {
        std::unique_lock lock(mutex);
        for (;;) {
            changed.wait(lock, [&] { return writing || closing; });
            if (!writing) {
                break;
            }
            std::size_t done = 0;
            bool failed = false;
            while (done < outgoing.size() && !failed) {
                const auto size = static_cast<DWORD>(std::min<std::size_t>(outgoing.size() - done, chunk));
                lock.unlock();
                DWORD written = 0;
                failed = WriteFile(input.get(), outgoing.data() + done, size, &written, nullptr) == 0;
                lock.lock();
                done += written;
            }
            writing = false;
            input_ended = input_ended || failed;
            changed.notify_all();
        }
        input.close();
    }

    void read_all() {
        std::vector<std::byte> buffer(chunk);
        DWORD count = 0;
        while (ReadFile(output.get(), buffer.data(), static_cast<DWORD>(buffer.size()), &count, nullptr) != 0) {
            std::unique_lock lock(mutex);
            changed.wait(lock, [&] { return received.size() - taken < most_received || closing; });
            if (!closing) {
                received.insert(received.end(), buffer.begin(), buffer.begin() + count);
            }
            changed.notify_all();
        }
        const std::lock_guard lock(mutex);
        output_ended = true;
        changed.notify_all();
    }

    void read_errors() {
        std::array<char, 4096> buffer{};
        DWORD count = 0;
        while (ReadFile(errors.get(), buffer.data(), static_cast<DWORD>(buffer.size()), &count, nullptr) != 0) {
            const std::lock_guard lock(mutex);
            last_errors.append(buffer.data(), count);
            if (last_errors.size() > most_errors) {
                last_errors.erase(0, last_errors.size() - most_errors);
            }
        }
    }
};

ChildProcess::ChildProcess(std::unique_ptr<State> state) : state_(std::move(state)) {}

ChildProcess::~ChildProcess() {
    end(std::chrono::milliseconds(0));
}

core::Result<std::unique_ptr<ChildProcess>> ChildProcess::start(const WorkerCommand& command) {
    Pipe input;
    Pipe output;
    Pipe errors;
    if (!open_pipe(input, &Pipe::read) || !open_pipe(output, &Pipe::write) || !open_pipe(errors, &Pipe::write)) {
        return core::fail("no pipe can be made: " + system_error(GetLastError()));
    }
    auto state = std::make_unique<State>();
    state->job = make_job();
    HANDLE error_stream = errors.write.get();
    if (HANDLE own = GetStdHandle(STD_ERROR_HANDLE);
        command.shares_errors && SetHandleInformation(own, HANDLE_FLAG_INHERIT, HANDLE_FLAG_INHERIT) != 0) {
        error_stream = own;
    }
    state->process = start_process(command, {input.read.get(), output.write.get(), error_stream}, state->job);
    if (state->process.get() == nullptr) {
        return core::fail(fmt::format("{} cannot be started: {}", command.argv[0], system_error(GetLastError())));
    }
    state->input = std::move(input.write);
    state->output = std::move(output.read);
    state->errors = std::move(errors.read);
    State* const shared = state.get();
    try {
        state->writer = std::thread([shared] { shared->write_all(); });
        state->reader = std::thread([shared] { shared->read_all(); });
        state->error_reader = std::thread([shared] { shared->read_errors(); });
    } catch (const std::system_error& error) {
        state->terminate();
        state->join();
        return core::fail(
            fmt::format("{} cannot be talked to: no thread can be made: {}", command.argv[0], error.what()));
    }
    return std::unique_ptr<ChildProcess>(new ChildProcess(std::move(state)));
}

Outcome ChildProcess::write(std::span<const std::byte>& bytes, Clock::time_point deadline) {
    std::unique_lock lock(state_->mutex);
    if (state_->input_ended || state_->closing) {
        return Outcome::ended;
    }
    if (!bytes.empty()) {
        // The writing thread takes over the data; later calls only wait for it.
        state_->outgoing.assign(bytes.begin(), bytes.end());
        bytes = {};
        state_->writing = true;
        state_->changed.notify_all();
    }
    if (!state_->changed.wait_until(lock, deadline, [&] { return !state_->writing; })) {
        return Outcome::timed_out;
    }
    return state_->input_ended ? Outcome::ended : Outcome::done;
}

Outcome ChildProcess::read(std::span<std::byte>& to, Clock::time_point deadline) {
    std::unique_lock lock(state_->mutex);
    while (!to.empty()) {
        const auto available = [&] { return state_->received.size() - state_->taken; };
        if (!state_->changed.wait_until(lock, deadline, [&] { return available() > 0 || state_->output_ended; })) {
            return Outcome::timed_out;
        }
        if (available() == 0) {
            return Outcome::ended;
        }
        const std::size_t count = std::min(to.size(), available());
        std::copy_n(state_->received.begin() + static_cast<std::ptrdiff_t>(state_->taken), count, to.begin());
        to = to.subspan(count);
        state_->taken += count;
        if (available() == 0) {
            state_->received.clear();
            state_->taken = 0;
        }
        state_->changed.notify_all();
    }
    return Outcome::done;
}

std::string ChildProcess::end(std::chrono::milliseconds grace) {
    if (!state_->how_it_ended.empty()) {
        return state_->how_it_ended;
    }
    state_->close();
    const bool by_itself =
        WaitForSingleObject(state_->process.get(), static_cast<DWORD>(grace.count())) == WAIT_OBJECT_0;
    DWORD code = 0;
    GetExitCodeProcess(state_->process.get(), &code);
    state_->terminate();
    state_->join();
    constexpr DWORD first_exception = 0xc0000000;
    state_->how_it_ended = !by_itself                ? had_to_be_ended
                           : code >= first_exception ? fmt::format("exception 0x{:08x}", code)
                                                     : fmt::format("exit code {}", code);
    return state_->how_it_ended;
}

void ChildProcess::interrupt() {}

std::optional<core::ProcessorUse> ChildProcess::processor_use() const {
    return std::nullopt;
}

std::string ChildProcess::errors() const {
    const std::lock_guard lock(state_->mutex);
    return state_->last_errors;
}

}  // namespace dmlconform::worker

#endif
