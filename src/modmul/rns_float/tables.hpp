// SPDX-License-Identifier: Apache-2.0
// The tables of a multiplier, which depend on the bases alone: constants of a specialised kernel or, for
// kernels of any bases, in memory (ProgramJob::constants).
//
// Channel i belongs to lane i % kThreads of a group, as its channel number i / kThreads (its `place` there).
// A lane has kPerThread channels of each base. Those with i >= channels are idle: their modulus is 5, and all
// their constants are 0.
//
// Where each lane has several words, these are cut into chunks of four words, and equal chunks of
// neighbouring lanes are adjacent, so that a group reads 16 kThreads bytes at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "arch/cuda/singles.cuda.hpp"
#include "core/portable.hpp"
#include "modmul/rns_float/channels.hpp"
#include "modmul/rns_float/half_word.cuda.hpp"
#include "modmul/rns_float/modular.hpp"

namespace manymod::rns_float {

/// `words` rounded up to a multiple of 4.
constexpr unsigned multiple_of_four(unsigned words) { return (words + 3) / 4 * 4; }

/// The offset of a lane's word j relative to its word 0.
template <unsigned kThreads>
MM_DEVICE constexpr unsigned lane_offset(unsigned j) {
  return j / 4 * 4 * kThreads + j % 4;
}

inline constexpr std::uint32_t kIdleModulus = 5;

/// The layout of a table: offsets in binary32 words. All parts begin at multiples of 16 bytes.
template <class Kind, unsigned kThreads, unsigned kPerThread>
struct Layout {
  static constexpr unsigned kChannels = kThreads * kPerThread;  ///< including idle ones

  /// The words of a lane's constants for `channels` of its channels.
  static constexpr unsigned constants(unsigned channels) {
    return Kind::kPacked ? (channels + 1) / 2 : channels * Kind::kConstantWords;
  }
  static constexpr unsigned kLaneModuli = multiple_of_four(kPerThread * Kind::kModulusWords);
  static constexpr unsigned kLaneConstants = multiple_of_four(constants(kPerThread));
  static constexpr unsigned kLaneExponents = multiple_of_four(kPerThread);
  /// A step has two groups of constants, kOthers words each. The first is for the remaining channels of the
  /// source base, beginning in step i with a lane's channel number i / kThreads; the second is for the
  /// channels of the other base.
  static constexpr unsigned kOthers = kThreads * kLaneConstants;
  static constexpr unsigned kStep = 2 * kOthers;

  static constexpr unsigned kCount = 0;  ///< offset of one word: the number of channels of a base
  static constexpr unsigned kModuliB = 4;
  static constexpr unsigned kModuliA = kModuliB + kThreads * kLaneModuli;
  /// The exponents e for which x^e = 1 / x mod b_j.
  static constexpr unsigned kExponents = kModuliA + kThreads * kLaneModuli;
  /// 1 / M_B mod a_i.
  static constexpr unsigned kInverseRadix = kExponents + kThreads * kLaneExponents;
  /// a_i in the order of the channels.
  static constexpr unsigned kOrder = kInverseRadix + kThreads * kLaneConstants;
  /// Step i of the extension from B to A: 1 / b_i mod b_j for j > i, and b_0 .. b_(i-1) mod a_j.
  static constexpr unsigned kToA = kOrder + multiple_of_four(kChannels);
  static constexpr unsigned kToB = kToA + kChannels * kStep;
  static constexpr unsigned kWords = kToB + kChannels * kStep;
};

/// The moduli of one base; `first_factors` is empty if they are not factored.
struct BaseView {
  const std::uint32_t* moduli;
  std::span<const std::uint32_t> first_factors;
  unsigned channels;

  /// The first factor of modulus i, or 1.
  [[nodiscard]] constexpr std::uint32_t factor(unsigned i) const {
    return first_factors.empty() ? 1 : first_factors[i];
  }
};

/// Builds a table.
template <class Kind, unsigned kThreads, unsigned kPerThread>
class TableMaker {
  using L = Layout<Kind, kThreads, kPerThread>;
  using Encoder = typename Kind::Encoder;

 public:
  /// On input: `words` has L::kWords zeros.
  constexpr TableMaker(float* words, const BaseView& b, const BaseView& a) : words_(words), b_(b), a_(a) {}

  /// Fills the table.
  constexpr void make() {
    words_[L::kCount] = static_cast<float>(b_.channels);
    put_moduli(L::kModuliB, b_);
    put_moduli(L::kModuliA, a_);
    for (unsigned i = 0; i < b_.channels; ++i) {
      words_[L::kExponents + 4 * (i % kThreads) + lane_offset<kThreads>(i / kThreads)] =
          static_cast<float>(Kind::inverse_exponent(b_.moduli[i], b_.factor(i)));
      words_[L::kOrder + i] = static_cast<float>(a_.moduli[i]);
      std::uint32_t radix = 1;
      for (unsigned j = 0; j < b_.channels; ++j) radix = multiply_mod(radix, b_.moduli[j], a_.moduli[i]);
      put_constant(words_ + L::kInverseRadix + 4 * (i % kThreads), i / kThreads,
                   inverse_mod(radix, a_.moduli[i]), Encoder(a_.moduli[i], a_.factor(i)));
    }
    put_steps(L::kToA, b_, a_);
    put_steps(L::kToB, a_, b_);
  }

