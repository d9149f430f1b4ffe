// SPDX-License-Identifier: Apache-2.0
// The entries of EdwardsLaneCalls for one instruction set. For inclusion in instruction-set files only.
//
// The scalar of a point is recoded into signed windows of w = kWidth bits (modexp/recoding.hpp:
// signed_digit), -2^(w-1) <= digit <= 2^(w-1). A digit depends on the bits of its window and on the bit below
// them. Scalars come doubled, so that there is a bit below the lowest window, too. The table has the
// multiples 1 .. 2^(w-1) of the point, and all entries are read for each digit. For the digit 0 none is
// selected, and the neutral element is added.
//
// The scalar k of the generator is odd and recoded into odd digits (Joye, Tunstall, "Exponent recoding and
// regular exponentiation algorithms", 2009, algorithm 6). With w = kBaseWidth and k_i = floor(k / 2^(w i)),
// digit i is ((k_i mod 2^(w+1)) | 1) - 2^w, hence -2^w < digit < 2^w, and the highest digit is k_i | 1.
//
// The formulas for additions are complete, so that points of small order and equal points are no exceptional
// cases.
#pragma once

#include <cstddef>

#include "arch/unaligned_vectors.hpp"
#include "ecc/formulas/edwards.hpp"
#include "ecc/lanes/edwards_comparison.hpp"
#include "ecc/lanes/edwards_curves.hpp"
#include "ecc/lanes/edwards_ladder.hpp"
#include "ecc/lanes/edwards_lane_calls.hpp"
#include "ecc/lanes/edwards_roots.hpp"
#include "ecc/lanes/edwards_sums.hpp"
#include "field/batch_inverse.hpp"
#include "field/special_lanes.hpp"

namespace manymod::ecc::lanes {

/// `Curves`: see edwards_curves.hpp. `Arch`: see modmul/special_primes/lane_arithmetic.hpp. `Lookup`: see
/// lookup.*.hpp.
template <class Curves, class Arch, class Lookup>
class EdwardsKernels {
  friend EdwardsComparison<EdwardsKernels>;
  friend EdwardsLadder<EdwardsKernels>;
  friend EdwardsRoots<EdwardsKernels>;
  friend EdwardsSums<EdwardsKernels>;
  using Curve = Curves;
  using InstructionSet = Arch;
  using Prime = typename Curves::Prime;
  using F = field::SpecialLaneField<Prime, Arch>;
  using Arithmetic = special_primes::LaneArithmetic<Prime, Arch>;
  using Forms = EdwardsForms<Curves::kA, F>;
  using Element = typename F::Element;
  using Vector = typename F::Vector;
  using Vectors = UnalignedVectors<Arch>;
  using Mask = typename F::Mask;
  using Extended = edwards::Extended<F>;
  using Prepared = typename Forms::Prepared;
  using Cached = typename Forms::Cached;
  using WithT = edwards::WithT;
  using Word = typename Lookup::Word;
  static constexpr F kField{};
  static constexpr std::size_t kLanes = F::kLanes;
  static constexpr std::size_t kDigits = F::kDigits;
  static constexpr std::size_t kLimbs = Prime::kLimbs;
  static_assert(kField.limbs() == kLimbs);

  static constexpr unsigned kOrderBits = Curves::kOrderBits;
  static constexpr unsigned kWidth = 4;
  static constexpr std::size_t kEntries = std::size_t{1} << (kWidth - 1);
  static constexpr unsigned kWindows = kOrderBits / kWidth + 1;
  static constexpr unsigned kBaseWidth = Lookup::kWidth;
  static constexpr std::size_t kBaseEntries = Lookup::kEntries;
  static constexpr unsigned kBaseWindows = (kOrderBits + 1 + kBaseWidth - 1) / kBaseWidth;
  static constexpr std::size_t kBaseWindowWords = 3 * kDigits * kBaseEntries;
  /// Vectors that use a window of the generator's table one after the other, so that it stays in the cache.
  static constexpr std::size_t kTurns = 8;

  /// Scratch of a call.
  struct Batch {
    Cached* table;
    Extended *multiple, *sum;
    Element *z, *inverse, *scratch;
    Mask* exists;

