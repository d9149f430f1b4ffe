// SPDX-License-Identifier: Apache-2.0
// Technique rns_float: Montgomery multiplication in a residue number system on binary32, with four
// representations of residues (Moss, Page, Smart 2007). R is M_B, the product of base B.
//
// A number is an integer x, abs(x) < 2^bits, bits = 32 kWords, represented by its residues in both bases.
// Digits are centred: the extension of x from a base of product M yields x' congruent to x modulo M, abs(x')
// <= beta M, where beta = 1 / 2 + 1 / (m - 1) <= 3 / 4 for moduli of at least m >= 5; and x' = x if abs(x) +
// beta M < M. With M_A, M_B > 4 2^bits:
//
//   mul: w = (x y + t N) / M_B, abs(w) < 2^bits / 4 + beta N <= 2^bits, and the extension from A is exact;
//   a product with an integer below N: abs(w) < N / 4 + beta N <= N, so that adding N at most once makes it
//   canonical.
//
// All functions are constant-time and called by all lanes of a group together.
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

/// The multiplier of gpu/program/multiplier.cuda.hpp, with kPerThread channels of each base per thread.
/// `Form` is Specialised or Loaded (constants.cuda.hpp).
template <class Group, unsigned kPerThread, class Kind, class Bases, class Form>
class Multiplier {
  static_assert(meets_base_conditions<Bases>() && meets_channel_conditions<Kind, Bases>());
  static constexpr unsigned kLanes = Group::kSize;
  static_assert(Bases::kChannels <= kLanes * kPerThread);

  using L = Layout<Kind, kLanes, kPerThread>;
  using Source = typename Form::template Source<Kind, Bases, kLanes, kPerThread>;
  using Modulus = typename Kind::Modulus;
  using Residue = typename Kind::Residue;
  using Constant = typename Kind::Constant;
  using Extension = rns_float::Extension<Kind, Group, kPerThread, Form::template Moduli>;
  using Moduli = typename Form::template Moduli<Kind, kLanes, kPerThread>;

  static constexpr unsigned kResidues = kPerThread * Kind::kResidueWords;  // of one lane in one base
  // Offsets in a lane's memory: -1 / N in B; N / M_B in A; a product in A or, at the same place, digits; and
  // whether N is refused.
  static constexpr unsigned kNegInverseAt = 0, kModulusAt = kResidues, kProductAt = 2 * kResidues,
                            kDigitsAt = 2 * kResidues, kRefusedAt = 3 * kResidues;

 public:
  static constexpr unsigned kWords = (Bases::kBits + 31) / 32;
  static constexpr unsigned kRadixBits = 0;
  static constexpr unsigned kLaneWords = Kind::kPacked ? kPerThread : 2 * kResidues;
  static constexpr unsigned kSharedWords = 3 * kResidues + 1;
  using BasesOfShape = Bases;
  using KindOfShape = Kind;
  using FormOfShape = Form;
  static constexpr bool kTablesFromMemory = Source::kFromMemory;

  /// A lane's residues of a number, in both bases.
  struct Element {
    Residue b[kPerThread];
    Residue a[kPerThread];
  };

  /// On input: `constants` is aligned to 16 bytes and has L::kWords words, if kTablesFromMemory. `memory` has
  /// kSharedWords words.
  MM_DEVICE Multiplier(Group group, LaneMemory memory, WordSource n, const void* constants)
      : group_(group), memory_(memory), n_(n), source_(constants) {
    const Element residues = from_words(n);
    memory_[kRefusedAt] = set_up_b(residues) ? 1 : 0;
    set_up_a(residues);
  }

  /// Whether n shares a factor with M_B, so that no result is valid. The same in every lane.
  [[nodiscard]] MM_DEVICE bool refused() const { return memory_[kRefusedAt] != 0; }

  /// The residues of a number below 2^(32 kWords).
  template <class Words>
  MM_DEVICE Element from_words(const Words& a) const {
    Element r;
    residues_of(r.b, a, moduli_b());
    residues_of(r.a, a, moduli_a());
    return r;
  }

  /// Stores a mod n in [0, n). On input: abs(a) < n.
  MM_DEVICE void to_words(WordSink r, const Element& a) const {
    Residue x[kPerThread];
    MM_UNROLL
    for (unsigned k = 0; k < kPerThread; ++k) x[k] = a.a[k];
    DigitStore digits{memory_at(kDigitsAt)};
    Extension::run(group_, steps(moduli_a(), L::kToB), x, digits);
    std::uint32_t sum[kWords + 1];
    join_digits(sum);
    put_canonical(r, sum);
  }

