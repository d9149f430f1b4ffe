// SPDX-License-Identifier: Apache-2.0
// What the kernels read that depends on the bases alone, and its layout in memory. The host fills it
// (constants.hpp); docs/rns.md derives every constant. form.hpp defines the terms.
//
// Both bases have n channels in 4 Q places: Q channel quads, of which quad q has places 4 q .. 4 q + 3. A
// thread quad works on two instances, and its thread t holds the residues in places 4 q + t, 0 <= q < Q, of
// both.
//
// Channel i is in place i. If n = 4 Q - 2, the last channel quad is split: it has two channels, which occupy
// its first two places and again its last two. In it threads 0 and 1 work only for the first instance of the
// thread quad, threads 2 and 3 only for the second.
//
// Matrices are stored as core matrices of wgmma, 8 columns by 16 bytes along K with the bytes of a column
// contiguous. A warp reads its B fragments of mma.sync from the same layout without bank conflicts.
#pragma once

#include <cstddef>
#include <cstdint>

namespace manymod::rns {

/// The constants of one channel as they are stored.
struct StoredChannel {
  std::uint32_t modulus = 0;
  std::uint32_t negative_inverse = 0;  ///< -1 / m mod 2^32
  /// In A: byte p is the low byte of the weight of byte p of a residue in the rank. In B: 0 for instances
  /// with a modulus each; with one shared modulus N, c_j = -2^32 / (N B_j) mod b_j, which turns s = x y /
  /// 2^32 into the coordinate, or, with roots, the sign (1 or -1 mod 2^32) for which sign c_j is a square.
  std::uint32_t factor = 0;
  /// In A: the high bytes of these weights. In B: floor(2^32 factor / m); with roots 0 where the sign is 1,
  /// and 2 m where it is -1.
  std::uint32_t companion = 0;
};

/// Bases of at most this many channels have roots: -1 is a non-residue of every channel of B (docs/rns.md,
/// "Roots").
inline constexpr unsigned kMaxRootedChannels = 136;

/// The shape of a matrix of bytes with 4 columns for each target and K / 4 words along K. Entry (word v, byte
/// p; target i, byte b) is byte b of the constant D(i, v, p), by which byte p of word v of an operand is
/// multiplied for target i.
///
/// Targets are grouped by four (a channel quad, or four words of a result), rows along K by steps of 32 bytes
/// (8 words). Byte (v, p; i, b) has the offset
///
///   ((v / 8) (targets / 4) + i / 4) 512 + (2 (b / 2) + (v / 4) % 2) 128 + (2 (i % 4) + b % 2) 16
///     + (4 v + p) % 16:
///
/// each group of four targets has two octets, the first with the low two bytes of the targets and the second
/// with the high two. Within a step octets are 256 bytes apart, and the two halves of the step's K 128 bytes.
struct MatrixShape {
  unsigned steps = 0;         ///< K / 32
  unsigned target_quads = 0;  ///< targets / 4

  static constexpr unsigned kQuadBytes = 512;  ///< bytes of one step for four targets
  [[nodiscard]] constexpr std::size_t bytes() const { return std::size_t{steps} * target_quads * kQuadBytes; }
};

/// The offset of byte `byte` of the constant by which byte `source_byte` of word `word` is multiplied for
/// target `target`.
constexpr std::size_t matrix_offset(const MatrixShape& shape, unsigned word, unsigned source_byte,
                                    unsigned target, unsigned byte) {
  const std::size_t quad = std::size_t{word / 8} * shape.target_quads + target / 4;
  const unsigned core = 2 * (byte / 2) + word / 4 % 2;
  return quad * MatrixShape::kQuadBytes + core * 128 + (2 * (target % 4) + byte % 2) * 16 +
         (4 * word + source_byte) % 16;
}

/// The layout of the constants for moduli below 2^(32 words) and bases of `channels` channels: offsets in
/// bytes, in ascending order, all multiples of 16. Entries of matrices are residues in [0, m) of their
/// target's m.
struct ConstantsLayout {
  unsigned channels = 0;  ///< even
  unsigned words = 0;

  /// Channel quads of a base, the split one included.
  [[nodiscard]] constexpr unsigned quads() const { return (channels + 3) / 4; }
  /// Whether the last channel quad is split.
  [[nodiscard]] constexpr bool is_split() const { return channels % 4 != 0; }
  /// Channel quads of a base without the split one.
  [[nodiscard]] constexpr unsigned whole_quads() const { return channels / 4; }
  /// Places of a base.
  [[nodiscard]] constexpr unsigned places() const { return 4 * quads(); }
  /// The channel in a place.
  [[nodiscard]] constexpr unsigned channel(unsigned place) const {
    return place < channels ? place : place - 2;
  }
  /// Whether the constants of one shared modulus have roots.
  [[nodiscard]] constexpr bool has_roots() const { return channels <= kMaxRootedChannels; }
  /// Words along K of an extension: one for each place, then the rank, then zeros up to a whole step.
  [[nodiscard]] constexpr unsigned rank_word() const { return places(); }
  /// Steps of an extension.
  [[nodiscard]] constexpr unsigned steps() const { return (quads() + 2) / 2; }
  /// Steps of a conversion into residues.
  [[nodiscard]] constexpr unsigned input_steps() const { return (words + 7) / 8; }
  /// Words of a result before its last subtraction, below 2^(32 words + 1), in groups of four.
  [[nodiscard]] constexpr unsigned output_quads() const { return (words + 1 + 3) / 4; }

