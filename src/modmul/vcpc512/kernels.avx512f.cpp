// SPDX-License-Identifier: Apache-2.0
// vcpc512 with AVX-512F, DQ, BW and VL. Line numbers refer to Algorithm 3 of the PhiRSA paper.
#include "modmul/vcpc512/kernels.hpp"
#include "arch/memory_sanitizer.hpp"

// GCC 12 warns about undefined pass-through operands in its own header (GCC bug 105593).
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ < 13
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <immintrin.h>

namespace manymod::vcpc512 {
namespace {

using Vector = __m512i;
using Mask = __mmask8;

constexpr std::size_t kMaxVectors = kMaxBits / (kLimbsPerVector * kLimbBits);
/// Up to this many vectors the carries of the chains stay in mask registers (see kernels.hpp).
constexpr int kMaxMaskVectors = 3;

#define MANYMOD_INLINE [[gnu::always_inline]] inline
#if defined(__clang__)
#define MANYMOD_UNROLL _Pragma("unroll")
#else
#define MANYMOD_UNROLL _Pragma("GCC unroll 8")
#endif

MANYMOD_INLINE Vector load(const Limb* from) { return _mm512_loadu_si512(from); }
MANYMOD_INLINE void store(Limb* to, Vector x) { _mm512_storeu_si512(to, x); }
MANYMOD_INLINE Vector ones() { return _mm512_set1_epi64(-1); }

/// x, opaque to the compiler. Knowing a constant addend, Clang would turn the masked additions of a chain
/// into longer sequences; knowing that half of a product is unused, it would turn vpmuludq into vpmullq,
/// which takes three micro-operations.
MANYMOD_INLINE Vector opaque(Vector x) {
#if !MANYMOD_MEMORY_SANITIZER
  __asm__("" : "+v"(x));
#endif
  return x;
}

/// Resolves the carries of 8 limbs by one scalar addition.
/// On input: bits of `generate` mark the limbs that overflowed, bits of `propagate` the limbs of all ones;
/// the two sets are disjoint. `carry` is the carry into the lowest limb. A bit of `propagate` passes a carry
/// on exactly as a bit of an integer addition does. On output: `carry` is the carry out of the highest limb.
/// @return the limbs that receive a carry
///
/// This replaces the paper's move-shift-move loop (lines 25-31 and 38-44), whose time depends on the data.
MANYMOD_INLINE Mask carries_into(unsigned generate, unsigned propagate, unsigned& carry) {
  const unsigned sum = propagate + ((generate << 1) | carry);
  carry = sum >> 8;
  return static_cast<Mask>(sum ^ propagate);
}

/// x + y + carry mod 2^512. On input and output: carry <= 1.
MANYMOD_INLINE Vector add_carry(Vector x, Vector y, unsigned& carry) {
  const Vector sum = _mm512_add_epi64(x, y);
  const Mask into =
      carries_into(_mm512_cmplt_epu64_mask(sum, y), _mm512_cmpeq_epi64_mask(sum, ones()), carry);
  return _mm512_mask_sub_epi64(sum, into, sum, ones());
}

/// x - y - borrow mod 2^512. On input and output: borrow <= 1. A limb propagates a borrow if its difference
/// is 0.
MANYMOD_INLINE Vector sub_borrow(Vector x, Vector y, unsigned& borrow) {
  const Vector difference = _mm512_sub_epi64(x, y);
  const Mask into =
      carries_into(_mm512_cmplt_epu64_mask(x, y), _mm512_testn_epi64_mask(difference, difference), borrow);
  return _mm512_mask_add_epi64(difference, into, difference, ones());
}

/// The carries still pending after the last round, as a number of V vectors and a top word.
template <int V>
struct Pending {
  Vector value[V];
  unsigned top;
};

/// at_j + at_j1 2^32 + at_j2 2^64, each argument being V vectors of counts per 64-bit element.
template <int V>
MANYMOD_INLINE Pending<V> combine(const Vector* at_j, const Vector* at_j1, const Vector* at_j2) {
  Pending<V> pending;
  Vector below = _mm512_setzero_si512();
  MANYMOD_UNROLL
  for (int v = 0; v < V; ++v) {
    pending.value[v] = _mm512_add_epi64(
        at_j[v], _mm512_or_si512(_mm512_slli_epi64(at_j1[v], 32), _mm512_alignr_epi64(at_j2[v], below, 7)));
    below = at_j2[v];
  }
  pending.top = static_cast<unsigned>(_mm512_cvtsi512_si32(_mm512_alignr_epi64(below, below, 7)));
  return pending;
}

/// Carries in mask registers: k[parity of the round][chain][vector], with the chains in the order of a round.
template <int V>
struct MaskChains {
  Mask k[2][4][V] = {};
  Vector one = opaque(_mm512_set1_epi64(1));

