// SPDX-License-Identifier: Apache-2.0
// What ECDSA computes beside points, by one thread for each item or chain of items: nonces of RFC 6979, r and
// s, and the comparison of a verification (FIPS 186-5, section 6).
//
// Timing: nonces and signatures are constant-time; verification is of public data.
#pragma once

#include <cstdint>
#include <type_traits>

#include "core/sha2.cuda.hpp"
#include "ecc/cuda/curves.cuda.hpp"
#include "ecc/cuda/elements.cuda.hpp"
#include "ecc/cuda/inverses.cuda.hpp"
#include "ecc/cuda/jobs.cuda.hpp"
#include "ecc/cuda/points.cuda.hpp"

namespace manymod::ecc::cuda {

using sha2::Hmac, sha2::Sha2, sha2::Sha256, sha2::Sha384, sha2::Sha512, sha2::ShaMessage, sha2::ShaState;

/// All ones if the number of kCount words is in [1, n).
template <unsigned kCount>
MM_DEVICE std::uint32_t mask_if_scalar(const std::uint32_t* number, const std::uint32_t* n) {
  std::uint32_t any = number[0];
  static_cast<void>(manymod::cuda::sub_cc(number[0], n[0]));
  MM_UNROLL
  for (unsigned j = 1; j < kCount; ++j) {
    any |= number[j];
    static_cast<void>(manymod::cuda::subc_cc(number[j], n[j]));
  }
  const std::uint32_t below = manymod::cuda::subc(0, 0);
  return manymod::cuda::opaque(below & integers::mask_if_not_zero(any));
}

/// Working memory of a thread for the field of scalars: of 521 bits it needs some.
template <class C>
struct ScalarMemory {
  std::uint32_t words[C::Scalars::kSharedWords == 0 ? 1 : C::Scalars::kSharedWords];
};

/// The field of scalars of a curve, products inlined. `memory` must stay as long as it. Two such fields may
/// share it, as none of their functions is called by another.
template <class C>
MM_DEVICE typename C::InlineScalars inline_scalar_field(const CurveNumbers& curve, ScalarMemory<C>& memory) {
  return C::InlineScalars::with_radix_squared(row_words<C::kOrderWords>(curve.order),
                                              row_words<C::kOrderWords>(curve.radix_squared),
                                              LaneMemory{memory.words, 1}, SingleThread{});
}
/// The same, whose products are calls where they are long.
template <class C>
MM_DEVICE typename C::Scalars scalar_field(const CurveNumbers& curve, ScalarMemory<C>& memory) {
  return typename C::Scalars(inline_scalar_field<C>(curve, memory));
}

// ---- RFC 6979 ---------------------------------------------------------------------------------------------

/// number = number - n if that is not negative.
template <unsigned kCount>
MM_DEVICE void reduce_once(std::uint32_t (&number)[kCount], const std::uint32_t* n) {
  std::uint32_t less[kCount];
  less[0] = manymod::cuda::sub_cc(number[0], n[0]);
  MM_UNROLL
  for (unsigned j = 1; j < kCount; ++j) less[j] = manymod::cuda::subc_cc(number[j], n[j]);
  const std::uint32_t keep = manymod::cuda::opaque(manymod::cuda::subc(0, 0));
  MM_UNROLL
  for (unsigned j = 0; j < kCount; ++j) number[j] = (number[j] & keep) | (less[j] & ~keep);
}

/// The number of the first 8 kBytes - surplus bits of digests that follow each other: bits2int of RFC 6979,
/// section 2.3.2. On input: surplus < 8.
template <class Hash, unsigned kBytes, unsigned kDigests>
MM_DEVICE void leftmost_bits(std::uint32_t (&r)[(kBytes + 3) / 4], const ShaState<Hash> (&digests)[kDigests],
                             unsigned surplus) {
  constexpr unsigned kWords = (kBytes + 3) / 4;
  constexpr unsigned kWordBytes = sizeof(typename Hash::Word);
  std::uint32_t bytes[kWords] = {};
  MM_UNROLL
  for (unsigned i = 0; i < kBytes; ++i) {
    const unsigned at = i % Hash::kDigestBytes, place = kBytes - 1 - i;
    const auto word = digests[i / Hash::kDigestBytes].word[at / kWordBytes];
    const auto byte = static_cast<std::uint32_t>(word >> (8 * (kWordBytes - 1 - at % kWordBytes))) & 255;
    bytes[place / 4] |= byte << (8 * (place % 4));
  }
  MM_UNROLL
  for (unsigned j = 0; j < kWords; ++j) {
    r[j] = manymod::cuda::shift_right(bytes[j], j + 1 < kWords ? bytes[j + 1] : 0, surplus);
  }
}

/// K and V of RFC 6979, section 3.2.
template <class Hash>
struct NonceState {
  static constexpr unsigned kDigest = Hash::kDigestBytes;
  ShaState<Hash> key, value;

