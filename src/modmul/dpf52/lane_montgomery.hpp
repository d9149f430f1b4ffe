// SPDX-License-Identifier: Apache-2.0
// Montgomery multiplication and squaring of dpf52, generic in the vector type. Included by the
// instruction-set specific files only: `V` is a type of the including file's unnamed namespace, so that no
// instantiation is shared between files with different target flags.
//
// V provides vectors of kLanes doubles (Real) and of kLanes 64-bit words (Word):
//   load, store, load_real, store_real; set(Limb), set_real(double); bits (Real as Word);
//   add (words, mod 2^64), shift_digit (right by 52), mask_digit (mod 2^52); to_real (words <= 2^52);
//   subtract (always exact here, so its rounding mode is irrelevant), fma (rounded toward zero).
// The functions run while that rounding is in force. Timing: constant-time; it depends on L only.
//
// Cost. A product of two digits is 5 vector instructions: fma, subtract, fma, add, add. All of them need a
// port that executes 512-bit arithmetic, of which current server cores have two: 2.5 cycles per product of 8
// lanes. For 256-bit vectors three ports add and subtract and two of them execute fma: 5/3 cycles per product
// of 4 lanes. Loads, stores and register copies use other ports, so column sums in memory cost no such time:
// each visit of a column has four products, 5 loads and one store. A multiplication takes 2 L^2 products, L
// of which need no subtract, fma and add (Lemma 5); a squaring takes L (L + 1) / 2 + L^2. Conversions,
// quotient digits, initial values and carries add about 25 instructions per digit.
//
// None of the five can be merged at 52 bits: the addend of the first fma must be at least 2^104 to place its
// rounding, that of the second must cancel the high product exactly, and a column sum as a third addend would
// make the sum inexact. (At 50 bits, four high products could pass through one fma accumulator, for 4.25
// instructions per product, but with (52/50)^2 times as many products: 8 % fewer instructions at best.)
#pragma once

#include <cstddef>
#include <cstring>

#include "modmul/dpf52/bounds.hpp"
#include "repr/canonical.hpp"
#include "repr/verify.hpp"

// Unrolling for GCC and Clang, so that the loop control is shared by several products.
#define MANYMOD_PRAGMA(text) _Pragma(#text)
#if defined(__clang__)
#define MANYMOD_UNROLL(times) MANYMOD_PRAGMA(clang loop unroll_count(times))
#else
#define MANYMOD_UNROLL(times) MANYMOD_PRAGMA(GCC unroll times)
#endif

namespace manymod::dpf52 {

/// The multiplier over vector type V. L is the number of digits, R = 2^(52 L), R >= 4 n. Digit d of an
/// element is at d kLanes.
template <class V>
struct LaneMontgomery {
  using Real = typename V::Real;
  using Word = typename V::Word;
  static constexpr std::size_t kLanes = V::kLanes;

  static constexpr double kHighOffset = 0x1p104;
  static constexpr double kBothOffsets = 0x1p104 + 0x1p52;
  static constexpr Limb kHighExponent = Limb{0x467} << kDigitBits;
  static constexpr Limb kLowExponent = Limb{0x433} << kDigitBits;
  static constexpr Limb kPairExponent = kHighExponent + kLowExponent;  // modulo 2^64, like all uses of it

  /// Words of scratch: a and n as doubles (L vectors each), column sums (2 L) and sums of cross products (2
  /// L).
  static std::size_t scratch_words(std::size_t digits) { return 6 * digits * kLanes; }

