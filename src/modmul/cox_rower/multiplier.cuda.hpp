// SPDX-License-Identifier: Apache-2.0
// Technique cox_rower: Montgomery multiplication in a residue number system by all threads of a block, after
// the Cox-Rower architecture (Kawamura, Koike, Sano, Shimbo, EUROCRYPT 2000). It computes one instance in the
// shortest time; the other techniques compute many at the largest rate. R is M_B, the product of base B.
//
// A number is an integer x, 0 <= x < 2 U, U = 2^bits, represented by its residues in both bases. Two or four
// threads work on a channel, one prime of each base, and all of them hold its residues. A base extension
// turns coordinates xi_i of x, x = sum xi_i M_i - k M with M_i = M / m_i, into the residue modulo a prime of
// the other base: each of the channel's threads adds up its part of the terms xi_i M_i, whose constants stay
// in its registers for the whole exponentiation, and shuffles add up their sums and, at the same time, the
// estimate of the rank k, for which a multiple of M is subtracted in the reduction that follows. The threads
// of the block exchange nothing but the coordinates, once in each extension. With M_A, M_B >= 8 U and N < U:
//
// - mul extends t = -x y / N mod M_B to A as t or as t + M_B, which is below (1 + 1/32) M_B (see rank()).
//
// - w = (x y + t N) / M_B < 4 U^2 / (8 U) + (1 + 1/32) N < 2 U. Its extension to B is exact, as
//   w < 2 U <= M_A / 4 < (1 - 1/16) M_A.
//
// - For a product with an integer below N, w < 2 U N / (8 U) + (1 + 1/32) N < 2 N, so that subtracting N at
//   most once makes it canonical.
//
// bases.hpp has the ranges of residues. All functions are constant-time and called by all threads together.
#pragma once

#include <cstdint>

#include "arch/cuda/memory.cuda.hpp"
#include "arch/cuda/wide.cuda.hpp"
#include "core/portable.hpp"
#include "modmul/cox_rower/channel.cuda.hpp"
#include "modmul/cox_rower/layout.hpp"
#include "repr/word_memory.hpp"

namespace manymod::cox_rower {

/// The multiplier of gpu/program/multiplier.cuda.hpp for a block (arch/cuda/block_group.cuda.hpp), whose
/// memory is the block's and contiguous; for moduli of up to kBits bits.
template <class Group, unsigned kBits>
class Multiplier {
  static constexpr Bases kOwnBases = bases_of(kBits);
  static constexpr unsigned kTerms = kOwnBases.terms;
  static constexpr unsigned kThreadsPerChannel = kOwnBases.threads;
  static constexpr unsigned kChannels = kOwnBases.channels();
  static constexpr Layout kLayout{kOwnBases, Group::kSize};
  static constexpr unsigned kColumns = kLayout.columns();
  static constexpr RankEstimate kRank = rank_estimate(kOwnBases);
  static_assert(Group::kSize >= kThreadsPerChannel * kChannels);

  // Offsets in the block's memory: coordinates in B, coordinates in A, both at multiples of four words; then
  // what to_words needs: four words for each column of the result; the result; the result minus N; and
  // whether that is negative.
  static constexpr unsigned kInB = 0, kInA = (kChannels + 3) / 4 * 4, kColumnsAt = 2 * kInA,
                            kSumAt = kColumnsAt + 4 * kColumns, kDifferenceAt = kSumAt + kColumns,
                            kBorrowAt = kDifferenceAt + kColumns;

 public:
  static constexpr unsigned kWords = kOwnBases.words();
  static constexpr unsigned kRadixBits = 0;
  static constexpr unsigned kLaneWords = 2;
  static constexpr unsigned kSharedWords = kBorrowAt / Group::kSize + 1;
  static constexpr unsigned kCopies = kThreadsPerChannel;
  static_assert(kColumns <= Group::kSize);

  /// The residues of a number in a thread's channel, in Montgomery form.
  struct Element {
    std::uint32_t b;
    std::uint32_t a;
  };

