// SPDX-License-Identifier: Apache-2.0
// Montgomery multiplication in residue number systems, both base extensions on tensor cores: the data flow of
// docs/rns.md.
//
// A team of warps (arch/cuda/byte_products.hpp) multiplies 16 pairs of numbers a warp. Each coordinate is
// four bytes along K and is a thread's operand of the matrix product as it is; each target's four byte sums
// arrive at the thread that owns the channel. Nothing is exchanged but the sums for the ranks, which join the
// product as one more coordinate.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "arch/cuda/byte_products.hpp"
#include "arch/cuda/portable.hpp"
#include "arch/cuda/wide.hpp"
#include "modmul/rns/channel.cuda.hpp"
#include "modmul/rns/form.hpp"
#include "modmul/rns/layout.hpp"
#include "modmul/rns/record.cuda.hpp"

namespace manymod::rns {

/// The Cox: coordinates' top bits, of 31.
inline constexpr unsigned kCoxBits = 16;
inline constexpr unsigned kCoxShift = 31 - kCoxBits;
/// From B the offset is 0: a multiple of M_B too many is harmless. From A one half makes the rank exact.
inline constexpr std::uint32_t kCoxHalf = 1u << (kCoxBits - 1);

/// The constants that a multiplication reads, in the team's shared memory.
template <class Team, unsigned kQ, unsigned kWords>
class Bases {
  using Parts = Layout<kQ, kWords>;

 public:
  /// `constants`: aligned to 16 bytes, up to where the matrices into residues begin, or up to the extensions'
  /// where the team has these from elsewhere.
  MM_DEVICE Bases(const Team& team, const std::byte* constants)
      : channels_(reinterpret_cast<const Channel*>(constants) + team.lane() % 4),
        set_up_(reinterpret_cast<const std::uint32_t*>(constants + Parts::kSetUpAt) + team.lane() % 4),
        to_a_(constants + Parts::kToA, kQ),
        to_b_(constants + Parts::kToB, kQ) {}

  MM_DEVICE Channel b(unsigned q) const { return load(channels_ + 4 * q); }
  MM_DEVICE Channel a(unsigned q) const { return load(channels_ + 4 * (kQ + q)); }
  /// The thread's channel of an element's residue k < 2 kQ: those of A come first.
  MM_DEVICE Channel channel(unsigned k) const { return load(channels_ + 4 * place(k)); }
  /// Of channel(k): Sizes::set_up_at.
  MM_DEVICE std::uint32_t set_up(unsigned k) const { return set_up_[4 * place(k)]; }
  MM_DEVICE const typename Team::Matrix& to_a() const { return to_a_; }
  MM_DEVICE const typename Team::Matrix& to_b() const { return to_b_; }

 private:
  const Channel* channels_;
  const std::uint32_t* set_up_;
  typename Team::Matrix to_a_, to_b_;

  MM_DEVICE static unsigned place(unsigned k) { return k < kQ ? k + kQ : k - kQ; }
  MM_DEVICE static Channel load(const Channel* channel) {
    const cuda::Chunk<4> words = cuda::load_chunk<4>(&channel->modulus);
    return {words.word[0], words.word[1], words.word[2], words.word[3]};
  }
};

/// The coordinates of two instances and their rank, as rows of an extension.
template <class Team, unsigned kQ>
class Coordinates {
 public:
  static constexpr unsigned kSteps = Layout<kQ, 1>::kExtension.steps;

  /// Coordinate of four q.
  MM_DEVICE void set(unsigned half, unsigned q, std::uint32_t xi) {
    rows_.words[half][q] = xi;
    sum_[half] += xi >> kCoxShift;
  }
  /// Call once all are set.
  MM_DEVICE void set_ranks(const Team& team, std::uint32_t offset) {
    MM_UNROLL
    for (unsigned half = 0; half < 2; ++half) {
      rows_.words[half][kQ] = (team.sum_of_quad(sum_[half]) + offset) >> kCoxBits;
      if constexpr (kQ + 1 < 2 * kSteps) rows_.words[half][kQ + 1] = 0;
    }
  }
  MM_DEVICE const cuda::ByteRows<kSteps>& rows() const { return rows_; }

