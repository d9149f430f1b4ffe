// SPDX-License-Identifier: Apache-2.0
// Montgomery multiplication and squaring of radix29 by finely integrated product scanning (FIPS: C. K. Koc,
// T. Acar, B. S. Kaliski, "Analyzing and comparing Montgomery multiplication algorithms", IEEE Micro 16,
// 1996), in tiles of columns. Included by the instruction-set specific files only.
#pragma once

#include <cstddef>

#include "lanes/digit_loops.hpp"
#include "lanes/kernels.hpp"
#include "modmul/radix29/column_bounds.hpp"

#define MANYMOD_INLINE inline __attribute__((always_inline))
#define MANYMOD_NOINLINE __attribute__((noinline))

namespace manymod::radix29 {

/// Column c of a b + q n, 0 <= c < 2 L, is the sum of all a_i b_(c-i) and q_i n_(c-i). Each column c < L
/// determines q_c, which makes the column divisible by 2^w; the columns c >= L are the result. A tile is N
/// neighbouring columns whose sums stay in registers from the first product until their digits are stored.
/// One factor of each product is a memory operand, and the only other memory access is the load of the other
/// factor, once for N products.
///
/// `Arch` is a type of the including file's unnamed namespace, so that no instantiation is shared between
/// files with different target flags. It provides Vector, kLanes and the functions load, store, zero,
/// broadcast, opaque, mul_low32, add, bit_and, shift_right.
///
/// Timing: constant-time; it depends on L only.
template <class Arch>
class ProductScanning {
  using Vector = typename Arch::Vector;
  static constexpr std::size_t kLanes = Arch::kLanes;

 public:
  /// r = a b / R mod n, R = 2^(w L) >= 4 n. On input: a, b < 2 n, or a < R and b <= n; digits below 2^w. On
  /// output: r < 2 n, digits below 2^w. Aliasing: r may be a or b. scratch: scratch_words(digits).
  static void mul(Limb* r, const Limb* a, const Limb* b, const Limb* modulus, std::size_t digits,
                  Limb* scratch) {
    const Operands x{a, b, modulus, scratch, r, digits};
    by_first_tile<false>(x);
  }

  /// r = a^2 / R mod n. Ranges and aliasing as for mul. From kTile digits on, products a_i a_j, i < j, are
  /// formed once, with the doubled digits of a.
  static void sqr(Limb* r, const Limb* a, const Limb* modulus, std::size_t digits, Limb* scratch) {
    if (digits < kTile) return mul(r, a, a, modulus, digits, scratch);
    Limb* const twice = scratch + digits * kLanes;
    for (std::size_t at = 0; at < digits * kLanes; at += kLanes) {
      const Vector digit = Arch::load(a + at);
      Arch::store(twice + at, Arch::add(digit, digit));
    }
    const Operands x{a, twice, modulus, scratch, r, digits};
    by_first_tile<true>(x);
  }

  /// L vectors for q, L for the doubled digits of a square.
  static std::size_t scratch_words(std::size_t digits) { return 2 * digits * kLanes; }

 private:
  /// Arrays of digits: the factors a and b (in a square, b holds the doubled digits of a), n followed by k0,
  /// q, r.
  struct Operands {
    const Limb* a;
    const Limb* b;
    const Limb* n;
    Limb* q;
    Limb* r;
    std::size_t digits;
  };

  /// N neighbouring columns.
  template <std::size_t N>
  struct Tile {
    Vector column[N];
    Vector above;      ///< what folds carry into the column above the last
    std::size_t room;  ///< products that a column may still take
  };

  template <std::size_t Value>
  struct Index {
    static constexpr std::size_t kValue = Value;
  };

  /// step(Index<Begin>), .., step(Index<End - 1>), unrolled at compile time.
  template <std::size_t Begin, std::size_t End, class Step>
  static MANYMOD_INLINE void unroll(const Step& step) {
    if constexpr (Begin < End) {
      step(Index<Begin>{});
      unroll<Begin + 1, End>(step);
    }
  }

  /// Digit `index` of all lanes.
  static MANYMOD_INLINE Vector digit(const Limb* x, std::size_t index) {
    return Arch::load(x + index * kLanes);
  }

  /// sum += x y mod 2^64. On input: x, y below 2^32.
  static MANYMOD_INLINE void multiply_add(Vector& sum, Vector x, Vector y) {
    sum = Arch::add(sum, Arch::mul_low32(x, y));
  }

