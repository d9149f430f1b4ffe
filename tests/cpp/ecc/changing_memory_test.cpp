// SPDX-License-Identifier: Apache-2.0
// Calls while another thread or process writes to the caller's arrays.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "ecc/call.hpp"
#include "ecc/plan.hpp"
#include "ecc/test_bytes.hpp"

namespace manymod::testing {
namespace {

// The public key of a private key that all items share is computed once a call, but each block of items reads
// the private key again: it must be the same one, or signatures of BIP 340 and SM2 hash another's public key.
TEST(EccChangingMemory, DoesNotChangeASharedPrivateKey) {
  const std::shared_ptr<const ecc::Curve> curve(ecc::find_curve("secp256k1"), [](const auto*) {});
  const ecc::Plan plan({}, {&curve, 1});
  const Bytes secret = noise(32, 1), message = noise(10, 2);
  Bytes given = secret, output(3 * 64);
  mm_ecc_call call{};
  call.struct_size = sizeof call;
  call.op = MM_ECC_SIGN;
  call.scheme = MM_ECC_BIP340;
  call.count = 3;
  call.secret = {1, given.data(), given.size(), 0, nullptr, nullptr};
  call.message = {1, message.data(), message.size(), 0, nullptr, nullptr};
  call.output = {output.data(), 3, 64, nullptr};
  const ecc::CheckedCall checked(plan, call);
  std::ranges::fill(given, std::uint8_t{1});
  ASSERT_TRUE(checked.inputs.secret->is_shared());
  EXPECT_TRUE(std::ranges::equal((*checked.inputs.secret)[2], secret));
}

}  // namespace
}  // namespace manymod::testing
