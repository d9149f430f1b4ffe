// SPDX-License-Identifier: Apache-2.0
// scalar64 in portable C++: the counterpart of the mulx/adcx/adox kernels for every processor. Each function
// is described at its member of Kernels.
#include <algorithm>
#include <array>
#include <utility>

#include "modmul/scalar64/kernels.hpp"
#include "repr/limbs.hpp"

namespace manymod::scalar64 {
namespace {

/// t[0..size) += a b mod 2^(64 size). @return the carry limb
inline Limb add_product(Limb* t, const Limb* a, std::size_t size, Limb b) {
  Limb carry = 0;
  for (std::size_t i = 0; i < size; ++i) t[i] = word::multiply_add(t[i], a[i], b, carry);
  return carry;
}

void product(Limb* t, const Limb* a, std::size_t a_size, const Limb* b, std::size_t b_size) {
  std::fill_n(t, a_size, Limb{0});
  for (std::size_t j = 0; j < b_size; ++j) t[a_size + j] = add_product(t + j, a, a_size, b[j]);
}

/// Off-diagonal products once, doubled, plus the squares: size (size + 1) / 2 limb products.
void square(Limb* t, const Limb* a, std::size_t size) {
  std::fill_n(t, 2 * size, Limb{0});
  for (std::size_t i = 0; i + 1 < size; ++i) {
    t[size + i] = add_product(t + 2 * i + 1, a + i + 1, size - i - 1, a[i]);
  }
  Limb shifted_out = 0;
  Limb carry = 0;
  for (std::size_t i = 0; i < size; ++i) {
    const word::Wide square = word::Wide{a[i]} * a[i];
    for (std::size_t half = 0; half < 2; ++half) {
      const Limb column = t[2 * i + half];
      const Limb doubled = (column << 1) | shifted_out;
      shifted_out = column >> (kLimbBits - 1);
      t[2 * i + half] = word::add_carry(doubled, static_cast<Limb>(square >> (kLimbBits * half)), carry);
    }
  }
}

/// t += M n, with M < R such that t mod R becomes 0. On output: t[L..2L) holds t / R, without its carry out.
/// @return the carry out of t[2L - 1]
Limb add_quotient_multiples(Limb* t, const Limb* n, Limb n0, std::size_t limbs) {
  Limb carry = 0;
  for (std::size_t i = 0; i < limbs; ++i) {
    const Limb high = add_product(t + i, n, limbs, t[i] * n0);
    t[i + limbs] = word::add_carry(t[i + limbs], high, carry);
  }
  return carry;
}

void reduce(Limb* r, Limb* t, const Limb* n, Limb n0, std::size_t limbs) {
  const Limb carry = add_quotient_multiples(t, n, n0, limbs);
  limbs::sub_if({r, limbs}, {t + limbs, limbs}, {n, limbs}, carry);
}

/// r = t / R mod n, 0 <= r < n. On input: t < R n. t is destroyed.
void reduce_fully(Limb* r, Limb* t, const Limb* n, Limb n0, std::size_t limbs) {
  const Limb carry = add_quotient_multiples(t, n, n0, limbs);
  limbs::reduce_once({t + limbs, limbs}, {n, limbs}, carry);
  std::copy_n(t + limbs, limbs, r);
}

template <std::size_t L>
void unrolled_mul(Limb* r, const Limb* a, const Limb* b, const Limb* n, Limb n0) {
  std::array<Limb, 2 * L> t;
  product(t.data(), a, L, b, L);
  reduce_fully(r, t.data(), n, n0, L);
}

template <std::size_t L>
void unrolled_sqr(Limb* r, const Limb* a, const Limb* n, Limb n0) {
  std::array<Limb, 2 * L> t;
  square(t.data(), a, L);
  reduce_fully(r, t.data(), n, n0, L);
}

void select(Limb* r, const Limb* table, std::size_t entries, std::size_t stride, std::size_t words,
            std::size_t index) {
  std::fill_n(r, words, Limb{0});
  for (std::size_t entry = 0; entry < entries; ++entry) {
    const Limb mask = word::mask_from_bit(word::is_zero_bit(entry ^ index));
    for (std::size_t i = 0; i < words; ++i) r[i] |= table[entry * stride + i] & mask;
  }
}

template <std::size_t... I>
constexpr Kernels make_kernels(std::index_sequence<I...>) {
  return {.unrolled_mul = {nullptr, unrolled_mul<I + 1>...},
          .unrolled_sqr = {nullptr, unrolled_sqr<I + 1>...},
          .product = product,
          .square = square,
          .reduce = reduce,
          .select = select};
}

}  // namespace

const Kernels& generic_kernels() {
  static constexpr Kernels kernels = make_kernels(std::make_index_sequence<kUnrolledLimbs>());
  return kernels;
}

}  // namespace manymod::scalar64