    Batch(void* memory, std::size_t vectors)
        : table(static_cast<Cached*>(memory)),
          multiple(reinterpret_cast<Extended*>(table + kEntries)),
          sum(multiple + kEntries),
          z(reinterpret_cast<Element*>(sum + vectors)),
          inverse(z + vectors),
          scratch(inverse + vectors),
          exists(reinterpret_cast<Mask*>(scratch + vectors)) {}
    static std::size_t bytes(std::size_t vectors) {
      return kEntries * (sizeof(Cached) + sizeof(Extended)) +
             vectors * (sizeof(Extended) + 3 * sizeof(Element) + sizeof(Mask));
    }
  };

 public:
  static constexpr EdwardsLaneCalls calls() {
    return {kLanes,
            kLimbs,
            kOrderBits,
            Curves::kCofactorBits,
            kBaseWidth,
            kBaseEntries,
            kBaseWindows,
            kBaseWindows * kBaseWindowWords * sizeof(Word),
            static_cast<unsigned>(Arithmetic::kMulInstructions),
            static_cast<unsigned>(Arithmetic::kSqrInstructions),
            kBaseWindows * Forms::kPreparedProducts,
            kWindows * Forms::kCachedProducts + kEntries * 7 + kOrderBits * 4,
            kOrderBits * 4,
            EdwardsComparison<EdwardsKernels>::kBaseWidth,
            EdwardsComparison<EdwardsKernels>::kBaseWindows,
            EdwardsComparison<EdwardsKernels>::kBaseBytes,
            EdwardsComparison<EdwardsKernels>::kProducts,
            EdwardsComparison<EdwardsKernels>::kSquares,
            Batch::bytes,
            multiply_base,
            multiply,
            multiply_two,
            EdwardsComparison<EdwardsKernels>::split,
            EdwardsComparison<EdwardsKernels>::fill_base,
            EdwardsComparison<EdwardsKernels>::bytes,
            EdwardsComparison<EdwardsKernels>::compare,
            add,
            check,
            EdwardsRoots<EdwardsKernels>::lift,
            fill_base,
            EdwardsLadder<EdwardsKernels>::ladder,
            multiply_montgomery_base,
            EdwardsSums<EdwardsKernels>::bytes,
            EdwardsSums<EdwardsKernels>::sum};
  }

 private:
  [[gnu::noinline]] static void from_limbs(Element& r, const Limb* x, std::size_t v) {
    kField.from_limbs(r, x + v * kLimbs * kLanes);
  }
  [[gnu::noinline]] static void to_limbs(Limb* x, std::size_t v, const Element& a) {
    kField.to_limbs(x + v * kLimbs * kLanes, a);
  }
  static void constant(Element& r, const Limb (&x)[kLimbs]) {
    Limb all[kLimbs * kLanes];
    for (std::size_t i = 0; i < kLimbs * kLanes; ++i) all[i] = x[i / kLanes];
    from_limbs(r, all, 0);
  }
  static edwards::Coefficients<F> coefficients() {
    edwards::Coefficients<F> r;
    using Kind = typename edwards::Coefficients<F>::Kind;
    r.kind = Curves::kA == 1 ? Kind::one : Kind::minus_one;
    kField.one(r.a);
    if constexpr (Curves::kA == -1) {
      kField.neg(r.a, r.a);
      kField.template normalize_weak<2>(r.a, r.a);
    }
    constant(r.d, Curves::kD);
    return r;
  }

  // ---- formulas, out of line ----------------------------------------------------------------------------

  // gnu::flatten is where it was measured to save time. Without it, what compilers inline into a formula
  // depends on what else is in the file.
  template <WithT kWithT>
  [[gnu::noinline, gnu::flatten]] static void twice(Extended& p) {
    Forms::template twice<kWithT>(kField, p);
  }
  [[gnu::noinline, gnu::flatten]] static void add_prepared(Extended& p, const Prepared& q) {
    edwards::add(kField, p, p, q);
  }
  template <WithT kWithT>
  [[gnu::noinline, gnu::flatten]] static void add_cached(Extended& p, const Cached& q) {
    edwards::add<kWithT>(kField, p, p, q);
  }
  [[gnu::noinline]] static void cache(Cached& r, const Extended& p, const Element& d) {
    edwards::cache(kField, r, p, d);
  }
  [[gnu::noinline]] static void invert(const Batch& batch, std::size_t count) {
    field::batch_inverse(kField, batch.inverse, batch.exists, batch.z, count, batch.scratch);
  }
  [[gnu::noinline]] static void multiply_into(Element& r, const Element& a, const Element& b) {
    kField.mul(r, a, b);
  }

