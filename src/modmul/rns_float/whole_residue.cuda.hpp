// SPDX-License-Identifier: Apache-2.0
// What the representations with prime moduli and one binary32 value per residue have in common.
#pragma once

#include <cstdint>

#include "modmul/rns_float/channels.hpp"
#include "modmul/rns_float/modular.hpp"
#include "modmul/rns_float/reduction.cuda.hpp"

namespace manymod::rns_float {

/// See channels.hpp. Constants: abs(c) <= (m - 1) / 2.
struct WholeResidue {
  static constexpr unsigned kModulusWords = 2;
  static constexpr unsigned kConstantWords = 1;
  static constexpr unsigned kResidueWords = 1;
  static constexpr bool kPacked = false;

  using Modulus = Divisor;
  struct Residue {
    float word[1];
  };
  using Constant = Residue;
  using Sum = Residue;
  using Partial = Residue;

  static constexpr void encode_modulus(float* words, std::uint32_t m, std::uint32_t /*first factor*/) {
    words[0] = static_cast<float>(m);
    words[1] = reciprocal(m);
  }
  struct Encoder {
    std::uint32_t m;
    constexpr Encoder(std::uint32_t modulus, std::uint32_t /*first factor*/) : m(modulus) {}
    constexpr void encode(float* words, std::uint32_t c) const { words[0] = centred(c, m); }
  };
  /// The exponent e with x^e = 1 / x for every x prime to m.
  static constexpr std::uint32_t inverse_exponent(std::uint32_t m, std::uint32_t /*first factor*/) {
    return m - 2;
  }

  MM_DEVICE static Modulus modulus(const float (&words)[kModulusWords]) { return {words[0], words[1]}; }
  MM_DEVICE static Residue add(const Modulus& m, const Residue& a, const Residue& b) {
    return {{reduce(m, cuda::add(a.word[0], b.word[0]))}};
  }
  MM_DEVICE static Residue negate(const Residue& a) { return {{-a.word[0]}}; }
  MM_DEVICE static void settle(const Modulus& m, Sum& s) { s.word[0] = reduce(m, s.word[0]); }
  /// Also of a Partial, which is the same type.
  MM_DEVICE static Residue total(const Modulus& /*m*/, const Sum& s) { return s; }
};

}  // namespace manymod::rns_float
