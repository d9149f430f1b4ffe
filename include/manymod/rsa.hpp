// SPDX-License-Identifier: Apache-2.0
/**
 * @file rsa.hpp
 * @brief C++20 wrapper of rsa.h: RAII, containers of bytes, exceptions. Header only; it links to the C
 * library alone. rsa.h documents the semantics, timing and statuses.
 *
 *     manymod::rsa::Ring ring({manymod::rsa::Key::decode(pem)});
 *     auto signatures = ring.sign(messages, manymod::rsa::pss(MM_SHA256));
 *     std::vector<bool> good = ring.verify(messages, signatures, manymod::rsa::pss(MM_SHA256));
 *
 * What the classes lack is reached by get() and the functions of the C ABI: public numbers of keys, names of
 * variants, which items were recomputed, and progress of calls that are not asynchronous.
 */
#ifndef MANYMOD_RSA_HPP
#define MANYMOD_RSA_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "manymod/bytes.hpp"
#include "manymod/calls.hpp"
#include "manymod/rsa.h"

namespace manymod {
inline namespace wrapper {
namespace rsa {

/// The bytes of one message, signature or number.
using wrapper::Bytes;

namespace detail {

using wrapper::detail::Items;
using wrapper::detail::OutputRows;
using wrapper::detail::view_of;

/// An mm_rsa_call without its output, and the arrays that it needs. It cannot be moved, as the call points
/// into it.
class OwnedCall {
 public:
  OwnedCall(mm_rsa_op op, const mm_rsa_padding& padding, std::span<const Bytes> items,
            std::span<const std::uint32_t> key_indices, Progress progress)
      : inputs_(items), outcome_(items.size(), std::move(progress)) {
    wrapper::detail::require(key_indices.empty() || key_indices.size() == items.size(),
                             "manymod::rsa::Ring: one key index for each item is needed");
    call_.struct_size = sizeof call_;
    call_.op = op;
    call_.padding = padding;
    call_.count = items.size();
    call_.key = key_indices.empty() ? nullptr : key_indices.data();
    call_.input = inputs_.view();
    outcome_.connect(call_);
  }
  OwnedCall(const OwnedCall&) = delete;
  OwnedCall& operator=(const OwnedCall&) = delete;

  [[nodiscard]] const mm_rsa_call* get() const noexcept { return &call_; }

 protected:
  ~OwnedCall() = default;
  [[nodiscard]] mm_rsa_call& call() noexcept { return call_; }

  /// Throw for a failed call, or hand out the item statuses.
  void finish_items(mm_status status, std::vector<mm_status>* statuses) const {
    outcome_.finish(status, statuses);
  }

 private:
  Items inputs_;
  wrapper::detail::CallOutcome outcome_;
  mm_rsa_call call_{};
};

/// A call whose results are byte strings of at most `stride` bytes.
class BytesCall final : public OwnedCall {
 public:
  BytesCall(mm_rsa_op op, const mm_rsa_padding& padding, std::span<const Bytes> items,
            std::span<const std::uint32_t> key_indices, std::size_t stride, Progress progress)
      : OwnedCall(op, padding, items, key_indices, std::move(progress)), output_(items.size(), stride) {
    call().output = output_.result();
  }

  /// The results of the call, which returned `status`.
  std::vector<Bytes> finish(mm_status status, std::vector<mm_status>* statuses) {
    finish_items(status, statuses);
    return output_.rows();
  }

 private:
  OutputRows output_;
};

/// A verification.
class VerifyCall final : public OwnedCall {
 public:
  VerifyCall(const mm_rsa_padding& padding, std::span<const Bytes> messages,
             std::span<const Bytes> signatures, std::span<const std::uint32_t> key_indices,
             bool left_pad_signatures, Progress progress)
      : OwnedCall(MM_RSA_VERIFY, padding, messages, key_indices, std::move(progress)),
        signatures_(signatures),
        valid_(messages.size()) {
    wrapper::detail::require(signatures.size() == messages.size(),
                             "manymod::rsa::Ring: one signature for each message is needed");
    call().signature = signatures_.view();
    call().valid = valid_.data();
    call().left_pad_signatures = left_pad_signatures ? 1 : 0;
  }

  /// The verdicts of the call, which returned `status`.
  std::vector<bool> finish(mm_status status, std::vector<mm_status>* statuses) {
    finish_items(status, statuses);
    return {valid_.begin(), valid_.end()};
  }

 private:
  Items signatures_;
  std::vector<std::uint8_t> valid_;
};

/// Submits calls on a ring.
struct Submitter {
  mm_rsa_ring* ring;
  mm_status operator()(const mm_rsa_call* call, mm_done_fn done, void* user, mm_job** job) const {
    return mm_rsa_submit(ring, call, done, user, job);
  }
};

}  // namespace detail

/// An asynchronous call whose results are byte strings, as manymod::Job.
using Job = wrapper::detail::BasicJob<detail::BytesCall>;
/// An asynchronous verification.
using VerifyJob = wrapper::detail::BasicJob<detail::VerifyCall>;

/// A prime besides p and q, big-endian; mm_rsa_prime states what may be empty.
struct Prime {
  std::span<const std::uint8_t> prime, exponent{}, coefficient{};
};

/// Numbers of a key, big-endian; mm_rsa_numbers states which may be empty.
struct Numbers {
  std::span<const std::uint8_t> n, e, d, p, q, dp, dq, qinv;
  std::span<const Prime> other_primes{};
  mm_rsa_pss_limits pss{};
};

/// Owns an mm_rsa_key. Immutable; safe to use from several threads.
class Key {
 public:
  /// A key from its numbers, which are copied.
  /// @param numbers the numbers
  /// @param checks MM_RSA_CHECK_* flags
  /// @param max_exponent_bits longest public exponent to accept, see mm_rsa_numbers
  /// @throws Error with MM_ERR_KEY if the numbers are not a key, else as mm_rsa_key_create
  explicit Key(const Numbers& numbers, unsigned checks = 0,
               std::size_t max_exponent_bits = MM_RSA_EXPONENT_BITS) {
    mm_rsa_numbers given{};
    given.struct_size = sizeof given;
    given.n = detail::view_of(numbers.n);
    given.e = detail::view_of(numbers.e);
    given.d = detail::view_of(numbers.d);
    given.p = detail::view_of(numbers.p);
    given.q = detail::view_of(numbers.q);
    given.dp = detail::view_of(numbers.dp);
    given.dq = detail::view_of(numbers.dq);
    given.qinv = detail::view_of(numbers.qinv);
    given.checks = checks;
    given.max_exponent_bits = max_exponent_bits;
    std::vector<mm_rsa_prime> others(numbers.other_primes.size());
    std::transform(numbers.other_primes.begin(), numbers.other_primes.end(), others.begin(),
                   [](const Prime& other) {
                     return mm_rsa_prime{detail::view_of(other.prime), detail::view_of(other.exponent),
                                         detail::view_of(other.coefficient)};
                   });
    given.other_primes = others.data();
    given.other_prime_count = others.size();
    given.pss = numbers.pss;
    mm_rsa_key* key = nullptr;
    check(mm_rsa_key_create(&given, &key));
    key_.reset(key);
  }

  /// A key or certificate from PEM or DER.
  /// @param encoded the key or certificate
  /// @param password of an encrypted key; a view with data() == nullptr means no password
  /// @param checks MM_RSA_CHECK_* flags
  /// @param max_exponent_bits longest public exponent to accept, see mm_rsa_numbers
  /// @param kind which key of several is wanted
  /// @throws Error with MM_ERR_KEY if there is no usable key in it, else as mm_rsa_key_decode
  static Key decode(std::string_view encoded, std::string_view password = {}, unsigned checks = 0,
                    std::size_t max_exponent_bits = MM_RSA_EXPONENT_BITS,
                    mm_rsa_key_kind kind = MM_RSA_KEY_ANY) {
    return decode(wrapper::detail::bytes_of(encoded), password, checks, max_exponent_bits, kind);
  }
  /// The same of bytes, as which DER is at hand.
  static Key decode(std::span<const std::uint8_t> encoded, std::string_view password = {},
                    unsigned checks = 0, std::size_t max_exponent_bits = MM_RSA_EXPONENT_BITS,
                    mm_rsa_key_kind kind = MM_RSA_KEY_ANY) {
    mm_rsa_decode_options options{};
    options.struct_size = sizeof options;
    options.password = detail::view_of(password);
    options.checks = checks;
    options.max_exponent_bits = max_exponent_bits;
    options.kind = kind;
    mm_rsa_key* key = nullptr;
    check(mm_rsa_key_decode(detail::view_of(encoded), &options, &key));
    return Key(key);
  }

  /// Sizes, and whether the key is private.
  [[nodiscard]] mm_rsa_key_info info() const {
    mm_rsa_key_info info{};
    info.struct_size = sizeof info;
    check(mm_rsa_key_get_info(key_.get(), &info));
    return info;
  }
  /// The key of the C ABI; it remains owned by this object.
  [[nodiscard]] const mm_rsa_key* get() const noexcept { return key_.get(); }

 private:
  struct Destroy {
    void operator()(mm_rsa_key* key) const { mm_rsa_key_destroy(key); }
  };
  explicit Key(mm_rsa_key* key) : key_(key) {}

  std::unique_ptr<mm_rsa_key, Destroy> key_;
};

/// No padding, for the bare operations.
inline mm_rsa_padding raw() { return {}; }

/// PKCS#1 v1.5. `hash` is for signatures only.
inline mm_rsa_padding pkcs1v15(mm_hash hash = MM_HASH_NONE) {
  mm_rsa_padding padding{};
  padding.scheme = MM_RSA_PKCS1V15;
  padding.hash = hash;
  return padding;
}

/// PSS with `hash`. `salt_length`: a number of bytes or MM_RSA_SALT_*; `mgf_hash`: MM_HASH_NONE means `hash`.
inline mm_rsa_padding pss(mm_hash hash, int salt_length = MM_RSA_SALT_DIGEST,
                          mm_hash mgf_hash = MM_HASH_NONE) {
  mm_rsa_padding padding{};
  padding.scheme = MM_RSA_PSS;
  padding.hash = hash;
  padding.mgf_hash = mgf_hash;
  padding.salt_length = salt_length;
  return padding;
}

/// OAEP with `hash`. `label` is not copied and must outlive the padding; `mgf_hash`: MM_HASH_NONE means
/// `hash`.
inline mm_rsa_padding oaep(mm_hash hash, std::span<const std::uint8_t> label = {},
                           mm_hash mgf_hash = MM_HASH_NONE) {
  mm_rsa_padding padding{};
  padding.scheme = MM_RSA_OAEP;
  padding.hash = hash;
  padding.mgf_hash = mgf_hash;
  padding.label = detail::view_of(label);
  return padding;
}

/// The same `padding` for signatures whose inputs are digests instead of messages.
inline mm_rsa_padding prehashed(mm_rsa_padding padding) {
  padding.prehashed = 1;
  return padding;
}

/// Owns an mm_rsa_ring: keys on a device. Several threads may run calls on one ring.
///
/// In all calls `padding` is one of those above, and key_indices[i] is the index of item i's key in the ring;
/// empty means key 0 for every item. An item without a result is empty and has a status in *statuses; if
/// `statuses` is NULL the call throws Error with MM_ERR_ITEMS instead. submit_sign and its like start
/// asynchronous calls; the ring, the items, the key indices and the label must remain unchanged until these
/// have ended. `progress` is called on the job's thread.
/// @throws Error as mm_rsa_run, with MM_ERR_ARGUMENT also if the numbers of items, signatures and key indices
/// differ
class Ring {
 public:
  /// A ring of `keys`, which may be destroyed before it, on the device of `placement`, with or without
  /// `blinding`. @throws Error as mm_rsa_ring_create
  explicit Ring(std::span<const Key> keys, const Placement& placement = {},
                mm_rsa_blinding blinding = MM_RSA_BLINDING_ON) {
    mm_rsa_ring_options options{};
    options.struct_size = sizeof options;
    options.device = wrapper::detail::or_null(placement.device);
    options.variant = wrapper::detail::or_null(placement.variant);
    options.threads = placement.threads;
    options.blinding = blinding;
    std::vector<const mm_rsa_key*> pointers(keys.size());
    std::transform(keys.begin(), keys.end(), pointers.begin(), [](const Key& key) { return key.get(); });
    mm_rsa_ring* ring = nullptr;
    check(mm_rsa_ring_create(&options, pointers.data(), pointers.size(), &ring));
    ring_.reset(ring);
  }
  /// A ring of one `key`.
  explicit Ring(const Key& key, const Placement& placement = {},
                mm_rsa_blinding blinding = MM_RSA_BLINDING_ON)
      : Ring(std::span(&key, 1), placement, blinding) {}

  /// Signatures of `messages`, of k bytes. Timing: constant-time in the private key.
  [[nodiscard]] std::vector<Bytes> sign(std::span<const Bytes> messages, const mm_rsa_padding& padding,
                                        std::span<const std::uint32_t> key_indices = {},
                                        std::vector<mm_status>* statuses = nullptr) {
    return run(MM_RSA_SIGN, padding, messages, key_indices, statuses);
  }
  /// Ciphertexts of `messages`, of k bytes. Timing: constant-time in the messages.
  [[nodiscard]] std::vector<Bytes> encrypt(std::span<const Bytes> messages, const mm_rsa_padding& padding,
                                           std::span<const std::uint32_t> key_indices = {},
                                           std::vector<mm_status>* statuses = nullptr) {
    return run(MM_RSA_ENCRYPT, padding, messages, key_indices, statuses);
  }
  /// Messages of `ciphertexts`. Timing: constant-time in the private key and the messages, until their
  /// lengths are returned.
  [[nodiscard]] std::vector<Bytes> decrypt(std::span<const Bytes> ciphertexts, const mm_rsa_padding& padding,
                                           std::span<const std::uint32_t> key_indices = {},
                                           std::vector<mm_status>* statuses = nullptr) {
    return run(MM_RSA_DECRYPT, padding, ciphertexts, key_indices, statuses);
  }
  /// m^e mod n of big-endian `numbers` m < n, as k bytes. Timing: constant-time in m.
  [[nodiscard]] std::vector<Bytes> raw_public(std::span<const Bytes> numbers,
                                              std::span<const std::uint32_t> key_indices = {},
                                              std::vector<mm_status>* statuses = nullptr) {
    return run(MM_RSA_PUBLIC, raw(), numbers, key_indices, statuses);
  }
  /// c^d mod n of big-endian `numbers` c < n, as k bytes. Timing: constant-time in c and the private key.
  [[nodiscard]] std::vector<Bytes> raw_private(std::span<const Bytes> numbers,
                                               std::span<const std::uint32_t> key_indices = {},
                                               std::vector<mm_status>* statuses = nullptr) {
    return run(MM_RSA_PRIVATE, raw(), numbers, key_indices, statuses);
  }

  /// Whether each of `signatures` of `messages` is valid. `left_pad_signatures` is as in mm_rsa_call. Timing:
  /// variable-time.
  [[nodiscard]] std::vector<bool> verify(std::span<const Bytes> messages, std::span<const Bytes> signatures,
                                         const mm_rsa_padding& padding,
                                         std::span<const std::uint32_t> key_indices = {},
                                         std::vector<mm_status>* statuses = nullptr,
                                         bool left_pad_signatures = false) {
    detail::VerifyCall call(padding, messages, signatures, key_indices, left_pad_signatures, {});
    return call.finish(mm_rsa_run(ring_.get(), call.get()), statuses);
  }

  /// sign() of `messages` as an asynchronous call. @throws Error as mm_rsa_submit
  [[nodiscard]] Job submit_sign(std::span<const Bytes> messages, const mm_rsa_padding& padding,
                                std::span<const std::uint32_t> key_indices = {}, Progress progress = {}) {
    return submit(MM_RSA_SIGN, padding, messages, key_indices, std::move(progress));
  }
  /// encrypt() of `messages` as an asynchronous call. @throws Error as mm_rsa_submit
  [[nodiscard]] Job submit_encrypt(std::span<const Bytes> messages, const mm_rsa_padding& padding,
                                   std::span<const std::uint32_t> key_indices = {}, Progress progress = {}) {
    return submit(MM_RSA_ENCRYPT, padding, messages, key_indices, std::move(progress));
  }
  /// decrypt() of `ciphertexts` as an asynchronous call. @throws Error as mm_rsa_submit
  [[nodiscard]] Job submit_decrypt(std::span<const Bytes> ciphertexts, const mm_rsa_padding& padding,
                                   std::span<const std::uint32_t> key_indices = {}, Progress progress = {}) {
    return submit(MM_RSA_DECRYPT, padding, ciphertexts, key_indices, std::move(progress));
  }
  /// raw_public() of `numbers` as an asynchronous call. @throws Error as mm_rsa_submit
  [[nodiscard]] Job submit_raw_public(std::span<const Bytes> numbers,
                                      std::span<const std::uint32_t> key_indices = {},
                                      Progress progress = {}) {
    return submit(MM_RSA_PUBLIC, raw(), numbers, key_indices, std::move(progress));
  }
  /// raw_private() of `numbers` as an asynchronous call. @throws Error as mm_rsa_submit
  [[nodiscard]] Job submit_raw_private(std::span<const Bytes> numbers,
                                       std::span<const std::uint32_t> key_indices = {},
                                       Progress progress = {}) {
    return submit(MM_RSA_PRIVATE, raw(), numbers, key_indices, std::move(progress));
  }
  /// verify() of `messages` and `signatures` as an asynchronous call, with `left_pad_signatures`. @throws
  /// Error as mm_rsa_submit
  [[nodiscard]] VerifyJob submit_verify(std::span<const Bytes> messages, std::span<const Bytes> signatures,
                                        const mm_rsa_padding& padding,
                                        std::span<const std::uint32_t> key_indices = {},
                                        Progress progress = {}, bool left_pad_signatures = false) {
    return {detail::Submitter{ring_.get()},
            std::make_shared<detail::VerifyCall>(padding, messages, signatures, key_indices,
                                                 left_pad_signatures, std::move(progress))};
  }

  /// Number of keys, largest k and counters.
  [[nodiscard]] mm_rsa_ring_info info() const {
    mm_rsa_ring_info info{};
    info.struct_size = sizeof info;
    check(mm_rsa_ring_get_info(ring_.get(), &info));
    return info;
  }

  /// The ring of the C interface, which this object owns.
  [[nodiscard]] mm_rsa_ring* get() const noexcept { return ring_.get(); }

 private:
  [[nodiscard]] std::vector<Bytes> run(mm_rsa_op op, const mm_rsa_padding& padding,
                                       std::span<const Bytes> items,
                                       std::span<const std::uint32_t> key_indices,
                                       std::vector<mm_status>* statuses) {
    detail::BytesCall call(op, padding, items, key_indices, info().max_modulus_bytes, {});
    return call.finish(mm_rsa_run(ring_.get(), call.get()), statuses);
  }

  [[nodiscard]] Job submit(mm_rsa_op op, const mm_rsa_padding& padding, std::span<const Bytes> items,
                           std::span<const std::uint32_t> key_indices, Progress progress) {
    return {detail::Submitter{ring_.get()},
            std::make_shared<detail::BytesCall>(op, padding, items, key_indices, info().max_modulus_bytes,
                                                std::move(progress))};
  }

  struct Destroy {
    void operator()(mm_rsa_ring* ring) const { mm_rsa_ring_destroy(ring); }
  };
  std::unique_ptr<mm_rsa_ring, Destroy> ring_;
};

}  // namespace rsa
}  // namespace wrapper
}  // namespace manymod
#endif
