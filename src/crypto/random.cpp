// SPDX-License-Identifier: Apache-2.0
#include "crypto/random.hpp"

#include <openssl/rand.h>

#include <algorithm>
#include <climits>

#include "crypto/libcrypto.hpp"

namespace manymod::crypto {
namespace {

/// libcrypto takes sizes as int.
void draw(std::span<std::byte> to, int (*generate)(unsigned char*, int), const char* name) {
  while (!to.empty()) {
    const std::size_t size = std::min<std::size_t>(to.size(), INT_MAX);
    require_crypto(generate(reinterpret_cast<unsigned char*>(to.data()), static_cast<int>(size)) == 1, name);
    to = to.subspan(size);
  }
}

}  // namespace

void random_bytes(std::span<std::byte> to) { draw(to, RAND_bytes, "RAND_bytes"); }

void private_random_bytes(std::span<std::byte> to) { draw(to, RAND_priv_bytes, "RAND_priv_bytes"); }

}  // namespace manymod::crypto
