// SPDX-License-Identifier: Apache-2.0
// Moduli m = p q of two coprime half words (Moss, Page, Smart 2007, section 4.1). In smooth channels the
// residues modulo p and q are joined to one modulo m after every product. In pairs they stay apart until an
// extension needs the digit.
#pragma once

#include <cstdint>

#include "modmul/rns_float/channels.hpp"
#include "modmul/rns_float/modular.hpp"
#include "modmul/rns_float/reduction.cuda.hpp"

namespace manymod::rns_float {

/// Residues modulo p and q: abs(a_p) <= (p + 1) / 2 and abs(a_q) <= (q + 1) / 2, except where stated.
struct Parts {
  float word[2];
};

/// Arithmetic on parts, shared by both representations.
struct Factors {
  static constexpr unsigned kModulusWords = 8;
  static constexpr unsigned kConstantWords = 2;
  static constexpr unsigned kSliceBits = 8;
  static constexpr unsigned kBurst = 4;
  static constexpr bool kPacked = false;

  /// m = p q with its factors.
  struct Modulus {
    Divisor p, q, whole;
    Parts others;  ///< 1 / q mod p and 1 / p mod q
  };
  using Constant = Parts;
  using Sum = Parts;
  using Partial = Parts;

  /// Products of parts are binary32 values as for half words. So are t_3 + t_6 of join(), the difference of
  /// two digits, and a part less a digit.
  static constexpr bool conditions(const Range& factors, const Range& moduli) {
    const std::uint64_t part = largest_digit(factors.largest), m = moduli.largest;
    return factors.smallest >= 5 && kBurst * part * part + part <= kValues &&
           (part << kSliceBits) + (1U << kSliceBits) <= kValues && m + 2 * part <= kValues &&
           2 * largest_digit(m) + part <= kValues;
  }

  static constexpr void encode_modulus(float* words, std::uint32_t m, std::uint32_t p) {
    const std::uint32_t q = m / p;
    const std::uint32_t divisors[] = {p, q, m};
    for (unsigned i = 0; i < 3; ++i) {
      words[2 * i] = static_cast<float>(divisors[i]);
      words[2 * i + 1] = reciprocal(divisors[i]);
    }
    words[6] = centred(inverse_mod(q % p, p), p);
    words[7] = centred(inverse_mod(p % q, q), q);
  }
  /// x^(phi(m) - 1) = 1 / x for every x prime to m, phi(m) = (p - 1) (q - 1).
  static constexpr std::uint32_t inverse_exponent(std::uint32_t m, std::uint32_t p) {
    return (p - 1) * (m / p - 1) - 1;
  }

  MM_DEVICE static Modulus modulus(const float (&words)[kModulusWords]) {
    return {{words[0], words[1]}, {words[2], words[3]}, {words[4], words[5]}, {{words[6], words[7]}}};
  }

  /// The parts of an integer a. On input: abs(a) <= 2^24.
  MM_DEVICE static Parts parts(const Modulus& m, float a) { return {{reduce(m.p, a), reduce(m.q, a)}}; }
  /// a b, part by part.
  MM_DEVICE static Parts multiply_parts(const Modulus& m, const Parts& a, const Parts& b) {
    return {{reduce(m.p, cuda::multiply(a.word[0], b.word[0])),
             reduce(m.q, cuda::multiply(a.word[1], b.word[1]))}};
  }
  /// The integer, abs <= (m + 1) / 2, that is congruent to a_p q + a_q p modulo m: the paper's t_3 = t_2 q
  /// and t_6 = t_5 p, abs(t_3 + t_6) <= (p + 1) q / 2 + (q + 1) p / 2.
  MM_DEVICE static float join(const Modulus& m, const Parts& a) {
    const float t6 = cuda::multiply(a.word[1], m.p.m);
    return reduce(m.whole, cuda::fused(a.word[0], m.q.m, t6));
  }

  MM_DEVICE static void add_product(const Modulus& m, Sum& s, float d, const Constant& c) {
    const Parts digit = parts(m, d);
    s = {
        {cuda::fused(digit.word[0], c.word[0], s.word[0]), cuda::fused(digit.word[1], c.word[1], s.word[1])}};
  }
  MM_DEVICE static void settle(const Modulus& m, Sum& s) {
    s = {{reduce(m.p, s.word[0]), reduce(m.q, s.word[1])}};
  }
  MM_DEVICE static Partial append(const Modulus& m, const Partial& a, float slice) {
    constexpr float kShift = 1U << kSliceBits;
    return {{reduce(m.p, cuda::fused(a.word[0], kShift, slice)),
             reduce(m.q, cuda::fused(a.word[1], kShift, slice))}};
  }
};

/// See channels.hpp. A residue is its two parts.
struct Pairs : Factors {
  static constexpr unsigned kResidueWords = 2;
  using Residue = Parts;