 private:
  cuda::ByteRows<kSteps> rows_;
  std::uint32_t sum_[2] = {0, 0};
};

/// What becomes of an element x.
enum class Operation {
  square,    ///< x^2 / M_B mod N
  multiply,  ///< x y / M_B mod N
};

/// Arithmetic of a thread's two instances.
template <class Team, Form kForm>
class Montgomery {
  static constexpr unsigned kQ = kForm.fours;

 public:
  using Number = std::conditional_t<kForm.in_memory(), StoredElement<kQ>, Element<kQ>>;
  using Constants = Bases<Team, kQ, kForm.words>;

  /// `modulus`: for each instance N kappa_i^2 mod a_i, then -2^64 / (N B_j) mod b_j or, in shared memory, c =
  /// -2^32 / (N B_j) mod b_j and then floor(2^32 c / b_j): more to read, but fewer products with high words.
  /// Not read where the form has one modulus.
  MM_DEVICE Montgomery(const Team& team, const Constants& bases, const RecordPair& modulus)
      : team_(team), bases_(bases), modulus_(modulus) {}

  /// x = x^2 / M_B mod N, for elements below c N (docs/rns.md (2), (3)).
  MM_DEVICE void square(Number& x) const { multiply_by<Factor::itself>(x, modulus_, Operation::square); }
  /// x = x y / M_B mod N
  MM_DEVICE void multiply(Number& x, const RecordPair& y) const {
    multiply_by<Factor::other>(x, y, Operation::multiply);
  }
  /// One of them, by code that is there once.
  MM_DEVICE void operate(Number& x, const RecordPair& y, Operation operation) const {
    multiply_by<Factor::either>(x, y, operation);
  }

  /// Coordinates of x in A, and its rank, which is exact.
  MM_DEVICE void coordinates(Coordinates<Team, kQ>& xi, Number& x) const {
    Cursor<Part::a> own(x);
    MM_UNROLL
    for (unsigned q = 0; q < kQ; ++q) {
      const Channel channel = bases_.a(q);
      MM_UNROLL
      for (unsigned half = 0; half < 2; ++half) xi.set(half, q, coordinate(own.get(half, q), channel));
    }
    xi.set_ranks(team_, kCoxHalf);
  }

 private:
  /// What a multiplication's code is for.
  enum class Factor { itself, other, either };

  template <Part kPart>
  using Cursor = typename Number::template Cursor<kPart>;

  const Team& team_;
  const Constants& bases_;
  RecordPair modulus_;

  template <Part kPart>
  using Reader = RecordReader<first_word<kQ>(kPart)>;
  using Quotients = RecordReader<2 * kQ>;

  template <Factor kFactor>
  MM_DEVICE void multiply_by(Number& x, const RecordPair& y, Operation operation) const {
    Coordinates<Team, kQ> w;
    {
      Coordinates<Team, kQ> t;
      in_b<kFactor>(t, x, y, operation);
      in_a<kFactor>(w, t, x, y, operation);
    }
    if constexpr (kForm.late_coordinates()) coordinates(w, x);
    to_b(x, w);
  }

  // The other factor of a residue in part kPart, where y is asked for its residues in their order.
  template <Factor kFactor, Part kPart>
  MM_DEVICE static std::uint32_t factor_of(std::uint32_t residue, Reader<kPart>& y, unsigned q,
                                           Operation operation) {
    if constexpr (kFactor == Factor::itself) return residue;
    if (kFactor == Factor::either && operation == Operation::square) return residue;
    return y[q];
  }

