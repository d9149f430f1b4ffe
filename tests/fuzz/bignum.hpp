// SPDX-License-Identifier: Apache-2.0
// The oracle of the fuzzing harnesses: libcrypto's BIGNUM.
#pragma once

#include <openssl/bn.h>
#include <openssl/decoder.h>
#include <openssl/evp.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "fuzz/choices.hpp"

namespace manymod::fuzz {

struct FreeCrypto {
  void operator()(BIGNUM* number) const { BN_free(number); }
  void operator()(BN_CTX* context) const { BN_CTX_free(context); }
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
  void operator()(EVP_PKEY_CTX* context) const { EVP_PKEY_CTX_free(context); }
  void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
};
template <class T>
using Crypto = std::unique_ptr<T, FreeCrypto>;
using Number = Crypto<BIGNUM>;

inline BN_CTX* scratch() {
  thread_local const Crypto<BN_CTX> context(BN_CTX_new());
  return context.get();
}

inline void did(int outcome) { require(outcome == 1, "the oracle failed"); }

inline Number number_of_limbs(std::span<const std::uint64_t> limbs, bool negative = false) {
  Number number(BN_lebin2bn(reinterpret_cast<const unsigned char*>(limbs.data()),
                            static_cast<int>(8 * limbs.size()), nullptr));
  require(number != nullptr, "the oracle failed");
  if (negative) BN_set_negative(number.get(), 1);
  return number;
}

inline Number number_of_bytes(std::span<const std::uint8_t> bytes) {
  return Number(BN_bin2bn(bytes.data(), static_cast<int>(bytes.size()), nullptr));
}

inline Number number_of_word(std::uint64_t word) { return number_of_limbs(std::span(&word, 1)); }

/// The number in `size` big-endian bytes, or in as few as it has.
inline Bytes bytes_of(const Number& number, std::size_t size = 0) {
  Bytes bytes(std::max(size, static_cast<std::size_t>(BN_num_bytes(number.get()))));
  BN_bn2binpad(number.get(), bytes.data(), static_cast<int>(bytes.size()));
  return bytes;
}

inline bool same(const Number& x, const Number& y) { return BN_cmp(x.get(), y.get()) == 0; }

inline Number product(const Number& x, const Number& y) {
  Number r(BN_new());
  did(BN_mul(r.get(), x.get(), y.get(), scratch()));
  return r;
}

/// x mod |n|, not negative.
inline Number remainder(const Number& x, const Number& n) {
  Number r(BN_new());
  did(BN_nnmod(r.get(), x.get(), n.get(), scratch()));
  return r;
}

inline Number minus(const Number& x, std::uint64_t word) {
  Number r(BN_dup(x.get()));
  did(BN_sub_word(r.get(), word));
  return r;
}

/// x^-1 mod n; null if there is none. In: n > 0.
inline Number inverse(const Number& x, const Number& n) {
  if (BN_is_one(n.get())) return number_of_word(0);
  return Number(BN_mod_inverse(nullptr, x.get(), n.get(), scratch()));
}

/// x^y mod n; null if an inverse is needed and does not exist. In: n > 0.
inline Number power(const Number& x, const Number& y, const Number& n) {
  Number base = remainder(x, n);
  const Number exponent(BN_dup(y.get()));
  if (BN_is_negative(exponent.get())) {
    base = inverse(base, n);
    if (!base) return nullptr;
    BN_set_negative(exponent.get(), 0);
  }
  Number r(BN_new());
  did(BN_mod_exp(r.get(), base.get(), exponent.get(), n.get(), scratch()));
  return r;
}

}  // namespace manymod::fuzz
