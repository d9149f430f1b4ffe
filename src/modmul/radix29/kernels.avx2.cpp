// SPDX-License-Identifier: Apache-2.0
// radix29 on AVX2: four instances in the 64-bit lanes of a 256-bit vector.
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
struct Avx2 {
  using Vector = __m256i;
  static constexpr std::size_t kLanes = 4;

  static Vector load(const Limb* x) { return _mm256_load_si256(reinterpret_cast<const Vector*>(x)); }
  static void store(Limb* x, Vector v) { _mm256_store_si256(reinterpret_cast<Vector*>(x), v); }
  static Vector zero() { return _mm256_setzero_si256(); }
  static Vector broadcast(Limb x) { return _mm256_set1_epi64x(static_cast<long long>(x)); }
  static Vector mul_low32(Vector x, Vector y) { return _mm256_mul_epu32(x, y); }
  static Vector add(Vector x, Vector y) { return _mm256_add_epi64(x, y); }
  static Vector bit_and(Vector x, Vector y) { return _mm256_and_si256(x, y); }
  static Vector shift_right(Vector x) { return _mm256_srli_epi64(x, kDigitBits); }
  /// x, opaque to the compiler. A compiler that knows the mask turns a masked vpmuludq into vpmullq, which
  /// has three times the latency.
  static Vector opaque(Vector x) {
    asm("" : "+x"(x));
    return x;
  }
};

constexpr lanes::Kernels kKernels = kernel_table<Avx2>();

}  // namespace

const lanes::Kernels& avx2_kernels() { return kKernels; }

}  // namespace manymod::radix29
