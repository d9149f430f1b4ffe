// SPDX-License-Identifier: Apache-2.0
// What the kernels of residue number systems read that depends on the bases alone, and how it lies in memory.
//
// The host fills it (constants.hpp); docs/rns.md derives every constant. Both bases have n channels, which
// stand in 4 Q *places*. A quad of threads works on two instances; its thread t holds what stands in their
// places 4 q + t, 0 <= q < Q. What the quad's registers hold at one q is a *four*: places 4 q .. 4 q + 3.
//
// Channel i is in place i. Where n = 4 Q - 2 the last four is *split*: its two channels are in its last two
// places once more, and of them threads 0 and 1 work for the quad's first instance alone, 2 and 3 for the
// second.
//
// Matrices are cut to pieces of 8 columns times 16 bytes along K, in which a column's bytes are neighbours:
// the core matrices of wgmma, and what a warp's B fragments of mma.sync read without bank conflicts.
#pragma once

#include <cstddef>
#include <cstdint>

namespace manymod::rns {

/// Of one channel, as it is stored.
struct StoredChannel {
  std::uint32_t modulus = 0;
  std::uint32_t negative_inverse = 0;  ///< -1 / m mod 2^32
  /// In A: byte p is the low byte of the weight that byte p of a residue has in the rank. In B: 0, but where
  /// one modulus N is shared -2^32 / (N B_j) mod b_j, from s to its coordinate, or, with roots, the sign for
  /// which that is a square: 1 or -1.
  std::uint32_t factor = 0;
  /// In A: the high bytes of these weights. In B: floor(2^32 factor / m); beside a sign 0, or 2 m where it is
  /// -1.
  std::uint32_t companion = 0;
};

/// Bases of up to so many channels have roots: in all those of B -1 is no square (docs/rns.md, "Roots").
inline constexpr unsigned kMaxRootedChannels = 136;

/// A matrix of bytes for K / 4 words by 4 columns a target: entry (word v, byte p; target i, byte b) is byte
/// b of the constant D(i, v, p).
///
/// Targets come in groups of four, rows of K in steps of 32 bytes (8 words). Byte (v, p; i, b) stands at
///
///   ((v / 8) (targets / 4) + i / 4) 512 + (2 (b / 2) + (v / 4) % 2) 128 + (2 (i % 4) + b % 2) 16 + (4 v + p)
///   % 16:
///
/// of a four's two tiles of 8 columns one holds the low two bytes of the targets and the other the high two,
/// tiles of a step follow each other at 256 bytes, and the halves of a step's K at 128.
struct MatrixShape {
  unsigned steps = 0;         ///< K / 32
  unsigned target_fours = 0;  ///< targets / 4

  static constexpr unsigned kFourBytes = 512;  ///< of one step for four targets
  [[nodiscard]] constexpr std::size_t bytes() const { return std::size_t{steps} * target_fours * kFourBytes; }
};

/// Where byte `byte` of the constant for word `word`'s byte `source_byte` and target `target` stands.
constexpr std::size_t matrix_offset(const MatrixShape& shape, unsigned word, unsigned source_byte,
                                    unsigned target, unsigned byte) {
  const std::size_t four = std::size_t{word / 8} * shape.target_fours + target / 4;
  const unsigned piece = 2 * (byte / 2) + word / 4 % 2;
  return four * MatrixShape::kFourBytes + piece * 128 + (2 * (target % 4) + byte % 2) * 16 +
         (4 * word + source_byte) % 16;
}

/// Where the parts of the constants stand, for moduli below 2^(32 words) and these channels of a base. All
/// parts begin at multiples of 16 bytes, in the order of the functions.
///
/// Constants of matrices are below m.
struct Sizes {
  unsigned channels = 0;  ///< even
  unsigned words = 0;

  [[nodiscard]] constexpr unsigned fours() const { return (channels + 3) / 4; }
  [[nodiscard]] constexpr bool is_split() const { return channels % 4 != 0; }
  [[nodiscard]] constexpr unsigned whole_fours() const { return channels / 4; }
  [[nodiscard]] constexpr unsigned places() const { return 4 * fours(); }
  /// The channel in a place.
  [[nodiscard]] constexpr unsigned channel(unsigned place) const {
    return place < channels ? place : place - 2;
  }
  /// Whether constants of one modulus have roots.
  [[nodiscard]] constexpr bool has_roots() const { return channels <= kMaxRootedChannels; }
  /// Words along K of an extension: a word a place, then the rank in the word after them, then 0.
  [[nodiscard]] constexpr unsigned rank_word() const { return places(); }
  [[nodiscard]] constexpr unsigned steps() const { return (fours() + 2) / 2; }
  [[nodiscard]] constexpr unsigned input_steps() const { return (words + 7) / 8; }
  /// Words of the result before its last subtraction, which is below 2^(32 words + 1).
  [[nodiscard]] constexpr unsigned output_fours() const { return (words + 1 + 3) / 4; }