  // Coordinates of t = -x y / N mod M_B.
  template <Factor kFactor>
  MM_DEVICE void in_b(Coordinates<Team, kQ>& t, Number& x, const RecordPair& y, Operation operation) const {
    Cursor<Part::b> own(x);
    Reader<Part::b> factor[2] = {Reader<Part::b>(y[0]), Reader<Part::b>(y[1])};
    Reader<Part::b> constant[2] = {Reader<Part::b>(modulus_[0]), Reader<Part::b>(modulus_[1])};
    Quotients quotient[2] = {Quotients(modulus_[0]), Quotients(modulus_[1])};
    MM_UNROLL
    for (unsigned q = 0; q < kQ; ++q) {
      const Channel channel = bases_.b(q);
      MM_UNROLL
      for (unsigned half = 0; half < 2; ++half) {
        const std::uint32_t residue = own.get(half, q);
        const std::uint32_t other = factor_of<kFactor, Part::b>(residue, factor[half], q, operation);
        const std::uint32_t s = reduce(cuda::multiply(residue, other), channel);
        if constexpr (kForm.rooted()) {
          t.set(half, q, signed_coordinate(s, channel));
        } else if constexpr (kForm.one_modulus) {
          t.set(half, q, coordinate(s, channel));
        } else if constexpr (kForm.records_shared) {
          t.set(half, q, product_by_quotient(s, constant[half][q], quotient[half][q], channel));
        } else {
          t.set(half, q, reduce(cuda::multiply(s, constant[half][q]), channel));
        }
      }
    }
    t.set_ranks(team_, 0);
  }

  // x = (x y + t' N) / M_B in A, and its coordinates unless they come later.
  template <Factor kFactor>
  MM_DEVICE void in_a(Coordinates<Team, kQ>& w, const Coordinates<Team, kQ>& t, Number& x,
                      const RecordPair& y, Operation operation) const {
    Cursor<Part::a> own(x);
    Reader<Part::a> factor[2] = {Reader<Part::a>(y[0]), Reader<Part::a>(y[1])};
    using OfModulus = std::conditional_t<kAhead, AheadReader<first_word<kQ>(Part::a)>, Reader<Part::a>>;
    OfModulus constant[2] = {OfModulus(modulus_[0]), OfModulus(modulus_[1])};
    const auto prepare = [&](unsigned first) {
      if constexpr (kAhead) {
        constant[0].load(first);
        constant[1].load(first);
      }
    };
    extend<0>(t, bases_.to_a(), prepare, [&](unsigned q, const auto& sums, unsigned four) {
      const Channel channel = bases_.a(q);
      MM_UNROLL
      for (unsigned half = 0; half < 2; ++half) {
        const std::uint32_t residue = own.get(half, q);
        const std::uint32_t other = factor_of<kFactor, Part::a>(residue, factor[half], q, operation);
        const std::uint32_t tn = remainder<kNarrow>(sums, four, half, channel);
        const cuda::Wide v = kForm.one_modulus ? cuda::multiply_add(residue, other, {tn, 0})
                                               : cuda::multiply_add(corrected(tn, channel), constant[half][q],
                                                                    cuda::multiply(residue, other));
        const std::uint32_t result = corrected(reduce(v, channel), channel);
        own.set(half, q, result);
        if constexpr (!kForm.late_coordinates()) w.set(half, q, coordinate(result, channel));
      }
    });
    if constexpr (!kForm.late_coordinates()) w.set_ranks(team_, kCoxHalf);
  }

  // The residues in B of the x with these coordinates in A.
  MM_DEVICE void to_b(Number& x, const Coordinates<Team, kQ>& xi) const {
    Cursor<Part::b> own(x);
    extend<1>(
        xi, bases_.to_b(), [](unsigned) {},
        [&](unsigned q, const auto& sums, unsigned four) {
          const Channel channel = bases_.b(q);
          MM_UNROLL
          for (unsigned half = 0; half < 2; ++half) {
            own.set(half, q, corrected(remainder<kNarrow>(sums, four, half, channel), channel));
          }
        });
  }

