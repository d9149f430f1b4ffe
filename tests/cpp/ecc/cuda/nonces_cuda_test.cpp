// SPDX-License-Identifier: Apache-2.0
// Nonces of RFC 6979 in device code, compiled for the host, with and without extra bytes: those of the
// processor.
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

#include "ecc/cuda/any_curve.cuda.hpp"
#include "ecc/cuda/curves.cuda.hpp"
#include "ecc/cuda/ecdsa.cuda.hpp"
#include "ecc/schemes/numbers.hpp"
#include "repr/limbs.hpp"

namespace manymod::ecc::cuda {
namespace {

template <class C, class Hash>
void expect_nonces_of_the_host(CurveId id, mm_hash hash) {
  const Curve& curve = named_curve(id);
  SCOPED_TRACE(curve.name);
  std::mt19937_64 random(5);
  const auto words_of = [](const std::vector<Limb>& limbs) {
    std::vector<std::uint32_t> words(2 * limbs.size());
    std::memcpy(words.data(), limbs.data(), limbs.size() * sizeof(Limb));
    return words;
  };
  const auto number = [&] {
    std::vector<Limb> r(curve.scalar_limbs());
    for (Limb& limb : r) limb = random();
    limbs::truncate_bits(r, curve.order_bits - 1);
    return r;
  };
  NonceGenerator expected(curve, hash);
  const std::vector<std::uint32_t> order = words_of(curve.n);
  for (unsigned round = 0; round < 8; ++round) {
    const std::vector<Limb> secret = number();
    std::vector<Limb> digest = number();
    std::vector<std::uint8_t> extra(NonceJob::kExtraBytes);
    for (std::uint8_t& byte : extra) byte = static_cast<std::uint8_t>(random());
    const std::vector<std::uint32_t> d = words_of(secret), z = words_of(digest);
    std::vector<std::uint32_t> random_words(extra.size() / 4), k(C::kRowWords);
    std::memcpy(random_words.data(), extra.data(), extra.size());
    std::uint8_t found = 1;
    NonceJob job;
    job.curve.order = order.data();
    job.curve.order_bits = static_cast<std::uint32_t>(curve.order_bits);
    job.count = 1;
    job.secret.words = d.data(), job.digest.words = z.data(), job.extra.words = random_words.data();
    job.nonce.words = k.data();
    job.found = &found;
    const bool hedged = round % 2 != 0;
    if (hedged) {
      derive_nonce<C, Hash, NonceJob::kExtraBytes>(job, 0);
    } else {
      derive_nonce<C, Hash>(job, 0);
    }
    std::vector<Limb> right(curve.scalar_limbs());
    expected.generate(right, {secret, digest, hedged ? ByteSpan(extra) : ByteSpan()}, 0);
    EXPECT_EQ(found, 1);
    EXPECT_EQ(k, words_of(right));
  }
}

TEST(CudaNonces, AreThoseOfTheHost) {
  expect_nonces_of_the_host<P256, Sha256>(CurveId::p256, MM_SHA256);
  expect_nonces_of_the_host<P384, Sha384>(CurveId::p384, MM_SHA384);
  expect_nonces_of_the_host<P521, Sha512>(CurveId::p521, MM_SHA512);
  expect_nonces_of_the_host<Any256, Sha256>(CurveId::brainpool256r1, MM_SHA256);
  expect_nonces_of_the_host<Any256, Sha256>(CurveId::bn254, MM_SHA256);
  expect_nonces_of_the_host<Any384, Sha384>(CurveId::brainpool384r1, MM_SHA384);
  expect_nonces_of_the_host<Any512, Sha512>(CurveId::brainpool512r1, MM_SHA512);
}

}  // namespace
}  // namespace manymod::ecc::cuda
