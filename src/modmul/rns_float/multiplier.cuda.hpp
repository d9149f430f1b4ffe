// SPDX-License-Identifier: Apache-2.0
// Technique rns_float: Montgomery multiplication in a residue number system on binary32, in four
// representations of residues (Moss, Page, Smart 2007). R is M_B, the product of base B.
//
// Numbers are integers x, abs(x) < 2^bits, bits = 32 kWords, known by their residues in both bases. Digits
// are centred: what an extension from a base of product M gives is abs(x') <= beta M, beta = 1 / 2 +
// 1 / (m - 1) <= 3 / 4 for moduli of at least m >= 5, and x itself where abs(x) + beta M < M. With M_A, M_B >
// 4 2^bits:
//
//   mul: w = (x y + t N) / M_B, abs(w) < 2^bits / 4 + beta N <= 2^bits, and the extension from A is exact;
//   a product with an integer below N: abs(w) < N / 4 + beta N <= N, so that one addition of N at most makes
//   it canonical.
#pragma once

#include <cstdint>

#include "arch/cuda/singles.cuda.hpp"
#include "core/portable.hpp"
#include "modmul/rns_float/constants.cuda.hpp"
#include "modmul/rns_float/extension.cuda.hpp"
#include "modmul/rns_float/full_word.cuda.hpp"
#include "modmul/rns_float/half_word.cuda.hpp"
#include "modmul/rns_float/pairs.cuda.hpp"
#include "repr/word_memory.hpp"

namespace manymod::rns_float {

/// See gpu/program/multiplier.cuda.hpp; kPerThread counts channels of each base. `Form` is Specialised or
/// Loaded.
template <class Group, unsigned kPerThread, class Kind, class Bases, class Form>
class Multiplier {
  static_assert(bases_hold<Bases>() && channels_hold<Kind, Bases>());
  static constexpr unsigned kLanes = Group::kSize;
  static_assert(Bases::kChannels <= kLanes * kPerThread);

  using L = Layout<Kind, kLanes, kPerThread>;
  using Source = typename Form::template Source<Kind, Bases, kLanes, kPerThread>;
  using Modulus = typename Kind::Modulus;
  using Residue = typename Kind::Residue;
  using Constant = typename Kind::Constant;
  using Extension = rns_float::Extension<Kind, Group, kPerThread, Form::template Moduli>;
  using Moduli = typename Form::template Moduli<Kind, kLanes, kPerThread>;

  static constexpr unsigned kResidues = kPerThread * Kind::kResidueWords;  // of a lane in one base
  // Of a lane's memory: -1 / N in B, N / M_B in A, a product in A or, in its place, digits; whether N is
  // refused.
  static constexpr unsigned kOfB = 0, kOfA = kResidues, kProduct = 2 * kResidues, kDigits = 2 * kResidues,
                            kRefused = 3 * kResidues;

 public:
  static constexpr unsigned kWords = (Bases::kBits + 31) / 32;
  static constexpr unsigned kRadixBits = 0;
  static constexpr unsigned kLaneWords = Kind::kPacked ? kPerThread : 2 * kResidues;
  static constexpr unsigned kSharedWords = 3 * kResidues + 1;
  using BasesOfShape = Bases;
  using KindOfShape = Kind;
  using FormOfShape = Form;
  static constexpr bool kTablesFromMemory = Source::kFromMemory;

  struct Element {
    Residue b[kPerThread];
    Residue a[kPerThread];
  };

  /// `constants`: L::kWords words, aligned to 16 bytes, if kTablesFromMemory.
  MM_DEVICE Multiplier(Group group, LaneMemory memory, WordSource n, const void* constants)
      : group_(group), memory_(memory), n_(n), source_(constants) {
    const Element residues = from_words(n);
    memory_[kRefused] = set_up_b(residues) ? 1 : 0;
    set_up_a(residues);
  }

  /// Whether n shares a factor with M_B, so that no result is of use. In every lane.
  [[nodiscard]] MM_DEVICE bool refused() const { return memory_[kRefused] != 0; }

  template <class Words>
  MM_DEVICE Element from_words(const Words& a) const {
    Element r;
    residues_of(r.b, a, moduli_b());
    residues_of(r.a, a, moduli_a());
    return r;
  }

