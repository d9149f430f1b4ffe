// SPDX-License-Identifier: Apache-2.0
#include "lanes/moduli.hpp"

#include <algorithm>
#include <bit>

#include "arch/scalar/word.hpp"

namespace manymod::lanes {
namespace {

/// Chunks of wide operands, at most some 30 milliseconds of work, before a request to stop is looked for.
constexpr std::size_t kChunksPerPoll = 256;

inline Limb mask_of(unsigned bits) { return bits == kLimbBits ? ~Limb{0} : (Limb{1} << bits) - 1; }

/// Bits [position, position + count) of a, 1 <= count <= 64. Bits beyond the end of a are 0.
inline Limb extract_word(std::span<const Limb> a, std::size_t position, unsigned count) {
  const std::size_t index = position / kLimbBits;
  const auto shift = static_cast<unsigned>(position % kLimbBits);
  if (index >= a.size()) return 0;
  Limb bits = a[index] >> shift;
  if (shift != 0 && index + 1 < a.size()) bits |= a[index + 1] << (kLimbBits - shift);
  return bits & mask_of(count);
}

}  // namespace

void Moduli::assign(std::span<const std::span<const Limb>> moduli, std::size_t digits,
                    limbs::Buffer& scratch) {
  digits_ = digits;
  data_.require(offset(5));
  import_digits(part(0), moduli, part(1));
  for (std::size_t lane = 0; lane < kernels_->lanes; ++lane) {
    part(0)[words() + lane] = word::negated_inverse(moduli[lane][0]) & mask_of(kernels_->digit_bits);
  }
  if (kernels_->prepare != nullptr) kernels_->prepare(part(0), digits_);
  std::fill_n(part(4), words(), Limb{0});
  set_bound();
  std::size_t start = moduli[0].size() * kLimbBits;
  for (const auto& n : moduli) start = std::min(start, limbs::bit_length_var(n) - 1);
  compute_one(start);
  compute_r_squared(start, scratch);
}

void Moduli::set_bound() {
  std::copy_n(part(0), words(), part(3));
  if (kernels_->headroom_bits < 2) return;
  const unsigned w = kernels_->digit_bits;
  for (std::size_t lane = 0; lane < kernels_->lanes; ++lane) {
    Limb carry = 0;
    for (std::size_t at = lane; at < words(); at += kernels_->lanes) {
      const Limb digit = part(0)[at];
      part(3)[at] = ((digit << 1) & mask_of(w)) | carry;
      carry = digit >> (w - 1);
    }
  }
}

/// a = bound - a in the lanes marked `negative`, where bound is 2 n (or n, if elements are fully reduced). On
/// input and output: almost reduced lanes.
void Moduli::negate_lanes(Limb* a, std::span<const bool> negative) const {
  for (std::size_t lane = 0; lane < kernels_->lanes; ++lane) {
    if (!negative[lane]) continue;
    Limb borrow = 0;
    for (std::size_t at = lane; at < words(); at += kernels_->lanes) {
      const Limb difference = word::sub_borrow(part(3)[at], a[at], borrow);
      a[at] = difference & mask_of(kernels_->digit_bits);
    }
  }
  kernels_->add_mod(a, a, part(4), part(3), digits_);
}

void Moduli::compute_one(std::size_t start) {
  // R mod n from 2^start.
  const unsigned w = kernels_->digit_bits;
  Limb* power = part(1);
  std::fill_n(power, words(), Limb{0});
  for (std::size_t lane = 0; lane < kernels_->lanes; ++lane) {
    power[start / w * kernels_->lanes + lane] = Limb{1} << (start % w);
  }
  if (can_shift(start)) {
    kernels_->shift_mod(power, part(0), digits_, digits_ * w - start);
    return reduce(power, power);
  }
  for (std::size_t i = start; i < digits_ * w; ++i) double_mod(power, part(0));
}

void Moduli::compute_r_squared(std::size_t start, limbs::Buffer& scratch) {
  const std::size_t exponent = digits_ * kernels_->digit_bits;
  Limb* square = part(2);
  std::copy_n(part(1), words(), square);
  if (can_shift(start)) {
    kernels_->shift_mod(square, part(0), digits_, exponent);
    return reduce(square, square);
  }
  // R^2 mod n is 2^(w L) in Montgomery form: a left-to-right power of 2, whose leading exponent bits are done
  // by doubling.
  constexpr unsigned kLeadingBits = 4;
  const auto length = static_cast<unsigned>(std::bit_width(exponent));
  const unsigned rest = length > kLeadingBits ? length - kLeadingBits : 0;
  scratch.require(kernels_->scratch_words(digits_));
  for (std::size_t i = 0; i < exponent >> rest; ++i) double_mod(square, part(0));
  for (unsigned bit = rest; bit-- > 0;) {
    sqr(square, square, scratch.data());
    if (((exponent >> bit) & 1) != 0) double_mod(square, part(3));
  }
  reduce(square, square);
}

void Moduli::reduce(Limb* r, const Limb* a) const {
  kernels_->add_mod(r, a, part(4), part(3), digits_);
  kernels_->add_mod(r, r, part(4), part(0), digits_);
}

void Moduli::import_chunk(Limb* r, std::span<const std::span<const Limb>> x, std::size_t from_bit) const {
  const unsigned w = kernels_->digit_bits;
  for (std::size_t lane = 0; lane < kernels_->lanes; ++lane) {
    for (std::size_t d = 0; d < digits_; ++d) {
      r[d * kernels_->lanes + lane] = extract_word(x[lane], from_bit + d * w, w);
    }
  }
}

void Moduli::import_digits(Limb* r, std::span<const std::span<const Limb>> x, Limb* spare) const {
  if (kernels_->to_digits == nullptr) return import_chunk(r, x, 0);
  const std::size_t lanes = kernels_->lanes;
  std::size_t count = 0;
  for (const auto& magnitude : x) count = std::max(count, magnitude.size());
  count = std::min(count, limbs_for_bits(digits_ * kernels_->digit_bits));
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    const std::size_t own = std::min(count, x[lane].size());
    for (std::size_t i = 0; i < own; ++i) spare[i * lanes + lane] = x[lane][i];
    for (std::size_t i = own; i < count; ++i) spare[i * lanes + lane] = 0;
  }
  kernels_->to_digits(r, spare, count, digits_);
}

