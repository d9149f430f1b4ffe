// SPDX-License-Identifier: Apache-2.0
// A key as OpenSSL sees it: its public side, with all of its parameters, is a key of the default provider in
// the provider's own library context, and its private operations are computed by a PrivateKey.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bare_key.hpp"
#include "engine.hpp"
#include "libcrypto.hpp"
#include "provider.hpp"

namespace manymod::provider {

enum class Kind { rsa, rsa_pss, ec, ed25519 };

/// The name by which libcrypto fetches a kind's key management.
const char* name_of(Kind kind);

/// The curve of an EC or Ed25519 key of the default provider, by a name of mm_ecc_curve_find: P-256, P-384,
/// Ed25519. Null for others.
const char* curve_name(EVP_PKEY* key, Kind kind);

/// Whether a group's name is one of P-384's.
bool is_p384(const char* group_name);

/// The private number of an EC or Ed25519 key of the default provider, on a curve that manymod is given:
/// P-256, P-384, Ed25519. Nothing for other curves, and an empty secret for public keys.
std::optional<CurveSecret> curve_secret(EVP_PKEY* key, Kind kind);

/// A private key that is made when it is first asked for. No mutex is used, since a child that is forked
/// meanwhile would find it locked for ever: several threads may each make one, and the first one is kept.
class LazyPrivateKey {
 public:
  LazyPrivateKey() = default;
  LazyPrivateKey(const LazyPrivateKey&) = delete;
  LazyPrivateKey& operator=(const LazyPrivateKey&) = delete;
  ~LazyPrivateKey() { delete key_.load(std::memory_order_acquire); }

  [[nodiscard]] bool is_made() const { return made_.load(std::memory_order_acquire); }
  /// `make`: gives a std::unique_ptr<PrivateKey>, which may be null.
  template <class Make>
  PrivateKey* get(Make&& make) {
    if (!is_made()) {
      std::unique_ptr<PrivateKey> key = make();
      PrivateKey* none = nullptr;
      if (key_.compare_exchange_strong(none, key.get(), std::memory_order_acq_rel)) {
        [[maybe_unused]] const auto* const kept = key.release();
      }
      made_.store(true, std::memory_order_release);
    }
    return key_.load(std::memory_order_acquire);
  }

 private:
  std::atomic<PrivateKey*> key_{nullptr};
  std::atomic<bool> made_{false};  ///< key_ is final
};

/// Counted references, since the core holds plain pointers. But for set_parameters(), immutable.
class Key {
 public:
  Key(const Provider& provider, Kind kind) : provider_(provider), kind_(kind) {}
  Key(const Key&) = delete;
  Key& operator=(const Key&) = delete;

  void hold() { references_.fetch_add(1, std::memory_order_relaxed); }
  void release() {
    if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }

  /// Give the key its numbers: of a key of the default provider.
  void adopt(Libcrypto<EVP_PKEY> delegate);
  /// The same from its parts, OSSL_KEYMGMT_SELECT_*. @return whether they are a key
  bool import(int selection, const OSSL_PARAM parts[]);
  /// The same from a SubjectPublicKeyInfo (DER). @return whether that is a public key of this kind
  bool decode(OSSL_CORE_BIO* subject_public_key_info);
  /// Make it a reference to the daemon's key with this SubjectPublicKeyInfo (DER).
  /// @return whether that is a public key of this kind
  bool refer(std::span<const std::uint8_t> subject_public_key_info);
  /// As EVP_PKEY_set_params, EVP_PKEY_get_params and EVP_PKEY_export.
  bool set_parameters(const OSSL_PARAM parameters[]);
  bool get_parameters(OSSL_PARAM parameters[]) const;
  bool export_parts(int selection, OSSL_CALLBACK* callback, void* argument) const;

  /// A new key with the selected parts, OSSL_KEYMGMT_SELECT_*; null on failure. A reference remains one.
  [[nodiscard]] Key* duplicate(int selection) const;

