// SPDX-License-Identifier: Apache-2.0
#include "modmul/ifma52/row.hpp"

// GCC 12 warns about undefined pass-through operands in its own header (GCC bug 105593).
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ < 13
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <immintrin.h>

#include "lanes/digit_loops.hpp"

namespace manymod::ifma52 {
namespace {

using Vector = __m512i;
using Mask = __mmask8;
__extension__ using Wide = unsigned __int128;

constexpr unsigned kDigitBits = 52;
constexpr Limb kDigitMask = (Limb{1} << kDigitBits) - 1;
constexpr std::size_t kDigitsPerVector = 8;
/// Up to this many vectors the multiplication is unrolled, and its numbers stay in registers as far as they
/// fit.
constexpr std::size_t kUnrolledVectors = 10;
constexpr std::size_t kMaxVectors = 40;
/// The product of the first digit, one round by the friendly multiple m, and two rounds by n.
constexpr std::size_t kMinDigits = 4;

#define MANYMOD_INLINE [[gnu::always_inline]] inline
#if defined(__clang__)
#define MANYMOD_UNROLL _Pragma("unroll")
#else
#define MANYMOD_UNROLL _Pragma("GCC unroll 10")
#endif

MANYMOD_INLINE Vector zero() { return _mm512_setzero_si512(); }
MANYMOD_INLINE Vector broadcast(Limb x) { return _mm512_set1_epi64(static_cast<long long>(x)); }
/// sum + the low (high) 52 bits of the product of the low 52 bits of x and y, digit by digit.
MANYMOD_INLINE Vector add_low(Vector sum, Vector x, Vector y) { return _mm512_madd52lo_epu64(sum, x, y); }
MANYMOD_INLINE Vector add_high(Vector sum, Vector x, Vector y) { return _mm512_madd52hi_epu64(sum, x, y); }
/// The lowest digit of x, in all elements.
MANYMOD_INLINE Vector lowest(Vector x) { return _mm512_broadcastq_epi64(_mm512_castsi512_si128(x)); }

/// V for L digits.
constexpr std::size_t vectors(std::size_t digits) {
  return (digits + kDigitsPerVector - 1) / kDigitsPerVector;
}

/// The mask of the digits in vector v of an element of `digits` digits.
MANYMOD_INLINE Mask present(std::size_t v, std::size_t digits) {
  const std::size_t left = digits - v * kDigitsPerVector;
  return left >= kDigitsPerVector ? Mask{0xff} : static_cast<Mask>((1U << left) - 1);
}

/// V vectors of digits, each with headroom above its 52 bits.
template <int V>
struct Number {
  Vector v[V];

  /// Digits beyond `digits` are 0 and their memory is not accessed.
  MANYMOD_INLINE static Number load(const Limb* from, std::size_t digits) {
    Number x;
    MANYMOD_UNROLL
    for (int i = 0; i < V; ++i) {
      x.v[i] = _mm512_maskz_loadu_epi64(present(static_cast<std::size_t>(i), digits), from + 8 * i);
    }
    return x;
  }

  /// Vector i of this number divided by W (its lowest digit is dropped).
  MANYMOD_INLINE Vector shifted(int i) const {
    return _mm512_alignr_epi64(i + 1 < V ? v[i + 1 < V ? i + 1 : i] : zero(), v[i], 1);
  }