  struct Encoder {
    std::uint32_t p, q;
    constexpr Encoder(std::uint32_t m, std::uint32_t first) : p(first), q(m / first) {}
    constexpr void encode(float* words, std::uint32_t c) const {
      words[0] = centred(c % p, p);
      words[1] = centred(c % q, q);
    }
  };

  MM_DEVICE static Residue multiply(const Modulus& m, const Residue& a, const Residue& b) {
    return multiply_parts(m, a, b);
  }
  MM_DEVICE static Residue multiply_by(const Modulus& m, const Residue& a, const Constant& c) {
    return multiply_parts(m, a, c);
  }
  MM_DEVICE static Residue divide_step(const Modulus& m, const Residue& a, float d, const Constant& c) {
    const Parts difference = {
        {reduce(m.p, cuda::subtract(a.word[0], d)), reduce(m.q, cuda::subtract(a.word[1], d))}};
    return multiply_parts(m, difference, c);
  }
  MM_DEVICE static Residue add(const Modulus& m, const Residue& a, const Residue& b) {
    return {{reduce(m.p, cuda::add(a.word[0], b.word[0])), reduce(m.q, cuda::add(a.word[1], b.word[1]))}};
  }
  MM_DEVICE static Residue negate(const Residue& a) { return {{-a.word[0], -a.word[1]}}; }
  MM_DEVICE static float digit(const Modulus& m, const Residue& a) {
    return join(m, multiply_parts(m, a, m.others));
  }
  MM_DEVICE static Residue total(const Modulus& /*m*/, const Sum& s) { return s; }
};

/// See channels.hpp. A residue is an integer a, abs(a) <= (m + 1) / 2. Constants include the factors 1 / q
/// mod p and 1 / p mod q that join() needs.
struct Smooth : Factors {
  static constexpr unsigned kResidueWords = 1;
  struct Residue {
    float word[1];
  };
  /// A sum without the factors 1 / q mod p and 1 / p mod q.
  struct Partial : Parts {};

  struct Encoder {
    std::uint32_t p, q;
    std::uint32_t of_q, of_p;  // 1 / q mod p, 1 / p mod q
    constexpr Encoder(std::uint32_t m, std::uint32_t first)
        : p(first), q(m / first), of_q(inverse_mod(q % p, p)), of_p(inverse_mod(p % q, q)) {}
    constexpr void encode(float* words, std::uint32_t c) const {
      words[0] = centred(multiply_mod(c % p, of_q, p), p);
      words[1] = centred(multiply_mod(c % q, of_p, q), q);
    }
  };

  MM_DEVICE static Residue multiply(const Modulus& m, const Residue& a, const Residue& b) {
    const Parts product = multiply_parts(m, parts(m, a.word[0]), parts(m, b.word[0]));
    return {{join(m, multiply_parts(m, product, m.others))}};
  }
  MM_DEVICE static Residue multiply_by(const Modulus& m, const Residue& a, const Constant& c) {
    return {{join(m, multiply_parts(m, parts(m, a.word[0]), c))}};
  }
  MM_DEVICE static Residue divide_step(const Modulus& m, const Residue& a, float d, const Constant& c) {
    return multiply_by(m, {{cuda::subtract(a.word[0], d)}}, c);
  }
  MM_DEVICE static Residue add(const Modulus& m, const Residue& a, const Residue& b) {
    return {{reduce(m.whole, cuda::add(a.word[0], b.word[0]))}};
  }
  MM_DEVICE static Residue negate(const Residue& a) { return {{-a.word[0]}}; }
  MM_DEVICE static float digit(const Modulus& /*m*/, const Residue& a) { return a.word[0]; }
  MM_DEVICE static Partial append(const Modulus& m, const Partial& a, float slice) {
    return {Factors::append(m, a, slice)};
  }
  MM_DEVICE static Residue total(const Modulus& m, const Sum& s) { return {{join(m, s)}}; }
  MM_DEVICE static Residue total(const Modulus& m, const Partial& a) {
    return {{join(m, multiply_parts(m, a, m.others))}};
  }
};

}  // namespace manymod::rns_float
