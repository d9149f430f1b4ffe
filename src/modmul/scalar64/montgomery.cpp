// SPDX-License-Identifier: Apache-2.0
#include "modmul/scalar64/montgomery.hpp"

namespace manymod::scalar64 {
namespace {

/// Chunks of a wide operand, at most 30 milliseconds of work, before a request to stop is looked for.
constexpr std::size_t kChunksPerPoll = 256;

/// a = 2 a mod n. On input: a < n.
void double_mod(std::span<Limb> a, std::span<const Limb> n) {
  const Limb carry = limbs::shift_left(a, a, 1);
  limbs::reduce_once(a, n, carry);
}

}  // namespace

void Montgomery::assign(std::span<const Limb> n) {
  limbs_ = n.size();
  data_.require(3 * limbs_ + scratch_limbs(limbs_));
  std::copy(n.begin(), n.end(), data_.data());
  n0_ = word::negated_inverse(n[0]);

  // R mod n, by doubling 2^(b-1), where 2^(b-1) < n < 2^b; then R 2^L mod n by L more doublings.
  const std::size_t bits = limbs::bit_length_var(n);
  const std::span<Limb> power = data_.part(limbs_, limbs_);
  std::fill(power.begin(), power.end(), Limb{0});
  power[(bits - 1) / kLimbBits] = Limb{1} << ((bits - 1) % kLimbBits);
  for (std::size_t i = bits - 1; i < limbs_ * kLimbBits; ++i) double_mod(power, modulus());
  const std::span<Limb> square = data_.part(2 * limbs_, limbs_);
  std::copy(power.begin(), power.end(), square.begin());
  for (std::size_t i = 0; i < limbs_; ++i) double_mod(square, modulus());

  // R 2^L -> R 2^(2L) -> ... -> R 2^(64 L) = R^2 by six Montgomery squarings. For a < n, (a^2 + M n) / R < 2
  // n.
  Limb* scratch = data_.data() + 3 * limbs_;
  for (int i = 0; i < 6; ++i) {
    sqr(square.data(), square.data(), scratch);
    limbs::reduce_once(square, modulus());
  }
}

void Montgomery::to_montgomery(Limb* r, std::span<const Limb> x, bool negative, Limb* scratch,
                               const StopToken& stop) const {
  combine_chunks(r, x, r_squared(), scratch, stop);
  if (negative) limbs::negate_mod({r, limbs_}, {r, limbs_}, modulus());
}

void Montgomery::remainder(Limb* r, std::span<const Limb> x, Limb* scratch) const {
  combine_chunks(r, x, one(), scratch, {});
}

void Montgomery::combine_chunks(Limb* r, std::span<const Limb> x, const Limb* f, Limb* scratch,
                                const StopToken& stop) const {
  // Horner's rule: value = value R + c_i f / R. For c < R and f < n, (c f + M n) / R < 2 n.
  const std::span<Limb> value(r, limbs_);
  const std::span<Limb> digit(scratch + 2 * limbs_, limbs_);
  const std::size_t chunks = (x.size() + limbs_ - 1) / limbs_;
  std::fill(value.begin(), value.end(), Limb{0});
  for (std::size_t i = chunks; i-- > 0;) {
    if (i % kChunksPerPoll == kChunksPerPoll - 1 && stop.requested_now()) return;
    const bool top = i + 1 == chunks;
    if (!top) {
      mul(r, r, r_squared(), scratch);
      limbs::reduce_once(value, modulus());
    }
    const std::span<Limb> chunk = top ? value : digit;
    const std::size_t from = i * limbs_;
    limbs::copy_extend(chunk, x.subspan(from, std::min(limbs_, x.size() - from)));
    mul(chunk.data(), chunk.data(), f, scratch);
    limbs::reduce_once(chunk, modulus());
    if (!top) limbs::add_mod(value, value, digit, modulus());
  }
}

void Montgomery::from_montgomery(Limb* r, const Limb* a, Limb* scratch) const {
  static constexpr Limb kOne[kUnrolledLimbs] = {1};
  if (limbs_ <= kUnrolledLimbs) {
    mul(r, a, kOne, scratch);
    return;
  }
  // (a + M n) / R <= n for a < R, so one subtraction suffices.
  limbs::copy_extend({scratch, 2 * limbs_}, {a, limbs_});
  kernels_->reduce(r, scratch, data_.data(), n0_, limbs_);
  limbs::reduce_once({r, limbs_}, modulus());
}

}  // namespace manymod::scalar64