  /// The shapes of the matrices: of an extension, of a conversion into residues, and of one into words.
  [[nodiscard]] constexpr MatrixShape extension() const { return {steps(), quads()}; }
  [[nodiscard]] constexpr MatrixShape input() const { return {input_steps(), quads()}; }
  [[nodiscard]] constexpr MatrixShape output() const { return {steps(), output_quads()}; }

  // All tables below are indexed by place: the constants of a channel are repeated in each of its places, and
  // so are the rows and columns of matrices.

  /// StoredChannel of each place of B, then of A.
  [[nodiscard]] constexpr std::size_t channels_at() const { return 0; }
  /// One word for each place of B, then of A, from which the constants of a modulus are computed: -2^32 / B_j
  /// mod b_j, and kappa_i 2^32 mod a_i.
  [[nodiscard]] constexpr std::size_t set_up_at() const {
    return channels_at() + 2 * std::size_t{places()} * sizeof(StoredChannel);
  }
  /// 2^32 - m for each place of B, then of A: negative_words() words for each base, indexed by
  /// negative_index(), so that a thread loads those of four of its places together.
  [[nodiscard]] constexpr std::size_t negatives_at() const {
    return set_up_at() + 2 * std::size_t{places()} * sizeof(std::uint32_t);
  }
  [[nodiscard]] constexpr unsigned negative_words() const { return (quads() + 3) / 4 * 16; }
  static constexpr unsigned negative_index(unsigned place) {
    return place / 16 * 16 + place % 4 * 4 + place / 4 % 4;
  }
  /// Matrix of the extension from B to A. Word j < 4 Q, a coordinate: B_j 2^(8p) mod a_i; the rank word: -M_B
  /// 2^(8p) mod a_i. With one shared modulus N, times N kappa_i^2: then the remainder of the sums is added to
  /// X Y before its reduction.
  [[nodiscard]] constexpr std::size_t b_to_a() const {
    return negatives_at() + 2 * std::size_t{negative_words()} * sizeof(std::uint32_t);
  }
  /// Matrix of the extension from A to B. Word i < 4 Q, a stored residue: v(i, p) A_i mod b_j, with v(i, p) =
  /// 2^(8p) / (kappa_i A_i) mod a_i; the rank word: -M_A 2^(8p) mod b_j. With roots, times rho_j.
  [[nodiscard]] constexpr std::size_t a_to_b() const { return b_to_a() + extension().bytes(); }
  /// Matrix from the words of a number below 2^(32 words) to residues in B: 2^(32 w + 8p) mod b_j; with
  /// roots, times rho_j.
  [[nodiscard]] constexpr std::size_t words_to_b() const { return a_to_b() + extension().bytes(); }
  /// Matrix from the same words to stored residues in A: 2^(32 w + 8p) kappa_i mod a_i.
  [[nodiscard]] constexpr std::size_t words_to_a() const { return words_to_b() + input().bytes(); }
  /// Matrix from stored residues in A to words of radix 2^32, modulo 2^(32 C) for C = 4 output_quads(). The
  /// column of target w and byte b is byte 4 w + b of v(i, p) A_i mod 2^(32 C); for the rank word, of -M_A
  /// 2^(8p) mod 2^(32 C).
  [[nodiscard]] constexpr std::size_t out() const { return words_to_a() + input().bytes(); }
  [[nodiscard]] constexpr std::size_t bytes() const { return out() + output().bytes(); }
};

/// The same layout as compile-time constants of a kernel.
template <unsigned kChannels, unsigned kWords>
struct Layout {
  static constexpr ConstantsLayout kSizes{kChannels, kWords};
  static constexpr unsigned kQ = kSizes.quads();

  static constexpr MatrixShape kExtension = kSizes.extension();
  static constexpr MatrixShape kInput = kSizes.input();
  static constexpr MatrixShape kOutput = kSizes.output();

  static constexpr std::size_t kSetUpAt = kSizes.set_up_at();
  static constexpr std::size_t kNegativesAt = kSizes.negatives_at();
  static constexpr unsigned kNegativeWords = kSizes.negative_words();
  static constexpr std::size_t kBToA = kSizes.b_to_a();
  static constexpr std::size_t kAToB = kSizes.a_to_b();
  static constexpr std::size_t kWordsToB = kSizes.words_to_b();
  static constexpr std::size_t kWordsToA = kSizes.words_to_a();
  static constexpr std::size_t kOut = kSizes.out();
  static constexpr std::size_t kBytes = kSizes.bytes();
};

}  // namespace manymod::rns
