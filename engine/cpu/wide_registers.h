// Loops that are compiled for several instruction sets. At run time, the variant with the widest registers that the
// processor supports is used.
//
// All variants round identically and in the same order: the compiler may neither fuse multiplications with additions
// nor reorder additions (cmake/Compiler.cmake).
#pragma once

// GCC-like compilers can compile single functions for other processors.
#if defined(__GNUC__) && defined(__x86_64__)
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

/// Registers of x86-64 processors with 128, 256 and 512 bits.
enum class Registers : std::uint8_t { any, avx2, avx512 };

/// Upper limit for the width that is used. Tests lower it to check that results are the same.
inline std::atomic<Registers> widest_registers = Registers::avx512;

#if DMLCONFORM_HAS_WIDE_REGISTERS

namespace detail {

// "flatten" inlines the functions that `work` calls, so that they are compiled for these instructions, too.
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

/// Calls work(), a short loop over contiguous numbers.
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

/// Calls work(first) for segments of `lanes` of `count` numbers; there must be at least `lanes`. The last segment
/// overlaps the preceding one, so that there is no remainder. Computing a number twice must not change the result.
template <std::int64_t lanes, class Work>
void in_wide_segments(std::int64_t count, const Work& work) {
    in_wide_registers([&] {
        const Work here = work;
        for (std::int64_t done = 0; done < count; done += lanes) {
            here(done < count - lanes ? done : count - lanes);
        }
    });
}

/// Loads and stores do not cross cache lines if arrays are aligned to this number of bytes.
inline constexpr std::size_t register_bytes = 64;

/// Calls add(totals[i % lanes], values[i]) for the values in order. The remainder is added to totals[0]. The order
/// allows registers of any width without changing the result.
template <std::size_t lanes, class Total, class Value, class Add>
void in_wide_lanes(std::span<const Value> values, std::array<Total, lanes>& totals, const Add& add) {
    const std::size_t whole = values.size() / lanes * lanes;
    in_wide_registers([&] {
        // Local copies, which can stay in registers. GCC generates worse code if the remainder is added here, too.
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
