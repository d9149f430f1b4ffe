// SPDX-License-Identifier: Apache-2.0
// RSA on one thread: signatures and decryption with hashing, padding, blinding and check, verification.
// Items a second; arguments: bits of the modulus, items of a call.
#include <benchmark/benchmark.h>
#include <openssl/rsa.h>
#include <openssl/x509.h>

#include <map>
#include <span>
#include <stdexcept>
#include <vector>

#include "manymod/rsa.hpp"

namespace {

namespace rsa = manymod::rsa;

/// A key of libcrypto's making, on one thread of the CPU.
rsa::Ring& ring_of(unsigned bits) {
  static std::map<unsigned, rsa::Ring> rings;
  const auto found = rings.find(bits);
  if (found != rings.end()) return found->second;
  EVP_PKEY* made = EVP_RSA_gen(bits);
  unsigned char* der = nullptr;
  const int size = made == nullptr ? -1 : i2d_PrivateKey(made, &der);
  EVP_PKEY_free(made);
  if (size < 0) throw std::runtime_error("libcrypto makes no key");
  const rsa::Key key = rsa::Key::decode(std::span(der, static_cast<std::size_t>(size)));
  OPENSSL_clear_free(der, static_cast<std::size_t>(size));
  manymod::Placement where;
  where.device = "cpu";
  where.threads = 1;
  return rings.emplace(bits, rsa::Ring(key, where)).first->second;
}

/// One operation on `items` items, again and again.
template <class Operation>
void measure(benchmark::State& state, std::size_t items, Operation&& operation) {
  for (auto _ : state) benchmark::DoNotOptimize(operation());
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations()) * static_cast<std::int64_t>(items));
}

void sign(benchmark::State& state) {
  rsa::Ring& ring = ring_of(static_cast<unsigned>(state.range(0)));
  const std::vector<rsa::Bytes> messages(static_cast<std::size_t>(state.range(1)), rsa::Bytes(100));
  measure(state, messages.size(), [&] { return ring.sign(messages, rsa::pss(MM_SHA256)); });
}

void verify(benchmark::State& state) {
  rsa::Ring& ring = ring_of(static_cast<unsigned>(state.range(0)));
  const std::vector<rsa::Bytes> messages(static_cast<std::size_t>(state.range(1)), rsa::Bytes(100));
  const auto signatures = ring.sign(messages, rsa::pkcs1v15(MM_SHA256));
  if (ring.verify(messages, signatures, rsa::pkcs1v15(MM_SHA256)) != std::vector(messages.size(), true)) {
    state.SkipWithError("a signature is not valid");
    return;
  }
  measure(state, messages.size(),
          [&] { return ring.verify(messages, signatures, rsa::pkcs1v15(MM_SHA256)); });
}

void decrypt(benchmark::State& state) {
  rsa::Ring& ring = ring_of(static_cast<unsigned>(state.range(0)));
  const std::vector<rsa::Bytes> messages(static_cast<std::size_t>(state.range(1)), rsa::Bytes(32));
  const auto ciphertexts = ring.encrypt(messages, rsa::oaep(MM_SHA256));
  if (ring.decrypt(ciphertexts, rsa::oaep(MM_SHA256)) != messages) {
    state.SkipWithError("a message is not what was encrypted");
    return;
  }
  measure(state, messages.size(), [&] { return ring.decrypt(ciphertexts, rsa::oaep(MM_SHA256)); });
}

void shapes(benchmark::internal::Benchmark* bench) {
  for (const std::int64_t bits : {2048, 3072, 4096}) {
    for (const std::int64_t items : {1, 64}) bench->Args({bits, items});
  }
}

BENCHMARK(sign)->Name("rsa_sign")->Apply(shapes);
BENCHMARK(verify)->Name("rsa_verify")->Apply(shapes);
BENCHMARK(decrypt)->Name("rsa_decrypt")->Apply(shapes);

}  // namespace