  /// One vpadcd: (S, k) = S + product + k, where k is the carry mask of this chain.
  template <int Parity, int Chain>
  MANYMOD_INLINE void add(int v, Vector& s, Vector product) {
    Mask& carry = k[Parity][Chain][v];
    product = _mm512_mask_add_epi64(product, carry, product, one);
    s = _mm512_add_epi64(s, product);
    carry = _mm512_cmplt_epu64_mask(s, product);
  }

  /// Lines 8-9: q = S[0] mu + k[Parity][1][0] mu, since chain 1 has not taken its pending carry in yet.
  template <int Parity>
  MANYMOD_INLINE Vector quotient(Vector s, Vector mu) const {
    const Vector q = opaque(_mm512_mul_epu32(s, mu));
    return _mm512_mask_add_epi64(q, k[Parity][1][0], q, mu);
  }

  /// start + 1 in the elements of x, + 1 in the elements of y.
  MANYMOD_INLINE static Vector count(Mask x, Mask y, Vector start) {
    start = _mm512_mask_sub_epi64(start, x, start, ones());
    return _mm512_mask_sub_epi64(start, y, start, ones());
  }

  /// Pending carries after the last round, which is odd, so the next would be even. The first two chains of
  /// parity 0 are aligned with S. The last two chains of parity 0 (added after the shift) and the first two
  /// of parity 1 (before the shift) are one 32-bit element higher; the last two chains of parity 1 are two
  /// elements higher.
  MANYMOD_INLINE Pending<V> pending() const {
    const Vector zero = _mm512_setzero_si512();
    Vector at_j[V];
    Vector at_j1[V];
    Vector at_j2[V];
    MANYMOD_UNROLL
    for (int v = 0; v < V; ++v) {
      at_j[v] = count(k[0][0][v], k[0][1][v], zero);
      at_j1[v] = count(k[1][0][v], k[1][1][v], count(k[0][2][v], k[0][3][v], zero));
      at_j2[v] = count(k[1][2][v], k[1][3][v], zero);
    }
    return combine<V>(at_j, at_j1, at_j2);
  }
};

/// Carries as counts per 64-bit element. due[parity] is taken in after the shift of the next round of that
/// parity: the first point at which the carries of the round before it (chains 0 and 1) and of the round two
/// before it (chains 2 and 3) are aligned with S. 0 <= count <= 4.
template <int V>
struct CountChains {
  Vector due[2][V];
  Vector one = opaque(_mm512_set1_epi64(1));

  MANYMOD_INLINE CountChains() {
    MANYMOD_UNROLL
    for (int v = 0; v < V; ++v) due[0][v] = due[1][v] = _mm512_setzero_si512();
  }

  /// S += product, and in chain 2 the counts that are due; the carries out are added to the counts.
  template <int Parity, int Chain>
  MANYMOD_INLINE void add(int v, Vector& s, Vector product) {
    Vector& counts = due[Chain < 2 ? 1 - Parity : Parity][v];
    if constexpr (Chain == 2) product = _mm512_add_epi64(product, counts);
    s = _mm512_add_epi64(s, product);
    const Mask carry = _mm512_cmplt_epu64_mask(s, product);
    if constexpr (Chain == 2) {
      counts = _mm512_maskz_mov_epi64(carry, one);
    } else {
      counts = _mm512_mask_add_epi64(counts, carry, counts, one);
    }
  }

  /// Lines 8-9: q = S[0] mu.
  template <int Parity>
  MANYMOD_INLINE Vector quotient(Vector s, Vector mu) const {
    return opaque(_mm512_mul_epu32(s, mu));
  }

