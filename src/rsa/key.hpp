// SPDX-License-Identifier: Apache-2.0
// RSA keys.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "crypto/hash.hpp"
#include "crypto/libcrypto.hpp"
#include "manymod/rsa.h"
#include "repr/limbs.hpp"

namespace manymod::rsa {

/// A prime besides p and q, see mm_rsa_prime.
struct OtherPrime {
  crypto::Number prime, exponent, coefficient;
};

/// The numbers of a key as libcrypto objects; null if not given.
struct KeyNumbers {
  crypto::Number n, e, d, p, q, dp, dq, qinv;
  std::vector<OtherPrime> others;
};

/// What a caller demands of a key.
struct KeyRules {
  unsigned checks = 0;                                   ///< MM_RSA_CHECK_* flags
  std::size_t max_exponent_bits = MM_RSA_EXPONENT_BITS;  ///< of e; 0: the default
};

/// A key whose numbers were checked, in limbs. Immutable and shared by rings. The destructor zeroes the
/// private numbers.
class Key {
 public:
  /// Check the numbers and compute the missing ones.
  /// @throws StatusError MM_ERR_KEY with the relation that does not hold, MM_ERR_ARGUMENT for unknown flags
  Key(KeyNumbers numbers, const KeyRules& rules, const mm_rsa_pss_limits& pss = {});

  [[nodiscard]] std::size_t bits() const { return bits_; }
  /// k, the length of the modulus in bytes.
  [[nodiscard]] std::size_t bytes() const { return (bits_ + 7) / 8; }
  [[nodiscard]] std::size_t limbs() const { return limbs_for_bits(bits_); }
  [[nodiscard]] std::span<const Limb> n() const { return whole(n_); }
  [[nodiscard]] std::span<const Limb> e() const { return whole(e_); }  ///< top limb nonzero
  [[nodiscard]] std::size_t exponent_bytes() const { return exponent_bytes_; }

  [[nodiscard]] bool is_private() const { return d_.size() != 0; }
  [[nodiscard]] std::span<const Limb> d() const { return whole(d_); }  ///< as many limbs as n
  [[nodiscard]] std::span<const Limb> p() const { return whole(p_); }  ///< the largest prime
  [[nodiscard]] std::span<const Limb> q() const { return whole(q_); }
  [[nodiscard]] std::span<const Limb> dp() const { return whole(dp_); }      ///< as many limbs as p
  [[nodiscard]] std::span<const Limb> dq() const { return whole(dq_); }      ///< as many limbs as p
  [[nodiscard]] std::span<const Limb> qinv() const { return whole(qinv_); }  ///< as many limbs as p
  /// The number of primes of a private key.
  [[nodiscard]] std::size_t primes() const { return is_private() ? 2 + others_.size() : 0; }
  /// p, q and the others, in descending order.
  [[nodiscard]] std::span<const Limb> prime(std::size_t i) const {
    return i == 0 ? p() : i == 1 ? q() : whole(others_[i - 2].prime);
  }
  /// d mod prime(i) - 1.
  [[nodiscard]] std::span<const Limb> exponent(std::size_t i) const {
    return i == 0 ? dp() : i == 1 ? dq() : whole(others_[i - 2].exponent);
  }
  /// Inverse of the product of all primes before prime(i), mod prime(i), in as many limbs. On input: i >= 2.
  [[nodiscard]] std::span<const Limb> coefficient(std::size_t i) const {
    return whole(others_[i - 2].coefficient);
  }
  /// The product of all primes before prime(i). On input: i >= 2.
  [[nodiscard]] std::span<const Limb> before(std::size_t i) const { return whole(others_[i - 2].before); }
  /// SHA-256 of d as k bytes, for implicit rejection.
  [[nodiscard]] const crypto::Sha256Digest& exponent_digest() const { return exponent_digest_; }
  [[nodiscard]] const mm_rsa_pss_limits& pss() const { return pss_; }

  Key(const Key&) = delete;
  Key& operator=(const Key&) = delete;
  ~Key() { wipe_bytes(exponent_digest_.data(), exponent_digest_.size()); }

 private:
  std::size_t bits_ = 0;
  std::size_t exponent_bytes_ = 0;
  limbs::Buffer n_, e_, d_, p_, q_, dp_, dq_, qinv_;
  struct Other {
    limbs::Buffer prime, exponent, coefficient, before;
  };
  std::vector<Other> others_;
  mm_rsa_pss_limits pss_;
  crypto::Sha256Digest exponent_digest_{};

  [[nodiscard]] static std::span<const Limb> whole(const limbs::Buffer& buffer) {
    return buffer.first(buffer.size());
  }
  void keep_private(const KeyNumbers& numbers);
};

/// A key from the numbers of the C ABI.
/// @throws StatusError MM_ERR_NULL, MM_ERR_KEY
std::shared_ptr<const Key> key_from_numbers(const mm_rsa_numbers& numbers);

/// A key from PEM or DER.
/// @throws StatusError MM_ERR_NULL, MM_ERR_KEY; MM_ERR_ARGUMENT for options with unknown values
std::shared_ptr<const Key> key_from_encoding(const mm_bytes& encoded, const mm_rsa_decode_options& options);

}  // namespace manymod::rsa
