// SPDX-License-Identifier: Apache-2.0
// Almost-Montgomery multiplication and squaring by AVX-512 IFMA: eight instances side by side in the 64-bit
// lanes of a vector, digits of 52 bits (Gueron, Krasnov 2016: "Accelerating big integer arithmetic using
// Intel IFMA extensions"; almost-Montgomery: Gueron 2012).
#include "lanes/digit_loops.hpp"
#include "modmul/ifma52/reduction.avx512ifma.hpp"
#include "modmul/ifma52/shift.avx512ifma.hpp"

namespace manymod::ifma52 {
namespace {

/// Table entries that each squaring reads for the next selection: 7 for a table of 32 entries, whose windows
/// have five squarings (7 * 5 >= 32), or 4 for a table of 16 entries with four squarings (4 * 4 = 16).
constexpr std::size_t kLongShare = 7;
constexpr std::size_t kShortShare = 4;
/// Tables of fewer digits are scanned.
constexpr std::size_t kFewestSelected = 8;

/// Whether a squaring reads kLongShare entries, which allows windows of 5 bits. With stores: from 11 digits
/// on, as a row has room for seven loads and stores, up to 20 digits, as the table still fits the first-level
/// cache, and again from 36 digits on, where the cost (0.7 to 1.2 vpmadd52 for each copy) is small. With
/// blends: at every length above kBlock.
template <SelectBy select_by>
constexpr bool reads_long_share(std::size_t digits) {
  constexpr std::size_t kCachedDigits = 20;
  constexpr std::size_t kLongNumber = 36;
  if (digits <= kBlock) return false;
  return select_by == SelectBy::blends || digits <= kCachedDigits || digits >= kLongNumber;
}

template <SelectBy select_by>
std::size_t entries_per_square(std::size_t digits) {
  if (digits < kFewestSelected) return 0;
  return reads_long_share<select_by>(digits) ? kLongShare : kShortShare;
}

constexpr std::size_t block_of(std::size_t digits) {
  const std::size_t blocks = (digits + kBlock - 1) / kBlock;
  return (digits + blocks - 1) / blocks;
}

template <class F>
inline void for_each_block(std::size_t digits, F f) {
  const std::size_t block = block_of(digits);
  for (std::size_t start = 0; start < digits; start += block) {
    with_constant<1, kBlock>(digits - start < block ? digits - start : block,
                             [&](auto size) { f(start, size); });
  }
}

void multiply(Limb* t, const Limb* a, const Limb* b, std::size_t digits) {
  for_each_block(digits, [&](std::size_t start, auto size) {
    product_block<size>(t + start * kLanes, b + start * kLanes, a, digits, start == 0);
  });
}

/// The cross products of a square.
void cross_products(Limb* t, const Limb* a, std::size_t digits) {
  for_each_block(digits,
                 [&](std::size_t start, auto size) { add_cross_products<size>(t, a, start, digits); });
}

/// The same for `digits` <= kRegisterColumns: one or two blocks, without a choice at run time.
template <std::size_t digits>
inline void multiply_short(Limb* t, const Limb* a, const Limb* b) {
  if constexpr (digits <= kBlock) {
    short_product<digits>(t, b, a);
  } else if constexpr (digits <= 2 * kBlock) {
    constexpr std::size_t kLower = block_of(digits);
    product_block<kLower>(t, b, a, digits, true);
    product_block<digits - kLower>(t + kLower * kLanes, b + kLower * kLanes, a, digits, false);
  } else {
    multiply(t, a, b, digits);
  }
}
template <std::size_t digits>
inline void multiply_across_short(Limb* t, const Limb* a) {
  if constexpr (digits <= kBlock) {
    short_cross_products<digits>(t, a);
  } else if constexpr (digits <= 2 * kBlock) {
    constexpr std::size_t kLower = block_of(digits);
    add_cross_products<kLower>(t, a, 0, digits);
    add_cross_products<digits - kLower>(t, a, kLower, digits);
  } else {
    cross_products(t, a, digits);
  }
}

void mul(Limb* r, const Limb* a, const Limb* b, const Limb* modulus, std::size_t digits, Limb* scratch) {
  if (digits > kRegisterColumns) {
    multiply(scratch, a, b, digits);
    return reduce_in_blocks<NoSelection>(r, scratch, modulus, digits, {});
  }
  with_constant<2, kRegisterColumns>(digits, [&](auto size) {
    multiply_short<size>(scratch, a, b);
    reduce_in_registers<size, NoSelection>(r, ProductColumns{scratch}, modulus, {});
  });
}

/// Fewest digits to compile a reduction with this selection for.
template <class Selection>
constexpr std::size_t kFewest = Selection::kEntries == 0             ? 2
                                : Selection::kEntries == kShortShare ? kFewestSelected
                                                                     : kBlock + 1;

template <class Selection>
void square(Limb* r, const Limb* a, const Limb* modulus, std::size_t digits, Limb* scratch,
            const typename Selection::Work& work) {
  if (digits > kRegisterColumns) {
    cross_products(scratch, a, digits);
    double_and_add_squares(scratch, a, digits);
    return reduce_in_blocks<Selection>(r, scratch, modulus, digits, work);
  }
  with_constant<kFewest<Selection>, kRegisterColumns>(digits, [&](auto size) {
    multiply_across_short<size>(scratch, a);
    reduce_in_registers<size, Selection>(r, SquareColumns{scratch, a}, modulus, work);
  });
}

void sqr(Limb* r, const Limb* a, const Limb* modulus, std::size_t digits, Limb* scratch) {
  square<NoSelection>(r, a, modulus, digits, scratch, {});
}

template <SelectBy select_by>
void sqr_select(Limb* r, const Limb* a, const Limb* modulus, std::size_t digits, Limb* scratch,
                const lanes::SelectShare& share) {
  if (reads_long_share<select_by>(digits)) {
    return square<InterleavedSelection<kLongShare, select_by>>(r, a, modulus, digits, scratch, share);
  }
  square<InterleavedSelection<kShortShare, select_by>>(r, a, modulus, digits, scratch, share);
}

/// Where the second vector's columns lie in the scratch of a pair.
Limb* second_columns(Limb* scratch, std::size_t digits) { return scratch + 2 * digits * kLanes; }

void mul_pair(const lanes::Pair& x, std::size_t digits, Limb* scratch) {
  Limb* second = second_columns(scratch, digits);
  with_constant<2, kBlock>(digits, [&](auto size) {
    constexpr NoSelection::Work kNothing[2];
    multiply_short<size>(scratch, x.a[0], x.b[0]);
    multiply_short<size>(second, x.a[1], x.b[1]);
    reduce_pair_in_registers<size, NoSelection>(x, ProductColumns{scratch}, ProductColumns{second}, kNothing);
  });
}

template <class Selection>
void square_pair(const lanes::Pair& x, std::size_t digits, Limb* scratch,
                 const typename Selection::Work* work) {
  Limb* second = second_columns(scratch, digits);
  with_constant<kFewest<Selection>, kBlock>(digits, [&](auto size) {
    multiply_across_short<size>(scratch, x.a[0]);
    multiply_across_short<size>(second, x.a[1]);
    reduce_pair_in_registers<size, Selection>(x, SquareColumns{scratch, x.a[0]},
                                              SquareColumns{second, x.a[1]}, work);
  });
}

void sqr_pair(const lanes::Pair& x, std::size_t digits, Limb* scratch) {
  constexpr NoSelection::Work kNothing[2];
  square_pair<NoSelection>(x, digits, scratch, kNothing);
}

template <SelectBy select_by>
void sqr_select_pair(const lanes::Pair& x, std::size_t digits, Limb* scratch,
                     const lanes::SelectShare* shares) {
  square_pair<InterleavedSelection<kShortShare, select_by>>(x, digits, scratch, shares);
}

std::size_t scratch_words(std::size_t digits) {
  return (digits <= kBlock ? 4 * digits : 2 * digits + 2 * kBlock) * kLanes;
}

struct Tag;
using Loops = lanes::DigitLoops<Tag, kLanes, kDigitBits>;

// NOLINTBEGIN(modernize-avoid-c-style-cast): it sees one where a template's address is taken
template <SelectBy select_by>
constexpr lanes::Kernels kKernels = {
    .lanes = kLanes,
    .digit_bits = kDigitBits,
    .headroom_bits = 2,
    .digit_multiple = 1,
    .min_digits = 2,
    .max_digits = kMaxDigits,
    .paired_digits = kBlock,
    .digit_pair_ns = 0.72,
    .mul = mul,
    .sqr = sqr,
    .sqr_select = sqr_select<select_by>,
    .entries_per_square = entries_per_square<select_by>,
    .mul_pair = mul_pair,
    .sqr_pair = sqr_pair,
    .sqr_select_pair = sqr_select_pair<select_by>,
    .add_mod = Loops::add_mod,
    .shift_mod = shift_mod,
    .select = Loops::select,
    .select_shared = Loops::select_shared,
    .to_digits = Loops::to_digits,
    .from_digits = Loops::from_digits,
    .scratch_words = scratch_words,
};
// NOLINTEND(modernize-avoid-c-style-cast)

}  // namespace

const lanes::Kernels& storing_kernels() { return kKernels<SelectBy::masked_stores>; }
const lanes::Kernels& blending_kernels() { return kKernels<SelectBy::blends>; }

}  // namespace manymod::ifma52
