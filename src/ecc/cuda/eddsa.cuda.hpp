// SPDX-License-Identifier: Apache-2.0
// What Ed25519 computes beside multiples of points (RFC 8032, section 5.1), by one thread for each item:
// hashes modulo n, private keys, and points from their encodings.
//
// Timing: constant-time, but for decoding, which is of public keys.
#pragma once

#include <cstdint>
#include <cstring>

#include "ecc/cuda/ecdsa.cuda.hpp"
#include "ecc/cuda/edwards.cuda.hpp"
#include "ecc/cuda/jobs.cuda.hpp"
#include "ecc/cuda/string_hash.cuda.hpp"

namespace manymod::ecc::cuda {

// ---- hashes -----------------------------------------------------------------------------------------------

/// Word j of the number whose bytes, lowest first, are those of a digest.
MM_DEVICE std::uint32_t little_endian_word(const ShaState<Sha512>& digest, unsigned j) {
  return reversed_bytes(static_cast<std::uint32_t>(digest.word[j / 2] >> (j % 2 == 0 ? 32 : 0)));
}

/// On input: item < job.count.
template <class C>
MM_DEVICE void hash_to_scalar(const HashJob& job, std::uint32_t item) {
  const ShaState<Sha512> digest = hash_of<Sha512>(job.parts, *job.message_sizes.at(item), item);
  std::uint32_t words[16];
  MM_UNROLL
  for (unsigned j = 0; j < 16; ++j) words[j] = little_endian_word(digest, j);
  ScalarMemory<C> memory;
  const typename C::Scalars f = scalar_field<C>(job.curve, memory);
  typename C::Scalars::Element number;
  f.reduce(number, integers::Words(words, 16));
  f.to_limbs(row_out<C::kOrderWords>(job.number.at(item)), number);
}

/// RFC 8032, section 5.1.5. On input: item < job.count.
template <class C>
MM_DEVICE void expand_key(const ExpandJob& job, std::uint32_t item) {
  const Strings secret[1] = {job.secret};
  const ShaState<Sha512> digest = hash_of<Sha512>(secret, job.secret.size, item);
  std::uint32_t words[8];
  MM_UNROLL
  for (unsigned j = 0; j < 8; ++j) words[j] = little_endian_word(digest, j);
  words[0] &= ~std::uint32_t{7};
  words[7] = (words[7] & 0x3fffffff) | 0x40000000;
  ScalarMemory<C> memory;
  const typename C::Scalars f = scalar_field<C>(job.curve, memory);
  typename C::Scalars::Element number;
  f.from_limbs(number, integers::Words(words, 8));
  f.to_limbs(row_out<C::kOrderWords>(job.scalar.at(item)), number);
  std::uint8_t* const prefix = job.prefix + std::size_t{32} * item;
  MM_UNROLL
  for (unsigned j = 0; j < 8; ++j) {
    const std::uint32_t word = little_endian_word(digest, 8 + j);
    std::memcpy(__builtin_assume_aligned(prefix + 4 * j, 4), &word, sizeof word);
  }
}

// ---- points -----------------------------------------------------------------------------------------------

/// r = r^(2^count) a. a may be r.
template <class F>
MM_DEVICE void lengthen(const F& f, typename F::Element& r, unsigned count, const typename F::Element& a) {
  const typename F::Element factor = a;
  MM_ROLLED
  for (unsigned i = 0; i < count; ++i) f.sqr(r, r);
  f.mul(r, r, factor);
}

/// r = r^((p-5)/8) = r^(2^252 - 3), by r^(2^k - 1) for k = 1, 2, 4, 5, 10, 20, 40, 50, 100, 200, 250.
template <class F>
MM_DEVICE void power_of_root(const F& f, typename F::Element& r) {
  const typename F::Element base = r;
  lengthen(f, r, 1, base);
  lengthen(f, r, 2, r);
  lengthen(f, r, 1, base);
  const typename F::Element five = r;
  lengthen(f, r, 5, five);
  typename F::Element ten = r;
  lengthen(f, r, 10, ten);
  lengthen(f, r, 20, r);
  lengthen(f, r, 10, ten);
  const typename F::Element fifty = r;
  lengthen(f, r, 50, fifty);
  lengthen(f, r, 100, r);
  lengthen(f, r, 50, fifty);
  lengthen(f, r, 2, base);
}

struct RootOfMinusOne25519 {
  MM_DEVICE std::uint32_t operator[](unsigned j) const {
    constexpr std::uint64_t kLimbs[4] = {edwards::kRootOfMinusOne25519[0], edwards::kRootOfMinusOne25519[1],
                                         edwards::kRootOfMinusOne25519[2], edwards::kRootOfMinusOne25519[3]};
    return static_cast<std::uint32_t>(kLimbs[j / 2] >> (32 * (j % 2)));
  }
};

/// x = u w^3 (u w^7)^((p-5)/8) for x^2 = u / w (RFC 8032, section 5.1.3); if w x^2 = -u, times a root of -1.
/// @return whether there is one
template <class F>
MM_DEVICE bool root_of_quotient(const F& f, typename F::Element& x, const typename F::Element& u,
                                const typename F::Element& w) {
  using Element = typename F::Element;
  Element t, negative, root;
  f.sqr(t, w);
  f.mul(t, t, w);
  f.mul(x, u, t);
  f.sqr(t, t);
  f.mul(t, t, w);
  f.mul(t, t, u);
  power_of_root(f, t);
  f.mul(x, x, t);
  f.sqr(t, x);
  f.mul(t, t, w);
  f.neg(negative, u);
  f.template normalize_weak<2>(negative, negative);
  const std::uint32_t of_u = f.equal(t, u), of_minus_u = f.equal(t, negative);
  f.load(root, RootOfMinusOne25519{});
  f.mul(t, x, root);
  f.cmov(x, t, ~of_u);
  return (of_u | of_minus_u) != 0;
}

/// The opposite of the point that a string encodes. Unless job.any_encoding is set, y < p is required, and x
/// = 0 must not have a sign. Public. On input: item < job.count, strings of 32 bytes.
template <class C>
MM_DEVICE void decode_opposite(const DecodeJob& job, std::uint32_t item) {
  using Field = typename C::Field;
  const Field f;
  typename C::Element x, y, u, w;
  std::uint32_t words[C::kWords], number[C::kWords];
  MM_UNROLL
  for (unsigned j = 0; j < C::kWords; ++j) words[j] = number_word(job.from.at(item), 4 * C::kWords, j, true);
  const std::uint32_t odd = words[C::kWords - 1] >> 31;
  words[C::kWords - 1] &= ~std::uint32_t{0} >> 1;
  edwards::Coefficients<Field> curve;
  curve.kind = edwards::Coefficients<Field>::Kind::minus_one;
  f.one(curve.a);
  f.neg(curve.a, curve.a);
  f.template normalize_weak<2>(curve.a, curve.a);
  f.from_limbs(curve.d, row_words<C::kWords>(job.curve.b));
  f.from_limbs(y, integers::Words(words, C::kWords));
  edwards::x_squared(f, u, w, y, curve);
  const bool found = root_of_quotient(f, x, u, w) && (job.any_encoding != 0 || below_prime<C>(words));
  const bool is_zero = f.is_zero(x) != 0;
  f.to_limbs(row_out<C::kWords>(number), x);
  typename C::Element opposite;
  f.neg(opposite, x);
  f.template normalize_weak<2>(opposite, opposite);
  if ((number[0] & 1) == odd) x = opposite;
  f.to_limbs(row_out<C::kWords>(job.x.at(item)), x);
  f.to_limbs(row_out<C::kWords>(job.y.at(item)), y);
  if (!found || (is_zero && odd != 0 && job.any_encoding == 0)) job.good[item] = 0;
}

/// Public. On input: item < job.count.
template <class C>
MM_DEVICE void compare_cofactored(const CofactorJob& job, std::uint32_t item) {
  const typename C::Field f;
  const std::size_t count = job.count, column = C::kWords * count;
  typename C::Point p, r;
  typename C::Element left, right;
  load_element(f, p.x, ConstColumn{job.point, count, item});
  load_element(f, p.y, ConstColumn{job.point + column, count, item});
  load_element(f, p.z, ConstColumn{job.point + 2 * column, count, item});
  f.from_limbs(left, row_words<C::kWords>(job.x.at(item)));
  f.from_limbs(right, row_words<C::kWords>(job.y.at(item)));
  edwards::set_affine(f, r, left, right);
  MM_ROLLED
  for (unsigned i = 0; i < 3; ++i) {
    edwards::double_point(f, p, p);
    edwards::double_point(f, r, r);
  }
  f.mul(left, p.y, r.z);
  f.mul(right, r.y, p.z);
  bool same = f.equal(left, right) != 0;
  f.mul(left, p.x, r.z);
  f.mul(right, r.x, p.z);
  f.add(left, left, right);
  f.template normalize_weak<2>(left, left);
  same = same && f.is_zero(left) != 0;
  if (!same) job.equal[item] = 0;
}

}  // namespace manymod::ecc::cuda
