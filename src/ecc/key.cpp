// SPDX-License-Identifier: Apache-2.0
#include "ecc/key.hpp"

#include <openssl/core_names.h>
#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "crypto/key_encoding.hpp"
#include "ecc/order.hpp"
#include "ecc/schemes/choice.hpp"
#include "repr/limbs.hpp"

namespace manymod::ecc {
namespace {

constexpr const char* kAlgorithms[] = {"EC", "SM2", "ED25519", "X25519", "ED448", "X448"};
constexpr std::string_view kSshPrefixes[] = {"ecdsa-sha2-", "ssh-ed25519"};
constexpr crypto::KeyFamily kFamily{kAlgorithms,      kSshPrefixes,     "EC PRIVATE KEY",
                                    "key on a curve", "not on a curve", "a key on a curve"};

using Bytes = std::vector<std::uint8_t>;

[[noreturn]] void reject_curve_key(std::string problem) { crypto::reject_key(std::move(problem), kFamily); }

/// Whether a parameter of the key is this number.
bool has_number(const EVP_PKEY* key, const char* parameter, std::span<const Limb> expected) {
  const crypto::Number number = crypto::number_of(key, parameter);
  const std::size_t size = expected.size_bytes();
  if (!number || BN_is_negative(number.get()) != 0) return false;
  Bytes bytes(size), wanted(size);
  bytes_from_limbs(wanted, expected);
  return BN_bn2binpad(number.get(), bytes.data(), static_cast<int>(size)) >= 0 && bytes == wanted;
}

/// A string of bytes that is a parameter of the key; nothing if it has none. On input: the longest one is
/// below 256 bytes.
std::optional<Bytes> bytes_of(const EVP_PKEY* key, const char* parameter) {
  Bytes bytes(256);
  std::size_t size = 0;
  if (EVP_PKEY_get_octet_string_param(key, parameter, bytes.data(), bytes.size(), &size) != 1) {
    wipe_bytes(bytes.data(), bytes.size());
    return std::nullopt;
  }
  // Within the capacity: nothing is copied elsewhere.
  bytes.resize(size);
  return bytes;
}

Bytes uncompressed(const Curve& curve, const crypto::Number& x, const crypto::Number& y) {
  const auto size = static_cast<int>(curve.coordinate_bytes());
  Bytes bytes(1 + 2 * curve.coordinate_bytes());
  bytes[0] = 4;
  if (!x || !y || BN_bn2binpad(x.get(), bytes.data() + 1, size) < 0 ||
      BN_bn2binpad(y.get(), bytes.data() + 1 + size, size) < 0) {
    reject_curve_key("a public key that is no point of its curve");
  }
  return bytes;
}

/// Whether the generator of the key's curve is that of the named one, in any of its encodings.
bool has_generator(const EVP_PKEY* key, const Curve& curve) {
  const std::optional<Bytes> point = bytes_of(key, OSSL_PKEY_PARAM_EC_GENERATOR);
  Bytes x(curve.coordinate_bytes());
  Bytes y(curve.coordinate_bytes());
  bytes_from_limbs(x, curve.x);
  bytes_from_limbs(y, curve.y);
  if (!point || point->size() < 1 + x.size() || !std::equal(x.begin(), x.end(), point->begin() + 1)) {
    return false;
  }
  const bool is_odd = (y.back() & 1) != 0;
  const std::uint8_t tag = (*point)[0];
  if (point->size() == 1 + x.size()) return tag == (is_odd ? 3 : 2);
  return point->size() == 1 + 2 * x.size() &&
         std::equal(y.begin(), y.end(), point->begin() + 1 + static_cast<std::ptrdiff_t>(x.size()));
}

/// The named curve whose numbers the key has, whether by name or as explicit parameters.
const Curve& weierstrass_curve(const EVP_PKEY* key) {
  for (const Curve& curve : named_curves()) {
    if (curve.form == MM_ECC_WEIERSTRASS && has_number(key, OSSL_PKEY_PARAM_EC_P, curve.p) &&
        has_number(key, OSSL_PKEY_PARAM_EC_A, curve.a) && has_number(key, OSSL_PKEY_PARAM_EC_B, curve.b) &&
        has_number(key, OSSL_PKEY_PARAM_EC_ORDER, curve.n) && has_generator(key, curve)) {
      return curve;
    }
  }
  std::array<char, 80> name{};
  if (EVP_PKEY_get_group_name(key, name.data(), name.size(), nullptr) == 1 && name[0] != '\0') {
    reject_curve_key(std::string("on the curve ") + name.data() + ", which this library does not have");
  }
  reject_curve_key("on a curve given by its numbers, which are not those of a named curve");
}

/// Whether the public key of a pair belongs to the private one. Files may hold any two.
bool is_pair(EVP_PKEY* key) {
  const crypto::Libcrypto<EVP_PKEY_CTX> context(EVP_PKEY_CTX_new_from_pkey(nullptr, key, nullptr));
  crypto::require_crypto(context != nullptr, "EVP_PKEY_CTX_new_from_pkey");
  return EVP_PKEY_pairwise_check(context.get()) == 1;
}

Bytes private_scalar(const EVP_PKEY* key, const Curve& curve) {
  const crypto::Number number = crypto::number_of(key, OSSL_PKEY_PARAM_PRIV_KEY);
  Bytes bytes(curve.scalar_bytes());
  SecretArray<Limb> limbs(curve.scalar_limbs());
  const bool fits = number && BN_bn2binpad(number.get(), bytes.data(), static_cast<int>(bytes.size())) >= 0;
  limbs_from_bytes(limbs.first(limbs.size()), bytes);
  if (fits && in_range(limbs.all(), curve.n) != 0) return bytes;
  wipe_bytes(bytes.data(), bytes.size());
  reject_curve_key("a private key that is 0, or the order of its curve or more");
}

Key weierstrass_key(const crypto::DecodedKey& found) {
  EVP_PKEY* key = found.key.get();
  const Curve& curve = weierstrass_curve(key);
  // Before the point: of a file without one OpenSSL computes it, but not from a number that is out of range.
  SecretBytes secret(found.is_private ? private_scalar(key, curve) : Bytes());
  Bytes point = uncompressed(curve, crypto::number_of(key, OSSL_PKEY_PARAM_EC_PUB_X),
                             crypto::number_of(key, OSSL_PKEY_PARAM_EC_PUB_Y));
  if (found.is_private && !is_pair(key)) reject_curve_key("a private key beside another one's public key");
  return {curve, secret.release(), std::move(point)};
}

Key string_key(const crypto::DecodedKey& found, const Curve& curve) {
  const EVP_PKEY* key = found.key.get();
  std::optional<Bytes> point = bytes_of(key, OSSL_PKEY_PARAM_PUB_KEY);
  if (!point || point->size() != point_bytes(curve)) reject_curve_key("without its public key");
  if (!found.is_private) return {curve, {}, std::move(*point)};
  std::optional<Bytes> secret = bytes_of(key, OSSL_PKEY_PARAM_PRIV_KEY);
  if (!secret || secret->size() != secret_bytes(curve)) reject_curve_key("without its private key");
  return {curve, std::move(*secret), std::move(*point)};
}

}  // namespace

Key key_from_encoding(const mm_bytes& encoded, const mm_ecc_decode_options& options) {
  const crypto::QuietErrors quiet;
  const crypto::WantedKey wanted =
      options.public_only != 0 ? crypto::WantedKey::public_first : crypto::WantedKey::any;
  const crypto::DecodedKey found = crypto::decode_key(encoded, options.password, wanted, kFamily);
  for (const char* algorithm : kAlgorithms) {
    const Curve* curve = find_curve(algorithm);
    const bool is_string = curve != nullptr && curve->form != MM_ECC_WEIERSTRASS;
    if (is_string && EVP_PKEY_is_a(found.key.get(), algorithm) == 1) return string_key(found, *curve);
  }
  return weierstrass_key(found);
}

}  // namespace manymod::ecc
