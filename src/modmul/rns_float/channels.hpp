// SPDX-License-Identifier: Apache-2.0
// What a representation of residues in binary32 gives to the multiplier. Sizes are in 32-bit words.
//
//   struct Kind {
//     static constexpr unsigned kModulusWords;   // of a channel's record in the tables
//     static constexpr unsigned kConstantWords;  // of a constant that residues or digits are multiplied by
//     static constexpr unsigned kResidueWords;
//     static constexpr unsigned kPieceBits;      // of the pieces that numbers are taken in by; divides 32
//     static constexpr unsigned kBurst;          // products that are added before a sum is settled
//     static constexpr bool kPacked;             // constants and stored residues share words by two
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
//     static void settle(m, Sum& s);                             // after kBurst of them at most
//     static Residue total(m, Sum s);
//     static Partial append(m, Partial a, float piece);          // a 2^kPieceBits + piece
//     static Residue total(m, Partial a);
//   };
//
// Every function takes what the others return. Digits are those of any channel of the same bases. All that
// numbers have to satisfy is `conditions`, evaluated where bases are chosen (bases.hpp) from the largest and
// the smallest modulus; the proofs are in docs/rns.md, "Centred channels".
#pragma once

#include <cstdint>

namespace manymod::rns_float {

/// Range of the moduli, or of the factors of products, of both bases.
struct Range {
  std::uint64_t smallest = 0;
  std::uint64_t largest = 0;
};

inline constexpr std::uint64_t kValues = std::uint64_t{1} << 24;  ///< integers up to it are binary32 values

/// abs of a digit at most.
constexpr std::uint64_t largest_digit(std::uint64_t largest_modulus) { return (largest_modulus + 1) / 2; }

}  // namespace manymod::rns_float