  /// Pending carries after the last round.
  MANYMOD_INLINE Pending<V> pending() const {
    Vector none[V];
    MANYMOD_UNROLL
    for (int v = 0; v < V; ++v) none[v] = _mm512_setzero_si512();
    return combine<V>(none, due[0], due[1]);
  }
};

/// The multiplication's operands with even and odd 32-bit elements apart, and mu = -m^-1 mod 2^32.
template <int V>
struct Operands {
  Vector a_even[V];
  Vector a_odd[V];
  Vector m_even[V];
  Vector m_odd[V];
  Vector mu;

  MANYMOD_INLINE Operands(const Limb* a, const Limb* m) {
    MANYMOD_UNROLL
    for (int v = 0; v < V; ++v) {
      a_even[v] = load(a + 8 * v);
      a_odd[v] = _mm512_srli_epi64(a_even[v], 32);
      m_even[v] = load(m + 8 * v);
      m_odd[v] = _mm512_srli_epi64(m_even[v], 32);
    }
    mu = _mm512_set1_epi64(static_cast<long long>(m[8 * V]));
  }
};

/// Lines 5-17: one round. On input: the low half of each 64-bit element of b is b_i; vpmuludq ignores the
/// rest.
template <int Parity, class Chains, int V>
MANYMOD_INLINE void round(Vector (&s)[V], Chains& chains, const Operands<V>& x, Vector b) {
  MANYMOD_UNROLL
  for (int v = 0; v < V; ++v) chains.template add<Parity, 0>(v, s[v], _mm512_mul_epu32(x.a_even[v], b));
  const Vector q =
      _mm512_broadcastd_epi32(_mm512_castsi512_si128(chains.template quotient<Parity>(s[0], x.mu)));
  MANYMOD_UNROLL
  for (int v = 0; v < V; ++v) chains.template add<Parity, 1>(v, s[v], _mm512_mul_epu32(x.m_even[v], q));
  MANYMOD_UNROLL
  for (int v = 0; v < V; ++v) {
    s[v] = _mm512_alignr_epi32(v + 1 < V ? s[v + 1 < V ? v + 1 : v] : _mm512_setzero_si512(), s[v], 1);
  }
  MANYMOD_UNROLL
  for (int v = 0; v < V; ++v) chains.template add<Parity, 2>(v, s[v], _mm512_mul_epu32(x.a_odd[v], b));
  MANYMOD_UNROLL
  for (int v = 0; v < V; ++v) chains.template add<Parity, 3>(v, s[v], _mm512_mul_epu32(x.m_odd[v], q));
}

/// Lines 19-46: r = S + pending, minus n if that is n or more. On input: S + pending < 2 n. Timing: both
/// results are computed always.
template <int V>
MANYMOD_INLINE void finish(Limb* r, Vector (&s)[V], const Pending<V>& pending, const Vector (&n)[V]) {
  Vector reduced[V];
  unsigned carry = 0;
  unsigned borrow = 0;
  MANYMOD_UNROLL
  for (int v = 0; v < V; ++v) {
    s[v] = add_carry(s[v], pending.value[v], carry);
    reduced[v] = sub_borrow(s[v], n[v], borrow);
  }
  const unsigned top = pending.top + carry;
  const auto keep = static_cast<Mask>(0U - (borrow & ~top));
  MANYMOD_UNROLL
  for (int v = 0; v < V; ++v) store(r + 8 * v, _mm512_mask_mov_epi64(reduced[v], keep, s[v]));
}

/// Algorithm 3 on V vectors: r = a b / R mod n. On input: a < R, b <= n (or a, b < n). On output: r < n. The
/// sum of all rounds is (a b + q n) / R < 2 n, as q < R. Aliasing: r may be a or b.
template <int V, class Chains>
void multiply(Limb* r, const Limb* a, const Limb* b, const Limb* m) {
  const Operands<V> x(a, m);
  Chains chains;
  Vector s[V];
  MANYMOD_UNROLL
  for (int v = 0; v < V; ++v) s[v] = _mm512_setzero_si512();
#if defined(__clang__)
#pragma clang loop unroll(disable)
#else
#pragma GCC unroll 1
#endif
  for (std::size_t limb = 0; limb < 8 * V; ++limb) {
    const Vector b_limb = _mm512_set1_epi64(static_cast<long long>(b[limb]));
    round<0>(s, chains, x, b_limb);
    round<1>(s, chains, x, _mm512_srli_epi64(b_limb, 32));
  }
  finish<V>(r, s, chains.pending(), x.m_even);
}

template <int V>
constexpr auto kMultiply = &multiply<V, MaskChains<V>>;
template <int V>
  requires(V > kMaxMaskVectors)
constexpr auto kMultiply<V> = &multiply<V, CountChains<V>>;

using Multiply = void (*)(Limb*, const Limb*, const Limb*, const Limb*);
constexpr Multiply kByVectors[kMaxVectors + 1] = {nullptr,      kMultiply<1>, kMultiply<2>,
                                                  kMultiply<3>, kMultiply<4>, kMultiply<5>,
                                                  kMultiply<6>, kMultiply<7>, kMultiply<8>};

// The functions of lanes::Kernels; see there and kernels.hpp.
void mul(Limb* r, const Limb* a, const Limb* b, const Limb* modulus, std::size_t digits, Limb* /*scratch*/) {
  kByVectors[digits / kLimbsPerVector](r, a, b, modulus);
}

/// r = a^2 / R mod n, by multiplication as in the paper: a round shifts S, so the products a_i a_j and a_j
/// a_i are added in different rounds and cannot be shared.
void sqr(Limb* r, const Limb* a, const Limb* modulus, std::size_t digits, Limb* scratch) {
  mul(r, a, a, modulus, digits, scratch);
}

/// r = a + b mod m. On input: a + b < 2 m. On output: r < m. Aliasing: r may be a or b.
void add_mod(Limb* r, const Limb* a, const Limb* b, const Limb* m, std::size_t digits) {
  unsigned carry = 0;
  unsigned borrow = 0;
  for (std::size_t at = 0; at < digits; at += kLimbsPerVector) {
    const Vector sum = add_carry(load(a + at), load(b + at), carry);
    store(r + at, sum);
    sub_borrow(sum, load(m + at), borrow);
  }
  // The sum is m or more if it has a carry out or if subtracting m gives no borrow.
  const auto subtract = static_cast<Mask>(0U - (carry | (1 - borrow)));
  borrow = 0;
  for (std::size_t at = 0; at < digits; at += kLimbsPerVector) {
    store(r + at, sub_borrow(load(r + at), _mm512_maskz_mov_epi64(subtract, load(m + at)), borrow));
  }
}

/// r = table[indices[0]]. Every entry is loaded whole: a masked load could skip the memory that its mask
/// excludes.
void select(Limb* r, const Limb* table, std::size_t entries, std::size_t stride, std::size_t digits,
            const std::uint32_t* indices) {
  const Vector index = _mm512_set1_epi64(static_cast<long long>(indices[0]));
  for (std::size_t at = 0; at < digits; at += kLimbsPerVector) {
    Vector chosen = _mm512_setzero_si512();
    for (std::size_t entry = 0; entry < entries; ++entry) {
      const Vector match =
          _mm512_movm_epi64(_mm512_cmpeq_epi64_mask(index, _mm512_set1_epi64(static_cast<long long>(entry))));
      chosen = _mm512_or_si512(chosen, _mm512_and_si512(match, load(table + entry * stride + at)));
    }
    store(r + at, chosen);
  }
}

/// The same: with one lane, a residue and an element have the same layout.
void select_shared(Limb* r, const Limb* table, std::size_t entries, std::size_t digits,
                   const std::uint32_t* indices) {
  select(r, table, entries, digits, digits, indices);
}

std::size_t scratch_words(std::size_t /*digits*/) { return 0; }

constexpr lanes::Kernels kKernels{
    .lanes = 1,
    .digit_bits = 64,
    .headroom_bits = 0,
    .digit_multiple = kLimbsPerVector,
    .min_digits = kLimbsPerVector,
    .max_digits = kMaxBits / kLimbBits,
    .digit_pair_ns = 0.7,
    .mul = mul,
    .sqr = sqr,
    .add_mod = add_mod,
    .select = select,
    .select_shared = select_shared,
    .scratch_words = scratch_words,
};

}  // namespace

const lanes::Kernels& avx512f_kernels() { return kKernels; }

}  // namespace manymod::vcpc512
