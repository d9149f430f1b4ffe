// SPDX-License-Identifier: Apache-2.0
// One instance of the provider: its configuration, its own library context, and its way to the application's
// error queue.
//
// Everything that manymod does not compute itself is delegated to OpenSSL's default provider, in a child of
// the application's library context. All fetches in it name the default provider (kDelegate): the child also
// contains this provider, and a fetch could find this provider again and recurse.
#pragma once

#include <openssl/core.h>
#include <openssl/core_dispatch.h>

#include <atomic>
#include <cstddef>
#include <exception>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bare_key.hpp"
#include "engine.hpp"
#include "libcrypto.hpp"

namespace manymod::signd {
class Client;
}

namespace manymod::provider {

/// The property query of all that is delegated.
inline constexpr const char* kDelegate = "provider=default";
/// The properties of all algorithms of this provider.
#define MANYMOD_PROVIDER_PROPERTIES "provider=manymod"

/// The provider's parameter (size_t) that tells how many private operations this process had manymod compute.
inline constexpr const char* kComputed = "computed";
/// And how many signatures it verified (size_t).
inline constexpr const char* kVerified = "verified";

/// Numbers of this provider's error messages; provider.cpp has their texts.
enum class Reason : int { failed = 1, configuration, no_key, not_computed, not_private, digest, room };

/// Where the operations of keys are computed whose private numbers this process has.
enum class Mode { process, daemon };

/// What the provider's section of the configuration file says. The strings are copies: nginx overwrites the
/// memory of the environment.
struct Configuration {
  Mode mode = Mode::process;
  std::string socket = "/run/manymod/signd.sock";  ///< or tcp://host:port
  std::string ca, certificate, key;                ///< PEM files for tcp://
  unsigned patience_ms = 1000;                     ///< for a daemon that cannot be reached
  unsigned timeout_ms = 10000;                     ///< for its answer
  /// Kinds of keys; RSA has those for RSASSA-PSS alone, too.
  std::string algorithms = "RSA,EC,ED25519";
  /// Whether public keys are decoded here, so that they need not be exported to this provider.
  bool decode_public = false;
  EngineSettings engine;
};

struct Algorithm;

class Provider {
 public:
  Provider(const OSSL_CORE_HANDLE* handle, const OSSL_DISPATCH* core) noexcept;
  ~Provider();
  Provider(const Provider&) = delete;
  Provider& operator=(const Provider&) = delete;

  /// Read the configuration and make the library context.
  /// @throws std::runtime_error for values that are none, and without a library context
  void start();

  [[nodiscard]] OSSL_LIB_CTX* library() const { return library_.get(); }
  [[nodiscard]] const Configuration& configuration() const { return configuration_; }
  /// The default provider's functions, for what needs no EVP layer.
  [[nodiscard]] DefaultProvider& default_provider() const { return default_provider_; }
  /// The connection to the daemon, which is made when it is first used.
  [[nodiscard]] signd::Client& daemon() const { return *daemon_; }
  /// Whether the configuration's list of algorithms has keys of this kind.
  [[nodiscard]] bool offers(std::string_view kind) const;
  /// Whether the libcrypto that loaded this provider, which need not be the one that it is linked with, is of
  /// this version or newer.
  [[nodiscard]] bool is_loaded_by(unsigned major, unsigned minor) const {
    return core_version_ >= std::pair(major, minor);
  }
  /// The algorithms of an operation, OSSL_OP_*; null where there are none.
  [[nodiscard]] const OSSL_ALGORITHM* algorithms(int operation) const;

  /// Private operations that this process had computed by manymod: the provider's parameter kComputed.
  [[nodiscard]] std::atomic<std::size_t>& computed() const { return computed_; }
  /// Signatures that manymod verified: the provider's parameter kVerified.
  [[nodiscard]] std::atomic<std::size_t>& verified() const { return verified_; }

  /// Add an error to the application's queue.
  void raise(Reason reason, const char* text) const noexcept;

 private:
  const OSSL_CORE_HANDLE* handle_;
  const OSSL_DISPATCH* core_;
  OSSL_FUNC_core_get_params_fn* get_params_ = nullptr;
  OSSL_FUNC_core_new_error_fn* new_error_ = nullptr;
  OSSL_FUNC_core_set_error_debug_fn* set_error_debug_ = nullptr;
  OSSL_FUNC_core_vset_error_fn* vset_error_ = nullptr;
  mutable std::atomic<std::size_t> computed_{0}, verified_{0};
  std::pair<unsigned, unsigned> core_version_{3, 0};
  Configuration configuration_;
  Libcrypto<OSSL_LIB_CTX> library_;
  mutable DefaultProvider default_provider_;  ///< freed before the library context
  std::unique_ptr<signd::Client> daemon_;
  std::map<int, std::vector<OSSL_ALGORITHM>> algorithms_;  ///< by operation, each ending with zeros

  void ask_core_version();
  /// The text of a setting in the provider's section of the configuration file; null if it is not there. The
  /// memory belongs to libcrypto. On input: get_params_ is not null.
  /// @throws std::runtime_error if the core does not answer
  [[nodiscard]] const char* setting(const char* name) const;
  void configure();
  void list(int operation, std::span<const Algorithm> all);
  void set_error(Reason reason, const char* format, ...) const noexcept;
};

/// Provider of an opaque pointer of the core.
inline Provider& provider_of(void* context) { return *static_cast<Provider*>(context); }

/// The value of `body`, which no exception leaves: then the error is in the queue and the value is 0 or null.
template <class Body>
auto guarded(const Provider& provider, Body&& body) noexcept -> decltype(body()) {
  try {
    return body();
  } catch (const std::exception& error) {
    provider.raise(Reason::failed, error.what());
  }
  return {};
}

/// An entry of a dispatch table.
template <class Function>
OSSL_DISPATCH entry(int id, Function* function) {
  return {id, reinterpret_cast<void (*)()>(function)};
}

// ---- algorithms, a file for each operation ---------------------------------------------------------------

/// An algorithm, which is offered if the configuration lists keys of its kind; kind null: always.
struct Algorithm {
  const char* kind;
  OSSL_ALGORITHM row;
};

std::span<const Algorithm> key_management();
/// `messages`: Ed25519 has the functions that OpenSSL 3.4 has added for whole messages.
std::span<const Algorithm> signatures(bool messages);
std::span<const Algorithm> asymmetric_ciphers();
std::span<const Algorithm> key_exchanges();
/// `public_too`: also for SubjectPublicKeyInfo, not only for key references.
std::span<const Algorithm> decoders(bool public_too);

/// See provider-base(7), "CAPABILITIES".
int get_capabilities(void* context, const char* capability, OSSL_CALLBACK* callback, void* argument);

}  // namespace manymod::provider
