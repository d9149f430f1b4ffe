// SPDX-License-Identifier: Apache-2.0
// Constants of the C ABI, under their names there, for the package to use in place of copies.
#include <nanobind/nanobind.h>

#include "core/operation.hpp"
#include "core/thread_pool.hpp"
#include "manymod/manymod.h"
#include "manymod/rsa.h"
#include "python/convert.hpp"

namespace manymod::python {
namespace {

namespace nb = nanobind;

nb::tuple operation_names() {
  nb::list names;
  for (std::size_t i = 0; i < kOperationCount; ++i) {
    const std::string_view name = operation_name(static_cast<Operation>(i));
    names.append(nb::str(name.data(), name.size()));
  }
  return nb::tuple(names);
}

}  // namespace

void bind_constants(nb::module_& module) {
  module.attr("OPERATIONS") = operation_names();
  module.attr("MAX_THREADS") = kMaxThreads;
#define CONSTANT(name) module.attr(#name) = static_cast<long long>(name)
  CONSTANT(MM_MAX_MODULUS_BITS);
  CONSTANT(MM_OK);
  CONSTANT(MM_ITEM_ZERO_MODULUS);
  CONSTANT(MM_ITEM_NOT_INVERTIBLE);
  CONSTANT(MM_ITEM_EVEN_MODULUS);
  CONSTANT(MM_ITEM_MODULUS_TOO_WIDE);
  CONSTANT(MM_ITEM_NOT_COMPUTED);
  CONSTANT(MM_ITEM_RSA_KEY);
  CONSTANT(MM_ITEM_RSA_LENGTH);
  CONSTANT(MM_ITEM_RSA_RANGE);
  CONSTANT(MM_ITEM_RSA_DECRYPTION);
  CONSTANT(MM_ITEM_RSA_FAULT);
  CONSTANT(MM_ERR_ITEMS);
  CONSTANT(MM_ERR_NULL);
  CONSTANT(MM_ERR_ARGUMENT);
  CONSTANT(MM_ERR_OVERLAP);
  CONSTANT(MM_ERR_MEMORY);
  CONSTANT(MM_ERR_CANCELLED);
  CONSTANT(MM_ERR_UNKNOWN_VARIANT);
  CONSTANT(MM_ERR_UNUSABLE_VARIANT);
  CONSTANT(MM_ERR_UNKNOWN_DEVICE);
  CONSTANT(MM_ERR_INTERNAL);
  CONSTANT(MM_ERR_TUNING);
  CONSTANT(MM_ERR_DEVICE);
  CONSTANT(MM_ERR_UNSUPPORTED);
  CONSTANT(MM_ERR_KEY);
  CONSTANT(MM_ERR_CRYPTO);
  CONSTANT(MM_MODULUS_EACH);
  CONSTANT(MM_MODULUS_SHARED);
  CONSTANT(MM_RSA_MIN_BITS);
  CONSTANT(MM_RSA_MAX_BITS);
  CONSTANT(MM_RSA_EXPONENT_BITS);
  CONSTANT(MM_RSA_CHECK_PRIMES);
  CONSTANT(MM_RSA_PUBLIC);
  CONSTANT(MM_RSA_PRIVATE);
  CONSTANT(MM_RSA_SIGN);
  CONSTANT(MM_RSA_ENCRYPT);
  CONSTANT(MM_RSA_DECRYPT);
  CONSTANT(MM_RSA_RAW);
  CONSTANT(MM_RSA_PKCS1V15);
  CONSTANT(MM_RSA_PSS);
  CONSTANT(MM_RSA_OAEP);
  CONSTANT(MM_RSA_SHA1);
  CONSTANT(MM_RSA_SHA224);
  CONSTANT(MM_RSA_SHA256);
  CONSTANT(MM_RSA_SHA384);
  CONSTANT(MM_RSA_SHA512);
  CONSTANT(MM_RSA_SHA512_224);
  CONSTANT(MM_RSA_SHA512_256);
  CONSTANT(MM_RSA_SHA3_224);
  CONSTANT(MM_RSA_SHA3_256);
  CONSTANT(MM_RSA_SHA3_384);
  CONSTANT(MM_RSA_SHA3_512);
  CONSTANT(MM_RSA_SALT_DIGEST);
  CONSTANT(MM_RSA_SALT_AUTO);
  CONSTANT(MM_RSA_SALT_MAX);
#undef CONSTANT
}

}  // namespace manymod::python
