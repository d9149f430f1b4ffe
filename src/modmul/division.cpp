// SPDX-License-Identifier: Apache-2.0
#include "modmul/division.hpp"

#include <bit>
#include <iterator>

namespace manymod {
namespace {

using word::Wide;

/// The high and the low limb of x, and h B + l with B = 2^64.
Limb high(Wide x) { return static_cast<Limb>(x >> kLimbBits); }
Limb low(Wide x) { return static_cast<Limb>(x); }
Wide join(Limb h, Limb l) { return (Wide{h} << kLimbBits) | l; }

/// On input: B/2 <= d < B, B = 2^64. On output: floor((B^2 - 1) / d) - B.
Limb reciprocal_of_one_limb(Limb d) { return low(join(~d, ~Limb{0}) / d); }

/// On input: B/2 <= d1 < B, d0 < B. On output: floor((B^3 - 1) / (d1 B + d0)) - B (Moller and Granlund 2011,
/// algorithm 6).
Limb reciprocal_of_two_limbs(Limb d1, Limb d0) {
  Limb v = reciprocal_of_one_limb(d1);
  Limb p = d1 * v + d0;
  if (p < d0) {
    --v;
    if (p >= d1) {
      --v;
      p -= d1;
    }
    p -= d1;
  }
  const Wide t = Wide{v} * d0;
  p += high(t);
  if (p < high(t)) {
    --v;
    if (join(p, low(t)) >= join(d1, d0)) --v;
  }
  return v;
}

/// On input: B/2 <= d1, u2 B + u1 < d1 B + d0, v = reciprocal_of_two_limbs(d1, d0). On output: floor((u2 B^2
/// + u1 B + u0) / (d1 B + d0)) (Moller and Granlund 2011, algorithm 5).
Limb quotient_three_by_two(Limb u2, Limb u1, Limb u0, Limb d1, Limb d0, Limb v) {
  const Wide q = Wide{v} * u2 + join(u2, u1);
  Limb q1 = high(q);
  const Limb r1 = u1 - q1 * d1;
  Wide r = join(r1, u0) - Wide{d0} * q1 - join(d1, d0);
  ++q1;
  if (high(r) >= low(q)) {
    --q1;
    r += join(d1, d0);
  }
  return r >= join(d1, d0) ? q1 + 1 : q1;
}

/// u[0..size] -= q d, computed as += q (2^(64 size) - d) - q 2^(64 size): this takes one carry chain, where
/// the direct form takes a carry and a borrow.
///
/// On input: complement[0..size) = 2^(64 size) - d. On output: u[size] = 2^64 - 1 if the difference is
/// negative, else 0.
inline void subtract_product(Limb* u, const Limb* complement, std::size_t size, Limb q) {
  Limb carry = 0;
#pragma GCC unroll 8
  for (std::size_t i = 0; i < size; ++i) u[i] = word::multiply_add(u[i], complement[i], q, carry);
  u[size] += carry - q;
}

/// Long division (Knuth, The Art of Computer Programming 2, section 4.3.1, algorithm D): dividend[0..size) =
/// dividend[0..steps + size) mod d.
///
/// On input: the top `size` limbs of the dividend are less than d; d has its top bit set and is followed by
/// its complement 2^(64 size) - d. `Size` is the limb count as a compile-time constant; if it is 0, `limbs`
/// is used. On output: the limbs above dividend[size - 1] are destroyed. Timing: variable.
template <std::size_t Size>
void divide(Limb* dividend, std::size_t steps, const Limb* d, std::size_t limbs, Limb reciprocal) {
  const std::size_t size = Size != 0 ? Size : limbs;
  const Limb d1 = d[size - 1];
  const Limb d0 = d[size - 2];
  for (std::size_t j = steps; j-- > 0;) {
    Limb* window = dividend + j;
    const Limb u2 = window[size];
    const Limb u1 = window[size - 1];
    MANYMOD_VERIFY_RANGE(u2 < d1 || (u2 == d1 && u1 <= d0));
    const Limb q = (u2 == d1 && u1 >= d0)
                       ? ~Limb{0}
                       : quotient_three_by_two(u2, u1, window[size - 2], d1, d0, reciprocal);
    subtract_product(window, d + size, size, q);
    if (window[size] != 0) window[size] += limbs::add({window, size}, {window, size}, {d, size});
  }
  MANYMOD_VERIFY_RANGE(limbs::less({dividend, size}, {d, size}) == 1);
}

/// Products of limbs, some milliseconds of work, before a request to stop is looked for.
constexpr std::size_t kProductsPerPoll = std::size_t{1} << 22;

using Divide = void (*)(Limb*, std::size_t, const Limb*, std::size_t, Limb);
constexpr Divide kDivideUnrolled[] = {nullptr,   nullptr,   divide<2>, divide<3>, divide<4>,
                                      divide<5>, divide<6>, divide<7>, divide<8>};

}  // namespace

void Divisor::assign(std::span<const Limb> n) {
  limbs_ = n.size();
  shift_ = static_cast<unsigned>(std::countl_zero(n[limbs_ - 1]));
  shifted_.require(2 * limbs_);
  limbs::shift_left(shifted_.first(limbs_), n, shift_);
  Limb borrow = 0;
  for (std::size_t i = 0; i < limbs_; ++i) {
    shifted_.data()[limbs_ + i] = word::sub_borrow(0, shifted_.data()[i], borrow);
  }
  const Limb top = shifted_.data()[limbs_ - 1];
  reciprocal_ =
      limbs_ == 1 ? reciprocal_of_one_limb(top) : reciprocal_of_two_limbs(top, shifted_.data()[limbs_ - 2]);
}

Limb Divisor::remainder_one_limb(std::span<const Limb> u) const {
  const Limb d = shifted_.data()[0];
  Limb r = shift_ == 0 ? 0 : u.back() >> (kLimbBits - shift_);
  for (std::size_t i = u.size(); i-- > 0;) {
    const Limb below = i > 0 && shift_ != 0 ? u[i - 1] >> (kLimbBits - shift_) : 0;
    const Limb limb = (u[i] << shift_) | below;
    // Division of two limbs by one (Moller and Granlund 2011, algorithm 4).
    const Wide q = Wide{reciprocal_} * r + join(r, limb);
    const Limb quotient = high(q) + 1;
    r = limb - quotient * d;
    if (r > low(q)) r += d;
    if (r >= d) r -= d;
  }
  return r >> shift_;
}

void Divisor::remainder_var(std::span<Limb> r, std::span<const Limb> u, Limb* scratch,
                            const StopToken& stop) const {
  u = u.first(limbs::normalized_size_var(u));
  if (u.size() < limbs_) {
    limbs::copy_extend(r, u);
    return;
  }
  if (limbs_ == 1) {
    r[0] = remainder_one_limb(u);
    return;
  }
  scratch[u.size()] = limbs::shift_left({scratch, u.size()}, u, shift_);
  const Divide routine = limbs_ < std::size(kDivideUnrolled) ? kDivideUnrolled[limbs_] : divide<0>;
  const std::size_t steps_per_poll = std::max<std::size_t>(1, kProductsPerPoll / limbs_);
  for (std::size_t steps = u.size() - limbs_ + 1; steps != 0;) {
    const std::size_t part = std::min(steps, steps_per_poll);
    steps -= part;
    routine(scratch + steps, part, shifted_.data(), limbs_, reciprocal_);
    if (steps != 0 && stop.requested_now()) return std::fill(r.begin(), r.end(), Limb{0});
  }
  limbs::shift_right_bits(r, {scratch, limbs_}, shift_);
}

}  // namespace manymod
