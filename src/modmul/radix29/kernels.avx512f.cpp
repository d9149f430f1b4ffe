// SPDX-License-Identifier: Apache-2.0
// radix29 on AVX-512F: eight instances in the 64-bit lanes of a 512-bit vector.
#include "modmul/radix29/kernels.hpp"

#include <immintrin.h>

// Reassociation would add the products of a column to each other before adding them to the column sum, which
// takes more registers.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("no-tree-reassoc")
#endif

#include "modmul/radix29/product_scanning.hpp"

namespace manymod::radix29 {
namespace {

/// The vector operations that ProductScanning asks of its parameter Arch.
struct Avx512f {
  using Vector = __m512i;
  static constexpr std::size_t kLanes = 8;

  // The mask of all lanes: the unmasked forms of two intrinsics make g++ 12 warn about an uninitialised value
  // in its own header.
  static constexpr __mmask8 kAll = 0xff;

  static Vector load(const Limb* x) { return _mm512_load_si512(reinterpret_cast<const Vector*>(x)); }
  static void store(Limb* x, Vector v) { _mm512_store_si512(reinterpret_cast<Vector*>(x), v); }
  static Vector zero() { return _mm512_setzero_si512(); }
  static Vector broadcast(Limb x) { return _mm512_set1_epi64(static_cast<long long>(x)); }
  static Vector mul_low32(Vector x, Vector y) { return _mm512_maskz_mul_epu32(kAll, x, y); }
  static Vector add(Vector x, Vector y) { return _mm512_add_epi64(x, y); }
  static Vector bit_and(Vector x, Vector y) { return _mm512_and_si512(x, y); }
  static Vector shift_right(Vector x) { return _mm512_maskz_srli_epi64(kAll, x, kDigitBits); }
  /// x, opaque to the compiler. A compiler that knows the mask turns a masked vpmuludq into vpmullq, which
  /// has three times the latency.
  static Vector opaque(Vector x) {
    asm("" : "+v"(x));
    return x;
  }
};

constexpr lanes::Kernels kKernels = kernel_table<Avx512f>();

}  // namespace

const lanes::Kernels& avx512f_kernels() { return kKernels; }

}  // namespace manymod::radix29
