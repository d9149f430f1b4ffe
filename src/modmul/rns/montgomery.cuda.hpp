// SPDX-License-Identifier: Apache-2.0
// Montgomery multiplication in residue number systems with both base extensions on tensor cores: the data
// flow of docs/rns/theory.md, "Montgomery multiplication" and "The steps of a multiplication". form.hpp
// defines the terms.
//
// A team of warps (arch/cuda/byte_products.cuda.hpp) works on 16 instances for each warp. From B to A, a
// coordinate is four bytes along K; from A to B, a stored residue is. These words are a thread's operand of
// the matrix product as they are, and the four byte sums of a target arrive at the thread that owns the
// channel. The only words that threads exchange are the sums that make ranks; a rank is one more word of the
// operand.
//
// All functions are constant-time. All threads of the team call them together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "arch/cuda/byte_products.cuda.hpp"
#include "arch/cuda/wide.cuda.hpp"
#include "core/portable.hpp"
#include "modmul/rns/channel.cuda.hpp"
#include "modmul/rns/form.hpp"
#include "modmul/rns/layout.hpp"
#include "modmul/rns/record.cuda.hpp"

namespace manymod::rns {

/// The rank of coordinates in B by the Cox, from their top 16 of 31 bits, without offset: it may be too small
/// by 1, which adds M_B to t' and is harmless.
inline constexpr unsigned kCoxBits = 16;
inline constexpr unsigned kCoxShift = 31 - kCoxBits;
/// The rank of residues in A, from sums in units of 2^-8 (RankSum::value()), with an offset of one half,
/// which makes it exact.
inline constexpr unsigned kRankBits = 8;
inline constexpr std::uint32_t kRankHalf = 1u << (kRankBits - 1);

/// The constants that a multiplication reads, in shared memory.
template <class Team, unsigned kChannels, unsigned kWords>
class Bases {
  using Parts = Layout<kChannels, kWords>;
  static constexpr unsigned kQ = Parts::kQ;

 public:
  /// `constants`: the constants of layout.hpp, aligned to 16 bytes, including the extension matrices unless
  /// the team streams these.
  MM_DEVICE Bases(const Team& team, const std::byte* constants)
      : channels_(reinterpret_cast<const StoredChannel*>(constants) + team.lane() % 4),
        set_up_(reinterpret_cast<const std::uint32_t*>(constants + Parts::kSetUpAt) + team.lane() % 4),
        negatives_(reinterpret_cast<const std::uint32_t*>(constants + Parts::kNegativesAt) +
                   ConstantsLayout::negative_index(team.lane() % 4)),
        b_to_a_(constants + Parts::kBToA, kQ),
        a_to_b_(constants + Parts::kAToB, kQ) {}

  /// The thread's channel of B in channel quad q.
  MM_DEVICE Channel b(unsigned q) const { return {load(q), negative(negatives_, q)}; }
  /// The thread's channel of A in channel quad q.
  MM_DEVICE Channel a(unsigned q) const {
    return {load(kQ + q), negative(negatives_ + Parts::kNegativeWords, q)};
  }
  /// The thread's channel of residue k < 2 kQ of an element; residues in A come first.
  MM_DEVICE Channel channel(unsigned k) const { return channel_of(load(place(k))); }
  /// The set-up constant of channel(k): ConstantsLayout::set_up_at().
  MM_DEVICE std::uint32_t set_up(unsigned k) const { return set_up_[4 * place(k)]; }
  /// The matrices of the extensions.
  MM_DEVICE const typename Team::Matrix& b_to_a() const { return b_to_a_; }
  MM_DEVICE const typename Team::Matrix& a_to_b() const { return a_to_b_; }

 private:
  const StoredChannel* channels_;
  const std::uint32_t* set_up_;
  const std::uint32_t* negatives_;
  typename Team::Matrix b_to_a_, a_to_b_;

  MM_DEVICE static unsigned place(unsigned k) { return k < kQ ? k + kQ : k - kQ; }
  MM_DEVICE StoredChannel load(unsigned place) const {
    const cuda::Chunk<4> words = cuda::load_chunk<4>(&channels_[4 * place].modulus);
    return {words.word[0], words.word[1], words.word[2], words.word[3]};
  }
  // One load brings the negatives of four channel quads.
  MM_DEVICE static std::uint32_t negative(const std::uint32_t* negatives, unsigned q) {
    return cuda::load_chunk<4>(negatives + ConstantsLayout::negative_index(4 * (q / 4 * 4))).word[q % 4];
  }
};

/// The operand of an extension for a thread's two instances: a word for each of the thread's places, and the
/// ranks. In places of the split channel quad that belong to the other instance the word is 0.
template <class Team, unsigned kChannels>
class Operand {
  static constexpr unsigned kQ = Layout<kChannels, 1>::kQ;