  /// In: abs(a) < n
  MM_DEVICE void to_words(WordSink r, const Element& a) const {
    Residue x[kPerThread];
    MM_UNROLL
    for (unsigned k = 0; k < kPerThread; ++k) x[k] = a.a[k];
    Keeping digits{own_memory(kDigits)};
    Extension::run(group_, steps(moduli_a(), L::kToB), x, digits);
    std::uint32_t sum[kWords + 1];
    join_digits(sum);
    put_canonical(r, sum);
  }

  MM_DEVICE Element mul(const Element& a, const Element& b) const {
    Residue t[kPerThread];
    MM_UNROLL
    for (unsigned k = 0; k < kPerThread; ++k) {
      const Modulus of_b = load_modulus<Kind, kLanes>(moduli_b(), k);
      t[k] = Kind::multiply(of_b, Kind::multiply(of_b, a.b[k], b.b[k]), kept(kOfB, k));
      keep(kProduct, k, Kind::multiply(load_modulus<Kind, kLanes>(moduli_a(), k), a.a[k], b.a[k]));
    }
    return reduced(t);
  }
  MM_DEVICE Element sqr(const Element& a) const { return mul(a, a); }

  MM_DEVICE static std::uint32_t lane_word(const Element& a, unsigned j) {
    if constexpr (Kind::kPacked) {
      return cuda::pattern(pack(a.b[j].word[0], a.a[j].word[0]));
    } else {
      constexpr unsigned kSize = Kind::kResidueWords;
      const Residue& r = j < kResidues ? a.b[j / kSize] : a.a[(j - kResidues) / kSize];
      return cuda::pattern(r.word[j % kSize]);
    }
  }
  MM_DEVICE static void set_lane_word(Element& a, unsigned j, std::uint32_t word) {
    const float value = cuda::single_from_pattern(word);
    if constexpr (Kind::kPacked) {
      unpack(value, a.b[j].word[0], a.a[j].word[0]);
    } else {
      constexpr unsigned kSize = Kind::kResidueWords;
      Residue& r = j < kResidues ? a.b[j / kSize] : a.a[(j - kResidues) / kSize];
      r.word[j % kSize] = value;
    }
  }

 private:
  Group group_;
  LaneMemory memory_;
  WordSource n_;
  Source source_;

  // This lane's parts of the tables.
  [[nodiscard]] MM_DEVICE const float* moduli_b() const {
    return source_.words() + L::kModuliB + 4 * group_.lane();
  }
  [[nodiscard]] MM_DEVICE const float* moduli_a() const {
    return source_.words() + L::kModuliA + 4 * group_.lane();
  }
  [[nodiscard]] MM_DEVICE Steps steps(const float* source, unsigned at) const {
    return {source, source_.words() + at + 4 * group_.lane(), source_.channels()};
  }
  MM_DEVICE void load_inverse_radix(Constant (&constants)[kPerThread]) const {
    load_constants<Kind, kLanes>(constants, source_.words() + L::kInverseRadix + 4 * group_.lane());
  }

  // What depends on n, and digits, in the lane's memory.
  [[nodiscard]] MM_DEVICE LaneMemory own_memory(unsigned first) const {
    return {&memory_[first], memory_.stride};
  }
  MM_DEVICE void keep(unsigned first, unsigned k, const Residue& r) const {
    MM_UNROLL
    for (unsigned i = 0; i < Kind::kResidueWords; ++i) {
      memory_[first + k * Kind::kResidueWords + i] = cuda::pattern(r.word[i]);
    }
  }
  [[nodiscard]] MM_DEVICE Residue kept(unsigned first, unsigned k) const {
    Residue r;
    MM_UNROLL
    for (unsigned i = 0; i < Kind::kResidueWords; ++i) {
      r.word[i] = cuda::single_from_pattern(memory_[first + k * Kind::kResidueWords + i]);
    }
    return r;
  }