  /// a b / M_B mod n. Ranges: see the top of the file.
  MM_DEVICE Element mul(const Element& a, const Element& b) const {
    Residue t[kPerThread];
    MM_UNROLL
    for (unsigned k = 0; k < kPerThread; ++k) {
      const Modulus of_b = load_modulus<Kind, kLanes>(moduli_b(), k);
      t[k] = Kind::multiply(of_b, Kind::multiply(of_b, a.b[k], b.b[k]), load_residue(kNegInverseAt, k));
      store_residue(kProductAt, k, Kind::multiply(load_modulus<Kind, kLanes>(moduli_a(), k), a.a[k], b.a[k]));
    }
    return reduced(t);
  }
  /// a^2 / M_B mod n.
  MM_DEVICE Element sqr(const Element& a) const { return mul(a, a); }

  /// Word j < kLaneWords of this lane's part of an element, as tables store it.
  MM_DEVICE static std::uint32_t lane_word(const Element& a, unsigned j) {
    if constexpr (Kind::kPacked) {
      return cuda::pattern(pack(a.b[j].word[0], a.a[j].word[0]));
    } else {
      constexpr unsigned kSize = Kind::kResidueWords;
      const Residue& r = j < kResidues ? a.b[j / kSize] : a.a[(j - kResidues) / kSize];
      return cuda::pattern(r.word[j % kSize]);
    }
  }
  /// Sets word j < kLaneWords of this lane's part of an element.
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

  // This lane's memory for what depends on n and for digits, from word `first` on.
  [[nodiscard]] MM_DEVICE LaneMemory memory_at(unsigned first) const {
    return {&memory_[first], memory_.stride};
  }
  // Stores residue k of the part at `first`.
  MM_DEVICE void store_residue(unsigned first, unsigned k, const Residue& r) const {
    MM_UNROLL
    for (unsigned i = 0; i < Kind::kResidueWords; ++i) {
      memory_[first + k * Kind::kResidueWords + i] = cuda::pattern(r.word[i]);
    }
  }
  // Loads residue k of the part at `first`.
  [[nodiscard]] MM_DEVICE Residue load_residue(unsigned first, unsigned k) const {
    Residue r;
    MM_UNROLL
    for (unsigned i = 0; i < Kind::kResidueWords; ++i) {
      r.word[i] = cuda::single_from_pattern(memory_[first + k * Kind::kResidueWords + i]);
    }
    return r;
  }

  // Computes -1 / n in B as a power, with the exponents of the table. @return whether n has no inverse in
  // some channel; the same in every lane.
  MM_DEVICE bool set_up_b(const Element& n) const {
    constexpr unsigned kExponentBits = 24;
    const float* const exponents = source_.words() + L::kExponents + 4 * group_.lane();
    bool none = false;
    MM_UNROLL
    for (unsigned k = 0; k < kPerThread; ++k) store_residue(kNegInverseAt, k, n.b[k]);
    MM_ROLLED
    for (unsigned k = 0; k < kPerThread; ++k) {
      const Modulus m = load_modulus<Kind, kLanes>(moduli_b(), k);
      const auto e =
          static_cast<std::uint32_t>(cuda::integer_of(cuda::load_one(exponents + lane_offset<kLanes>(k))));
      const Residue x = load_residue(kNegInverseAt, k);
      Residue inverse = one(m);
      MM_ROLLED
      for (unsigned bit = kExponentBits; bit-- > 0;) {
        inverse = Kind::multiply(m, inverse, inverse);
        select(inverse, Kind::multiply(m, inverse, x), (e >> bit & 1) != 0);
      }
      const bool used = k * kLanes + group_.lane() < source_.channels();
      none |= used && Kind::digit(m, Kind::multiply(m, inverse, x)) != 1;
      store_residue(kNegInverseAt, k, Kind::negate(inverse));
    }
    return group_.ballot(none) != 0;
  }

  // Computes n / M_B in A.
  MM_DEVICE void set_up_a(const Element& n) const {
    Constant inverse_radix[kPerThread];
    load_inverse_radix(inverse_radix);
    MM_UNROLL
    for (unsigned k = 0; k < kPerThread; ++k) {
      store_residue(kModulusAt, k,
                    Kind::multiply_by(load_modulus<Kind, kLanes>(moduli_a(), k), n.a[k], inverse_radix[k]));
    }
  }