  /// r = a b / R mod n.
  /// On input: a, b < 2 n, or a < R and b <= n; exact digits; L >= 4. On output: r < 2 n, exact digits.
  /// Aliasing: r may be a or b.
  ///
  /// Rows are processed in pairs: one pass adds a (b_i, b_(i+1)) and n times the quotient digits of the pair
  /// before. The two lowest columns are complete at the start of the pass, so that the latency of the next
  /// quotient digits overlaps with the rest of it.
  static void mul(Limb* r, const Limb* a, const Limb* b, const Limb* modulus, std::size_t digits,
                  Limb* scratch) {
    MANYMOD_VERIFY_RANGE(exact_digits(a, digits * kLanes) && exact_digits(b, digits * kLanes));
    const Frame f(a, modulus, digits, scratch);
    fill_initial(f.columns, digits);
    std::size_t i = digits % 2;
    if (i == 1) {
      add_to(f.columns + digits * kLanes, add_row(f.columns, f.a, digit(b, 0), digits, V::set(0)));
      reduce_first(f);
    }
    add_row_pair(f, f.columns + i * kLanes, digit(b, i), digit(b, i + 1));
    Quotients q = lowest_pair(f, V::load(f.columns + i * kLanes), V::load(f.columns + (i + 1) * kLanes));
    for (i += 2; i < digits; i += 2) q = mul_rows(f, f.columns + i * kLanes, digit(b, i), digit(b, i + 1), q);
    finish(r, f, q, [](Word column, std::size_t) { return column; });
    MANYMOD_VERIFY_RANGE(exact_digits(r, digits * kLanes));
  }

  /// r = a^2 / R mod n.
  /// On input: a < 2 n, exact digits; L >= 4. On output: r < 2 n, exact digits. Aliasing: r may be a.
  ///
  /// Cross products a_s a_j, s < j, are summed once, in columns of their own, which are doubled when a column
  /// is read for the last time. Their rows alternate with the rows of the reduction and hide the latency of
  /// the quotient digits.
  static void sqr(Limb* r, const Limb* a, const Limb* modulus, std::size_t digits, Limb* scratch) {
    MANYMOD_VERIFY_RANGE(exact_digits(a, digits * kLanes));
    const Frame f(a, modulus, digits, scratch);
    fill_initial(f.columns, digits);
    add_diagonal(f);
    for (std::size_t c = 0; c < digits; ++c) V::store(f.cross + c * kLanes, V::set(0));
    V::store(f.cross + (2 * digits - 1) * kLanes, V::set(0));

    const auto with_cross = [&f](Word column, std::size_t c) {
      const Word cross = V::load(f.cross + c * kLanes);
      return V::add(column, V::add(cross, cross));
    };
    cross_rows(f, 0);
    std::size_t i = digits % 2;
    if (i == 1) reduce_first(f);
    Quotients q = lowest_pair(f, with_cross(V::load(f.columns + i * kLanes), i),
                              with_cross(V::load(f.columns + (i + 1) * kLanes), i + 1));
    // Columns i and i + 1 take cross products of rows 0 to i / 2; cross_rows(s) adds rows s and s + 1.
    for (std::size_t s = 2; s + 2 <= digits - digits % 2; s += 2) {
      i += 2;
      q = reduction_rows(f, i, q, with_cross);
      cross_rows(f, s);
    }
    finish(r, f, q, with_cross);
    MANYMOD_VERIFY_RANGE(exact_digits(r, digits * kLanes));
  }

  /// DigitKernels::split_product.
  static void split_product(Limb* high, Limb* low, const Limb* a, const Limb* b) {
    const Product p = product(digit(a, 0), digit(b, 0));
    V::store(high, V::add(p.high, V::set(0 - kHighExponent)));
    V::store(low, V::add(p.low, V::set(0 - kLowExponent)));
  }