void Moduli::export_limbs(Limb* limbs, std::size_t limb_count, const Limb* a) const {
  if (kernels_->from_digits != nullptr) return kernels_->from_digits(limbs, limb_count, a, digits_);
  for (std::size_t lane = 0; lane < kernels_->lanes; ++lane) export_lane(limbs, limb_count, a, lane);
}

void Moduli::export_lane(Limb* limbs, std::size_t limb_count, const Limb* a, std::size_t lane) const {
  const unsigned w = kernels_->digit_bits;
  const std::size_t lanes = kernels_->lanes;
  for (std::size_t i = 0; i < limb_count; ++i) limbs[i * lanes + lane] = 0;
  std::size_t position = 0;
  for (std::size_t d = 0; d < digits_; ++d, position += w) {
    const Limb digit = a[d * lanes + lane];
    const std::size_t index = position / kLimbBits;
    const auto shift = static_cast<unsigned>(position % kLimbBits);
    if (index >= limb_count) return;
    limbs[index * lanes + lane] |= digit << shift;
    if (shift + w > kLimbBits && index + 1 < limb_count) {
      limbs[(index + 1) * lanes + lane] |= digit >> (kLimbBits - shift);
    }
  }
}

void Moduli::to_montgomery(Limb* r, std::span<const std::span<const Limb>> x, std::span<const bool> negative,
                           Limb* scratch, const StopToken& stop) const {
  // Horner's rule over chunks below R, most significant first, as in technique scalar64.
  const std::size_t chunk_bits = digits_ * kernels_->digit_bits;
  std::size_t size = 0;
  for (const auto& magnitude : x) size = std::max(size, magnitude.size());
  const std::size_t chunks = (size * kLimbBits + chunk_bits - 1) / chunk_bits;
  Limb* chunk = scratch + spare_offset();
  std::fill_n(r, words(), Limb{0});
  for (std::size_t i = chunks; i-- > 0;) {
    if (i % kChunksPerPoll == kChunksPerPoll - 1 && stop.requested_now()) return;
    if (i == 0) {
      import_digits(chunk, x, scratch);
    } else {
      import_chunk(chunk, x, i * chunk_bits);
    }
    mul(chunk, chunk, part(2), scratch);
    if (i + 1 < chunks) mul(r, r, part(2), scratch);
    kernels_->add_mod(r, r, chunk, part(3), digits_);
  }
  if (std::find(negative.begin(), negative.end(), true) == negative.end()) return;
  negate_lanes(r, negative);
}

void Moduli::from_montgomery(Limb* r, const Limb* a, Limb* scratch) const {
  // For a < R, (a + q n) / R <= n, so one subtraction suffices.
  Limb* unit = scratch + spare_offset();
  std::fill_n(unit, words(), Limb{0});
  std::fill_n(unit, kernels_->lanes, Limb{1});
  mul(r, a, unit, scratch);
  kernels_->add_mod(r, r, part(4), part(0), digits_);
}

}  // namespace manymod::lanes