  [[nodiscard]] constexpr MatrixShape extension() const { return {steps(), fours()}; }
  [[nodiscard]] constexpr MatrixShape input() const { return {input_steps(), fours()}; }
  [[nodiscard]] constexpr MatrixShape output() const { return {steps(), output_fours()}; }

  // A channel's constants are in its places, words of operands and columns of results too.

  /// Channels of B, then of A.
  [[nodiscard]] constexpr std::size_t channels_at() const { return 0; }
  /// A word for each place, of B, then of A, from which the constants of a modulus are made: -2^32 / B_j
  /// mod b_j, and kappa_i 2^32 mod a_i.
  [[nodiscard]] constexpr std::size_t set_up_at() const {
    return channels_at() + 2 * std::size_t{places()} * sizeof(StoredChannel);
  }
  /// 2^32 - m for each place, of B, then of A: negative_words() of each, a place's at negative_index(), so
  /// that a thread reads those of four of its places together.
  [[nodiscard]] constexpr std::size_t negatives_at() const {
    return set_up_at() + 2 * std::size_t{places()} * sizeof(std::uint32_t);
  }
  [[nodiscard]] constexpr unsigned negative_words() const { return (fours() + 3) / 4 * 16; }
  static constexpr unsigned negative_index(unsigned place) {
    return place / 16 * 16 + place % 4 * 4 + place / 4 % 4;
  }
  /// B to A: coordinate word j < n: B_j 2^(8p) mod a_i; rank word: -M_B 2^(8p) mod a_i. Where one modulus N
  /// is shared, times N kappa_i^2: the remainder is added to X Y before its reduction.
  [[nodiscard]] constexpr std::size_t to_a() const {
    return negatives_at() + 2 * std::size_t{negative_words()} * sizeof(std::uint32_t);
  }
  /// A to B: word i < n is a stored residue: v(i, p) A_i mod b_j, v(i, p) = 2^(8p) / (kappa_i A_i) mod a_i;
  /// rank word: -M_A 2^(8p) mod b_j. With roots times rho_j.
  [[nodiscard]] constexpr std::size_t to_b() const { return to_a() + extension().bytes(); }
  /// Words of a number below 2^(32 words) to residues: 2^(32 w + 8p) mod b_j, with roots times rho_j.
  [[nodiscard]] constexpr std::size_t into_b() const { return to_b() + extension().bytes(); }
  /// The same to stored elements of A: 2^(32 w + 8p) kappa_i mod a_i.
  [[nodiscard]] constexpr std::size_t into_a() const { return into_b() + input().bytes(); }
  /// Stored residues in A to words of radix 2^32, modulo 2^(32 C), C = 4 output_fours: target w, byte b is
  /// byte 4 w + b of v(i, p) A_i mod 2^(32 C); rank word: of -M_A 2^(8p) mod 2^(32 C).
  [[nodiscard]] constexpr std::size_t out() const { return into_a() + input().bytes(); }
  [[nodiscard]] constexpr std::size_t bytes() const { return out() + output().bytes(); }
};

/// The same as constants of a kernel.
template <unsigned kChannels, unsigned kWords>
struct Layout {
  static constexpr Sizes kSizes{kChannels, kWords};
  static constexpr unsigned kQ = kSizes.fours();

  static constexpr MatrixShape kExtension = kSizes.extension();
  static constexpr MatrixShape kInput = kSizes.input();
  static constexpr MatrixShape kOutput = kSizes.output();

  static constexpr std::size_t kSetUpAt = kSizes.set_up_at();
  static constexpr std::size_t kNegativesAt = kSizes.negatives_at();
  static constexpr unsigned kNegativeWords = kSizes.negative_words();
  static constexpr std::size_t kToA = kSizes.to_a();
  static constexpr std::size_t kToB = kSizes.to_b();
  static constexpr std::size_t kIntoB = kSizes.into_b();
  static constexpr std::size_t kIntoA = kSizes.into_a();
  static constexpr std::size_t kOut = kSizes.out();
  static constexpr std::size_t kBytes = kSizes.bytes();
};

}  // namespace manymod::rns
