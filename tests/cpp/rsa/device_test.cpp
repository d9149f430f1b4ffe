// SPDX-License-Identifier: Apache-2.0
// RSA whose powers are computed by a GPU: the fake driver's.
#include <gtest/gtest.h>

#include <string>

#include "rsa/test_calls.hpp"
#include "support/fake_cuda/fixture.hpp"

namespace manymod::testing {
namespace {

using RsaOnGpu = FakeGpuTest;

TEST_F(RsaOnGpu, GivesWhatLibcryptoGives) {
  const std::size_t bits[] = {1024, 1031};
  const mm_rsa_padding wanted = padding(MM_RSA_PKCS1V15, MM_RSA_SHA256);
  for (const std::vector<std::uint32_t>& key_of :
       {std::vector<std::uint32_t>(3), std::vector<std::uint32_t>{0, 1, 0}}) {
    const std::vector<Bytes> messages = messages_of(3);
    const RingPointer ring = make_ring(bits, ring_options(1, "cuda:0"));
    ASSERT_NE(ring, nullptr);
    EXPECT_NE(std::string(mm_rsa_ring_variant(ring.get(), 0, 1, 1000)).find(".cuda"), std::string::npos);
    const Results ours = run(ring.get(), MM_RSA_SIGN, wanted, messages, key_of);
    ASSERT_EQ(ours.status, MM_OK) << mm_last_error();
    EXPECT_EQ(count_of(ours.recomputed, 0), 3U);
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_EQ(ours.outputs[i], oracle_sign(test_key(bits[key_of[i]]), messages[i], wanted));
    }
    const Results checked = run(ring.get(), MM_RSA_VERIFY, wanted, messages, key_of, ours.outputs);
    EXPECT_EQ(count_of(checked.valid, 1), 3U);
  }
}

}  // namespace
}  // namespace manymod::testing