  // -1 / n in B, by x^e for the exponents that the table has.
  // @return whether n has no inverse in some channel
  MM_DEVICE bool set_up_b(const Element& n) const {
    constexpr unsigned kExponentBits = 24;
    const float* const exponents = source_.words() + L::kExponents + 4 * group_.lane();
    bool none = false;
    MM_UNROLL
    for (unsigned k = 0; k < kPerThread; ++k) keep(kOfB, k, n.b[k]);
    MM_ROLLED
    for (unsigned k = 0; k < kPerThread; ++k) {
      const Modulus m = load_modulus<Kind, kLanes>(moduli_b(), k);
      const auto e =
          static_cast<std::uint32_t>(cuda::integer_of(cuda::load_one(exponents + lane_offset<kLanes>(k))));
      const Residue x = kept(kOfB, k);
      Residue inverse = one(m);
      MM_ROLLED
      for (unsigned bit = kExponentBits; bit-- > 0;) {
        inverse = Kind::multiply(m, inverse, inverse);
        select(inverse, Kind::multiply(m, inverse, x), (e >> bit & 1) != 0);
      }
      const bool used = k * kLanes + group_.lane() < source_.channels();
      none |= used && Kind::digit(m, Kind::multiply(m, inverse, x)) != 1;
      keep(kOfB, k, Kind::negate(inverse));
    }
    return group_.ballot(none) != 0;
  }

  // n / M_B in A.
  MM_DEVICE void set_up_a(const Element& n) const {
    Constant inverse_radix[kPerThread];
    load_inverse_radix(inverse_radix);
    MM_UNROLL
    for (unsigned k = 0; k < kPerThread; ++k) {
      keep(kOfA, k, Kind::multiply_by(load_modulus<Kind, kLanes>(moduli_a(), k), n.a[k], inverse_radix[k]));
    }
  }

  MM_DEVICE static Residue one(const Modulus& m) {
    return Kind::total(m, Kind::append(m, typename Kind::Partial{}, 1));
  }
  // r = a where `wanted`, without a branch.
  MM_DEVICE static void select(Residue& r, const Residue& a, bool wanted) {
    MM_UNROLL
    for (unsigned i = 0; i < Kind::kResidueWords; ++i) r.word[i] = wanted ? a.word[i] : r.word[i];
  }

  // The residues of words in one base, piece by piece from the top.
  template <class Words>
  MM_DEVICE static void residues_of(Residue (&r)[kPerThread], const Words& a, const float* lane_moduli) {
    constexpr unsigned kPieces = 32 / Kind::kPieceBits;
    const Moduli moduli(lane_moduli);
    typename Kind::Partial sum[kPerThread]{};
    MM_ROLLED
    for (unsigned j = kWords; j-- > 0;) {
      std::uint32_t word = a[j];
      MM_ROLLED
      for (unsigned i = 0; i < kPieces; ++i) {
        const float piece = cuda::single_of(word >> (32 - Kind::kPieceBits));
        word <<= Kind::kPieceBits;
        MM_UNROLL
        for (unsigned k = 0; k < kPerThread; ++k) sum[k] = Kind::append(moduli[k], sum[k], piece);
      }
    }
    MM_UNROLL
    for (unsigned k = 0; k < kPerThread; ++k) r[k] = Kind::total(moduli[k], sum[k]);
  }

  // From t = -x y / n in B and s = x y in A, which is kept: w = s / M_B + t (n / M_B) in A, and in B.
  MM_DEVICE Element reduced(Residue (&t)[kPerThread]) const {
    using Gathering = rns_float::Gathering<Kind, Moduli, kLanes, kPerThread>;
    typename Kind::Sum sums[kPerThread]{};
    Gathering into_a{Moduli(moduli_a()), sums};
    Extension::run(group_, steps(moduli_b(), L::kToA), t, into_a);

    Element w;
    Constant inverse_radix[kPerThread];
    load_inverse_radix(inverse_radix);
    MM_UNROLL
    for (unsigned k = 0; k < kPerThread; ++k) {
      const Modulus m = load_modulus<Kind, kLanes>(moduli_a(), k);
      const Residue product = Kind::multiply(m, Kind::total(m, sums[k]), kept(kOfA, k));
      w.a[k] = Kind::add(m, Kind::multiply_by(m, kept(kProduct, k), inverse_radix[k]), product);
      t[k] = w.a[k];
      sums[k] = {};
    }
    Gathering into_b{Moduli(moduli_b()), sums};
    Extension::run(group_, steps(moduli_a(), L::kToB), t, into_b);
    MM_UNROLL
    for (unsigned k = 0; k < kPerThread; ++k) {
      w.b[k] = Kind::total(load_modulus<Kind, kLanes>(moduli_b(), k), sums[k]);
    }
    return w;
  }

