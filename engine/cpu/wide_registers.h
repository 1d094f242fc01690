// Loops compiled for more than one set of instructions. The one with the widest registers that the processor has is
// taken when the program runs.
//
// All of them make the same roundings in the same order: compilers may neither fuse products with sums nor change the
// order of additions (cmake/Compiler.cmake).
#pragma once

// Compilers like GCC compile one function for other processors than the rest of the program. Not for Windows: there GCC
// does not align the stack for wide registers (its bug 54412).
#if defined(__GNUC__) && defined(__x86_64__) && !defined(_WIN32)
#define DMLCONFORM_HAS_WIDE_REGISTERS 1
#else
#define DMLCONFORM_HAS_WIDE_REGISTERS 0
#endif

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

namespace dmlconform::cpu {

/// Of 128, 256 and 512 bits, as x86-64 processors have them.
enum class Registers : std::uint8_t { any, avx2, avx512 };

/// The widest ones that are used. Tests take narrower ones, to see that results are the same.
inline std::atomic<Registers> widest_registers = Registers::avx512;

#if DMLCONFORM_HAS_WIDE_REGISTERS

namespace detail {

// "flatten" compiles what the work calls for these instructions, too.
template <class Work>
[[gnu::target("avx2"), gnu::flatten, gnu::noinline]] void with_avx2(const Work& work) {
    work();
}

template <class Work>
[[gnu::target("avx512f,avx512bw,avx512dq,avx512vl"), gnu::flatten, gnu::noinline]] void with_avx512(const Work& work) {
    work();
}

}  // namespace detail

[[nodiscard]] inline bool has_avx2() {
    return widest_registers >= Registers::avx2 && __builtin_cpu_supports("avx2") != 0;
}

[[nodiscard]] inline bool has_avx512() {
    return widest_registers >= Registers::avx512 && __builtin_cpu_supports("avx512f") != 0 &&
           __builtin_cpu_supports("avx512bw") != 0 && __builtin_cpu_supports("avx512dq") != 0 &&
           __builtin_cpu_supports("avx512vl") != 0;
}

/// Calls work(), a short loop over numbers that lie side by side.
template <class Work>
void in_wide_registers(const Work& work) {
    if (has_avx512()) {
        detail::with_avx512(work);
    } else if (has_avx2()) {
        detail::with_avx2(work);
    } else {
        work();
    }
}

#else

template <class Work>
void in_wide_registers(const Work& work) {
    work();
}

#endif

/// Calls work(first) for stretches of so many of `count` numbers, which are at least as many. The last stretch overlaps
/// the one before, so that no rest is left to narrower registers: work that is done twice must not show.
template <std::int64_t lanes, class Work>
void in_wide_stretches(std::int64_t count, const Work& work) {
    in_wide_registers([&] {
        const Work here = work;
        for (std::int64_t done = 0; done < count; done += lanes) {
            here(done < count - lanes ? done : count - lanes);
        }
    });
}

/// Arrays that start at a multiple of this are loaded and stored without crossing the border of a line of the cache.
inline constexpr std::size_t register_bytes = 64;

/// Calls add(totals[i % lanes], values[i]) for the values in order, but for the last few, all of which the first total
/// takes: so that compilers use registers of any width without changing what comes of it.
template <std::size_t lanes, class Total, class Value, class Add>
void in_wide_lanes(std::span<const Value> values, std::array<Total, lanes>& totals, const Add& add) {
    const std::size_t whole = values.size() / lanes * lanes;
    in_wide_registers([&] {
        // Copies, which can stay in registers. With the last few in here, too, GCC makes worse code.
        alignas(register_bytes) std::array<Total, lanes> here = totals;
        const Value* const from = values.data();
        for (std::size_t i = 0; i < whole; i += lanes) {
            for (std::size_t lane = 0; lane < lanes; ++lane) {
                add(here[lane], from[i + lane]);
            }
        }
        totals = here;
    });
    for (const Value& value : values.subspan(whole)) {
        add(totals[0], value);
    }
}

}  // namespace dmlconform::cpu