 private:
  /// One multiplication's operands as doubles, its scratch memory and the two digits of -1/n.
  struct Frame {
    Frame(const Limb* operand, const Limb* modulus, std::size_t count, Limb* scratch)
        : digits(count),
          a(scratch),
          n(scratch + count * kLanes),
          columns(scratch + 2 * count * kLanes),
          cross(scratch + 4 * count * kLanes),
          k0(digit(modulus, count)) {
      MANYMOD_VERIFY_RANGE(count >= kMinDigits && columns_fit(count));
      MANYMOD_VERIFY_RANGE(exact_digits(modulus, (count + 1) * kLanes));
      convert(a, operand, count);
      convert(n, modulus, count);
      // A Newton step: k = k0 (2 + n k0) mod 2^104. With n k0 + 1 = 2^52 e it gives k1 = k0 e mod 2^52. The
      // low product of n_0 and k0 is 2^52 - 1, so the high product plus 1 is its share of e.
      const Word high = V::bits(high_product(V::load_real(n), k0));
      const Word e = V::add(V::add(high, V::set(1)), product(V::load_real(n + kLanes), k0).low);
      const Real e0 = digit_of(e);
      k1 = low_digit(k0, e0, high_product(k0, e0));
      MANYMOD_VERIFY_RANGE(hypotheses_hold(k0, k1));
    }
    std::size_t digits;
    Limb* a;
    Limb* n;
    Limb* columns;  ///< 2 L sums
    Limb* cross;    ///< 2 L sums, squaring only
    Real k0;        ///< k0 + 2^52 k1 = -n^-1 mod 2^104
    Real k1;
  };

  /// The bit patterns of a high and a low product, exponents included.
  struct Product {
    Word high;
    Word low;
  };

  /// Two rows of products, x y0 and, one column higher, x y1, added to one column after the other. Column c
  /// takes low(x_c y0), low(x_(c-1) y1) and the high products pending from the column before.
  struct RowPair {
    Real y0;
    Real y1;
    Word high0;
    Word high1;

    /// Column 0: x_0 y0 only.
    Word first(Word column, Real x) {
      const Product p = product(x, y0);
      high0 = p.high;
      return V::add(column, p.low);
    }
    /// Column 1: no high product of row y1 is pending.
    Word second(Word column, Real x, Real x_below) {
      high1 = V::set(0);
      return step(column, x, x_below);
    }
    /// Columns 2 to L - 1; x is digit c, x_below digit c - 1.
    Word step(Word column, Real x, Real x_below) {
      const Word sum = V::add(V::add(column, high0), high1);
      const Product p0 = product(x, y0);
      const Product p1 = product(x_below, y1);
      high0 = p0.high;
      high1 = p1.high;
      return V::add(V::add(sum, p0.low), p1.low);
    }
    /// Column L: x_below is the top digit.
    Word last_low(Word column, Real x_below) {
      const Word sum = V::add(V::add(column, high0), high1);
      const Product p1 = product(x_below, y1);
      high1 = p1.high;
      return V::add(sum, p1.low);
    }
    /// Column L + 1: only the high product of row y1 is left.
    Word last_high(Word column) const { return V::add(column, high1); }
  };

  /// The quotient digits of two complete columns c and c + 1. Their products with n have been added up to n_1
  /// q0 and n_0 q1; the high products of these and the carry are pending for column c + 2.
  struct Quotients {
    RowPair rows;
    Word carry;
  };

  /// Digit `at` of an element, as doubles.
  static Real digit(const Limb* words, std::size_t at) { return V::to_real(V::load(words + at * kLanes)); }

  /// reals[d] = words[d] as doubles, for `count` digits.
  static void convert(Limb* reals, const Limb* words, std::size_t count) {
    for (std::size_t at = 0; at < count; ++at) {
      const Real x = digit(words, at);
      MANYMOD_VERIFY_RANGE(hypotheses_hold(x, x));
      V::store_real(reals + at * kLanes, x);
    }
  }

#if MANYMOD_VERIFY
  /// True if satisfies_bounds holds in every lane.
  static bool hypotheses_hold(Real a, Real b) {
    alignas(64) Limb patterns[2 * kLanes];
    V::store_real(patterns, a);
    V::store_real(patterns + kLanes, b);
    double x[2 * kLanes];
    std::memcpy(x, patterns, sizeof x);
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      if (!satisfies_bounds(x[lane], x[kLanes + lane])) return false;
    }
    return true;
  }
#endif

  /// Lemma 1.
  static Real high_product(Real a, Real b) { return V::fma(a, b, V::set_real(kHighOffset)); }

