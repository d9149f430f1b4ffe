// SPDX-License-Identifier: Apache-2.0
#include "modmul/constant_time_division.hpp"

#include <algorithm>
#include <bit>

#include "arch/scalar/word.hpp"

namespace manymod {
namespace {

using word::Wide;

Limb upper_limb(Wide x) { return static_cast<Limb>(x >> kLimbBits); }
Limb lower_limb(Wide x) { return static_cast<Limb>(x); }

/// 1 if a < b, else 0.
Limb less_bit(Limb a, Limb b) {
  Limb borrow = 0;
  word::sub_borrow(a, b, borrow);
  return borrow;
}

/// On input: B/2 <= d < B, B = 2^64. On output: floor((B^2 - 1) / d) - B, bit by bit, as the processor's
/// division takes a time that depends on d. (B^2 - 1) - B d = (B - 1 - d) B + (B - 1), and B - 1 - d < d.
Limb reciprocal_of(Limb d) {
  Limb rest = ~d, quotient = 0;
  for (unsigned bit = 0; bit < kLimbBits; ++bit) {
    const Limb carry = rest >> (kLimbBits - 1);
    rest = rest << 1 | 1;
    const Limb subtracts = carry | (less_bit(rest, d) ^ 1);
    rest -= d & word::mask_from_bit(subtracts);
    quotient = quotient << 1 | subtracts;
  }
  return quotient;
}

/// Limbs before a request to stop is looked for, each of which takes a pass over n.
constexpr std::size_t kLimbsPerPoll = 4096;

}  // namespace

void ConstantTimeDivisor::assign(std::span<const Limb> n) {
  n_ = n;
  shift_ = static_cast<unsigned>(std::countl_zero(n.back()));
  words_.require(2);
  words_.data()[0] = shifted(n.back(), n.size() > 1 ? n[n.size() - 2] : 0);
  words_.data()[1] = reciprocal_of(top());
}

/// The upper limb of {high, low} 2^shift mod B^2.
Limb ConstantTimeDivisor::shifted(Limb high_limb, Limb low_limb) const {
  return shift_ == 0 ? high_limb : high_limb << shift_ | low_limb >> (kLimbBits - shift_);
}

/// min(B - 1, floor((u1 B + u0) / top())). On input: u1 <= top(). Moller and Granlund 2011, algorithm 4, with
/// masks for branches.
Limb ConstantTimeDivisor::quotient(Limb u1, Limb u0) const {
  const Wide estimate = Wide{reciprocal()} * u1 + ((Wide{u1} << kLimbBits) | u0);
  Limb q = upper_limb(estimate) + 1;
  Limb rest = u0 - q * top();
  const Limb too_large = less_bit(lower_limb(estimate), rest);
  q -= too_large;
  rest += top() & word::mask_from_bit(too_large);
  q += less_bit(rest, top()) ^ 1;
  return q | word::mask_from_bit(word::is_zero_bit(u1 ^ top()));
}

/// r = (over 2^(64 L) + r) mod n. On input: that number is below 2^64 n.
///
/// Shifted by shift_ it has u1 <= top() as its limb L. The quotient digit q of its limbs L and L - 1 by top()
/// is at most 2 too large (Knuth, The Art of Computer Programming 2, section 4.3.1, theorem B), so that what
/// q n leaves is at least -2 n.
void ConstantTimeDivisor::reduce(std::span<Limb> r, Limb over) const {
  const std::size_t size = n_.size();
  const Limb q = quotient(shifted(over, r[size - 1]), shifted(r[size - 1], size > 1 ? r[size - 2] : 0));
  Limb carry = 0, borrow = 0;
  for (std::size_t i = 0; i < size; ++i) {
    r[i] = word::sub_borrow(r[i], word::multiply_add(0, n_[i], q, carry), borrow);
  }
  over -= carry + borrow;
  for (unsigned i = 0; i < 2; ++i) over += limbs::add_if(r, r, n_, over >> (kLimbBits - 1));
  MANYMOD_VERIFY_RANGE(over == 0 && limbs::less(r, n_) == 1);
}

void ConstantTimeDivisor::remainder(std::span<Limb> r, std::span<const Limb> x, bool negative,
                                    const StopToken& stop) const {
  const std::size_t size = n_.size();
  if (x.size() < size) {  // x < 2^(64 (L - 1)) <= n
    limbs::copy_extend(r, x);
  } else {
    std::size_t next = x.size() - size;
    std::ranges::copy(x.subspan(next), r.begin());
    reduce(r, 0);
    while (next-- > 0) {
      if (next % kLimbsPerPoll == 0 && stop.requested_now()) return;
      const Limb over = r[size - 1];
      std::copy_backward(r.begin(), r.end() - 1, r.end());
      r[0] = x[next];
      reduce(r, over);
    }
  }
  if (negative) limbs::negate_mod(r, r, n_);
}

}  // namespace manymod