  /// Bytes 0 of K and bytes 1 of V: steps b and c.
  MM_DEVICE void start() {
    MM_UNROLL
    for (unsigned i = 0; i < 8; ++i) {
      key.word[i] = 0;
      value.word[i] = ~typename Hash::Word{0} / 255;
    }
  }
  /// V = HMAC(K, V).
  MM_DEVICE void advance() {
    ShaMessage<Hash, kDigest> before;
    before.set_digest(0, value);
    value = Hmac<Hash>(key).code(before);
  }
  /// After a rejected candidate: K = HMAC(K, V || 0), V = HMAC(K, V).
  MM_DEVICE void reject() {
    ShaMessage<Hash, kDigest + 1> before;
    before.set_digest(0, value);
    key = Hmac<Hash>(key).code(before);
    advance();
  }
};

/// K and V after step g of RFC 6979, section 3.2, with kExtra bytes of additional input (section 3.6).
template <class C, class Hash, unsigned kExtra>
MM_DEVICE void seed_nonces(NonceState<Hash>& state, const NonceJob& job, std::uint32_t item) {
  constexpr unsigned kSize = C::kScalarBytes, kDigest = Hash::kDigestBytes;
  std::uint32_t secret[C::kOrderWords], digest[C::kOrderWords];
  load_words(secret, job.secret.at(item));
  load_words(digest, job.digest.at(item));
  reduce_once(digest, job.curve.order);
  state.start();
  MM_ROLLED
  for (unsigned separator = 0; separator < 2; ++separator) {
    ShaMessage<Hash, kDigest + 1 + 2 * kSize + kExtra> seed;
    seed.set_digest(0, state.value);
    seed.set(kDigest, separator);
    seed.template set_number<kSize>(kDigest + 1, secret);
    seed.template set_number<kSize>(kDigest + 1 + kSize, digest);
    if constexpr (kExtra != 0) {
      MM_UNROLL
      for (unsigned i = 0; i < kExtra; ++i) {
        seed.set(kDigest + 1 + 2 * kSize + i, job.extra.at(item)[i / 4] >> (8 * (i % 4)));
      }
    }
    state.key = Hmac<Hash>(state.key).code(seed);
    state.advance();
  }
}

/// k = the next candidate, of as many bits as n: steps h.1 and h.2 of RFC 6979, section 3.2.
template <class C, class Hash>
MM_DEVICE void next_candidate(std::uint32_t (&k)[C::kOrderWords], NonceState<Hash>& state,
                              const CurveNumbers& curve) {
  constexpr unsigned kSize = C::kScalarBytes;
  constexpr unsigned kParts = (kSize + Hash::kDigestBytes - 1) / Hash::kDigestBytes;
  ShaState<Hash> parts[kParts];
  MM_UNROLL
  for (unsigned i = 0; i < kParts; ++i) {
    state.advance();
    parts[i] = state.value;
  }
  leftmost_bits<Hash, kSize>(k, parts, C::surplus_bits(curve));
}

/// The nonce of RFC 6979, section 3.2: the first candidate in [1, n), of which C::kNonceRounds are tried.
/// The number of rejected candidates is public, as it tells nothing about the accepted one. If none is
/// accepted, `found` is cleared, and the caller computes the item elsewhere; the probability is 2^-32 for
/// P-256, and at most 2^-16 for any curve. kExtra: bytes of additional input (section 3.6), 0 or
/// NonceJob::kExtraBytes. On input: item < job.count, digests below 2 n.
template <class C, class Hash, unsigned kExtra = 0>
MM_DEVICE void derive_nonce(const NonceJob& job, std::uint32_t item) {
  NonceState<Hash> state;
  seed_nonces<C, Hash, kExtra>(state, job, item);
  std::uint32_t nonce[C::kOrderWords] = {1}, found = 0;
  MM_ROLLED
  for (unsigned left = C::kNonceRounds; left > 0; --left) {
    std::uint32_t k[C::kOrderWords];
    next_candidate<C>(k, state, job.curve);
    const std::uint32_t right = mask_if_scalar<C::kOrderWords>(k, job.curve.order) & ~found;
    found |= right;
    MM_UNROLL
    for (unsigned j = 0; j < C::kOrderWords; ++j) nonce[j] = (nonce[j] & ~right) | (k[j] & right);
    if constexpr (C::kNonceRounds > 1) {
      if (found != 0) break;
      state.reject();
    }
  }
  std::uint32_t* const result = job.nonce.at(item);
  MM_UNROLL
  for (unsigned j = 0; j < C::kRowWords; ++j) result[j] = j < C::kOrderWords ? nonce[j] : 0;
  job.found[item] &= static_cast<std::uint8_t>(found & 1);
}

// ---- signatures -------------------------------------------------------------------------------------------

/// r = the number in a row, in Montgomery form; a number that `valid` does not mark is replaced by 1.
template <class C>
MM_DEVICE void load_scalar(const typename C::Scalars& f, typename C::Scalars::Element& r,
                           const std::uint32_t* row) {
  f.from_limbs(r, row_words<C::kOrderWords>(row));
}
template <class C>
MM_DEVICE std::uint32_t load_valid_scalar(const typename C::Scalars& f, typename C::Scalars::Element& r,
                                          const std::uint32_t* row, const std::uint32_t* n) {
  typename C::Scalars::Element one;
  const std::uint32_t valid = mask_if_scalar<C::kOrderWords>(row, n);
  load_scalar<C>(f, r, row);
  f.one(one);
  f.cmov(r, one, ~valid);
  return valid;
}

/// All ones if a > b.
template <class C>
MM_DEVICE std::uint32_t mask_if_above(const typename C::Scalars::Element& a,
                                      const typename C::Scalars::Element& b) {
  static_cast<void>(manymod::cuda::sub_cc(b.word(0), a.word(0)));
  MM_UNROLL
  for (unsigned j = 1; j < C::Scalars::kElementWords; ++j) {
    static_cast<void>(manymod::cuda::subc_cc(b.word(j), a.word(j)));
  }
  return manymod::cuda::opaque(manymod::cuda::subc(0, 0));
}

/// The signatures of the items of thread `thread`.
template <class C, class Block>
MM_DEVICE void sign(const Block& block, const SignJob& job, std::uint32_t thread) {
  using Scalars = typename C::Scalars;
  using Scalar = typename Scalars::Element;
  ScalarMemory<C> memory;
  const Scalars f = scalar_field<C>(job.curve, memory);
  const auto load_nonce = [&](std::uint32_t item, Scalar& k) {
    static_cast<void>(load_valid_scalar<C>(f, k, job.nonce.at(item), job.curve.order));
  };
  const auto use = [&](std::uint32_t item, const Scalar& inverse) {
    Scalar x, n, zero, r, s, number, other, term;
    f.zero(zero);
    f.modulus(n);
    // x < p < 2 n: r = x or x - n.
    f.load(x, row_words<C::kOrderWords>(job.x.at(item)));
    const std::uint32_t wrapped = ~mask_if_above<C>(n, x);
    f.to_montgomery(r, x);
    load_scalar<C>(f, s, job.secret.at(item));
    f.mul(s, s, r);
    load_scalar<C>(f, term, job.digest.at(item));
    f.add(s, s, term);
    f.mul(s, s, inverse);
    f.from_montgomery(number, s);
    f.neg(other, s);
    f.from_montgomery(other, other);
    const std::uint32_t high = mask_if_above<C>(number, other) & (0 - job.low_s);
    std::uint32_t right =
        mask_if_scalar<C::kOrderWords>(job.nonce.at(item), job.curve.order) & ~f.same(number, zero);
    f.cmov(number, other, high);
    f.store(row_out<C::kOrderWords>(job.s.at(item)), number);
    f.from_montgomery(number, r);
    right &= ~f.same(number, zero);
    f.store(row_out<C::kOrderWords>(job.r.at(item)), number);
    const std::uint32_t odd = job.y.at(item)[0] & 1;
    job.recovery[item] = static_cast<std::uint8_t>((odd ^ (high & 1)) | (wrapped & 2));
    job.valid[item] &= static_cast<std::uint8_t>(right & 1);
  };
  // A second field, used for the inversion alone, for the reason that normalise_any has (any_curve.cuda.hpp).
  const typename C::InlineScalars inverter = inline_scalar_field<C>(job.curve, memory);
  invert_chain(block, f, inverter, chain_of(job, thread), job.scratch, job.count, load_nonce, use);
}

/// For the public key d G, the point u G + v (d G) of a verification is k G with this k = u + v d, or u - v
/// d (CombineJob). Constant-time. On input: item < job.count.
template <class C>
MM_DEVICE void combine_scalars(const CombineJob& job, std::uint32_t item) {
  using Scalars = typename C::Scalars;
  ScalarMemory<C> memory;
  const Scalars f = scalar_field<C>(job.curve, memory);
  typename Scalars::Element sum, term;
  load_scalar<C>(f, sum, job.v.at(item));
  load_scalar<C>(f, term, job.secret.at(item));
  f.mul(sum, sum, term);
  if (job.subtracts != 0) f.neg(sum, sum);
  load_scalar<C>(f, term, job.u.at(item));
  f.add(sum, sum, term);
  f.from_montgomery(term, sum);
  f.store(row_out<C::kOrderWords>(job.k.at(item)), term);
}

// ---- verification -----------------------------------------------------------------------------------------

/// The scalars of the items of thread `thread`.
template <class C, class Block>
MM_DEVICE void verification_scalars(const Block& block, const VerifyScalarsJob& job, std::uint32_t thread) {
  using Scalars = typename C::Scalars;
  using Scalar = typename Scalars::Element;
  ScalarMemory<C> memory;
  const Scalars f = scalar_field<C>(job.curve, memory);
  const auto load_s = [&](std::uint32_t item, Scalar& s) {
    static_cast<void>(load_valid_scalar<C>(f, s, job.s.at(item), job.curve.order));
  };
  const auto use = [&](std::uint32_t item, const Scalar& inverse) {
    Scalar r, s, other, term;
    std::uint32_t valid = load_valid_scalar<C>(f, r, job.r.at(item), job.curve.order);
    valid &= load_valid_scalar<C>(f, s, job.s.at(item), job.curve.order);
    if (job.low_s != 0) {
      f.neg(other, s);
      f.from_montgomery(s, s);
      f.from_montgomery(other, other);
      valid &= ~mask_if_above<C>(s, other);
    }
    load_scalar<C>(f, term, job.digest.at(item));
    f.mul(term, term, inverse);
    f.to_limbs(row_out<C::kOrderWords>(job.u.at(item)), term);
    f.mul(r, r, inverse);
    f.to_limbs(row_out<C::kOrderWords>(job.v.at(item)), r);
    job.valid[item] = static_cast<std::uint8_t>(valid & 1);
  };
  invert_chain(block, f, chain_of(job, thread), job.scratch, job.count, load_s, use);
}

/// Whether r z = x, or (r + n) z = x where r + n < p. below(number): whether it is below p.
template <class C, class F, class Below>
MM_DEVICE bool is_x_modulo_order(const VerifyCompareJob& job, std::uint32_t item, const F& f,
                                 const typename F::Element& x, const typename F::Element& z,
                                 const Below& below) {
  typename F::Element term;
  std::uint32_t candidate[C::kRowWords];
  const std::uint32_t* const r = job.r.at(item);
  MM_UNROLL
  for (unsigned j = 0; j < C::kRowWords; ++j) candidate[j] = j < C::kWords ? r[j] : 0;
  bool same = false;
  MM_ROLLED
  for (unsigned wraps = 0; wraps < 2; ++wraps) {
    f.from_limbs(term, row_words<C::kWords>(candidate));
    f.mul(term, term, z);
    same |= f.equal(term, x) != 0 && below(candidate);
    // r + n. If there is a carry out of the highest word, the words hold a number below r, which must not be
    // compared.
    candidate[0] = manymod::cuda::add_cc(candidate[0], job.curve.order[0]);
    MM_UNROLL
    for (unsigned j = 1; j < C::kWords; ++j) {
      candidate[j] = manymod::cuda::addc_cc(candidate[j], job.curve.order[j]);
    }
    if (manymod::cuda::addc(0, 0) != 0) break;
  }
  return same;
}

/// r Z^2 = X or (r + n) Z^2 = X, and Z is not 0. Without an inversion.
template <class C>
MM_DEVICE void compare_x(const VerifyCompareJob& job, std::uint32_t item) {
  const typename C::Field f;
  const std::size_t count = job.count, column = C::kWords * count;
  typename C::Element x, z;
  load_element(f, x, ConstColumn{job.point, count, item});
  load_element(f, z, ConstColumn{job.point + 2 * column, count, item});
  const bool finite = f.is_zero(z) == 0;
  f.sqr(z, z);
  const bool same = is_x_modulo_order<C>(job, item, f, x, z, below_prime<C>);
  const bool on_curve = job.on_curve == nullptr || job.on_curve[item] != 0;
  if (!same || !finite || !on_curve) job.valid[item] = 0;
}

}  // namespace manymod::ecc::cuda
