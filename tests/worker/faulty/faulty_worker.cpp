// A worker that computes correctly until it commits a fault.
// usage: faulty_worker [STEP ACTION [COUNT]]
// When STEP (start, unsupported, compile, bind, execute, read, reference, release) happens for the COUNT-th time in the
// process, by default the first, the worker does ACTION, one of those in the table below.
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>

#include "engine/run/reference_source.h"
#include "engine/worker/server.h"
#include "tests/run/fake_engine.h"

namespace dmlconform::tests {
namespace {

void print(const std::string& bytes) {
    std::fwrite(bytes.data(), 1, bytes.size(), stdout);
    std::fflush(stdout);
}

/// A frame with this content.
std::string frame(const std::string& content) {
    std::string text = "dmlw";
    for (int i = 0; i < 4; ++i) {
        text += static_cast<char>(content.size() >> (8 * i));
    }
    return text + content;
}

[[noreturn]] void hang() {
    for (;;) {
        std::this_thread::sleep_for(std::chrono::seconds(1));
    }
}

/// Writes the bytes and waits to be killed.
std::function<void()> say(const std::string& bytes) {
    return [bytes] {
        print(bytes);
        hang();
    };
}

/// Writes the bytes and goes on.
std::function<void()> note(const std::string& bytes) {
    return [bytes] { print(bytes); };
}

const std::map<std::string, std::function<void()>>& actions() {
    static const std::map<std::string, std::function<void()>> table{
        {"crash",
         [] {
             std::fprintf(stderr, "first\nabout to crash\x1b[31m\n");
             std::signal(SIGSEGV, SIG_DFL);  // replaces the sanitizers' handler
             std::raise(SIGSEGV);
         }},
        {"kill", [] { std::raise(SIGKILL); }},
        {"exit",
         [] {
             std::fprintf(stderr, "I give up\n");
             std::_Exit(7);
         }},
        {"hang", hang},
        {"close",
         [] {
             std::fclose(stdout);
             hang();
         }},
        {"text", say("Hello, this is a driver.\n")},
        {"huge", say("dmlw\xff\xff\xff\xff")},
        {"announce", say(std::string("dmlw\xff\xff\xff\x7f", 8))},
        {"deep", say(frame(std::string(1'000'000, '\x81')))},
        {"tag", say(frame("\xc0"))},
        {"number", say(frame(std::string(1, '\0')))},
        // The following answers suit a first case, in which `compile` is message 2 and `execute` is message 4.
        {"both", say(frame("\xa3\x62id\x02\x68"
                           "accepted\xf5\x6bunsupported\x64"
                           "cold"))},
        {"neither", say(frame("\xa1\x62id\x02"))},
        {"negative", note(frame("\xa2\x62id\x04\x6bnanoseconds\x24"))},
        {"negative-device", note(frame("\xa2\x62id\x04\x71"
                                       "deviceNanoseconds\x24"))},
        // The answer to the `release` of a first case.
        {"error", say(frame("\xa2\x62id\x06\x65"
                            "error\xa1\x67message\x6b"
                            "cannot free"))},
        {"node-times", say(frame("\xa2\x62id\x04\x6fnodeNanoseconds\x81\x01"))},
        {"wrong-id", say(frame("\xa1\x62id\x18\xff"))},
        {"stop-in-frame",
         [] {
             print(std::string("dmlw\x10\0\0\0abc", 11));
             std::_Exit(0);
         }},
        {"flood",
         [] {
             std::fprintf(stderr, "%s", std::string(1'000'000, 'e').c_str());
             for (;;) {
                 print(std::string(65536, 'x'));
             }
         }},
        {"chatter",
         [] {
             for (int i = 0; i < 10000; ++i) {
                 std::fprintf(stderr, "line %d of what a driver has to say\n", i);
             }
         }},
    };
    return table;
}

int work(int argc, char** argv) {
    Behaviour behaviour;
    int left = argc > 3 ? std::atoi(argv[3]) : 1;
    const std::string step = argc > 2 ? argv[1] : "";
    const auto act = [&](const std::string& at) {
        if (at == step && --left == 0) {
            actions().at(argv[2])();
        }
    };
    behaviour.at_step = act;
    behaviour.at_release = [&] { act("release"); };
    act("start");
    const core::Result<std::unique_ptr<Engine>> engine = std::make_unique<FakeEngine>(behaviour);
    const auto served = worker::serve(
        engine, [](std::span<std::byte> to) { return std::fread(to.data(), 1, to.size(), stdin) == to.size(); },
        [](std::span<const std::byte> bytes) {
            return std::fwrite(bytes.data(), 1, bytes.size(), stdout) == bytes.size() && std::fflush(stdout) == 0;
        },
        [&](const auto& descriptor, auto inputs, const auto& request) {
            act("reference");
            return run::answer_reference(descriptor, inputs, request);
        });
    return served ? 0 : 1;
}

}  // namespace
}  // namespace dmlconform::tests

int main(int argc, char** argv) {
    return dmlconform::tests::work(argc, argv);
}