 public:
  static constexpr unsigned kSteps = Layout<kChannels, 1>::kExtension.steps;

  /// Sets the coordinate of channel quad q, for an extension from B. On input: xi <= 2 m.
  MM_DEVICE void set_coordinate(unsigned half, unsigned q, std::uint32_t xi) {
    rows_.words[half][q] = xi;
    coordinates_[half] += xi >> kCoxShift;
  }
  /// Sets the residue of channel quad q, in [0, m), as it is stored, for an extension from A.
  MM_DEVICE void set_residue(unsigned half, unsigned q, std::uint32_t w, const Channel& channel) {
    rows_.words[half][q] = w;
    residues_[half].add(w, channel);
  }

  // One of the following three is called after all words are set.

  /// Ranks 0, for coordinates: t' < 2 n (1 + 2^-31) M_B.
  MM_DEVICE void set_no_ranks() {
    MM_UNROLL
    for (unsigned half = 0; half < 2; ++half) set_rank(half, 0);
  }
  /// Ranks by the Cox, for coordinates: t' < (1 + e) M_B with the small e of docs/rns.md (Delta_B).
  MM_DEVICE void set_coordinates_ranks(const Team& team) {
    MM_UNROLL
    for (unsigned half = 0; half < 2; ++half) {
      set_rank(half, team.sum_over_thread_quad(coordinates_[half]) >> kCoxBits);
    }
  }
  /// Exact ranks, for residues.
  MM_DEVICE void set_residues_ranks(const Team& team) {
    MM_UNROLL
    for (unsigned half = 0; half < 2; ++half) {
      set_rank(half, (team.sum_over_thread_quad(residues_[half].value()) + kRankHalf) >> kRankBits);
    }
  }
  MM_DEVICE const cuda::ByteRows<kSteps>& rows() const { return rows_; }

 private:
  cuda::ByteRows<kSteps> rows_;
  std::uint32_t coordinates_[2] = {0, 0};
  RankSum residues_[2];

  MM_DEVICE void set_rank(unsigned half, std::uint32_t rank) {
    rows_.words[half][kQ] = rank;
    if constexpr (kQ + 1 < 2 * kSteps) rows_.words[half][kQ + 1] = 0;
  }
};

/// Arithmetic on the elements of a thread's two instances.
template <class Team, Form kForm>
class Montgomery {
  static constexpr unsigned kQ = kForm.quads();
  using Input = Operand<Team, kForm.channels>;

 public:
  using Number =
      std::conditional_t<kForm.elements_in_memory(), StoredElement<kForm.channels>, Element<kForm.channels>>;
  using Constants = Bases<Team, kForm.channels, kForm.words>;

  /// `modulus`: the records of the constants of the instances' moduli. Part A: N kappa_i^2 mod a_i. Part B:
  /// -2^64 / (N B_j) mod b_j; or, in shared memory, c = -2^32 / (N B_j) mod b_j with the quotients floor(2^32
  /// c / b_j), which is more to read but needs fewer products with high words. Not read where the form has
  /// one modulus.
  MM_DEVICE Montgomery(const Team& team, const Constants& bases, const RecordPair& modulus)
      : team_(team), bases_(bases), modulus_(modulus) {}

  /// x = x^2 / M_B mod N. On input and output: elements below c N with c about 4 n (docs/rns/theory.md,
  /// "Montgomery multiplication", (2) and (3)).
  MM_DEVICE void square(Number& x) const { multiply_by<Factor::itself>(x, modulus_); }
  /// x = x y / M_B mod N. On input: elements below c_1 N and c_2 N, c_1, c_2 <= c. On output: below (c_1 c_2
  /// N / M_B + 1 + e) N for a small e; for y = 1 below 2 N. y may be a copy of x.
  MM_DEVICE void multiply(Number& x, const RecordPair& y) const { multiply_by<Factor::other>(x, y); }

