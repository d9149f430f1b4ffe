// SPDX-License-Identifier: Apache-2.0
// Public keys and verifications by direct calls of the default provider's functions. The application has
// already called libcrypto's EVP layer; calling that layer once more for the default provider would take 10
// to 30 us for a key that verifies one signature, as long as an RSA verification itself.
#pragma once

#include <openssl/core_dispatch.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "libcrypto.hpp"

namespace manymod::provider {

enum class Kind;

/// What the default provider's tables have for keys of one kind (provider-keymgmt(7)) and their signatures
/// (provider-signature(7)).
struct DefaultFunctions {
  Libcrypto<EVP_KEYMGMT> management;  ///< keeps the provider
  void* context = nullptr;            ///< of the provider

  OSSL_FUNC_keymgmt_new_fn* create_key = nullptr;
  OSSL_FUNC_keymgmt_free_fn* free_key = nullptr;
  OSSL_FUNC_keymgmt_dup_fn* duplicate_key = nullptr;
  OSSL_FUNC_keymgmt_load_fn* load = nullptr;
  OSSL_FUNC_keymgmt_has_fn* has = nullptr;
  OSSL_FUNC_keymgmt_import_fn* import = nullptr;
  OSSL_FUNC_keymgmt_export_fn* export_key = nullptr;
  OSSL_FUNC_keymgmt_get_params_fn* get_key_params = nullptr;
  OSSL_FUNC_keymgmt_set_params_fn* set_key_params = nullptr;  ///< may be missing

  OSSL_FUNC_decoder_newctx_fn* create_decoder = nullptr;  ///< of a SubjectPublicKeyInfo
  OSSL_FUNC_decoder_freectx_fn* free_decoder = nullptr;
  OSSL_FUNC_decoder_decode_fn* decode = nullptr;

  OSSL_FUNC_signature_newctx_fn* create = nullptr;
  OSSL_FUNC_signature_freectx_fn* free = nullptr;
  OSSL_FUNC_signature_dupctx_fn* duplicate = nullptr;
  OSSL_FUNC_signature_verify_init_fn* begin = nullptr;
  OSSL_FUNC_signature_verify_fn* verify = nullptr;
  OSSL_FUNC_signature_digest_verify_init_fn* begin_message = nullptr;
  OSSL_FUNC_signature_digest_verify_update_fn* update = nullptr;
  OSSL_FUNC_signature_digest_verify_final_fn* verify_message = nullptr;
  OSSL_FUNC_signature_get_ctx_params_fn* get_params = nullptr;
  OSSL_FUNC_signature_set_ctx_params_fn* set_params = nullptr;
  OSSL_FUNC_signature_gettable_ctx_params_fn* gettable_params = nullptr;
  OSSL_FUNC_signature_settable_ctx_params_fn* settable_params = nullptr;
  OSSL_FUNC_signature_get_ctx_md_params_fn* get_hash_params = nullptr;
  OSSL_FUNC_signature_set_ctx_md_params_fn* set_hash_params = nullptr;
  OSSL_FUNC_signature_gettable_ctx_md_params_fn* gettable_hash_params = nullptr;
  OSSL_FUNC_signature_settable_ctx_md_params_fn* settable_hash_params = nullptr;
};

/// A public key of the default provider, without an EVP_PKEY around it.
class BareKey {
 public:
  BareKey(const DefaultFunctions& functions, void* data) : functions_(&functions), data_(data) {}
  BareKey(BareKey&& other) noexcept
      : functions_(other.functions_), data_(std::exchange(other.data_, nullptr)) {}
  BareKey& operator=(BareKey&& other) noexcept {
    std::swap(functions_, other.functions_);
    std::swap(data_, other.data_);
    return *this;
  }
  ~BareKey() {
    if (data_ != nullptr) functions_->free_key(data_);
  }

  [[nodiscard]] const DefaultFunctions& functions() const { return *functions_; }
  [[nodiscard]] void* data() const { return data_; }
  /// The hash that signatures have if no other is asked for.
  [[nodiscard]] std::string usual_hash() const;

 private:
  const DefaultFunctions* functions_;
  void* data_;
};

/// A part of an imported key's domain parameters, in memory of its own; of the point only the length.
struct DomainPart {
  std::string name;
  unsigned type;
  std::size_t size;
  std::string value;
};

/// The default provider's functions, looked up when they are first needed, and the domain parameters of EC
/// keys that were imported before. Thread-safe. No mutex is used: if another thread held it during a fork,
/// it would stay locked in the child for ever.
class DefaultProvider {
 public:
  DefaultProvider() = default;
  DefaultProvider(const DefaultProvider&) = delete;
  DefaultProvider& operator=(const DefaultProvider&) = delete;
  ~DefaultProvider();

  /// A public key from its parts (OSSL_KEYMGMT_SELECT_*). @return nothing for private keys, for parts that
  /// are no public key, and for the keys whose signatures manymod verifies itself (Ed25519, P-384)
  std::optional<BareKey> import(OSSL_LIB_CTX* library, Kind kind, int selection, const OSSL_PARAM parts[]);

  /// The public key of a SubjectPublicKeyInfo (DER) of this kind.
  /// @return nothing for what is none
  std::optional<BareKey> decode(OSSL_LIB_CTX* library, Kind kind, OSSL_CORE_BIO* der);

 private:
  /// A key with domain parameters alone, and the parts of which it was made.
  struct Domain {
    BareKey key;
    std::vector<DomainPart> parts;
  };

  std::array<std::atomic<const DefaultFunctions*>, 4> functions_{};  ///< by kind
  std::array<std::atomic<const Domain*>, 4> domains_{};

  const DefaultFunctions* functions(OSSL_LIB_CTX* library, Kind kind);
  std::optional<BareKey> point_on_known_domain(const DefaultFunctions& functions, const OSSL_PARAM parts[]);
  void remember_domain(const DefaultFunctions& functions, const OSSL_PARAM parts[]);
};

/// A verification by the default provider.
class BareVerification {
 public:
  /// @throws std::bad_alloc
  explicit BareVerification(const DefaultFunctions& functions);

  [[nodiscard]] const DefaultFunctions& functions() const { return *functions_; }
  [[nodiscard]] void* context() const { return context_.get(); }
  /// A copy; nothing on failure.
  [[nodiscard]] std::optional<BareVerification> duplicate() const;

 private:
  struct Free {
    const DefaultFunctions* functions;
    void operator()(void* context) const { functions->free(context); }
  };
  BareVerification(const DefaultFunctions& functions, void* context);

  const DefaultFunctions* functions_;
  std::unique_ptr<void, Free> context_;
};

}  // namespace manymod::provider