  /// On input: `constants` are those of Layout; `memory` is the block's, aligned to 16 bytes.
  MM_DEVICE Multiplier(const Group& group, LaneMemory memory, WordSource n, const void* constants)
      : group_(group),
        memory_(memory.first),
        n_(n),
        constants_(static_cast<const std::uint32_t*>(constants)),
        b_{constant(ThreadConstant::modulus_b), constant(ThreadConstant::negative_inverse_b)},
        a_{constant(ThreadConstant::modulus_a), constant(ThreadConstant::negative_inverse_a)},
        residue_in_a_(constant(ThreadConstant::residue_in_a)),
        to_coordinate_(constant(ThreadConstant::coordinate_in_a)),
        one_in_b_(radix_modulo(b_)),
        rank_to_b_(constant(ThreadConstant::rank_to_b)) {
    MM_UNROLL
    for (unsigned t = 0; t < kTerms; ++t) {
      terms_to_a_[t] = constant(static_cast<unsigned>(ThreadConstant::first_term) + t);
      terms_to_b_[t] = constant(static_cast<unsigned>(ThreadConstant::first_term) + kTerms + t);
    }
    set_up(from_words(n));
  }

  /// Whether n shares a factor with M_B, so that no result is valid. The same in every thread.
  [[nodiscard]] MM_DEVICE bool refused() const { return refused_; }

  /// The residues of a number below U.
  template <class Words>
  MM_DEVICE Element from_words(const Words& x) const {
    // Goes through the words from the least significant one: with r <= m + 1 and a word below 2^32,
    // (r + word + q m) / 2^32 < (2^32 + m + 1 + 2^32 m) / 2^32, which is at most m + 1 again. What remains is
    // x / 2^(32 kWords).
    const auto sum = [](std::uint32_t a, std::uint32_t b) {
      const std::uint64_t s = std::uint64_t{a} + b;
      return cuda::Wide{static_cast<std::uint32_t>(s), static_cast<std::uint32_t>(s >> 32)};
    };
    Element r{0, 0};
    MM_ROLLED
    for (unsigned j = 0; j < kWords; ++j) {
      const std::uint32_t word = x[j];
      r.b = reduced(sum(r.b, word), b_);
      r.a = reduced(sum(r.a, word), a_);
    }
    return {product(r.b, constant(ThreadConstant::entry_to_b), b_),
            product(r.a, constant(ThreadConstant::entry_to_a), a_)};
  }

  /// Stores x mod n in [0, n). On input: x < 2 n, as a product with an integer below n is.
  MM_DEVICE void to_words(WordSink r, const Element& x) const {
    // The exchange uses the buffer of B's coordinates, because other threads may still read A's at the end of
    // the preceding mul().
    exchange(kInB, corrected(product(x.a, constant(ThreadConstant::last_coordinate), a_), a_));
    const unsigned own = group_.lane();
    if (own < kColumns) put_column(own);
    group_.sync();
    if (own == 0) join_columns();
    group_.sync();
    if (own < kWords) {
      const std::uint32_t negative = 0 - memory_[kBorrowAt];
      r.set(own, (memory_[kSumAt + own] & negative) | (memory_[kDifferenceAt + own] & ~negative));
    }
  }

  /// x y / M_B mod n. Ranges: see the top of the file.
  MM_DEVICE Element mul(const Element& x, const Element& y) const {
    const std::uint32_t in_b = product(x.b, y.b, b_);
    exchange(kInB, corrected(product(in_b, to_quotient_, b_), b_));
    const cuda::Wide own_part = cuda::multiply(product(x.a, y.a, a_), to_coordinate_);
    const Extended t = extended<kInB, 0>(terms_to_a_, a_);
    const cuda::Wide ranked = cuda::multiply_add(t.rank, rank_to_coordinate_, own_part);
    const std::uint32_t coordinate = corrected(reduced(cuda::multiply_add(t.sum, modulus_, ranked), a_), a_);
    exchange(kInA, coordinate);
    Element r;
    r.a = product(coordinate, residue_in_a_, a_);
    const Extended w = extended<kInA, kRank.sixteenth>(terms_to_b_, b_);
    r.b = reduced(cuda::multiply_add(w.sum, one_in_b_, cuda::multiply(w.rank, rank_to_b_)), b_);
    return r;
  }
  /// x^2 / M_B mod n.
  MM_DEVICE Element sqr(const Element& x) const { return mul(x, x); }

