// SPDX-License-Identifier: Apache-2.0
// Wrappers around AVX-512 IFMA instructions for code whose instruction order is part of its design. The
// compiler keeps the order as written and chooses only registers, and a load stays a separate instruction: as
// memory operands, two for each digit, loads would delay the multipliers (1.77 instead of 2 vpmadd52 per
// cycle). Under MemorySanitizer, which does not follow assembly, the same names are intrinsics. For
// *.avx512ifma.cpp files only.
#pragma once

#include <immintrin.h>

#include <cstdint>

#include "arch/memory_sanitizer.hpp"
#include "core/limb.hpp"

namespace manymod::avx512ifma {
namespace {

using Vector = __m512i;

[[maybe_unused]] inline Vector zero() { return _mm512_setzero_si512(); }
[[maybe_unused]] inline Vector broadcast(Limb value) {
  return _mm512_set1_epi64(static_cast<long long>(value));
}

/// A set of lanes.
using Lanes = __mmask8;

#if MANYMOD_MEMORY_SANITIZER

[[maybe_unused]] inline Vector load(const Limb* p) { return _mm512_load_si512(p); }
[[maybe_unused]] inline void store(Limb* p, Vector v) { _mm512_store_si512(p, v); }
/// Stores the lanes `lanes`. Without a masked store: the sanitizer takes its mask for an address.
[[maybe_unused]] inline void store_lanes(Limb* p, Lanes lanes, Vector v) {
  store(p, _mm512_mask_mov_epi64(load(p), lanes, v));
}
/// v, with the lanes `lanes` replaced by those of `other`.
[[maybe_unused]] inline Vector blended(Vector v, Lanes lanes, Vector other) {
  return _mm512_mask_blend_epi64(lanes, v, other);
}
/// sum += the low 52 bits of a b, for the low 52 bits of a and b.
[[maybe_unused]] inline void add_low(Vector& sum, Vector a, Vector b) {
  sum = _mm512_madd52lo_epu64(sum, a, b);
}
/// sum += floor(a b / 2^52), for the low 52 bits of a and b.
[[maybe_unused]] inline void add_high(Vector& sum, Vector a, Vector b) {
  sum = _mm512_madd52hi_epu64(sum, a, b);
}
[[maybe_unused]] inline Vector add(Vector a, Vector b) { return _mm512_add_epi64(a, b); }
/// floor(a / 2^52).
[[maybe_unused]] inline Vector carry_of(Vector a) {
  return reinterpret_cast<Vector>(reinterpret_cast<__v8du>(a) >> 52);
}
/// a rotated to the left by one bit.
[[maybe_unused]] inline Vector rotate_left(Vector a) { return _mm512_rol_epi64(a, 1); }
/// The lanes l for which indices[l] == *value.
[[maybe_unused]] inline Lanes lanes_with(const std::uint32_t* indices, const std::uint32_t* value) {
  return _mm256_cmpeq_epi32_mask(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(indices)),
                                 _mm256_set1_epi32(static_cast<int>(*value)));
}

#else

[[maybe_unused]] inline Vector load(const Limb* p) {
  Vector v;
  __asm__ __volatile__("vmovdqa64 %1, %0" : "=v"(v) : "m"(*reinterpret_cast<const Vector*>(p)));
  return v;
}
[[maybe_unused]] inline void store(Limb* p, Vector v) {
  __asm__ __volatile__("vmovdqa64 %1, %0" : "=m"(*reinterpret_cast<Vector*>(p)) : "v"(v));
}
/// Stores the lanes `lanes`.
[[maybe_unused]] inline void store_lanes(Limb* p, Lanes lanes, Vector v) {
  __asm__ __volatile__("vmovdqa64 %1, %0%{%2%}" : "+m"(*reinterpret_cast<Vector*>(p)) : "v"(v), "Yk"(lanes));
}
/// v, with the lanes `lanes` replaced by those of `other`.
[[maybe_unused]] inline Vector blended(Vector v, Lanes lanes, Vector other) {
  __asm__ __volatile__("vpblendmq %2, %0, %0%{%1%}" : "+v"(v) : "Yk"(lanes), "v"(other));
  return v;
}
/// sum += the low 52 bits of a b, for the low 52 bits of a and b.
[[maybe_unused]] inline void add_low(Vector& sum, Vector a, Vector b) {
  __asm__ __volatile__("vpmadd52luq %2, %1, %0" : "+v"(sum) : "v"(a), "v"(b));
}
/// sum += floor(a b / 2^52), for the low 52 bits of a and b.
[[maybe_unused]] inline void add_high(Vector& sum, Vector a, Vector b) {
  __asm__ __volatile__("vpmadd52huq %2, %1, %0" : "+v"(sum) : "v"(a), "v"(b));
}
[[maybe_unused]] inline Vector add(Vector a, Vector b) {
  Vector sum;
  __asm__ __volatile__("vpaddq %2, %1, %0" : "=v"(sum) : "v"(a), "v"(b));
  return sum;
}
/// floor(a / 2^52).
[[maybe_unused]] inline Vector carry_of(Vector a) {
  Vector carry;
  __asm__ __volatile__("vpsrlq $52, %1, %0" : "=v"(carry) : "v"(a));
  return carry;
}
/// a rotated to the left by one bit.
[[maybe_unused]] inline Vector rotate_left(Vector a) {
  Vector rotated;
  __asm__ __volatile__("vprolq $1, %1, %0" : "=v"(rotated) : "v"(a));
  return rotated;
}
/// The lanes l for which indices[l] == *value. A load port broadcasts *value; from a general register, a
/// vector port would have to.
[[maybe_unused]] inline Lanes lanes_with(const std::uint32_t* indices, const std::uint32_t* value) {
  __m256i wanted;
  Lanes lanes;
  __asm__ __volatile__("vpbroadcastd %1, %0" : "=v"(wanted) : "m"(*value));
  __asm__ __volatile__("vpcmpeqd %2, %1, %0"
                       : "=Yk"(lanes)
                       : "v"(wanted), "m"(*reinterpret_cast<const std::uint32_t(*)[8]>(indices)));
  return lanes;
}

#endif

}  // namespace
}  // namespace manymod::avx512ifma
