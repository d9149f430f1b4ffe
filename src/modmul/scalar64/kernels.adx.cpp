// SPDX-License-Identifier: Apache-2.0
// scalar64 with mulx, adcx and adox: loops over the tiles of the assembly that mont_adx_gen.py generates.
#include <immintrin.h>

#include <algorithm>
#include <array>

#include "modmul/scalar64/kernels.hpp"

using manymod::Limb;

#define MANYMOD_UNROLLED(L)                                                                    \
  void mm_scalar64_adx_mul_##L(Limb* r, const Limb* a, const Limb* b, const Limb* n, Limb n0); \
  void mm_scalar64_adx_sqr_##L(Limb* r, const Limb* a, const Limb* n, Limb n0)
#define MANYMOD_TILE(W)                                                                               \
  void mm_scalar64_adx_product_tile_##W(Limb* t, const Limb* tile, const Limb* b, std::size_t count); \
  void mm_scalar64_adx_square_tile_##W(Limb* t, const Limb* a, std::size_t count);                    \
  Limb mm_scalar64_adx_redc_tile_##W(Limb* t, const Limb* n, Limb n0, std::size_t limbs, Limb carry)

extern "C" {
MANYMOD_UNROLLED(1);
MANYMOD_UNROLLED(2);
MANYMOD_UNROLLED(3);
MANYMOD_UNROLLED(4);
MANYMOD_UNROLLED(5);
MANYMOD_UNROLLED(6);
MANYMOD_UNROLLED(7);
MANYMOD_UNROLLED(8);
MANYMOD_TILE(1);
MANYMOD_TILE(2);
MANYMOD_TILE(3);
MANYMOD_TILE(4);
MANYMOD_TILE(5);
MANYMOD_TILE(6);
MANYMOD_TILE(7);
MANYMOD_TILE(8);
void mm_scalar64_adx_double_add_squares(Limb* t, const Limb* a, std::size_t count);
void mm_scalar64_adx_subtract_bit(Limb* r, const Limb* a, const Limb* n, std::size_t count, Limb bit);
}

#undef MANYMOD_UNROLLED
#undef MANYMOD_TILE