  /// Sets w to the operand of an extension from A of x.
  MM_DEVICE void operand_of(Input& w, Number& x) const {
    Cursor<Part::a> residues(x);
    MM_UNROLL
    for (unsigned q = 0; q < kQ; ++q) {
      const Channel channel = bases_.a(q);
      MM_UNROLL
      for (unsigned half = 0; half < instances(q); ++half)
        set_residue(w, half, q, residues.get(half, q), channel);
    }
    w.set_residues_ranks(team_);
  }

 private:
  /// Whether the code multiplies an element by itself or by another one.
  enum class Factor { itself, other };

  template <Part kPart>
  using Cursor = typename Number::template Cursor<kPart>;

  const Team& team_;
  const Constants& bases_;
  RecordPair modulus_;

  /// Reads the words of a part of two instances' records for ascending q. The word of the split channel quad
  /// is loaded at construction, so that it has arrived when it is used. kUsed: whether the words are used at
  /// all.
  template <Part kPart, class Reader, bool kUsed>
  class Words {
   public:
    MM_DEVICE explicit Words(const RecordPair& records)
        : reader_{Reader(records[0]), Reader(records[1])},
          split_quad_(kUsed && kForm.sizes().is_split() ? records.split_quad[static_cast<unsigned>(kPart)]
                                                        : 0) {}
    MM_DEVICE std::uint32_t get(unsigned half, unsigned q) {
      return kForm.is_split(q) ? split_quad_ : reader_[half][q];
    }
    /// Prefetches words of channel quads first .. first + count - 1, where Reader is a PrefetchReader.
    MM_DEVICE void load(unsigned first, unsigned count) {
      reader_[0].load(first, count);
      reader_[1].load(first, count);
    }

   private:
    Reader reader_[2];
    std::uint32_t split_quad_;
  };

  // Whether a tile's constants are prefetched before waiting on its accumulators.
  static constexpr bool kPrefetch =
      !kForm.one_modulus && !kForm.moduli_in_shared_memory && !kForm.elements_in_memory();
  // The words of the other factor. They bypass the L1 cache where they come from the table, since it is for
  // the constants of moduli.
  template <Part kPart, Factor kFactor>
  using FactorWords =
      Words<kPart, RecordReader<first_word<kForm.channels>(kPart), !kForm.factors_in_shared_memory()>,
            kFactor == Factor::other>;
  template <Part kPart>
  using ConstantWords = Words<kPart, RecordReader<first_word<kForm.channels>(kPart)>,
                              kPart == Part::quotients ? kForm.moduli_in_shared_memory : !kForm.one_modulus>;

  // x = x y / M_B mod N, or x^2 / M_B mod N.
  template <Factor kFactor>
  MM_DEVICE void multiply_by(Number& x, const RecordPair& y) const {
    Input w;
    {
      Input t;
      in_b<kFactor>(t, x, y);
      in_a<kFactor>(w, t, x, y);
    }
    if constexpr (kForm.elements_in_memory()) operand_of(w, x);
    to_b(x, w);
  }

  // For how many of the thread quad's two instances a thread works in channel quad q. If one, half 0 is
  // for its split_instance().
  MM_DEVICE static constexpr unsigned instances(unsigned q) { return kForm.is_split(q) ? 1 : 2; }
  // The instance for which the thread works in the split channel quad.
  MM_DEVICE unsigned split_half() const { return split_instance(team_.lane()); }
  // The byte sums of the instance `half`, in a split channel quad those of the split_instance(). `quad`:
  // where channel quad q is in `sums`.
  template <class Sums>
  MM_DEVICE ChannelSums sums_for(const Sums& sums, unsigned quad, unsigned half, unsigned q) const {
    if (!kForm.is_split(q)) return sums_of(sums, quad, half);
    const ChannelSums first = sums_of(sums, quad, 0), second = sums_of(sums, quad, 1);
    ChannelSums chosen{};
    MM_UNROLL
    for (unsigned b = 0; b < 4; ++b)
      chosen.of_byte[b] = split_half() == 0 ? first.of_byte[b] : second.of_byte[b];
    return chosen;
  }
  // In the split channel quad: x if `half` is the thread's split_instance(), else 0. One comparison serves
  // both halves.
  MM_DEVICE std::uint32_t if_split_instance(unsigned half, std::uint32_t x) const {
    return (split_half() == 0) == (half == 0) ? x : 0;
  }
  // Operand::set_coordinate() and set_residue(); in the split channel quad for both halves, with 0 for the
  // other instance.
  MM_DEVICE void set_coordinate(Input& t, unsigned half, unsigned q, std::uint32_t xi) const {
    if (!kForm.is_split(q)) return t.set_coordinate(half, q, xi);
    MM_UNROLL
    for (unsigned h = 0; h < 2; ++h) t.set_coordinate(h, q, if_split_instance(h, xi));
  }
  MM_DEVICE void set_residue(Input& w, unsigned half, unsigned q, std::uint32_t residue,
                             const Channel& channel) const {
    if (!kForm.is_split(q)) return w.set_residue(half, q, residue, channel);
    MM_UNROLL
    for (unsigned h = 0; h < 2; ++h) w.set_residue(h, q, if_split_instance(h, residue), channel);
  }