  /// Word j < kLaneWords of this thread's part of an element, as tables store it.
  MM_DEVICE static std::uint32_t lane_word(const Element& x, unsigned j) { return j == 0 ? x.b : x.a; }
  /// Sets word j < kLaneWords of this thread's part of an element.
  MM_DEVICE static void set_lane_word(Element& x, unsigned j, std::uint32_t word) {
    (j == 0 ? x.b : x.a) = word;
  }
  /// The bitwise or of the words of all threads of the channel.
  [[nodiscard]] MM_DEVICE std::uint32_t joined_copies(std::uint32_t word) const {
    MM_UNROLL
    for (unsigned mask = 1; mask < kThreadsPerChannel; mask *= 2) word |= group_.shuffle_xor(word, mask);
    return word;
  }

 private:
  /// The sum of all terms of a base extension modulo a channel's prime, in Montgomery form, and the rank.
  struct Extended {
    std::uint32_t sum, rank;
  };

  Group group_;
  std::uint32_t* memory_;
  WordSource n_;
  const std::uint32_t* constants_;
  Channel b_, a_;
  std::uint32_t residue_in_a_;
  std::uint32_t to_coordinate_;  // of w in A, from x y
  std::uint32_t one_in_b_;       // in Montgomery form
  std::uint32_t rank_to_b_;
  std::uint32_t terms_to_a_[kTerms], terms_to_b_[kTerms];
  std::uint32_t to_quotient_ = 0;         // the coordinate of t in B, from x y
  std::uint32_t modulus_ = 0;             // the coordinate of w in A, from t
  std::uint32_t rank_to_coordinate_ = 0;  // the same, from the rank of t
  bool refused_ = false;

  [[nodiscard]] MM_DEVICE std::uint32_t constant(unsigned index) const {
    return constants_[index * Group::kSize + group_.lane()];
  }
  [[nodiscard]] MM_DEVICE std::uint32_t constant(ThreadConstant which) const {
    return constant(static_cast<unsigned>(which));
  }

  // What depends on n. On input: n in Montgomery form.
  MM_DEVICE void set_up(const Element& n) {
    const std::uint32_t inverse_in_b = corrected(inverse(n.b, b_), b_);
    to_quotient_ = corrected(product(inverse_in_b, constant(ThreadConstant::coordinate_in_b), b_), b_);
    modulus_ = corrected(product(n.a, to_coordinate_, a_), a_);
    rank_to_coordinate_ = corrected(product(constant(ThreadConstant::rank_to_a), modulus_, a_), a_);
    // No branch and no barrier may depend on a channel's result.
    exchange(kInB, inverse_in_b == 0 ? 1 : 0);
    std::uint32_t refused = 0;
    MM_ROLLED
    for (unsigned i = 0; i < kChannels; ++i) refused |= memory_[kInB + i];
    refused_ = refused != 0;
    group_.sync();
  }

  // Stores the coordinate of this thread's channel where all threads read it. The buffers of both bases are
  // used in turns, so that a thread may store while others still read the coordinates before.
  MM_DEVICE void exchange(unsigned at, std::uint32_t coordinate) const {
    const unsigned channel = group_.lane() / kThreadsPerChannel;
    if (group_.lane() % kThreadsPerChannel == 0 && channel < kChannels) memory_[at + channel] = coordinate;
    group_.sync();
  }

  // Calls use(t, xi) for the coordinate of each of this thread's terms (source_channel).
  template <unsigned kAt, class Use>
  MM_DEVICE void for_coordinates(const Use& use) const {
    constexpr unsigned kWhole = kTerms / 4, kRest = kTerms % 4;
    const unsigned part = group_.lane() % kThreadsPerChannel;
    MM_UNROLL
    for (unsigned i = 0; i < kWhole; ++i) {
      const cuda::Chunk<4> four = cuda::load_chunk<4>(memory_ + kAt + 4 * kThreadsPerChannel * i + 4 * part);
      MM_UNROLL
      for (unsigned j = 0; j < 4; ++j) use(4 * i + j, four.word[j]);
    }
    if constexpr (kRest > 0) {
      MM_UNROLL
      for (unsigned j = 0; j < kRest; ++j) {
        use(4 * kWhole + j, memory_[kAt + 4 * kThreadsPerChannel * kWhole + kRest * part + j]);
      }
    }
  }