  // The residue 1.
  MM_DEVICE static Residue one(const Modulus& m) {
    return Kind::total(m, Kind::append(m, typename Kind::Partial{}, 1));
  }
  // r = a if `wanted`, without a branch.
  MM_DEVICE static void select(Residue& r, const Residue& a, bool wanted) {
    MM_UNROLL
    for (unsigned i = 0; i < Kind::kResidueWords; ++i) r.word[i] = wanted ? a.word[i] : r.word[i];
  }

  // The residues of a number in one base, in slices from the most significant one down.
  template <class Words>
  MM_DEVICE static void residues_of(Residue (&r)[kPerThread], const Words& a, const float* lane_moduli) {
    constexpr unsigned kSlices = 32 / Kind::kSliceBits;
    const Moduli moduli(lane_moduli);
    typename Kind::Partial sum[kPerThread]{};
    MM_ROLLED
    for (unsigned j = kWords; j-- > 0;) {
      std::uint32_t word = a[j];
      MM_ROLLED
      for (unsigned i = 0; i < kSlices; ++i) {
        const float slice = cuda::single_of(word >> (32 - Kind::kSliceBits));
        word <<= Kind::kSliceBits;
        MM_UNROLL
        for (unsigned k = 0; k < kPerThread; ++k) sum[k] = Kind::append(moduli[k], sum[k], slice);
      }
    }
    MM_UNROLL
    for (unsigned k = 0; k < kPerThread; ++k) r[k] = Kind::total(moduli[k], sum[k]);
  }

  // The end of a multiplication. On input: t = -x y / n in B, and x y in A at kProductAt. On output: w = x y
  // / M_B + t (n / M_B) in A, and its extension to B.
  MM_DEVICE Element reduced(Residue (&t)[kPerThread]) const {
    using TargetSums = rns_float::TargetSums<Kind, Moduli, kLanes, kPerThread>;
    typename Kind::Sum sums[kPerThread]{};
    TargetSums into_a{Moduli(moduli_a()), sums};
    Extension::run(group_, steps(moduli_b(), L::kToA), t, into_a);

    Element w;
    Constant inverse_radix[kPerThread];
    load_inverse_radix(inverse_radix);
    MM_UNROLL
    for (unsigned k = 0; k < kPerThread; ++k) {
      const Modulus m = load_modulus<Kind, kLanes>(moduli_a(), k);
      const Residue product = Kind::multiply(m, Kind::total(m, sums[k]), load_residue(kModulusAt, k));
      w.a[k] = Kind::add(m, Kind::multiply_by(m, load_residue(kProductAt, k), inverse_radix[k]), product);
      t[k] = w.a[k];
      sums[k] = {};
    }
    TargetSums into_b{Moduli(moduli_b()), sums};
    Extension::run(group_, steps(moduli_a(), L::kToB), t, into_b);
    MM_UNROLL
    for (unsigned k = 0; k < kPerThread; ++k) {
      w.b[k] = Kind::total(load_modulus<Kind, kLanes>(moduli_b(), k), sums[k]);
    }
    return w;
  }

  // The number whose digits the lanes have stored, by Horner's rule modulo 2^(32 (kWords + 1)). The same in
  // every lane.
  MM_DEVICE void join_digits(std::uint32_t (&sum)[kWords + 1]) const {
    MM_UNROLL
    for (std::uint32_t& word : sum) word = 0;
    const float* const order = source_.words() + L::kOrder;
    const unsigned channels = source_.channels();
    MM_ROLLED
    for (unsigned row = (channels + kLanes - 1) / kLanes; row-- > 0;) {
      const std::int32_t own_digit = cuda::integer_of(cuda::single_from_pattern(memory_[kDigitsAt + row]));
      MM_ROLLED
      for (unsigned lane = kLanes; lane-- > 0;) {
        const std::int32_t digit = group_.shuffle(own_digit, lane);
        const unsigned i = row * kLanes + lane;
        if (i >= channels) continue;
        multiply_and_add(sum, static_cast<std::uint32_t>(cuda::integer_of(cuda::load_one(order + i))), digit);
      }
    }
  }

  // sum = sum m + digit mod 2^(32 (kWords + 1)). On input: m < 2^24, so that the product of a word and m, a
  // carry and a word fit 64 bits together.
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

  // r = sum or, if sum is negative in two's complement, sum + n.
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

/// The multiplier with the bases that BasesOf provides for a group's channels.
template <class Group, unsigned kPerThread, class Kind, template <unsigned> class BasesOf, class Form>
using MultiplierOf = Multiplier<Group, kPerThread, Kind, BasesOf<Group::kSize * kPerThread>, Form>;

// One technique for each representation and form.
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
