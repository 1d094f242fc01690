// Writes to the C library's streams.
#include "app/standard_streams.h"

#include <fmt/format.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <iostream>

#ifdef _WIN32
#include <windows.h>

#include <cstdlib>
#else
#include <fcntl.h>
#endif

#include "app/command.h"
#include "app/terminal.h"

namespace dmlconform::app {
namespace {

/// The first error of writing to standard output; 0: none.
int output_error = 0;

/// True if standard output is reserved for a document.
bool output_is_a_document = false;

void note_error() {
    if (output_error == 0) {
        output_error = errno != 0 ? errno : EIO;
    }
}

void write_output(std::string_view text) {
    errno = 0;
    if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size()) {
        note_error();
    }
}

#ifndef _WIN32
extern "C" void do_nothing(int /*signal*/) {}
#endif

}  // namespace

#ifdef _WIN32
void open_standard_streams() {
    static const UINT code_page_before = GetConsoleOutputCP();
    if (code_page_before != 0 && SetConsoleOutputCP(CP_UTF8) != 0) {
        std::atexit([] { SetConsoleOutputCP(code_page_before); });
    }
    for (const DWORD name : {STD_OUTPUT_HANDLE, STD_ERROR_HANDLE}) {
        HANDLE const stream = GetStdHandle(name);
        DWORD mode = 0;
        if (GetConsoleMode(stream, &mode) != 0) {
            SetConsoleMode(stream, mode | ENABLE_PROCESSED_OUTPUT | ENABLE_VIRTUAL_TERMINAL_PROCESSING);
        }
    }
}
void turn_write_signals_into_errors() {}
#else
void open_standard_streams() {
    // Like the GNU tools: opened in the wrong direction, so that using them fails as if they were closed.
    constexpr int ways[] = {O_WRONLY, O_RDONLY, O_RDONLY};
    for (int number = 0; number < 3; ++number) {
        // The system assigns the lowest free number.
        if (fcntl(number, F_GETFD) < 0 && errno == EBADF) {
            static_cast<void>(open("/dev/null", ways[number]));
        }
    }
}

void turn_write_signals_into_errors() {
    for (const int number : {SIGPIPE, SIGXFSZ}) {
        // A handler instead of SIG_IGN, because started programs inherit ignored signals.
        struct sigaction action {};
        if (sigaction(number, nullptr, &action) == 0 && action.sa_handler == SIG_DFL) {
            action.sa_handler = do_nothing;
            action.sa_flags = SA_RESTART;
            sigaction(number, &action, nullptr);
        }
    }
}
#endif

void leave_output_to_a_document() {
    output_is_a_document = true;
}

void print(const core::ShownText& text) {
    if (output_is_a_document) {
        print_warning(text);
        return;
    }
    write_output(core::without_commands(text.text()));
}

void print_warning(const core::ShownText& text) {
    const std::string clean = core::without_commands(text.text());
    static_cast<void>(std::fwrite(clean.data(), 1, clean.size(), stderr));
    std::fflush(stderr);
}

void print_document(std::string_view document) {
    if (stdout_is_terminal()) {
        write_output(core::shown_document(document));
    } else {
        write_output(document);
    }
}

core::Result<void> flush_output() {
    errno = 0;
    // Google Benchmark prints to the other stream.
    std::cout.flush();
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0 || !std::cout) {
        note_error();
    }
    return output_error == 0
               ? core::Result<void>()
               : core::fail(fmt::format("the standard output cannot be written: {}", std::strerror(output_error)));
}

int final_exit_code(int exit_code) {
    const auto flushed = flush_output();
    if (flushed) {
        return exit_code;
    }
    warn("dmlconform: {}\n", flushed.error().message);
    return exit_not_run;
}

}  // namespace dmlconform::app