  static constexpr bool kNarrow = kForm.narrow_sums();
  static constexpr unsigned kAtOnce = kForm.fours_at_once;
  static constexpr cuda::Pieces kPieces = kForm.pieces();
  // A piece's constants are one four, which is asked for before its sums are waited for.
  static constexpr bool kAhead =
      !kForm.one_modulus && !kForm.records_shared && !kForm.in_memory() && kAtOnce == Record::kFour;

  /// Call use(q, sums, the four's number in them) for all q, and prepare(q) before the sums of q and some
  /// after it are waited for. kMatrix: 0 for the one to A, 1 for the one to B; a multiplication extends by
  /// each once.
  template <unsigned kMatrix, class Prepare, class Use>
  MM_DEVICE void extend(const Coordinates<Team, kQ>& xi, const typename Team::Matrix& matrix, Prepare prepare,
                        Use use) const {
    constexpr unsigned kFirstPiece = kMatrix * kPieces.count();
    if constexpr (kForm.in_memory()) {
      use_in_turn<kFirstPiece>(xi, matrix, use);
    } else {
      cuda::ByteSums<kPieces.size(0)> first;
      team_.start(first, xi.rows(), matrix, kFirstPiece);
      use_from<kFirstPiece, 0>(first, xi, matrix, prepare, use);
    }
  }

  // The rest from piece kPiece on, whose sums are under way. Products of some fours run while others are
  // used.
  template <unsigned kFirstPiece, unsigned kPiece, unsigned kFours, class Prepare, class Use>
  MM_DEVICE void use_from(cuda::ByteSums<kFours>& sums, const Coordinates<Team, kQ>& xi,
                          const typename Team::Matrix& matrix, Prepare& prepare, Use& use) const {
    constexpr unsigned kFirst = kPieces.first(kPiece), kNext = kPiece + 1;
    if constexpr (kNext < kPieces.count()) {
      cuda::ByteSums<kPieces.size(kNext)> next;
      team_.start(next, xi.rows(), matrix.from(kPieces.first(kNext)), kFirstPiece + kNext);
      prepare(kFirst);
      team_.template wait<1>(kFirstPiece + kPiece);
      use_sums(sums, kFirst, use);
      use_from<kFirstPiece, kNext>(next, xi, matrix, prepare, use);
    } else {
      prepare(kFirst);
      team_.template wait<0>(kFirstPiece + kPiece);
      use_sums(sums, kFirst, use);
    }
  }

  // By a loop, for elements that need no constant indices: code of all fours would not fit the instruction
  // caches. While a warpgroup uses its sums, another's are made.
  template <unsigned kFirstPiece, class Use>
  MM_DEVICE void use_in_turn(const Coordinates<Team, kQ>& xi, const typename Team::Matrix& matrix,
                             Use& use) const {
    constexpr unsigned kTurn = Record::kFour;
    static_assert(kTurn % kAtOnce == 0 && kQ % kTurn == 0);
    MM_ROLLED
    for (unsigned turn = 0; turn < kQ; turn += kTurn) {
      MM_UNROLL
      for (unsigned i = 0; i < kTurn; i += kAtOnce) {
        const unsigned piece = kFirstPiece + (turn + i) / kAtOnce;
        cuda::ByteSums<kAtOnce> sums;
        team_.start(sums, xi.rows(), matrix.from(turn + i), piece);
        team_.template wait<0>(piece);
        use_sums(sums, turn + i, use);
      }
    }
  }

  template <unsigned kFours, class Use>
  MM_DEVICE void use_sums(cuda::ByteSums<kFours>& sums, unsigned first, Use& use) const {
    team_.settle(sums);
    MM_UNROLL
    for (unsigned four = 0; four < kFours; ++four) use(first + four, sums, four);
  }
};

}  // namespace manymod::rns