namespace manymod::scalar64 {
namespace {

#define MANYMOD_BY_TILE(F) {nullptr, F##_1, F##_2, F##_3, F##_4, F##_5, F##_6, F##_7, F##_8}
constexpr decltype(&mm_scalar64_adx_product_tile_1) kProductTile[] =
    MANYMOD_BY_TILE(mm_scalar64_adx_product_tile);
constexpr decltype(&mm_scalar64_adx_square_tile_1) kSquareTile[] =
    MANYMOD_BY_TILE(mm_scalar64_adx_square_tile);
constexpr decltype(&mm_scalar64_adx_redc_tile_1) kRedcTile[] = MANYMOD_BY_TILE(mm_scalar64_adx_redc_tile);

/// Calls visit(position, width) for tiles that cover `limbs` limbs. All widths are at most kUnrolledLimbs and
/// differ by at most 1, since a narrow last tile would waste the fixed cost of its rows.
template <class Visit>
void for_each_tile(std::size_t limbs, Visit visit) {
  const std::size_t tiles = (limbs + kUnrolledLimbs - 1) / kUnrolledLimbs;
  const std::size_t narrow = limbs / tiles;
  const std::size_t wide_tiles = limbs % tiles;
  std::size_t position = 0;
  for (std::size_t tile = 0; tile < tiles; ++tile) {
    const std::size_t width = narrow + (tile < wide_tiles ? 1 : 0);
    visit(position, width);
    position += width;
  }
}

// The functions of Kernels; see there.
void product(Limb* t, const Limb* a, std::size_t a_size, const Limb* b, std::size_t b_size) {
  std::fill_n(t, b_size, Limb{0});
  for_each_tile(a_size,
                [&](std::size_t i, std::size_t width) { kProductTile[width](t + i, a + i, b, b_size); });
}

void square(Limb* t, const Limb* a, std::size_t size) {
  std::fill_n(t, size, Limb{0});
  for_each_tile(size, [&](std::size_t i, std::size_t width) {
    kSquareTile[width](t + 2 * i, a + i, size - i - width);
  });
  mm_scalar64_adx_double_add_squares(t, a, size);
}

void reduce(Limb* r, Limb* t, const Limb* n, Limb n0, std::size_t limbs) {
  Limb carry = 0;
  for_each_tile(
      limbs, [&](std::size_t i, std::size_t width) { carry = kRedcTile[width](t + i, n, n0, limbs, carry); });
  mm_scalar64_adx_subtract_bit(r, t + limbs, n, limbs, carry);
}

constexpr std::size_t kVectorLimbs = 4;

__m256i match_mask(std::size_t entry, std::size_t index) {
  return _mm256_cmpeq_epi64(_mm256_set1_epi64x(static_cast<long long>(entry)),
                            _mm256_set1_epi64x(static_cast<long long>(index)));
}

/// r[0 .. 4 Vectors) = table[index][..], by comparison and mask; the time is that of the loads.
template <std::size_t Vectors>
void select_block(Limb* r, const Limb* table, std::size_t entries, std::size_t stride, std::size_t index) {
  __m256i sum[Vectors] = {};
  for (std::size_t entry = 0; entry < entries; ++entry) {
    const __m256i mask = match_mask(entry, index);
    const auto* source = reinterpret_cast<const __m256i*>(table + entry * stride);
    for (std::size_t k = 0; k < Vectors; ++k) {
      sum[k] = _mm256_or_si256(sum[k], _mm256_and_si256(mask, _mm256_loadu_si256(source + k)));
    }
  }
  for (std::size_t k = 0; k < Vectors; ++k) _mm256_storeu_si256(reinterpret_cast<__m256i*>(r) + k, sum[k]);
}

/// The same for the last 1 to 3 limbs of an entry, with loads that access only those limbs.
void select_tail(Limb* r, const Limb* table, std::size_t entries, std::size_t stride, std::size_t index,
                 std::size_t limbs) {
  const __m256i lanes =
      _mm256_cmpgt_epi64(_mm256_set1_epi64x(static_cast<long long>(limbs)), _mm256_set_epi64x(3, 2, 1, 0));
  __m256i sum = _mm256_setzero_si256();
  for (std::size_t entry = 0; entry < entries; ++entry) {
    const auto* source = reinterpret_cast<const long long*>(table + entry * stride);
    sum = _mm256_or_si256(sum,
                          _mm256_and_si256(match_mask(entry, index), _mm256_maskload_epi64(source, lanes)));
  }
  _mm256_maskstore_epi64(reinterpret_cast<long long*>(r), lanes, sum);
}

void select(Limb* r, const Limb* table, std::size_t entries, std::size_t stride, std::size_t words,
            std::size_t index) {
  constexpr std::size_t kWide = 4;
  std::size_t i = 0;
  for (; i + kWide * kVectorLimbs <= words; i += kWide * kVectorLimbs) {
    select_block<kWide>(r + i, table + i, entries, stride, index);
  }
  for (; i + kVectorLimbs <= words; i += kVectorLimbs)
    select_block<1>(r + i, table + i, entries, stride, index);
  if (i < words) select_tail(r + i, table + i, entries, stride, index, words - i);
}

}  // namespace

const Kernels& adx_kernels() {
  static constexpr Kernels kernels = {
      .unrolled_mul = MANYMOD_BY_TILE(mm_scalar64_adx_mul),
      .unrolled_sqr = MANYMOD_BY_TILE(mm_scalar64_adx_sqr),
      .product = product,
      .square = square,
      .reduce = reduce,
      .select = select,
  };
  return kernels;
}
#undef MANYMOD_BY_TILE

}  // namespace manymod::scalar64
