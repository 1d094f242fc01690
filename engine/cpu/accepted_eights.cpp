// Roots of eight variances at a time. GCC vectorises std::sqrt only if it may ignore errno.
#include "engine/cpu/accepted_eights.h"

#if DMLCONFORM_HAS_WIDE_REGISTERS
#include <immintrin.h>

namespace dmlconform::cpu::detail {

[[gnu::target("avx512f")]] void limit_roots(double* variances, const double* limits, std::size_t count) {
    for (std::size_t i = 0; i < count; i += 8) {
        // The variants with a mask, because g++ 12 warns of the others (GCC bug 105593).
        constexpr __mmask8 all = 0xff;
        const __m512d root = _mm512_maskz_sqrt_pd(all, _mm512_loadu_pd(variances + i));
        _mm512_storeu_pd(variances + i, _mm512_maskz_min_pd(all, _mm512_loadu_pd(limits + i), root));
    }
}

}  // namespace dmlconform::cpu::detail
#endif