  // The number of the digits that lanes have kept, by Horner's rule modulo 2^(32 (kWords + 1)), in every
  // lane.
  MM_DEVICE void join_digits(std::uint32_t (&sum)[kWords + 1]) const {
    MM_UNROLL
    for (std::uint32_t& word : sum) word = 0;
    const float* const order = source_.words() + L::kOrder;
    const unsigned channels = source_.channels();
    MM_ROLLED
    for (unsigned row = (channels + kLanes - 1) / kLanes; row-- > 0;) {
      const std::int32_t own = cuda::integer_of(cuda::single_from_pattern(memory_[kDigits + row]));
      MM_ROLLED
      for (unsigned lane = kLanes; lane-- > 0;) {
        const std::int32_t digit = group_.shuffle(own, lane);
        const unsigned i = row * kLanes + lane;
        if (i >= channels) continue;
        multiply_and_add(sum, static_cast<std::uint32_t>(cuda::integer_of(cuda::load_one(order + i))), digit);
      }
    }
  }

  // sum = sum m + digit. In: m < 2^24, so that a word's product, the carry and a word fit 64 bits.
  MM_DEVICE static void multiply_and_add(std::uint32_t (&sum)[kWords + 1], std::uint32_t m,
                                         std::int32_t digit) {
    const auto sign = static_cast<std::uint32_t>(digit >> 31);
    std::uint64_t carry = 0;
    MM_UNROLL
    for (unsigned j = 0; j <= kWords; ++j) {
      carry += std::uint64_t{sum[j]} * m + (j == 0 ? static_cast<std::uint32_t>(digit) : sign);
      sum[j] = static_cast<std::uint32_t>(carry);
      carry >>= 32;
    }
  }

  // r = sum, plus n where that is negative.
  MM_DEVICE void put_canonical(const WordSink& r, const std::uint32_t (&sum)[kWords + 1]) const {
    const std::uint32_t negative = 0 - (sum[kWords] >> 31);
    std::uint64_t carry = 0;
    MM_UNROLL
    for (unsigned j = 0; j < kWords; ++j) {
      carry += std::uint64_t{sum[j]} + (n_[j] & negative);
      if (j % kLanes == group_.lane()) r.set(j, static_cast<std::uint32_t>(carry));
      carry >>= 32;
    }
  }
};

/// With the bases that BasesOf has for a group's channels.
template <class Group, unsigned kPerThread, class Kind, template <unsigned> class BasesOf, class Form>
using MultiplierOf = Multiplier<Group, kPerThread, Kind, BasesOf<Group::kSize * kPerThread>, Form>;

// A technique for each representation and form, to be named as such.
#define MM_RNS_FLOAT_TECHNIQUE(name, Kind, BasesOf, Form)                             \
  namespace name {                                                                    \
  template <class Group, unsigned kPerThread>                                         \
  using Multiplier = rns_float::MultiplierOf<Group, kPerThread, Kind, BasesOf, Form>; \
  }
MM_RNS_FLOAT_TECHNIQUE(half, HalfWord, HalfWordBases, Specialised)
MM_RNS_FLOAT_TECHNIQUE(half_packed, PackedHalfWord, HalfWordBases, Specialised)
MM_RNS_FLOAT_TECHNIQUE(full, FullWord, FullWordBases, Specialised)
MM_RNS_FLOAT_TECHNIQUE(smooth, Smooth, FactoredBases, Specialised)
MM_RNS_FLOAT_TECHNIQUE(pairs, Pairs, FactoredBases, Specialised)
MM_RNS_FLOAT_TECHNIQUE(half_loaded, HalfWord, HalfWordBases, Loaded)
MM_RNS_FLOAT_TECHNIQUE(full_loaded, FullWord, FullWordBases, Loaded)
MM_RNS_FLOAT_TECHNIQUE(smooth_loaded, Smooth, FactoredBases, Loaded)
MM_RNS_FLOAT_TECHNIQUE(pairs_loaded, Pairs, FactoredBases, Loaded)
#undef MM_RNS_FLOAT_TECHNIQUE

}  // namespace manymod::rns_float