  /// Lemmas 1 and 2.
  static Product product(Real a, Real b) {
    const Real high = high_product(a, b);
    const Real low = V::fma(a, b, V::subtract(V::set_real(kBothOffsets), high));
    return {V::bits(high), V::bits(low)};
  }

  /// column mod 2^52 as doubles.
  static Real digit_of(Word column) { return V::to_real(V::mask_digit(column)); }

  /// t k mod 2^52 (Lemma 4). On input: high = high_product(t, k).
  static Real low_digit(Real t, Real k, Real high) {
    return V::fma(t, k, V::subtract(V::set_real(kHighOffset), high));
  }

  /// The carry from a complete column into the next one, its low product with the quotient digit included
  /// (Lemma 5).
  static Word carry_of(Word column) {
    return V::shift_digit(V::add(column, V::set((Limb{1} << kDigitBits) - 1)));
  }

  /// Initial values of columns: minus the exponents that they will take (Lemma 3). A column c < L takes c + 1
  /// low and c high products of a b, and c low and c high products of q n, the lowest low product of which is
  /// never computed: `low[c]`. A column 2 L - c, c <= L, takes c - 1 low and c high products of each:
  /// `high[c]`.
  struct InitialValues {
    Limb low[kMaxDigits];
    Limb high[kMaxDigits + 1];
  };
  /// The table of all digit counts.
  static constexpr InitialValues initial_values() {
    InitialValues values{};
    for (Limb c = 0; c < kMaxDigits; ++c) values.low[c] = 0 - 2 * c * kPairExponent - kLowExponent;
    for (Limb c = 0; c <= kMaxDigits; ++c) values.high[c] = 2 * kLowExponent - 2 * c * kPairExponent;
    return values;
  }
  static constexpr InitialValues kInitial = initial_values();

  // The values come from a table because loading a word into all lanes does not use the arithmetic ports.
  static void fill_initial(Limb* columns, std::size_t digits) {
    for (std::size_t c = 0; c < digits; ++c) V::store(columns + c * kLanes, V::set(kInitial.low[c]));
    columns += digits * kLanes;
    for (std::size_t c = 0; c < digits; ++c) {
      V::store(columns + c * kLanes, V::set(kInitial.high[digits - c]));
    }
  }

  /// columns += sum of a_s^2 2^(104 s).
  static void add_diagonal(const Frame& f) {
    for (std::size_t s = 0; s < f.digits; ++s) {
      const Real a = V::load_real(f.a + s * kLanes);
      const Product p = product(a, a);
      add_to(f.columns + 2 * s * kLanes, p.low);
      add_to(f.columns + (2 * s + 1) * kLanes, p.high);
    }
  }

  /// column += value.
  static void add_to(Limb* column, Word value) { V::store(column, V::add(V::load(column), value)); }

  /// columns[j] += low(x_j y) + the high product of j - 1, for j < count. On input: `high` is the high
  /// product pending for column 0. @return the last high product
  static Word add_row(Limb* columns, const Limb* x, Real y, std::size_t count, Word high) {
    for (std::size_t at = 0; at < count * kLanes; at += kLanes) {
      const Product p = product(V::load_real(x + at), y);
      V::store(columns + at, V::add(V::add(V::load(columns + at), high), p.low));
      high = p.high;
    }
    return high;
  }

  /// The quotient digits of two columns that are complete except for products of these digits. Both digits
  /// come from t k mod 2^104 (Lemma 6); otherwise the second would have to wait for the products of the
  /// first.
  static Quotients lowest_pair(const Frame& f, Word column0, Word column1) {
    const Real n0 = V::load_real(f.n);
    const Real t0 = digit_of(column0);
    const Real t1 = digit_of(V::add(column1, V::shift_digit(column0)));
    const Real high = high_product(t0, f.k0);
    const Real q0 = low_digit(t0, f.k0, high);
    const Word sum = V::add(V::bits(high), product(t1, f.k0).low);
    const Real q1 = digit_of(V::add(sum, product(t0, f.k1).low));

    MANYMOD_VERIFY_RANGE(hypotheses_hold(q0, q1));
    const Product p = product(V::load_real(f.n + kLanes), q0);
    const Word n0_high = V::bits(high_product(n0, q0));
    const Word column = V::add(V::add(column1, carry_of(column0)), V::add(n0_high, p.low));
    return {{q0, q1, p.high, V::bits(high_product(n0, q1))}, carry_of(column)};
  }