  /// The carry out of the lowest digit, at the position of the next digit after the shift.
  MANYMOD_INLINE Vector lowest_carry() const { return _mm512_maskz_srli_epi64(1, v[0], kDigitBits); }
};

/// Stores numbers with exact digits, from the lowest vector up. On input: the number is below R, and its
/// words below 2^63 (L <= 320 digits, each the sum of at most 4 L low and high halves and a carry). Adding
/// each digit's carry to the next digit once leaves digits below W + 2^11. The remaining carries are single
/// bits; one scalar addition of masks resolves them, with `generate` the digits that generate a carry and
/// `propagate` those that propagate one.
class ExactStore {
 public:
  /// r[8 i ..] = vector i of the number.
  MANYMOD_INLINE void store(Limb* r, std::size_t i, Vector t, std::size_t digits) {
    const Vector mask = broadcast(kDigitMask);
    const Vector carries = _mm512_srli_epi64(t, kDigitBits);
    const Vector digit = _mm512_add_epi64(_mm512_and_si512(t, mask), _mm512_alignr_epi64(carries, below_, 7));
    below_ = carries;
    const unsigned generate = _mm512_cmpgt_epu64_mask(digit, mask);
    const unsigned propagate = _mm512_cmpeq_epi64_mask(digit, mask);
    const unsigned sum = propagate + ((generate << 1) | carry_);
    carry_ = sum >> kDigitsPerVector;
    const Vector exact =
        _mm512_mask_add_epi64(digit, static_cast<Mask>(sum ^ propagate), digit, broadcast(1));
    _mm512_mask_storeu_epi64(r + 8 * i, present(i, digits), _mm512_and_si512(exact, mask));
  }

 private:
  Vector below_ = zero();
  unsigned carry_ = 0;
};

/// r = t with exact digits.
template <int V>
MANYMOD_INLINE void store_exact(Limb* r, const Number<V>& t, std::size_t digits) {
  ExactStore exact;
  MANYMOD_UNROLL
  for (int i = 0; i < V; ++i) exact.store(r, static_cast<std::size_t>(i), t.v[i], digits);
}

/// A round by n itself: q = t k0 mod W; t = (t + low(n q)) / W + next + high(n q), where low and high act
/// digit by digit.
template <int V>
MANYMOD_INLINE void ordinary_round(Number<V>& t, const Number<V>& next, const Number<V>& n, Vector k0) {
  const Vector q = lowest(add_low(zero(), t.v[0], k0));
  MANYMOD_UNROLL
  for (int i = 0; i < V; ++i) t.v[i] = add_low(t.v[i], n.v[i], q);
  const Vector carry = t.lowest_carry();
  MANYMOD_UNROLL
  for (int i = 0; i < V; ++i) t.v[i] = _mm512_add_epi64(t.shifted(i), add_high(next.v[i], n.v[i], q));
  t.v[0] = _mm512_add_epi64(t.v[0], carry);
}

/// r = a b / R mod n; ranges as in row.hpp. Invariant at the start of round i: t holds all products of weight
/// W^i or more, except the low halves of A b_i and the high halves of earlier rounds; `next` adds these.
template <int V>
void multiply(Limb* r, const Limb* a, const Limb* b, const Limb* modulus, std::size_t digits) {
  const Number<V> x = Number<V>::load(a, digits);
  const Number<V> friendly = Number<V>::load(modulus + digits + 1, digits);
  Number<V> t;
  Number<V> next;
  Vector digit = broadcast(b[0]);
  MANYMOD_UNROLL
  for (int i = 0; i < V; ++i) t.v[i] = add_low(zero(), x.v[i], digit);
  Vector previous_quotient = zero();
  Vector quotient = lowest(t.v[0]);
  for (std::size_t round = 1; round + 1 < digits; ++round) {
    const Vector next_digit = broadcast(b[round]);
    MANYMOD_UNROLL
    for (int i = 0; i < V; ++i) {
      next.v[i] = add_high(add_low(zero(), x.v[i], next_digit), x.v[i], digit);
      next.v[i] = add_high(next.v[i], friendly.v[i], previous_quotient);
    }
    next.v[0] = _mm512_add_epi64(next.v[0], t.lowest_carry());
    MANYMOD_UNROLL
    for (int i = 0; i < V; ++i) {
      t.v[i] = add_low(_mm512_add_epi64(t.shifted(i), next.v[i]), friendly.v[i], quotient);
    }
    digit = next_digit;
    previous_quotient = quotient;
    quotient = lowest(t.v[0]);
  }

  const Number<V> n = Number<V>::load(modulus, digits);
  const Vector k0 = broadcast(modulus[digits]);
  const Vector top_digit = broadcast(b[digits - 1]);
  MANYMOD_UNROLL
  for (int i = 0; i < V; ++i) {
    next.v[i] = add_high(add_low(zero(), x.v[i], top_digit), x.v[i], digit);
    next.v[i] = add_high(next.v[i], friendly.v[i], previous_quotient);
  }
  ordinary_round(t, next, n, k0);
  MANYMOD_UNROLL
  for (int i = 0; i < V; ++i) next.v[i] = add_high(zero(), x.v[i], top_digit);
  ordinary_round(t, next, n, k0);
  store_exact(r, t, digits);
}

/// A number of up to kMaxVectors vectors in memory, with a vector of zeros behind it.
struct LongNumber {
  Vector v[kMaxVectors + 1];