  /// A tile whose lowest column starts with `carry`, the others with 0.
  template <std::size_t N>
  static MANYMOD_INLINE Tile<N> start_tile(Vector carry) {
    Tile<N> tile;
    tile.column[0] = carry;
    unroll<1, N>([&](auto t) __attribute__((always_inline)) { tile.column[t.kValue] = Arch::zero(); });
    tile.above = Arch::zero();
    tile.room = kColumnProducts;
    return tile;
  }

  /// Carries all but the low w bits of each column to the next one.
  template <std::size_t N>
  static MANYMOD_INLINE void fold(Tile<N>& tile) {
    const Vector mask = Arch::broadcast(kDigitMask);
    tile.above = Arch::add(tile.above, Arch::shift_right(tile.column[N - 1]));
    unroll<1, N>([&](auto up) __attribute__((always_inline)) {
      constexpr std::size_t t = N - up.kValue;
      tile.column[t] = Arch::add(Arch::bit_and(tile.column[t], mask), Arch::shift_right(tile.column[t - 1]));
    });
    tile.column[0] = Arch::bit_and(tile.column[0], mask);
    tile.room = kColumnProducts;
  }

  /// Makes room for `products` more products in each column, by a fold if necessary.
  template <std::size_t N>
  static MANYMOD_INLINE void reserve(Tile<N>& tile, std::size_t products) {
    if (tile.room < products) fold(tile);
    tile.room -= products;
  }

  /// column[t] += x[0] y[t] for 0 <= t < N. Compilers that see that neighbouring rows share digits of y keep
  /// those digits in registers and spill the sums; the empty assembly hides it.
  template <std::size_t N>
  static MANYMOD_INLINE void row(Tile<N>& tile, const Limb* x, const Limb* y) {
    const Vector factor = Arch::load(x);
    asm("" : "+r"(y));
    unroll<0, N>([&](auto t) __attribute__((always_inline)) {
      multiply_add(tile.column[t.kValue], factor, digit(y, t.kValue));
    });
  }

  /// column[t] += sum over 0 <= i < count of x_i last_(count - 1 - i + t), with folds where needed. Each
  /// product counts as `Weight` products against the room; 2 is for doubled digits.
  template <std::size_t Weight, std::size_t N>
  static MANYMOD_INLINE void rows(Tile<N>& tile, const Limb* x, const Limb* last, std::size_t count) {
    const Limb* y = last + count * kLanes;
    for (;;) {
      std::size_t part = tile.room / Weight;
      if (part > count) part = count;
      tile.room -= part * Weight;
      count -= part;
      for (; part >= 2; part -= 2, x += 2 * kLanes) {
        y -= 2 * kLanes;
        row(tile, x, y + kLanes);
        row(tile, x + kLanes, y);
      }
      if (part != 0) {
        y -= kLanes;
        row(tile, x, y);
        x += kLanes;
      }
      if (count == 0) return;
      fold(tile);
    }
  }

  /// column[t] += sum over 0 <= s <= t of x_s y_(t-s): the last rows of columns k + t < L, with x at digit k.
  template <std::size_t N>
  static MANYMOD_INLINE void low_edge(Tile<N>& tile, const Limb* x, const Limb* y) {
    reserve(tile, N);
    unroll<0, N>([&](auto s) __attribute__((always_inline)) {
      const Vector factor = digit(x, s.kValue);
      unroll<s.kValue, N>([&](auto t) __attribute__((always_inline)) {
        multiply_add(tile.column[t.kValue], factor, digit(y, t.kValue - s.kValue));
      });
    });
  }

  /// column[t] += sum over t <= s < N - 1 of x_(u+1+s) y_(L-1+t-s): the first rows of columns L + u + t. On
  /// input: `x` points to digit u + 1, `y` to digit L - N + 1.
  template <std::size_t Weight, std::size_t N>
  static MANYMOD_INLINE void high_edge(Tile<N>& tile, const Limb* x, const Limb* y) {
    reserve(tile, Weight * (N - 1));
    unroll<0, N - 1>([&](auto s) __attribute__((always_inline)) {
      const Vector factor = digit(x, s.kValue);
      unroll<0, s.kValue + 1>([&](auto t) __attribute__((always_inline)) {
        multiply_add(tile.column[t.kValue], factor, digit(y, N - 2 + t.kValue - s.kValue));
      });
    });
  }

