// SPDX-License-Identifier: Apache-2.0
#include "verify.hpp"

#include <openssl/core_names.h>

#include <array>
#include <string_view>

#include "curves.hpp"
#include "job.hpp"

namespace manymod::provider {
namespace {

constexpr std::size_t kLongestPoint = 97;  // P-384, uncompressed

}  // namespace

// docs/provider.md has the measurements by which these kinds of keys are chosen.
std::optional<bool> verified_here(const Key& key, std::span<const std::uint8_t> signature,
                                  std::span<const std::uint8_t> message) {
  const char* const curve = curve_name(key.delegate(), key.kind());
  if (curve == nullptr || std::string_view(curve) == "P-256" || current_job() != nullptr) {
    return std::nullopt;
  }
  std::array<std::uint8_t, kLongestPoint> point;
  std::size_t size = 0;
  if (EVP_PKEY_get_octet_string_param(key.delegate(), OSSL_PKEY_PARAM_PUB_KEY, point.data(), point.size(),
                                      &size) <= 0) {
    return std::nullopt;
  }
  EngineSettings settings = key.provider().configuration().engine;
  settings.device = "cpu";  // for one signature
  try {
    ecc::Plan& plan = shared_plan(curve, settings);
    const mm_ecc_scheme scheme = key.kind() == Kind::ec ? MM_ECC_ECDSA : MM_ECC_EDDSA;
    const auto valid = verify_on_curve(plan, {scheme, {point.data(), size}, message, signature});
    if (valid) key.provider().verified().fetch_add(1, std::memory_order_relaxed);
    return valid;
  } catch (const Error&) {  // such as no memory: as the default provider has it
    return std::nullopt;
  }
}

}  // namespace manymod::provider