  // Computes in B the coordinates of t = -x y / N mod M_B, and their ranks: the operand t' of the extension
  // to A.
  template <Factor kFactor>
  MM_DEVICE void in_b(Input& t, Number& x, const RecordPair& y) const {
    Cursor<Part::b> residues(x);
    FactorWords<Part::b, kFactor> factor(y);
    ConstantWords<Part::b> constant(modulus_);
    ConstantWords<Part::quotients> quotient(modulus_);
    MM_UNROLL
    for (unsigned q = 0; q < kQ; ++q) {
      const Channel channel = bases_.b(q);
      MM_UNROLL
      for (unsigned half = 0; half < instances(q); ++half) {
        const std::uint32_t residue = residues.get(half, q);
        const std::uint32_t other = kFactor == Factor::itself ? residue : factor.get(half, q);
        const std::uint32_t s = reduce(cuda::multiply(residue, other), channel);
        if constexpr (kForm.rooted()) {
          set_coordinate(t, half, q, signed_coordinate(s, channel));
        } else if constexpr (kForm.one_modulus) {
          set_coordinate(t, half, q, coordinate(s, channel));
        } else if constexpr (kForm.moduli_in_shared_memory) {
          set_coordinate(t, half, q,
                         product_by_quotient(s, constant.get(half, q), quotient.get(half, q), channel));
        } else {
          set_coordinate(t, half, q, reduce(cuda::multiply(s, constant.get(half, q)), channel));
        }
      }
    }
    // Squarings omit the ranks, so their results may reach 2 N and more. A program's result must be below 2
    // N: its last operation is therefore a multiplication.
    if constexpr (kFactor == Factor::itself) {
      t.set_no_ranks();
    } else {
      t.set_coordinates_ranks(team_);
    }
  }

  // Computes x = (x y + t' N) / M_B in A. Where elements are in registers, w becomes the operand of the
  // extension to B.
  template <Factor kFactor>
  MM_DEVICE void in_a(Input& w, const Input& t, Number& x, const RecordPair& y) const {
    Cursor<Part::a> residues(x);
    FactorWords<Part::a, kFactor> factor(y);
    using Prefetched = Words<Part::a, PrefetchReader<0, kTileQuads>, kPrefetch>;
    std::conditional_t<kPrefetch, Prefetched, ConstantWords<Part::a>> constant(modulus_);
    const auto prepare = [&](unsigned first, unsigned count) {
      if constexpr (kPrefetch) constant.load(first, count);
    };
    extend<0>(t, bases_.b_to_a(), prepare, [&](unsigned q, const auto& sums, unsigned quad) {
      const Channel channel = bases_.a(q);
      MM_UNROLL
      for (unsigned half = 0; half < instances(q); ++half) {
        const std::uint32_t residue = residues.get(half, q);
        const std::uint32_t other = kFactor == Factor::itself ? residue : factor.get(half, q);
        const std::uint32_t tn = remainder<kNarrow>(sums_for(sums, quad, half, q), channel);
        const cuda::Wide v = kForm.one_modulus
                                 ? cuda::multiply_add(residue, other, {tn, 0})
                                 : cuda::multiply_add(corrected(tn, channel), constant.get(half, q),
                                                      cuda::multiply(residue, other));
        const std::uint32_t result = corrected(reduce(v, channel), channel);
        residues.set(half, q, result);
        if constexpr (!kForm.elements_in_memory()) set_residue(w, half, q, result, channel);
      }
    });
    if constexpr (!kForm.elements_in_memory()) w.set_residues_ranks(team_);
  }