 private:
  float* words_;
  BaseView b_, a_;

  // Stores the records of a base's channels, idle ones included.
  constexpr void put_moduli(unsigned at, const BaseView& base) {
    for (unsigned i = 0; i < L::kChannels; ++i) {
      float record[Kind::kModulusWords] = {};
      for (unsigned j = 0; j < Kind::kModulusWords; j += 2) {
        record[j] = kIdleModulus;
        record[j + 1] = reciprocal(kIdleModulus);
      }
      if (i < base.channels) Kind::encode_modulus(record, base.moduli[i], base.factor(i));
      for (unsigned j = 0; j < Kind::kModulusWords; ++j) {
        words_[at + 4 * (i % kThreads) + lane_offset<kThreads>(i / kThreads * Kind::kModulusWords + j)] =
            record[j];
      }
    }
  }

  // Stores c, encoded, as number `place` of a lane's constants.
  static constexpr void put_constant(float* lane, unsigned place, std::uint32_t c, const Encoder& encoder) {
    float words[Kind::kConstantWords] = {};
    encoder.encode(words, c);
    if constexpr (Kind::kPacked) {
      lane[lane_offset<kThreads>(place / 2)] += place % 2 == 0 ? words[0] : words[0] * kPackingUnit;
    } else {
      for (unsigned j = 0; j < Kind::kConstantWords; ++j) {
        lane[lane_offset<kThreads>(place * Kind::kConstantWords + j)] = words[j];
      }
    }
  }

  // Stores the constants of all steps of one extension.
  constexpr void put_steps(unsigned at, const BaseView& source, const BaseView& target) {
    for (unsigned j = 0; j < source.channels; ++j) {
      float* const lane = words_ + at + 4 * (j % kThreads);
      put_places(lane + L::kOthers, j, source, target);
      put_inverses(lane, j, source);
    }
  }

  // Stores the place values b_0 .. b_(i-1) modulo channel j of the target, for every i.
  static constexpr void put_places(float* lane, unsigned j, const BaseView& source, const BaseView& target) {
    const Encoder encoder(target.moduli[j], target.factor(j));
    std::uint32_t place = 1;
    for (unsigned i = 0; i < source.channels; ++i) {
      put_constant(lane + i * L::kStep, j / kThreads, place, encoder);
      place = multiply_mod(place, source.moduli[i], target.moduli[j]);
    }
  }

  // Stores 1 / b_i modulo channel j of the source for i < j, from products and one inverse: 1 / b_i = b_0 ..
  // b_(i-1) / (b_0 .. b_i).
  static constexpr void put_inverses(float* lane, unsigned j, const BaseView& source) {
    const std::uint32_t m = source.moduli[j];
    std::uint32_t product[L::kChannels + 1] = {1};
    for (unsigned i = 0; i < j; ++i) product[i + 1] = multiply_mod(product[i], source.moduli[i], m);
    const Encoder encoder(m, source.factor(j));
    std::uint32_t inverse = inverse_mod(product[j], m);
    for (unsigned i = j; i-- > 0;) {
      put_constant(lane + i * L::kStep, j / kThreads - i / kThreads, multiply_mod(inverse, product[i], m),
                   encoder);
      inverse = multiply_mod(inverse, source.moduli[i], m);
    }
  }
};

/// Loads kCount constants of a lane.
template <class Kind, unsigned kThreads, unsigned kCount>
MM_DEVICE void load_constants(typename Kind::Constant (&constants)[kCount], const float* lane) {
  constexpr unsigned kWords = Kind::kPacked ? (kCount + 1) / 2 : kCount * Kind::kConstantWords;
  constexpr unsigned kChunks = (kWords + 3) / 4;
  float word[4 * kChunks];
  MM_UNROLL
  for (unsigned j = 0; j < kChunks; ++j) {
    const cuda::Singles<4> chunk = cuda::load_singles<4>(lane + 4 * kThreads * j);
    MM_UNROLL
    for (unsigned i = 0; i < 4; ++i) word[4 * j + i] = chunk.word[i];
  }
  MM_UNROLL
  for (unsigned k = 0; k < kCount; ++k) {
    if constexpr (Kind::kPacked) {
      float low, high;
      unpack(word[k / 2], low, high);
      constants[k].word[0] = k % 2 == 0 ? low : high;
    } else {
      MM_UNROLL
      for (unsigned i = 0; i < Kind::kConstantWords; ++i) {
        constants[k].word[i] = word[k * Kind::kConstantWords + i];
      }
    }
  }
}

/// Loads the record of a lane's channel number `place`.
template <class Kind, unsigned kThreads>
MM_DEVICE typename Kind::Modulus load_modulus(const float* lane, unsigned place) {
  constexpr unsigned kSize = Kind::kModulusWords < 4 ? Kind::kModulusWords : 4;
  float word[Kind::kModulusWords];
  MM_UNROLL
  for (unsigned j = 0; j < Kind::kModulusWords; j += kSize) {
    const float* const at = lane + lane_offset<kThreads>(place * Kind::kModulusWords + j);
    const cuda::Singles<kSize> some = cuda::load_singles<kSize>(at);
    MM_UNROLL
    for (unsigned i = 0; i < kSize; ++i) word[j + i] = some.word[i];
  }
  return Kind::modulus(word);
}

}  // namespace manymod::rns_float