  /// The reduction step of column 0 alone, for an odd number of digits.
  static void reduce_first(const Frame& f) {
    const Word column = V::load(f.columns);
    const Real t = digit_of(column);
    const Real q = low_digit(t, f.k0, high_product(t, f.k0));
    const Word high = V::add(V::bits(high_product(V::load_real(f.n), q)), carry_of(column));
    add_to(f.columns + f.digits * kLanes, add_row(f.columns + kLanes, f.n + kLanes, q, f.digits - 1, high));
  }

  /// columns += a (y0 + 2^52 y1).
  static void add_row_pair(const Frame& f, Limb* columns, Real y0, Real y1) {
    const std::size_t end = f.digits * kLanes;
    RowPair rows{y0, y1, V::set(0), V::set(0)};
    V::store(columns, rows.first(V::load(columns), V::load_real(f.a)));
    MANYMOD_UNROLL(4)
    for (std::size_t at = kLanes; at < end; at += kLanes) {
      const Word sum =
          rows.step(V::load(columns + at), V::load_real(f.a + at), V::load_real(f.a + at - kLanes));
      V::store(columns + at, sum);
    }
    V::store(columns + end, rows.last_low(V::load(columns + end), V::load_real(f.a + end - kLanes)));
    V::store(columns + end + kLanes, rows.last_high(V::load(columns + end + kLanes)));
  }

  /// columns += a (y0 + 2^52 y1) + n q, where q are the quotient digits of the two columns below. @return the
  /// quotient digits of the lowest two columns
  static Quotients mul_rows(const Frame& f, Limb* columns, Real y0, Real y1, Quotients below) {
    const auto a = [&f](std::size_t at) { return V::load_real(f.a + at); };
    const auto n = [&f](std::size_t at) { return V::load_real(f.n + at); };
    const std::size_t end = f.digits * kLanes;
    RowPair rows{y0, y1, V::set(0), V::set(0)};
    RowPair& reduction = below.rows;
    Word column0 = rows.first(V::add(V::load(columns), below.carry), a(0));
    column0 = reduction.step(column0, n(2 * kLanes), n(kLanes));
    Word column1 = rows.second(V::load(columns + kLanes), a(kLanes), a(0));
    column1 = reduction.step(column1, n(3 * kLanes), n(2 * kLanes));
    const Quotients next = lowest_pair(f, column0, column1);
    MANYMOD_UNROLL(2)
    for (std::size_t at = 2 * kLanes; at < end - 2 * kLanes; at += kLanes) {
      const Word sum = rows.step(V::load(columns + at), a(at), a(at - kLanes));
      V::store(columns + at, reduction.step(sum, n(at + 2 * kLanes), n(at + kLanes)));
    }
    Limb* top = columns + end;
    Word sum = rows.step(V::load(top - 2 * kLanes), a(end - 2 * kLanes), a(end - 3 * kLanes));
    V::store(top - 2 * kLanes, reduction.last_low(sum, n(end - kLanes)));
    sum = rows.step(V::load(top - kLanes), a(end - kLanes), a(end - 2 * kLanes));
    V::store(top - kLanes, reduction.last_high(sum));
    V::store(top, rows.last_low(V::load(top), a(end - kLanes)));
    V::store(top + kLanes, rows.last_high(V::load(top + kLanes)));
    return next;
  }