  // Computes the residues of x in B from w, its residues in A.
  MM_DEVICE void to_b(Number& x, const Input& w) const {
    Cursor<Part::b> residues(x);
    extend<1>(
        w, bases_.a_to_b(), [](unsigned, unsigned) {},
        [&](unsigned q, const auto& sums, unsigned quad) {
          const Channel channel = bases_.b(q);
          MM_UNROLL
          for (unsigned half = 0; half < instances(q); ++half) {
            const std::uint32_t v = remainder<kNarrow>(sums_for(sums, quad, half, q), channel);
            residues.set(half, q, kForm.lazy_b ? v : corrected(v, channel));
          }
        });
  }

  static constexpr bool kNarrow = kForm.narrow_sums();
  static constexpr unsigned kTileQuads = kForm.tile_quads;
  static constexpr cuda::Tiles kTiles = kForm.tiles();

  /// Multiplies the operand by an extension matrix, tile by tile. Calls prepare(q, count) before waiting on
  /// the accumulators of channel quads q .. q + count - 1, then use(q, sums, quad) for each of them, where
  /// `quad` is its number in `sums`. kMatrix: 0 for the matrix to A, 1 for the one to B. A multiplication
  /// calls it once for each.
  template <unsigned kMatrix, class Prepare, class Use>
  MM_DEVICE void extend(const Input& operand, const typename Team::Matrix& matrix, Prepare prepare,
                        Use use) const {
    constexpr unsigned kFirstTile = kMatrix * kTiles.count();
    if constexpr (kForm.elements_in_memory()) {
      consume_by_loop<kFirstTile>(operand, matrix, use);
    } else {
      cuda::ByteSums<kTiles.size(0)> first;
      team_.start(first, operand.rows(), matrix, kFirstTile);
      consume_from<kFirstTile, 0>(first, operand, matrix, prepare, use);
    }
  }

  // Continues from tile kTile, whose product is in flight in `sums`. The product of the next tile runs while
  // these sums are used, unless the form has only one in flight.
  template <unsigned kFirstTile, unsigned kTile, unsigned kQuads, class Prepare, class Use>
  MM_DEVICE void consume_from(cuda::ByteSums<kQuads>& sums, const Input& operand,
                              const typename Team::Matrix& matrix, Prepare& prepare, Use& use) const {
    constexpr unsigned kFirst = kTiles.first(kTile), kNext = kTile + 1;
    constexpr bool kIsLast = kNext == kTiles.count(), kOverlap = !kIsLast && !kForm.one_in_flight;
    cuda::ByteSums<kTiles.size(kIsLast ? kTile : kNext)> next;
    const auto start_next = [&] {
      team_.start(next, operand.rows(), matrix.from(kTiles.first(kNext)), kFirstTile + kNext);
    };
    if constexpr (kOverlap) start_next();
    prepare(kFirst, kQuads);
    team_.template wait<kOverlap ? 1 : 0>(kFirstTile + kTile);
    consume(sums, kFirst, use);
    if constexpr (!kIsLast) {
      if constexpr (!kOverlap) start_next();
      consume_from<kFirstTile, kNext>(next, operand, matrix, prepare, use);
    }
  }

  // The same in a loop, for elements that need no constant indices: unrolled code for all channel quads would
  // not fit the instruction caches. While one warpgroup uses its sums, the tensor cores work for another.
  template <unsigned kFirstTile, class Use>
  MM_DEVICE void consume_by_loop(const Input& operand, const typename Team::Matrix& matrix, Use& use) const {
    constexpr unsigned kQuadsPerIteration = Record::kChunkWords;
    static_assert(kQuadsPerIteration % kTileQuads == 0 && kQ % kQuadsPerIteration == 0);
    MM_ROLLED
    for (unsigned first_quad = 0; first_quad < kQ; first_quad += kQuadsPerIteration) {
      MM_UNROLL
      for (unsigned i = 0; i < kQuadsPerIteration; i += kTileQuads) {
        const unsigned tile = kFirstTile + (first_quad + i) / kTileQuads;
        cuda::ByteSums<kTileQuads> sums;
        team_.start(sums, operand.rows(), matrix.from(first_quad + i), tile);
        team_.template wait<0>(tile);
        consume(sums, first_quad + i, use);
      }
    }
  }

  // Calls use() for the channel quads first .. first + kQuads - 1, whose product is complete.
  template <unsigned kQuads, class Use>
  MM_DEVICE void consume(cuda::ByteSums<kQuads>& sums, unsigned first, Use& use) const {
    team_.order_after_wait(sums);
    MM_UNROLL
    for (unsigned quad = 0; quad < kQuads; ++quad) use(first + quad, sums, quad);
  }
};

}  // namespace manymod::rns