  // ---- the generator ------------------------------------------------------------------------------------

  static void multiply_base(const EdwardsBlock& b) {
    const Batch batch(b.scratch, b.vectors);
    for (std::size_t v = 0; v < b.vectors; ++v) edwards::set_neutral(kField, batch.sum[v]);
    add_base(b, batch);
    store_affine(b, batch);
  }
  [[gnu::noinline]] static void add_base(const EdwardsBlock& b, const Batch& batch) {
    Prepared entry;
    for (std::size_t first = 0; first < b.vectors; first += kTurns) {
      const std::size_t end = first + kTurns < b.vectors ? first + kTurns : b.vectors;
      for (unsigned window = 0; window < kBaseWindows; ++window) {
        for (std::size_t v = first; v < end; ++v) {
          select_base(entry, b, v, window);
          add_prepared(batch.sum[v], entry);
        }
      }
    }
  }
  /// The numbers of vector v, shifted right by `bit`: the lowest `count` bits are right, those above them may
  /// be wrong. Bits beyond kLimbs limbs are 0.
  static Vector bits_from(const Limb* numbers, std::size_t v, unsigned bit, unsigned count) {
    const Limb* const number = numbers + v * kLimbs * kLanes;
    const unsigned limb = bit / kLimbBits, shift = bit % kLimbBits;
    if (limb >= kLimbs) return Vector{};
    Vector bits = Vectors::load(number, limb) >> shift;
    if (shift + count > kLimbBits && limb + 1 < kLimbs)
      bits |= Vectors::load(number, limb + 1) << (kLimbBits - shift);
    return bits;
  }
  /// The multiple of the generator for a window of the scalars of vector v.
  [[gnu::noinline]] static void select_base(Prepared& r, const EdwardsBlock& b, std::size_t v,
                                            unsigned window) {
    const Vector bits = bits_from(b.base_scalar, v, window * kBaseWidth, kBaseWidth + 1);
    const bool last = window + 1 == kBaseWindows;
    const Mask positive = last ? Vector{} - 1 : Vector{} - (bits >> kBaseWidth & 1);
    const Vector index = ((bits >> 1) ^ ~positive) & (kBaseEntries - 1);
    const Word* const table = static_cast<const Word*>(b.base_table) + window * kBaseWindowWords;
    for (std::size_t c = 0; c < 3; ++c)
      select_coordinate(r.*Forms::kPrepared[c], table + c * kDigits * kBaseEntries, index);
    edwards::negate_where(kField, r, ~positive);
  }
  static void select_coordinate(Element& r, const Word* table, Vector index) {
    for (std::size_t i = 0; i < kDigits; ++i) {
      r.number.digit[i] = Lookup::lookup(table + i * kBaseEntries, index);
    }
    r.set_magnitude(1);
  }

  static void fill_base(const EdwardsBlock& b, void* table) {
    const Element d = coefficients().d;
    Prepared entry;
    Element x, y;
    for (std::size_t v = 0; v < b.vectors; ++v) {
      from_limbs(x, b.px, v);
      from_limbs(y, b.py, v);
      edwards::prepare(kField, entry, x, y, d);
      for (std::size_t lane = 0; lane < kLanes; ++lane) {
        const std::size_t at = v * kLanes + lane;
        if (at >= kBaseWindows * kBaseEntries) return;
        Word* const r = static_cast<Word*>(table) + at / kBaseEntries * kBaseWindowWords + at % kBaseEntries;
        for (std::size_t c = 0; c < 3; ++c) {
          const Element& coordinate = entry.*Forms::kPrepared[c];
          for (std::size_t i = 0; i < kDigits; ++i)
            r[(c * kDigits + i) * kBaseEntries] = static_cast<Word>(coordinate.number.digit[i][lane]);
        }
      }
    }
  }

