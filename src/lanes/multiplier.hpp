// SPDX-License-Identifier: Apache-2.0
// One or more vectors of lanes as a monoid in the sense of modexp/monoid.hpp.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "lanes/moduli.hpp"
#include "modexp/monoid.hpp"

namespace manymod::lanes {

/// The elements of `vectors` vectors side by side: lane v G + l is lane l of vector v. Two vectors at a time
/// fill the gaps that dependent steps of short multiplications leave in the pipelines. Models
/// SelectingMonoid, whose functions it implements under the same names.
class Multiplier {
 public:
  /// On input: one Moduli object for each vector, all with the same digit count; the array and the objects
  /// must outlive this object. scratch: Moduli::scratch_words().
  Multiplier(std::span<const Moduli* const> moduli, Limb* scratch)
      : moduli_(moduli), vector_words_(moduli.front()->words()), scratch_(scratch) {}

  [[nodiscard]] std::size_t lanes() const { return moduli_.size() * lanes_of_vector(); }
  [[nodiscard]] std::size_t words() const { return moduli_.size() * vector_words_; }
  [[nodiscard]] std::size_t digits() const { return moduli_.front()->digits(); }

  void mul(Limb* r, const Limb* a, const Limb* b) const {
    if (in_lockstep()) return kernels().mul_pair(pair(r, a, b), digits(), scratch_);
    for_each_vector(
        [&](std::size_t v, std::size_t at) { moduli_[v]->mul(r + at, a + at, b + at, scratch_); });
  }
  void sqr(Limb* r, const Limb* a) const {
    if (in_lockstep()) return kernels().sqr_pair(pair(r, a, a), digits(), scratch_);
    for_each_vector([&](std::size_t v, std::size_t at) { moduli_[v]->sqr(r + at, a + at, scratch_); });
  }
  void set_one(Limb* r) const {
    for_each_vector(
        [&](std::size_t v, std::size_t at) { std::copy_n(moduli_[v]->one(), vector_words_, r + at); });
  }
  void gather(Limb* r, const Limb* table, std::span<const std::uint32_t> indices) const {
    for_each_lane([&](std::size_t lane, std::size_t at) {
      const Limb* entry = table + indices[lane] * words() + at;
      for (std::size_t d = 0; d < vector_words_; d += lanes_of_vector()) r[at + d] = entry[d];
    });
  }
  void select(Limb* r, const Limb* table, std::size_t entries, std::span<const std::uint32_t> indices) const {
    for_each_vector([&](std::size_t v, std::size_t at) {
      kernels().select(r + at, table + at, entries, words(), digits(), &indices[v * lanes_of_vector()]);
    });
  }
  /// Entries of a table that one sqr_select covers, 0 if the technique has none.
  [[nodiscard]] std::size_t entries_per_square() const {
    return kernels().sqr_select != nullptr ? kernels().entries_per_square(digits()) : 0;
  }
  /// r = a^2, overlapped with share `step` of the selection target = table[indices[lane]].
  void sqr_select(Limb* r, const Limb* a, Limb* target, const Limb* table, std::size_t entries,
                  std::span<const std::uint32_t> indices, std::size_t step) const {
    const std::size_t count = entries_per_square();
    const std::size_t first = std::min(step * count, entries - count);
    const auto share = [&](std::size_t v) {
      const std::size_t at = v * vector_words_;
      return SelectShare{target + at, table + at, words(), first, &indices[v * lanes_of_vector()]};
    };
    if (in_lockstep()) {
      const SelectShare shares[] = {share(0), share(1)};
      return kernels().sqr_select_pair(pair(r, a, a), digits(), scratch_, shares);
    }
    for_each_vector(
        [&](std::size_t v, std::size_t at) { moduli_[v]->sqr_select(r + at, a + at, scratch_, share(v)); });
  }
  void gather_shared(Limb* r, const Limb* table, std::span<const std::uint32_t> indices) const {
    for_each_lane([&](std::size_t lane, std::size_t at) {
      const Limb* entry = table + indices[lane] * digits();
      for (std::size_t d = 0; d < digits(); ++d) r[at + d * lanes_of_vector()] = entry[d];
    });
  }
  void select_shared(Limb* r, const Limb* table, std::size_t entries,
                     std::span<const std::uint32_t> indices) const {
    for_each_vector([&](std::size_t v, std::size_t at) {
      kernels().select_shared(r + at, table, entries, digits(), &indices[v * lanes_of_vector()]);
    });
  }

 private:
  std::span<const Moduli* const> moduli_;
  std::size_t vector_words_;
  Limb* scratch_;

  [[nodiscard]] const Kernels& kernels() const { return moduli_.front()->kernels(); }
  [[nodiscard]] std::size_t lanes_of_vector() const { return kernels().lanes; }

  /// True if two vectors are computed by the pair kernels.
  [[nodiscard]] bool in_lockstep() const {
    return moduli_.size() == 2 && digits() <= kernels().paired_digits && kernels().mul_pair != nullptr;
  }
  /// The operands of both vectors.
  [[nodiscard]] Pair pair(Limb* r, const Limb* a, const Limb* b) const {
    return {{r, r + vector_words_},
            {a, a + vector_words_},
            {b, b + vector_words_},
            {moduli_[0]->block(), moduli_[1]->block()}};
  }

  /// step(vector, index of the vector's first word)
  template <class Step>
  void for_each_vector(Step step) const {
    for (std::size_t v = 0; v < moduli_.size(); ++v) step(v, v * vector_words_);
  }
  /// step(lane, index of the word of the lane's first digit)
  template <class Step>
  void for_each_lane(Step step) const {
    const std::size_t per_vector = lanes_of_vector();
    for (std::size_t lane = 0; lane < lanes(); ++lane) {
      step(lane, lane / per_vector * vector_words_ + lane % per_vector);
    }
  }
};

}  // namespace manymod::lanes