  /// Digits beyond `digits` are 0 and their memory is not accessed.
  MANYMOD_INLINE void load(const Limb* from, std::size_t count, std::size_t digits) {
    for (std::size_t i = 0; i < count; ++i) v[i] = _mm512_maskz_loadu_epi64(present(i, digits), from + 8 * i);
    v[count] = zero();
  }
};

/// ordinary_round, where next(i) is vector i of `next`.
template <class Next>
MANYMOD_INLINE void ordinary_long_round(LongNumber& t, const LongNumber& n, Vector k0, std::size_t count,
                                        Next next) {
  const Vector q = lowest(add_low(zero(), t.v[0], k0));
  Vector current = add_low(t.v[0], n.v[0], q);
  Vector carry = _mm512_maskz_srli_epi64(1, current, kDigitBits);
  for (std::size_t i = 0; i < count; ++i) {
    const Vector above = add_low(t.v[i + 1], n.v[i + 1], q);
    const Vector sum = _mm512_add_epi64(_mm512_alignr_epi64(above, current, 1), carry);
    t.v[i] = _mm512_add_epi64(sum, add_high(next(i), n.v[i], q));
    current = above;
    carry = zero();
  }
}

/// `multiply` for numbers that the registers do not hold: one pass over them in each round.
void multiply_long(Limb* r, const Limb* a, const Limb* b, const Limb* modulus, std::size_t digits) {
  const std::size_t count = vectors(digits);
  LongNumber x;
  LongNumber m;
  LongNumber t;
  x.load(a, count, digits);
  m.load(modulus + digits + 1, count, digits);
  Vector digit = broadcast(b[0]);
  for (std::size_t i = 0; i < count; ++i) t.v[i] = add_low(zero(), x.v[i], digit);
  t.v[count] = zero();
  Vector previous_quotient = zero();
  // One round: t = (t + q m') / W + low(x next_digit) + high(x digit) + high(m' previous quotient).
  const auto round = [&](Vector next_digit, Vector quotient) {
    Vector current = t.v[0];
    Vector carry = _mm512_maskz_srli_epi64(1, current, kDigitBits);
#pragma GCC unroll 4
    for (std::size_t i = 0; i < count; ++i) {
      const Vector above = t.v[i + 1];
      Vector sum = _mm512_add_epi64(_mm512_alignr_epi64(above, current, 1), carry);
      sum = add_high(add_low(sum, x.v[i], next_digit), x.v[i], digit);
      t.v[i] = add_low(add_high(sum, m.v[i], previous_quotient), m.v[i], quotient);
      current = above;
      carry = zero();
    }
    digit = next_digit;
    previous_quotient = quotient;
  };
  for (std::size_t i = 1; i + 1 < digits; ++i) round(broadcast(b[i]), lowest(t.v[0]));

  const Vector top_digit = broadcast(b[digits - 1]);
  LongNumber n;
  n.load(modulus, count, digits);
  const Vector k0 = broadcast(modulus[digits]);
  ordinary_long_round(t, n, k0, count, [&](std::size_t i) {
    const Vector products = add_high(add_low(zero(), x.v[i], top_digit), x.v[i], digit);
    return add_high(products, m.v[i], previous_quotient);
  });
  ordinary_long_round(t, n, k0, count, [&](std::size_t i) { return add_high(zero(), x.v[i], top_digit); });
  ExactStore exact;
  for (std::size_t i = 0; i < count; ++i) exact.store(r, i, t.v[i], digits);
}

using Multiply = void (*)(Limb*, const Limb*, const Limb*, const Limb*, std::size_t);
constexpr Multiply kByVectors[kUnrolledVectors + 1] = {nullptr,     multiply<1>, multiply<2>, multiply<3>,
                                                       multiply<4>, multiply<5>, multiply<6>, multiply<7>,
                                                       multiply<8>, multiply<9>, multiply<10>};

// The functions of lanes::Kernels; see there and row.hpp.
void mul(Limb* r, const Limb* a, const Limb* b, const Limb* modulus, std::size_t digits, Limb* /*scratch*/) {
  if (vectors(digits) <= kUnrolledVectors) {
    kByVectors[vectors(digits)](r, a, b, modulus, digits);
  } else {
    multiply_long(r, a, b, modulus, digits);
  }
}

/// r = a^2 / R mod n by multiplication. Omitting the products a_i a_j, j < i, of a row would save whole
/// vectors only, and doubling the others costs as much for V <= 5.
void sqr(Limb* r, const Limb* a, const Limb* modulus, std::size_t digits, Limb* scratch) {
  mul(r, a, a, modulus, digits, scratch);
}

/// r = table[indices[0]]. Every entry is loaded whole; no load's mask depends on the index.
void select(Limb* r, const Limb* table, std::size_t entries, std::size_t stride, std::size_t digits,
            const std::uint32_t* indices) {
  const Vector index = broadcast(indices[0]);
  for (std::size_t v = 0; v < vectors(digits); ++v) {
    const Mask mask = present(v, digits);
    const Limb* from = table + v * kDigitsPerVector;
    Vector chosen = zero();
    for (std::size_t entry = 0; entry < entries; ++entry, from += stride) {
      const Vector match = _mm512_movm_epi64(_mm512_cmpeq_epi64_mask(index, broadcast(entry)));
      chosen = _mm512_or_si512(chosen, _mm512_and_si512(match, _mm512_maskz_loadu_epi64(mask, from)));
    }
    _mm512_mask_storeu_epi64(r + v * kDigitsPerVector, mask, chosen);
  }
}

/// The same: with one lane, a residue and an element have the same layout.
void select_shared(Limb* r, const Limb* table, std::size_t entries, std::size_t digits,
                   const std::uint32_t* indices) {
  select(r, table, entries, digits, digits, indices);
}

std::size_t scratch_words(std::size_t /*digits*/) { return 0; }

std::size_t modulus_words(std::size_t digits) { return digits + 1 + vectors(digits) * kDigitsPerVector; }

/// Kernels::prepare: m' = (n k0 + 1) / W. Its digits are the digits of n k0 + 1 from the second on; the first
/// is 0.
void prepare(Limb* modulus, std::size_t digits) {
  const Limb k0 = modulus[digits];
  Limb* friendly = modulus + digits + 1;
  Wide carry = (Wide{modulus[0]} * k0 + 1) >> kDigitBits;
  for (std::size_t i = 1; i < digits; ++i) {
    carry += Wide{modulus[i]} * k0;
    friendly[i - 1] = static_cast<Limb>(carry) & kDigitMask;
    carry >>= kDigitBits;
  }
  friendly[digits - 1] = static_cast<Limb>(carry);
  for (std::size_t i = digits; i < vectors(digits) * kDigitsPerVector; ++i) friendly[i] = 0;
}

struct RowTag;
using Loops = lanes::DigitLoops<RowTag, 1, kDigitBits>;

constexpr lanes::Kernels make_row_kernels() {
  lanes::Kernels kernels;
  kernels.lanes = 1;
  kernels.digit_bits = kDigitBits;
  kernels.headroom_bits = 3;
  kernels.min_digits = kMinDigits;
  kernels.max_digits = kMaxVectors * kDigitsPerVector;
  kernels.digit_pair_ns = 0.15;
  kernels.mul = mul;
  kernels.sqr = sqr;
  kernels.add_mod = Loops::add_mod;
  kernels.select = select;
  kernels.select_shared = select_shared;
  kernels.scratch_words = scratch_words;
  kernels.paired_digits = 32;
  kernels.modulus_words = modulus_words;
  kernels.prepare = prepare;
  return kernels;
}

constexpr lanes::Kernels kRowKernels = make_row_kernels();

}  // namespace

const lanes::Kernels& row_kernels() { return kRowKernels; }

}  // namespace manymod::ifma52
