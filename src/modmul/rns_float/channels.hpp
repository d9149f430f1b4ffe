// SPDX-License-Identifier: Apache-2.0
// The interface of a representation of residues in binary32 (`Kind`), which the multiplier is built on. Sizes
// are in 32-bit words.
//
//   struct Kind {
//     static constexpr unsigned kModulusWords;   // of a channel's record in the tables
//     static constexpr unsigned kConstantWords;  // of a constant that multiplies residues or digits
//     static constexpr unsigned kResidueWords;
//     static constexpr unsigned kSliceBits;      // numbers are converted in slices of these; divides 32
//     static constexpr unsigned kBurst;          // most products added between two calls of settle()
//     static constexpr bool kPacked;             // two constants or stored residues share a word
//     struct Modulus; struct Residue; struct Constant; struct Sum; struct Partial;
//     static constexpr void encode_modulus(float* words, m, first factor);
//     class Encoder { Encoder(m, first factor); void encode(float* words, c); };  // constant c < m
//     static constexpr std::uint32_t inverse_exponent(m, first factor);  // x^e = 1 / x for x prime to m
//
//     static Modulus modulus(const float (&words)[kModulusWords]);
//     static Residue multiply(m, Residue a, Residue b);          // a b mod m
//     static Residue multiply_by(m, Residue a, Constant c);      // a c mod m
//     static Residue divide_step(m, Residue a, float d, Constant c);  // (a - d) c mod m, d a digit
//     static Residue add(m, Residue a, Residue b);
//     static Residue negate(Residue a);
//     static float digit(m, Residue a);                          // the integer, abs <= (m + 1) / 2
//     static void add_product(m, Sum& s, float d, Constant c);   // s += d c, d a digit
//     static void settle(m, Sum& s);                             // reduces s, after at most kBurst products
//     static Residue total(m, Sum s);                            // of a settled sum
//     static Partial append(m, Partial a, float slice);          // a 2^kSliceBits + slice
//     static Residue total(m, Partial a);
//   };
//
// Every function accepts what the others return. Digits may be those of any channel of the same bases.
// `conditions` states what the moduli have to satisfy, in terms of the largest and the smallest one; it is
// evaluated where bases are chosen (base_pair.hpp). The proofs are in docs/rns/floating_point.md, "Centred
// channels". All functions are constant-time.
#pragma once

#include <cstdint>

namespace manymod::rns_float {

/// The range of the moduli of both bases, or of their factors.
struct Range {
  std::uint64_t smallest = 0;
  std::uint64_t largest = 0;
};

/// binary32 holds every integer up to this magnitude.
inline constexpr std::uint64_t kValues = std::uint64_t{1} << 24;

/// The largest magnitude of a digit, for moduli up to largest_modulus.
constexpr std::uint64_t largest_digit(std::uint64_t largest_modulus) { return (largest_modulus + 1) / 2; }

}  // namespace manymod::rns_float