  // ---- other points -------------------------------------------------------------------------------------

  static void multiply(const EdwardsBlock& b) {
    const Batch batch(b.scratch, b.vectors);
    const Element d = cached_d();
    for (std::size_t v = 0; v < b.vectors; ++v) multiply_windows(b, v, batch, d);
    store_affine(b, batch);
  }
  static void multiply_two(const EdwardsBlock& b) {
    const Batch batch(b.scratch, b.vectors);
    const Element d = cached_d();
    for (std::size_t v = 0; v < b.vectors; ++v) multiply_windows(b, v, batch, d);
    add_base(b, batch);
    store_affine(b, batch);
  }
  /// kOfD d, the factor of T in cached points.
  static Element cached_d() {
    Element d = coefficients().d;
    if constexpr (Forms::kOfD == 2) {
      kField.add(d, d, d);
      kField.template normalize_weak<2>(d, d);
    }
    return d;
  }
  static void load_point(Extended& r, const Limb* px, const Limb* py, std::size_t v) {
    Element x, y;
    from_limbs(x, px, v);
    from_limbs(y, py, v);
    edwards::set_affine(kField, r, x, y);
  }

  /// batch.sum[v] = k P, with its coordinate T.
  [[gnu::noinline]] static void multiply_windows(const EdwardsBlock& b, std::size_t v, const Batch& batch,
                                                 const Element& d) {
    make_table(b, v, batch, d);
    Extended& sum = batch.sum[v];
    edwards::set_neutral(kField, sum);
    Cached entry;
    for (unsigned window = kWindows; window-- > 0;) {
      if (window + 1 < kWindows) {
        for (unsigned i = 1; i < kWidth; ++i) twice<WithT::no>(sum);
        twice<WithT::yes>(sum);
      }
      select_point(entry, b, v, batch.table, window);
      if (window > 0) {
        add_cached<WithT::no>(sum, entry);
      } else {
        add_cached<WithT::yes>(sum, entry);
      }
    }
  }
  /// table[i] = multiple[i] = (i + 1) P
  static void make_table(const EdwardsBlock& b, std::size_t v, const Batch& batch, const Element& d) {
    load_point(batch.multiple[0], b.px, b.py, v);
    make_multiples(batch.multiple, d, [&](std::size_t i, const Cached& entry) { batch.table[i] = entry; });
  }
  /// multiple[i] = (i + 1) multiple[0] for 0 < i < kEntries. done(i, cached) is called for 0 <= i < kEntries,
  /// with the cached form of multiple[i].
  template <class Done>
  static void make_multiples(Extended* multiple, const Element& d, const Done& done) {
    Cached first, cached;
    cache(first, multiple[0], d);
    done(0, first);
    for (std::size_t i = 1; i < kEntries; ++i) {
      if (i % 2 == 1) {
        multiple[i] = multiple[i / 2];
        twice<WithT::yes>(multiple[i]);
      } else {
        multiple[i] = multiple[i - 1];
        add_cached<WithT::yes>(multiple[i], first);
      }
      cache(cached, multiple[i], d);
      done(i, cached);
    }
  }
  struct SignedDigits {
    Vector magnitude;
    Mask negative;
  };
  /// The digit of a window of `width` bits in each lane. On input: bit 0 of `window` is the bit below the
  /// window, and bits 1 .. width are the window; those above are ignored.
  static SignedDigits signed_digits(Vector window, unsigned width) {
    const Vector bits = window & ((Limb{2} << width) - 1);
    const Vector value = (bits >> 1) + (bits & 1);
    const Mask negative = Vector{} - (bits >> width);
    return {(value & ~negative) | (((Limb{1} << width) - value) & negative), negative};
  }
  [[gnu::noinline]] static void select_point(Cached& r, const EdwardsBlock& b, std::size_t v,
                                             const Cached* table, unsigned window) {
    const auto [magnitude, negative] =
        signed_digits(bits_from(b.scalar, v, window * kWidth, kWidth + 1), kWidth);
    select_pair<0, 1>(r, table, magnitude);
    select_pair<2, 3>(r, table, magnitude);
    // For the digit 0 no entry was selected.
    const Mask zero = reinterpret_cast<Vector>(magnitude == 0);
    for (std::size_t c = 0; c < 4; ++c) {
      Element& coordinate = r.*Forms::kCached[c];
      for (std::size_t i = 0; i < kDigits; ++i) {
        const Limb digit = Forms::kNeutral[c] * Arithmetic::kOne[i];
        if (digit != 0) coordinate.number.digit[i] |= zero & digit;
      }
      coordinate.set_magnitude(Forms::kMagnitude[c]);
    }
    edwards::negate_where(kField, r, negative);
  }
  /// Selects two coordinates of the entry. No more at a time, so that their digits and a mask stay in
  /// registers.
  template <std::size_t kFirst, std::size_t kSecond>
  static void select_pair(Cached& r, const Cached* table, Vector magnitude) {
    constexpr auto first = Forms::kCached[kFirst], second = Forms::kCached[kSecond];
    Vector low[kDigits] = {}, high[kDigits] = {};
    for (std::size_t entry = 0; entry < kEntries; ++entry) {
      const Mask mask = reinterpret_cast<Vector>(magnitude == Vector{} + (entry + 1));
      for (std::size_t i = 0; i < kDigits; ++i) {
        low[i] |= (table[entry].*first).number.digit[i] & mask;
        high[i] |= (table[entry].*second).number.digit[i] & mask;
      }
    }
    for (std::size_t i = 0; i < kDigits; ++i) {
      (r.*first).number.digit[i] = low[i];
      (r.*second).number.digit[i] = high[i];
    }
  }