  /// The rows of a square in which column k + t, k = 2 half - Parity, meets its diagonal: a_i^2 once for 2 i
  /// = k + t, and 2 a_i a_(k+t-i) for half <= i < (k + t) / 2. On input: `a` points to digit half of a, `y`
  /// to digit half - Parity of 2 a.
  template <std::size_t Parity, std::size_t N>
  static MANYMOD_INLINE void diagonal(Tile<N>& tile, const Limb* a, const Limb* y) {
    reserve(tile, N);
    unroll<0, (N - Parity + 1) / 2>([&](auto s) __attribute__((always_inline)) {
      constexpr std::size_t on_diagonal = Parity + 2 * s.kValue;
      const Vector factor = digit(a, s.kValue);
      multiply_add(tile.column[on_diagonal], factor, factor);
      unroll<on_diagonal + 1, N>([&](auto t) __attribute__((always_inline)) {
        multiply_add(tile.column[t.kValue], factor, digit(y, t.kValue - s.kValue));
      });
    });
  }

  /// All products of the last N columns of a square, L >= N: 2 a_(L-j) a_(L-N+t+j) for N - t < 2 j, and
  /// a_(L-j)^2 for N - t = 2 j.
  template <std::size_t N>
  static MANYMOD_INLINE void last_columns_of_square(Tile<N>& tile, const Operands& x) {
    reserve(tile, N);
    unroll<1, N>([&](auto j) __attribute__((always_inline)) {
      const Vector factor = digit(x.a, x.digits - j.kValue);
      unroll<0, N - j.kValue>([&](auto t) __attribute__((always_inline)) {
        if constexpr (2 * j.kValue + t.kValue == N) {
          multiply_add(tile.column[t.kValue], factor, factor);
        } else if constexpr (2 * j.kValue + t.kValue > N) {
          multiply_add(tile.column[t.kValue], factor, digit(x.b, x.digits - N + t.kValue + j.kValue));
        }
      });
    });
  }

  /// Determines q_k .. q_(k+N-1) and adds their products with n_0 .. n_(N-1), which makes the columns
  /// divisible by 2^w, one after the other. @return the carry into column k + N
  template <std::size_t N>
  static MANYMOD_INLINE Vector clear_columns(Tile<N>& tile, const Operands& x, std::size_t k) {
    reserve(tile, N);
    const Vector mask = Arch::opaque(Arch::broadcast(kDigitMask));
    const Vector k0 = digit(x.n, x.digits);
    const Limb* const n = x.n;
    Limb* const q = x.q + k * kLanes;
    unroll<0, N>([&](auto t) __attribute__((always_inline)) {
      const Vector q_t = Arch::bit_and(Arch::mul_low32(tile.column[t.kValue], k0), mask);
      Arch::store(q + t.kValue * kLanes, q_t);
      unroll<t.kValue, N>([&](auto above) __attribute__((always_inline)) {
        multiply_add(tile.column[above.kValue], q_t, digit(n, above.kValue - t.kValue));
      });
      Vector& next = t.kValue + 1 < N ? tile.column[(t.kValue + 1) % N] : tile.above;
      next = Arch::add(next, Arch::shift_right(tile.column[t.kValue]));
    });
    return tile.above;
  }

  /// Computes columns k .. k + N - 1, k + N <= L, and stores their quotient digits. In a square, k mod 2 =
  /// Parity. @return the carry into column k + N
  template <bool Square, std::size_t Parity, std::size_t N>
  static MANYMOD_NOINLINE Vector low_tile(const Operands& x, std::size_t k, Vector carry) {
    Tile<N> tile = start_tile<N>(carry);
    if constexpr (Square) {
      const std::size_t half = (k + Parity) / 2;
      rows<2>(tile, x.a, x.b + (k - half + 1) * kLanes, half);
      diagonal<Parity>(tile, x.a + half * kLanes, x.b + (half - Parity) * kLanes);
    } else {
      rows<1>(tile, x.a, x.b + kLanes, k);
      low_edge(tile, x.a + k * kLanes, x.b);
    }
    rows<1>(tile, x.q, x.n + kLanes, k);
    return clear_columns(tile, x, k);
  }