  [[nodiscard]] const Provider& provider() const { return provider_; }
  [[nodiscard]] Kind kind() const { return kind_; }
  /// The key of the default provider; null before adopt() and refer(). That of a bare key is made when it is
  /// first asked for.
  [[nodiscard]] EVP_PKEY* delegate() const;
  /// The key that was imported to verify signatures by the default provider; null for others.
  [[nodiscard]] const BareKey* bare() const { return bare_ ? &*bare_ : nullptr; }
  [[nodiscard]] bool is_empty() const { return !bare_ && delegate_.load() == nullptr; }
  [[nodiscard]] bool has_public() const { return has_public_; }
  [[nodiscard]] bool has_private() const { return has_private_ || is_reference(); }
  /// Whether the private numbers are the daemon's alone, so that nothing private can be delegated.
  [[nodiscard]] bool is_reference() const { return is_reference_; }

  /// Where private operations are computed; null where only the default provider can. It is made when it is
  /// first asked for, since most keys are public or live for a moment.
  PrivateKey* private_key() const;
  /// Whether private_key() has been asked for.
  [[nodiscard]] bool has_looked() const { return private_key_.is_made(); }
  /// The same in this process, also where the daemon is to compute. In: no reference
  PrivateKey* own_private_key() const;
  /// A context of the default provider's that is about to verify signatures of digests by this hash, as it
  /// was when remember_verification() got it; null if there is none. Making one anew takes some 2 us.
  [[nodiscard]] Libcrypto<EVP_PKEY_CTX> verification(const std::string& hash) const;
  void remember_verification(const std::string& hash, EVP_PKEY_CTX* context) const;
  /// The number of its requests that threads wait for, see ActiveRequest.
  [[nodiscard]] std::atomic<unsigned>& active() { return active_; }

 private:
  ~Key();

  const Provider& provider_;
  const Kind kind_;
  std::atomic<unsigned> references_{1}, active_{0};
  std::optional<BareKey> bare_;
  mutable std::atomic<EVP_PKEY*> delegate_{nullptr};
  std::vector<std::uint8_t> subject_public_key_info_;  ///< of a reference
  bool has_public_ = false, has_private_ = false, is_reference_ = false;
  mutable LazyPrivateKey private_key_, own_private_key_;

  /// A context that is only copied.
  struct Verification {
    std::string hash;
    Libcrypto<EVP_PKEY_CTX> context;
  };
  mutable std::atomic<const Verification*> verification_{nullptr};

  void note_parts();
  [[nodiscard]] Libcrypto<EVP_PKEY> key_of_parts(int selection, const OSSL_PARAM parts[]) const;
  [[nodiscard]] Libcrypto<EVP_PKEY> copy_of_parts(int selection) const;
  [[nodiscard]] EngineSettings engine_settings() const;
  [[nodiscard]] std::unique_ptr<PrivateKey> make_private_key() const;
  [[nodiscard]] std::unique_ptr<PrivateKey> make_own_private_key() const;
};

struct ReleaseKey {
  void operator()(Key* key) const { key->release(); }
};
/// A new key.
using KeyOwner = std::unique_ptr<Key, ReleaseKey>;

/// A held reference.
class KeyReference {
 public:
  KeyReference() = default;
  explicit KeyReference(Key* key) : key_(key) {
    if (key_ != nullptr) key_->hold();
  }
  KeyReference(const KeyReference& other) : KeyReference(other.key_) {}
  KeyReference(KeyReference&& other) noexcept : key_(std::exchange(other.key_, nullptr)) {}
  KeyReference& operator=(KeyReference other) noexcept {
    std::swap(key_, other.key_);
    return *this;
  }
  ~KeyReference() {
    if (key_ != nullptr) key_->release();
  }

  [[nodiscard]] Key* get() const { return key_; }
  Key* operator->() const { return key_; }
  explicit operator bool() const { return key_ != nullptr; }

 private:
  Key* key_ = nullptr;
};

}  // namespace manymod::provider