  // The number whose coordinates in one base have been exchanged, plus its rank times M, modulo the thread's
  // prime of the other base. kOffset: see rank().
  template <unsigned kAt, std::uint32_t kOffset>
  MM_DEVICE Extended extended(const std::uint32_t (&terms)[kTerms], const Channel& channel) const {
    cuda::Wide own;
    std::uint32_t shifted = 0;
    for_coordinates<kAt>([&](unsigned t, std::uint32_t coordinate) {
      own = cuda::multiply_add(coordinate, terms[t], own);
      shifted += coordinate >> kRank.shift;
    });
    std::uint32_t sum = reduced(own, channel);
    MM_UNROLL
    for (unsigned mask = 1; mask < kThreadsPerChannel; mask *= 2) {
      shifted += group_.shuffle_xor(shifted, mask);
      sum += group_.shuffle_xor(sum, mask);
    }
    return {sum, rank(shifted, kOffset)};
  }

  // An estimate of the rank k = floor(s), s = sum xi_i / m_i = k + x / M, from t, the sum of all coordinates
  // after a shift. The estimate uses s' with s - 1/32 < s' <= s (the tests add up the errors of the shift, of
  // the rounded factor, and of using the bound for each m_i). With an offset of 1/16 the estimate is k if x /
  // M < 1 - 1/16; without one it is k, or k - 1 if x / M < 1/32.
  MM_DEVICE static std::uint32_t rank(std::uint32_t t, std::uint32_t offset) {
    return cuda::multiply(t + offset, kRank.factor).hi >> kRank.divide;
  }

  // Adds up the terms of one word of the result: xi_i A_i, and -k M_A, as three words; the fourth is n's.
  MM_DEVICE void put_column(unsigned column) const {
    const std::uint32_t* const words = constants_ + kLayout.output_at() + column;
    std::uint64_t low = 0, high = 0;
    std::uint32_t shifted = 0;
    const auto add = [&](std::uint32_t factor, unsigned row) {
      const cuda::Wide term = cuda::multiply(factor, words[std::size_t{row} * kColumns]);
      low += term.lo;
      high += term.hi;
    };
    MM_ROLLED
    for (unsigned i = 0; i < kChannels; ++i) {
      add(memory_[kInB + i], i);
      shifted += memory_[kInB + i] >> kRank.shift;
    }
    add(rank(shifted, kRank.sixteenth), kChannels);
    high += low >> 32;
    std::uint32_t* const sums = memory_ + kColumnsAt + 4 * column;
    sums[0] = static_cast<std::uint32_t>(low);
    sums[1] = static_cast<std::uint32_t>(high);
    sums[2] = static_cast<std::uint32_t>(high >> 32);
    sums[3] = n_[column];
  }

  // One thread: the result from its columns, the result minus n, and whether that is negative.
  MM_DEVICE void join_columns() const {
    std::uint64_t carry = 0;  // from the columns below: two words
    std::uint32_t borrow = 0;
    MM_ROLLED
    for (unsigned j = 0; j < kColumns; ++j) {
      const std::uint32_t* const column = memory_ + kColumnsAt + 4 * j;
      const std::uint64_t low = std::uint64_t{column[0]} + static_cast<std::uint32_t>(carry);
      carry = (carry >> 32) + (low >> 32) + (std::uint64_t{column[2]} << 32 | column[1]);
      const auto word = static_cast<std::uint32_t>(low);
      const std::uint64_t difference = std::uint64_t{word} - column[3] - borrow;
      borrow = static_cast<std::uint32_t>(difference >> 63);
      memory_[kSumAt + j] = word;
      memory_[kDifferenceAt + j] = static_cast<std::uint32_t>(difference);
    }
    memory_[kBorrowAt] = borrow;
  }
};

}  // namespace manymod::cox_rower