  /// Adds all products x_i y_j of columns L + u .. L + u + N - 1.
  template <std::size_t N>
  static MANYMOD_INLINE void high_product(Tile<N>& tile, const Limb* x, const Limb* y, std::size_t digits,
                                          std::size_t u) {
    high_edge<1>(tile, x + (u + 1) * kLanes, y + (digits - N + 1) * kLanes);
    rows<1>(tile, x + (u + N) * kLanes, y + (u + 1) * kLanes, digits - u - N);
  }

  /// The same for a square. On input: (L + u) mod 2 = Parity, u + N <= (L + u + Parity) / 2.
  template <std::size_t Parity, std::size_t N>
  static MANYMOD_INLINE void high_square(Tile<N>& tile, const Operands& x, std::size_t u) {
    const std::size_t k = x.digits + u;
    const std::size_t half = (k + Parity) / 2;
    high_edge<2>(tile, x.a + (u + 1) * kLanes, x.b + (x.digits - N + 1) * kLanes);
    rows<2>(tile, x.a + (u + N) * kLanes, x.b + (k - half + 1) * kLanes, half - u - N);
    diagonal<Parity>(tile, x.a + half * kLanes, x.b + (half - Parity) * kLanes);
  }

  /// Computes columns L + u .. L + u + N - 1 and stores r_u .. r_(u+N-1). Where r is a or b, the digits
  /// overwritten are not read by later columns. @return the carry into column L + u + N
  template <bool Square, std::size_t Parity, bool Last, std::size_t N>
  static MANYMOD_NOINLINE Vector high_tile(const Operands& x, std::size_t u, Vector carry) {
    Tile<N> tile = start_tile<N>(carry);
    if constexpr (!Square) {
      high_product(tile, x.a, x.b, x.digits, u);
    } else if constexpr (Last) {
      last_columns_of_square(tile, x);
    } else {
      high_square<Parity>(tile, x, u);
    }
    high_product(tile, x.q, x.n, x.digits, u);
    const Vector mask = Arch::broadcast(kDigitMask);
    unroll<0, N>([&](auto t) __attribute__((always_inline)) {
      Arch::store(x.r + (u + t.kValue) * kLanes, Arch::bit_and(tile.column[t.kValue], mask));
      Vector& next = t.kValue + 1 < N ? tile.column[(t.kValue + 1) % N] : tile.above;
      next = Arch::add(next, Arch::shift_right(tile.column[t.kValue]));
    });
    return tile.above;
  }

  /// All columns. Each half, c < L and c >= L, is one tile of First = L mod kTile columns followed by tiles
  /// of kTile.
  template <bool Square, std::size_t First>
  static void columns(const Operands& x) {
    constexpr std::size_t kParity = First % 2;
    Vector carry = Arch::zero();
    if constexpr (First != 0) carry = low_tile<Square, 0, First>(x, 0, carry);
    for (std::size_t k = First; k < x.digits; k += kTile)
      carry = low_tile<Square, kParity, kTile>(x, k, carry);
    if constexpr (First != 0) carry = high_tile<Square, kParity, false, First>(x, 0, carry);
    if (x.digits == First) return;
    std::size_t u = First;
    for (; u + kTile < x.digits; u += kTile) carry = high_tile<Square, 0, false, kTile>(x, u, carry);
    high_tile<Square, 0, true, kTile>(x, u, carry);
  }

  /// Calls columns() with First = L mod kTile as a compile-time constant.
  template <bool Square, std::size_t First = 0>
  static void by_first_tile(const Operands& x) {
    if constexpr (First < kTile) {
      if (x.digits % kTile == First) return columns<Square, First>(x);
      by_first_tile<Square, First + 1>(x);
    }
  }
};

/// The kernel table of one instruction set.
template <class Arch>
constexpr lanes::Kernels kernel_table() {
  lanes::Kernels kernels;
  kernels.headroom_bits = kHeadroomBits;
  kernels.max_digits = kMaxDigits;
  kernels.paired_digits = kPairedDigits;
  kernels.mul = ProductScanning<Arch>::mul;
  kernels.sqr = ProductScanning<Arch>::sqr;
  kernels.scratch_words = ProductScanning<Arch>::scratch_words;
  return lanes::DigitLoops<Arch, Arch::kLanes, kDigitBits>::completed(kernels);
}

}  // namespace manymod::radix29

#undef MANYMOD_INLINE
#undef MANYMOD_NOINLINE
