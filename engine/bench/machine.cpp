// Reads the processor's name.
#include "engine/bench/machine.h"

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <cstring>

#if defined(_MSC_VER) && (defined(_M_X64) || defined(_M_IX86))
#include <intrin.h>
#elif defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

#include "engine/core/hardware_threads.h"

namespace dmlconform::bench {
namespace {

using Registers = std::array<std::uint32_t, 4>;

/// All zero on processors without the instruction.
Registers cpuid([[maybe_unused]] std::uint32_t leaf) {
    Registers registers{};
#if defined(_MSC_VER) && (defined(_M_X64) || defined(_M_IX86))
    std::array<int, 4> found{};
    __cpuid(found.data(), static_cast<int>(leaf));
    std::memcpy(registers.data(), found.data(), sizeof(registers));
#elif defined(__x86_64__) || defined(__i386__)
    __get_cpuid(leaf, &registers[0], &registers[1], &registers[2], &registers[3]);
#endif
    return registers;
}

/// The three CPUID leaves with the name, 16 characters each.
constexpr std::uint32_t first_name_leaf = 0x80000002u;
constexpr std::uint32_t last_name_leaf = 0x80000004u;

std::string processor_name() {
    std::string name;
    if (cpuid(0x80000000u)[0] >= last_name_leaf) {
        for (std::uint32_t leaf = first_name_leaf; leaf <= last_name_leaf; ++leaf) {
            const Registers registers = cpuid(leaf);
            std::array<char, sizeof(registers)> text{};
            std::memcpy(text.data(), registers.data(), sizeof(registers));
            name.append(text.data(), text.size());
        }
        name.resize(std::strlen(name.c_str()));
    }
    const auto first = name.find_first_not_of(' ');
    return first == std::string::npos ? "unknown processor"
                                      : name.substr(first, name.find_last_not_of(' ') - first + 1);
}

}  // namespace

std::string machine_name() {
    return fmt::format("{}, {}", processor_name(), core::hardware_threads_text());
}

}  // namespace dmlconform::bench
