// SPDX-License-Identifier: Apache-2.0
#include "server/generation.hpp"

#include <unistd.h>

#include <algorithm>
#include <stdexcept>

namespace manymod::signd {
namespace {

Family family_of(Operation operation) {
  switch (operation) {
    case Operation::sign_ecdsa:
      return Family::ecdsa;
    case Operation::sign_eddsa:
      return Family::eddsa;
    case Operation::exchange:
      return Family::exchange;
    default:
      return Family::rsa;
  }
}

constexpr std::uint32_t kRsaOperations = bit_of(Operation::sign_pkcs1) | bit_of(Operation::sign_pss) |
                                         bit_of(Operation::decrypt_pkcs1) | bit_of(Operation::decrypt_oaep) |
                                         bit_of(Operation::raw);

ServiceOptions options_of(const Config& config) {
  ServiceOptions options;
  options.deadline = config.deadline;
  options.max_queue = config.max_queue;
  options.max_batch = config.max_batch;
  options.max_concurrent = config.concurrent;
  return options;
}

// The index of a scheme's variant; nothing if the daemon does not offer it. sign_pss: 0 for a salt as long
// as the digest, 1 for the longest possible salt, 2 for none. decrypt_oaep: 0 if MGF1 uses the same hash, 1
// if it uses SHA-1.
std::optional<std::size_t> variant_of(const Scheme& scheme) {
  const bool same_mask = scheme.mgf_hash == MM_HASH_NONE || scheme.mgf_hash == scheme.hash;
  if (scheme.operation == Operation::decrypt_oaep) {
    if (same_mask) return 0;
    return scheme.mgf_hash == MM_SHA1 ? std::optional<std::size_t>(1) : std::nullopt;
  }
  if (scheme.operation != Operation::sign_pss) return 0;
  if (!same_mask) return std::nullopt;
  if (scheme.salt_length == kSaltMax) return 1;
  if (scheme.salt_length == kSaltNone) return 2;
  const bool digest = scheme.salt_length == kSaltDigest ||
                      scheme.salt_length == static_cast<std::int64_t>(mm_hash_size(scheme.hash));
  return digest ? std::optional<std::size_t>(0) : std::nullopt;
}

bool needs_hash(Operation operation) {
  return operation == Operation::sign_pkcs1 || operation == Operation::sign_pss ||
         operation == Operation::decrypt_oaep || operation == Operation::sign_ecdsa;
}

}  // namespace

Generation::Generation(const Config& config) : config_(config), observers_(config.observers) {
  for (auto& operation : operations_) operation = kNotAdded;
  std::vector<rsa::Key> rsa_keys;
  keys_.reserve(config.keys.size());
  for (const KeyConfig& key : config.keys) add_key(key, rsa_keys);
  const Placement placement{config.device, "", config.threads};
  if (!rsa_keys.empty()) ring_ = std::make_unique<rsa::Ring>(rsa_keys, placement);
  if (!curves_.empty()) plan_ = std::make_unique<ecc::Plan>(curves_, placement);
  service_ = std::make_unique<Service>(options_of(config));
  if (!config.tcp.listen.empty()) {
    tls_ = std::make_shared<const TlsContext>(TlsContext::Side::server, config.tcp.files);
  }
}

void Generation::add_key(const KeyConfig& config, std::vector<rsa::Key>& rsa_keys) {
  LoadedKey loaded = load_key(config, config_.max_key_bits);
  if (!by_id_.emplace(loaded.id, keys_.size()).second) {
    throw std::runtime_error("[key." + config.name + "]: the key of another section");
  }
  ServedKey& served = keys_.emplace_back();
  served.id = loaded.id;
  served.name = config.name;
  served.subject_public_key_info = std::move(loaded.subject_public_key_info);
  served.access = AccessList(config.access);
  if (auto* const key = std::get_if<rsa::Key>(&loaded.key)) {
    served.index[static_cast<std::size_t>(Family::rsa)] = static_cast<std::uint32_t>(rsa_keys.size());
    const bool is_for_pss_alone = key->info().pss.only != 0;
    served.suitable = is_for_pss_alone ? bit_of(Operation::sign_pss) : kRsaOperations;
    served.operations = config.operations & served.suitable;
    max_modulus_bytes_ = std::max(max_modulus_bytes_, key->info().modulus_bytes);
    rsa_keys.push_back(std::move(*key));
    return;
  }
  curve_keys_.push_back(std::move(std::get<ecc::Key>(loaded.key)));
  add_curve_key(served, curve_keys_.back());
  served.operations = config.operations & served.suitable;
}

void Generation::add_curve_key(ServedKey& served, const ecc::Key& key) {
  const mm_ecc_key_info info = key.info();
  if (ecc::Curve(info.curve).info().name == std::string("SM2")) {
    throw std::runtime_error("[key." + served.name + "]: keys of SM2 are not served");
  }
  const auto same = [&](const ecc::Curve& curve) { return curve.get() == info.curve; };
  const auto curve = static_cast<std::uint32_t>(std::ranges::find_if(curves_, same) - curves_.begin());
  if (curve == curves_.size()) curves_.emplace_back(info.curve);
  const auto join = [&](Family family, Operation operation) {
    CurveKeys& keys = families_[static_cast<std::size_t>(family)];
    served.index[static_cast<std::size_t>(family)] = static_cast<std::uint32_t>(keys.secrets.size());
    served.suitable |= bit_of(operation);
    keys.curves.push_back(curve);
    keys.secrets.push_back(info.secret);
  };
  const mm_ecc_form form = curves_[curve].info().form;
  if (form == MM_ECC_WEIERSTRASS) join(Family::ecdsa, Operation::sign_ecdsa);
  if (form == MM_ECC_EDWARDS) join(Family::eddsa, Operation::sign_eddsa);
  if (form != MM_ECC_EDWARDS) join(Family::exchange, Operation::exchange);
}

const ServedKey* Generation::find(const KeyId& id) const {
  const auto found = by_id_.find(id);
  return found == by_id_.end() ? nullptr : &keys_[found->second];
}

bool Generation::observes(const Peer& peer) const {
  const bool own = !peer.is_remote && (peer.user == 0 || peer.user == geteuid());
  return own || observers_.allows(peer);
}

// ---- operations, added when the first request names them --------------------------------------------------

std::optional<std::size_t> Generation::scheme_number(const Scheme& scheme) {
  const auto operation = static_cast<std::size_t>(scheme.operation);
  const auto hash = static_cast<std::size_t>(scheme.hash), mask = static_cast<std::size_t>(scheme.mgf_hash);
  if (operation >= kOperations || hash >= MM_HASH_COUNT || mask >= MM_HASH_COUNT) return std::nullopt;
  if (needs_hash(scheme.operation) != (scheme.hash != MM_HASH_NONE)) return std::nullopt;
  const auto variant = variant_of(scheme);
  if (!variant) return std::nullopt;
  return (operation * MM_HASH_COUNT + hash) * kVariants + *variant;
}

std::optional<ServedOperation> Generation::operation(const Scheme& scheme) const {
  const auto number = scheme_number(scheme);
  if (!number) return std::nullopt;
  std::uint32_t added = operations_[*number].load(std::memory_order_acquire);
  if (added == kNotAdded) {
    const std::scoped_lock lock(adding_);
    added = operations_[*number].load(std::memory_order_relaxed);
    if (added == kNotAdded) {
      added = add_operation(scheme);
      operations_[*number].store(added, std::memory_order_release);
    }
  }
  if (added == kNone || added == kNotAdded) return std::nullopt;
  return ServedOperation{added, row_bytes(scheme), family_of(scheme.operation)};
}

std::size_t Generation::row_bytes(const Scheme& scheme) const {
  return family_of(scheme.operation) == Family::rsa ? max_modulus_bytes_ : kLongestEcResult;
}

std::uint32_t Generation::add_operation(const Scheme& scheme) const {
  try {
    return family_of(scheme.operation) == Family::rsa ? add_rsa_operation(scheme) : add_ecc_operation(scheme);
  } catch (const Error& error) {
    // The next request tries again, unless it is the scheme that is refused, such as for a hash that
    // signatures do not have.
    const bool may_pass = error.status() == MM_ERR_MEMORY || error.status() == MM_ERR_DEVICE;
    return may_pass ? kNotAdded : kNone;
  }
}

std::uint32_t Generation::add_rsa_operation(const Scheme& scheme) const {
  if (!ring_) return kNone;
  constexpr std::array<std::int32_t, kVariants> kSalts = {MM_RSA_SALT_DIGEST, MM_RSA_SALT_MAX, 0};
  const std::size_t variant = *variant_of(scheme);
  mm_rsa_padding padding{};
  padding.hash = scheme.hash;
  padding.prehashed = 1;
  mm_rsa_op op = MM_RSA_SIGN;
  switch (scheme.operation) {
    case Operation::sign_pkcs1:
      padding.scheme = MM_RSA_PKCS1V15;
      break;
    case Operation::sign_pss:
      padding.scheme = MM_RSA_PSS;
      padding.salt_length = kSalts[variant];
      break;
    default:
      op = scheme.operation == Operation::raw ? MM_RSA_PRIVATE : MM_RSA_DECRYPT;
      padding = scheme.operation == Operation::raw             ? rsa::raw()
                : scheme.operation == Operation::decrypt_pkcs1 ? rsa::pkcs1v15()
                                                               : rsa::oaep(scheme.hash);
      if (variant == 1) padding.mgf_hash = MM_SHA1;
  }
  return static_cast<std::uint32_t>(service_->add(*ring_, op, padding));
}

std::uint32_t Generation::add_ecc_operation(const Scheme& scheme) const {
  const CurveKeys& keys = families_[static_cast<std::size_t>(family_of(scheme.operation))];
  if (keys.secrets.empty()) return kNone;
  mm_ecc_call pattern{};
  pattern.struct_size = sizeof pattern;
  pattern.count = keys.secrets.size();
  pattern.curve = keys.curves.data();
  pattern.secret.count = keys.secrets.size();
  pattern.secret.items = keys.secrets.data();
  pattern.op = scheme.operation == Operation::exchange ? MM_ECC_EXCHANGE : MM_ECC_SIGN;
  if (scheme.operation == Operation::sign_ecdsa) {
    pattern.scheme = MM_ECC_ECDSA;
    pattern.hash = scheme.hash;
    pattern.prehashed = 1;
    pattern.nonces = MM_ECC_NONCE_HEDGED;
    pattern.signature_format = MM_ECC_DER;
  }
  return static_cast<std::uint32_t>(service_->add(*plan_, pattern));
}

}  // namespace manymod::signd