  /// The same for a squaring: columns from `first` on += n q, where q are the quotient digits of the two
  /// columns below. complete(column, c) adds what is still missing from column c. @return the quotient digits
  /// of columns `first` and first + 1
  template <class Complete>
  static Quotients reduction_rows(const Frame& f, std::size_t first, Quotients below, Complete complete) {
    const auto n = [&f](std::size_t at) { return V::load_real(f.n + at); };
    Limb* columns = f.columns + first * kLanes;
    const std::size_t end = f.digits * kLanes;
    RowPair& rows = below.rows;
    Word column0 = V::add(complete(V::load(columns), first), below.carry);
    column0 = rows.step(column0, n(2 * kLanes), n(kLanes));
    const Word column1 =
        rows.step(complete(V::load(columns + kLanes), first + 1), n(3 * kLanes), n(2 * kLanes));
    const Quotients next = lowest_pair(f, column0, column1);
    MANYMOD_UNROLL(4)
    for (std::size_t at = 2 * kLanes; at < end - 2 * kLanes; at += kLanes) {
      V::store(columns + at, rows.step(V::load(columns + at), n(at + 2 * kLanes), n(at + kLanes)));
    }
    Limb* top = columns + end;
    V::store(top - 2 * kLanes, rows.last_low(V::load(top - 2 * kLanes), n(end - kLanes)));
    V::store(top - kLanes, rows.last_high(V::load(top - kLanes)));
    return next;
  }

  /// Adds the cross products of a_s and a_(s+1) with the digits above each of them, s + 1 < L. Rows come in
  /// increasing order of s: these are the first to reach columns s + L and s + L + 1.
  static void cross_rows(const Frame& f, std::size_t s) {
    const auto a = [&f](std::size_t at) { return V::load_real(f.a + at); };
    Limb* columns = f.cross + s * kLanes;
    const std::size_t end = f.digits * kLanes;
    std::size_t at = (s + 1) * kLanes;
    RowPair rows{a(s * kLanes), a(at), V::set(0), V::set(0)};
    V::store(columns + at, rows.first(V::load(columns + at), a(at)));
    at += kLanes;
    if (at == end) {
      V::store(columns + at, rows.high0);
      return;
    }
    const Product second = product(a(at), rows.y0);
    V::store(columns + at, V::add(V::add(V::load(columns + at), rows.high0), second.low));
    rows.high0 = second.high;
    MANYMOD_UNROLL(4)
    for (at += kLanes; at < end; at += kLanes) {
      V::store(columns + at, rows.step(V::load(columns + at), a(at), a(at - kLanes)));
    }
    V::store(columns + end, rows.last_low(V::set(0), a(end - kLanes)));
    V::store(columns + end + kLanes, rows.high1);
  }

  /// r = columns L .. 2 L - 1 + n q as exact digits, where q are the quotient digits of the two columns
  /// below; complete(column, c) adds what is still missing from column c. Carries ripple, at 3 instructions
  /// per digit; two rounds of a parallel carry resolution, to digits of at most 2^52, would take 6.
  template <class Complete>
  static void finish(Limb* r, const Frame& f, Quotients below, Complete complete) {
    const auto n = [&f](std::size_t j) { return V::load_real(f.n + j * kLanes); };
    const auto column = [&](std::size_t j) {
      return complete(V::load(f.columns + (f.digits + j) * kLanes), f.digits + j);
    };
    RowPair& rows = below.rows;
    Word carry = below.carry;
    std::size_t j = 0;
    for (; j + 2 < f.digits; ++j) {
      carry = store_digit(r + j * kLanes, rows.step(column(j), n(j + 2), n(j + 1)), carry);
    }
    carry = store_digit(r + j * kLanes, rows.last_low(column(j), n(j + 1)), carry);
    store_digit(r + (j + 1) * kLanes, rows.last_high(column(j + 1)), carry);
  }

  /// r = (column + carry) mod 2^52. @return the carry out
  static Word store_digit(Limb* r, Word column, Word carry) {
    const Word sum = V::add(column, carry);
    V::store(r, V::mask_digit(sum));
    return V::shift_digit(sum);
  }
};

}  // namespace manymod::dpf52
