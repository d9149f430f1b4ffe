// SPDX-License-Identifier: Apache-2.0
// Capabilities (provider-base(7)): the TLS groups of the default provider whose keys this provider manages.
//
// libssl offers a group only if the key management that it fetches for it belongs to the provider that named
// the group (https://github.com/openssl/openssl/issues/16614): without this, handshakes would lose all groups
// of EC. Groups of other kinds of keys remain the default provider's.
#include <openssl/core_names.h>
#include <openssl/provider.h>

#include <string_view>

#include "key.hpp"
#include "provider.hpp"

namespace manymod::provider {
namespace {

struct Receiver {
  OSSL_CALLBACK* callback;
  void* argument;

  /// Pass a group of the default provider on, if its keys are EC keys.
  static int take(const OSSL_PARAM group[], void* receiver) {
    const auto& to = *static_cast<const Receiver*>(receiver);
    const OSSL_PARAM* const algorithm = OSSL_PARAM_locate_const(group, OSSL_CAPABILITY_TLS_GROUP_ALG);
    const char* name = nullptr;
    if (algorithm == nullptr || OSSL_PARAM_get_utf8_string_ptr(algorithm, &name) == 0) return 1;
    return std::string_view(name) == name_of(Kind::ec) ? to.callback(group, to.argument) : 1;
  }
};

}  // namespace

int get_capabilities(void* context, const char* capability, OSSL_CALLBACK* callback, void* argument) {
  const Provider& provider = provider_of(context);
  if (std::string_view(capability) != "TLS-GROUP" || !provider.offers(name_of(Kind::ec))) return 1;
  const Libcrypto<EVP_KEYMGMT> management(
      EVP_KEYMGMT_fetch(provider.library(), name_of(Kind::ec), kDelegate));
  if (management == nullptr) return 1;
  Receiver receiver{callback, argument};
  return OSSL_PROVIDER_get_capabilities(EVP_KEYMGMT_get0_provider(management.get()), capability,
                                        &Receiver::take, &receiver);
}

}  // namespace manymod::provider
