// SPDX-License-Identifier: Apache-2.0
// The keys of one reading of the configuration, and the service that computes with them. A reload makes a new
// generation; the old one lives until its requests are answered.
#pragma once

#include <array>
#include <atomic>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "manymod/service.hpp"
#include "server/access.hpp"
#include "server/config.hpp"
#include "server/key_file.hpp"

namespace manymod::signd {

/// Keys are numbered by the operations of a service that may have them.
enum class Family : std::uint8_t { rsa, ecdsa, eddsa, exchange };
inline constexpr std::size_t kFamilies = 4;
inline constexpr std::uint32_t kNoKey = UINT32_MAX;

/// A key as requests find it.
struct ServedKey {
  KeyId id{};
  std::string name;
  Bytes subject_public_key_info;
  std::uint32_t suitable = 0;    ///< bit_of() the operations that there are for such a key
  std::uint32_t operations = 0;  ///< those of them that its section allows
  AccessList access;
  std::array<std::uint32_t, kFamilies> index{kNoKey, kNoKey, kNoKey, kNoKey};

  /// What a client may do with it.
  [[nodiscard]] std::uint32_t allowed(const Peer& peer) const { return access.allows(peer) ? operations : 0; }
};

/// The operation of the service that computes a scheme.
struct ServedOperation {
  std::size_t number = 0;
  std::size_t row_bytes = 0;  ///< of its longest result
  Family family{};
};

/// Thread-safe but for its construction.
class Generation {
 public:
  /// @throws std::runtime_error, manymod::Error if a key or the device cannot be used
  explicit Generation(const Config& config);

  [[nodiscard]] const ServedKey* find(const KeyId& id) const;
  [[nodiscard]] const std::vector<ServedKey>& keys() const { return keys_; }
  /// Whatever a client writes into a scheme. @return nullopt if there is no such operation
  [[nodiscard]] std::optional<ServedOperation> operation(const Scheme& scheme) const;
  [[nodiscard]] Service& service() const { return *service_; }
  [[nodiscard]] const Config& config() const { return config_; }
  [[nodiscard]] bool observes(const Peer& peer) const;
  /// For clients of other hosts; null without a section [tcp].
  [[nodiscard]] const std::shared_ptr<const TlsContext>& tls() const { return tls_; }

 private:
  /// Ids are digests of public keys.
  struct IdHash {
    std::size_t operator()(const KeyId& id) const {
      std::size_t start = 0;
      std::memcpy(&start, id.data(), sizeof start);
      return start;
    }
  };
  /// Keys on curves of one family, as a pattern of mm_service_add_ecc has them.
  struct CurveKeys {
    std::vector<std::uint32_t> curves;
    std::vector<mm_bytes> secrets;
  };
  /// All operations that there can be: clients cannot make their number grow without a bound.
  static constexpr std::size_t kVariants = 3;
  static constexpr std::size_t kSchemes = kOperations * MM_HASH_COUNT * kVariants;
  static constexpr std::uint32_t kNotAdded = UINT32_MAX, kNone = UINT32_MAX - 1;

  void add_key(const KeyConfig& config, std::vector<rsa::Key>& rsa_keys);
  void add_curve_key(ServedKey& served, const ecc::Key& key);
  [[nodiscard]] static std::optional<std::size_t> scheme_number(const Scheme& scheme);
  [[nodiscard]] std::uint32_t add_operation(const Scheme& scheme) const;
  [[nodiscard]] std::uint32_t add_rsa_operation(const Scheme& scheme) const;
  [[nodiscard]] std::uint32_t add_ecc_operation(const Scheme& scheme) const;
  [[nodiscard]] std::size_t row_bytes(const Scheme& scheme) const;

  const Config config_;
  std::vector<ServedKey> keys_;
  std::unordered_map<KeyId, std::size_t, IdHash> by_id_;
  AccessList observers_;
  std::shared_ptr<const TlsContext> tls_;

  std::vector<ecc::Key> curve_keys_;  ///< whose bytes the patterns point to
  std::vector<ecc::Curve> curves_;
  std::array<CurveKeys, kFamilies> families_;
  std::size_t max_modulus_bytes_ = 0;
  std::unique_ptr<rsa::Ring> ring_;
  std::unique_ptr<ecc::Plan> plan_;
  std::unique_ptr<Service> service_;  ///< destroyed before what it computes with
  mutable std::mutex adding_;
  mutable std::array<std::atomic<std::uint32_t>, kSchemes> operations_;
};

/// The generation that requests are for.
class CurrentGeneration {
 public:
  [[nodiscard]] std::shared_ptr<const Generation> get() const {
    const std::scoped_lock lock(mutex_);
    return current_;
  }
  /// @return the one before
  std::shared_ptr<const Generation> replace(std::shared_ptr<const Generation> next) {
    const std::scoped_lock lock(mutex_);
    return std::exchange(current_, std::move(next));
  }

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const Generation> current_;
};

}  // namespace manymod::signd