  static void add(const EdwardsBlock& b) {
    const Batch batch(b.scratch, b.vectors);
    const Element d = cached_d();
    Extended q;
    Cached cached;
    for (std::size_t v = 0; v < b.vectors; ++v) {
      load_point(batch.sum[v], b.px, b.py, v);
      load_point(q, b.qx, b.qy, v);
      cache(cached, q, d);
      add_cached<WithT::no>(batch.sum[v], cached);
    }
    store_affine(b, batch);
  }

  /// The results are the sums in affine form, by one inversion for all vectors. Z is never 0.
  [[gnu::noinline]] static void store_affine(const EdwardsBlock& b, const Batch& batch) {
    for (std::size_t v = 0; v < b.vectors; ++v) batch.z[v] = batch.sum[v].z;
    invert(batch, b.vectors);
    Element coordinate;
    for (std::size_t v = 0; v < b.vectors; ++v) {
      multiply_into(coordinate, batch.sum[v].x, batch.inverse[v]);
      to_limbs(b.x, v, coordinate);
      if (b.y == nullptr) continue;
      multiply_into(coordinate, batch.sum[v].y, batch.inverse[v]);
      to_limbs(b.y, v, coordinate);
    }
  }

  static void check(const EdwardsBlock& b) {
    const edwards::Coefficients<F> curve = coefficients();
    Element x, y;
    for (std::size_t v = 0; v < b.vectors; ++v) {
      from_limbs(x, b.px, v);
      from_limbs(y, b.py, v);
      Vectors::store(b.mask, v, edwards::on_curve(kField, x, y, curve));
    }
  }

  // ---- the Montgomery curve -----------------------------------------------------------------------------

  /// A multiple of the order leads to u = 0, as invert() returns 0 for 0.
  static void multiply_montgomery_base(const EdwardsBlock& b) {
    const Batch batch(b.scratch, b.vectors);
    for (std::size_t v = 0; v < b.vectors; ++v) edwards::set_neutral(kField, batch.sum[v]);
    add_base(b, batch);
    for (std::size_t v = 0; v < b.vectors; ++v) {
      Extended& sum = batch.sum[v];
      Element numerator;
      Forms::montgomery_u(kField, numerator, batch.z[v], sum);
      sum.x = numerator;
    }
    store_quotients(b, batch);
  }
  /// The results are batch.sum[v].x / batch.z[v].
  static void store_quotients(const EdwardsBlock& b, const Batch& batch) {
    invert(batch, b.vectors);
    Element u;
    for (std::size_t v = 0; v < b.vectors; ++v) {
      multiply_into(u, batch.sum[v].x, batch.inverse[v]);
      to_limbs(b.x, v, u);
    }
  }
};

}  // namespace manymod::ecc::lanes
