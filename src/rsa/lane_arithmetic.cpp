// SPDX-License-Identifier: Apache-2.0
#include "rsa/lane_arithmetic.hpp"

#include <algorithm>
#include <array>
#include <span>

#include "modexp/monoid.hpp"

namespace manymod::rsa {

std::size_t LaneArithmetic::scratch_limbs() const { return element_offset() + 2 * words(); }

BlindingPair LaneArithmetic::fresh_pair(unsigned uses) const {
  const std::size_t limbs = single_.modulo_n().limbs();
  limbs::Buffer scratch(std::max(scratch_limbs(), single_.scratch_limbs()));
  limbs::Buffer factors(lanes() * limbs);
  limbs::Buffer inverses(lanes() * limbs);
  std::array<std::span<const Limb>, kMaxLanes> factor_rows;
  std::array<std::span<const Limb>, kMaxLanes> inverse_rows;
  for (std::size_t lane = 0; lane < lanes(); ++lane) {
    const BlindingPair pair = single_.fresh_pair(1);
    Limb* factor = factors.data() + lane * limbs;
    Limb* inverse = inverses.data() + lane * limbs;
    single_.modulo_n().from_montgomery(factor, pair.factor.data(), scratch.data());
    single_.modulo_n().from_montgomery(inverse, pair.inverse.data(), scratch.data());
    factor_rows[lane] = {factor, limbs};
    inverse_rows[lane] = {inverse, limbs};
  }
  BlindingPair pair{limbs::Buffer(words()), limbs::Buffer(words()), uses};
  n_.to_montgomery(pair.factor.data(), std::span(factor_rows).first(lanes()), {}, scratch.data());
  n_.to_montgomery(pair.inverse.data(), std::span(inverse_rows).first(lanes()), {}, scratch.data());
  return pair;
}

void LaneArithmetic::square(BlindingPair& pair, Limb* scratch) const {
  n_.sqr(pair.factor.data(), pair.factor.data(), scratch);
  n_.sqr(pair.inverse.data(), pair.inverse.data(), scratch);
}

void LaneArithmetic::multiply(Limb* r, const Limb* x, const Limb* factor, Limb* scratch) const {
  const std::size_t limbs = single_.modulo_n().limbs();
  Limb* element = scratch + element_offset();
  Limb* spare = element + words();
  std::array<std::span<const Limb>, kMaxLanes> rows;
  for (std::size_t lane = 0; lane < lanes(); ++lane) rows[lane] = {x + lane * limbs, limbs};
  n_.import_digits(element, std::span(rows).first(lanes()), spare);
  // x < R and factor < 2n give x factor / R + n < 3n.
  n_.mul(element, element, factor, scratch);
  n_.reduce(element, element);
  n_.export_limbs(spare, limbs, element);
  for (std::size_t lane = 0; lane < lanes(); ++lane) {
    for (std::size_t i = 0; i < limbs; ++i) r[lane * limbs + i] = spare[i * lanes() + lane];
  }
}

}  // namespace manymod::rsa
