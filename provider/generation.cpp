// SPDX-License-Identifier: Apache-2.0
#include "generation.hpp"

#include <openssl/core_names.h>

#include <memory>

namespace manymod::provider {
namespace {

/// What reports progress as libcrypto's key generation does, and how.
struct Progress {
  OSSL_CALLBACK* callback;
  void* argument;

  static int report(EVP_PKEY_CTX* context) {
    const auto* const progress = static_cast<const Progress*>(EVP_PKEY_CTX_get_app_data(context));
    int potential = EVP_PKEY_CTX_get_keygen_info(context, 0);
    int iteration = EVP_PKEY_CTX_get_keygen_info(context, 1);
    const OSSL_PARAM parameters[] = {OSSL_PARAM_construct_int(OSSL_GEN_PARAM_POTENTIAL, &potential),
                                     OSSL_PARAM_construct_int(OSSL_GEN_PARAM_ITERATION, &iteration),
                                     OSSL_PARAM_construct_end()};
    return progress->callback(parameters, progress->argument);
  }
};

}  // namespace

Generation* Generation::begin(const Provider& provider, Kind kind, int selection,
                              const OSSL_PARAM parameters[]) {
  return guarded(provider, [&]() -> Generation* {
    const bool whole_key = (selection & OSSL_KEYMGMT_SELECT_KEYPAIR) != 0;
    std::unique_ptr<Generation> generation(new Generation(provider, kind, whole_key));
    Libcrypto<EVP_PKEY_CTX> context(EVP_PKEY_CTX_new_from_name(provider.library(), name_of(kind), kDelegate));
    if (!generation->start(std::move(context)) || !generation->set_parameters(parameters)) return nullptr;
    return generation.release();
  });
}

bool Generation::start(Libcrypto<EVP_PKEY_CTX> context) {
  if (context == nullptr) return false;
  const int started =
      whole_key_ ? EVP_PKEY_keygen_init(context.get()) : EVP_PKEY_paramgen_init(context.get());
  if (started <= 0) return false;
  context_ = std::move(context);
  return given_ == nullptr || EVP_PKEY_CTX_set_params(context_.get(), given_.get()) > 0;
}

bool Generation::set_parameters(const OSSL_PARAM parameters[]) {
  if (parameters == nullptr || parameters->key == nullptr) return true;
  Libcrypto<OSSL_PARAM> all(given_ == nullptr ? OSSL_PARAM_dup(parameters)
                                              : OSSL_PARAM_merge(given_.get(), parameters));
  // What OSSL_PARAM_merge gives points into both arrays.
  if (given_ != nullptr && all != nullptr) all.reset(OSSL_PARAM_dup(all.get()));
  if (all == nullptr) return false;
  given_ = std::move(all);
  return EVP_PKEY_CTX_set_params(context_.get(), parameters) > 0;
}

bool Generation::set_template(const Key& key) {
  return start(
      Libcrypto<EVP_PKEY_CTX>(EVP_PKEY_CTX_new_from_pkey(provider_.library(), key.delegate(), kDelegate)));
}

Key* Generation::generate(OSSL_CALLBACK* progress, void* argument) {
  return guarded(provider_, [&]() -> Key* {
    Progress told{progress, argument};
    if (progress != nullptr) {
      EVP_PKEY_CTX_set_app_data(context_.get(), &told);
      EVP_PKEY_CTX_set_cb(context_.get(), &Progress::report);
    }
    EVP_PKEY* made = nullptr;
    if (EVP_PKEY_generate(context_.get(), &made) <= 0) return nullptr;
    Libcrypto<EVP_PKEY> owner(made);
    KeyOwner key(new Key(provider_, kind_));
    key->adopt(std::move(owner));
    return key.release();
  });
}

}  // namespace manymod::provider
