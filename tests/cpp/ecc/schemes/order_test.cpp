// SPDX-License-Identifier: Apache-2.0
// Arithmetic modulo the orders of all named curves, against libcrypto's numbers; and strict DER.
#include <gtest/gtest.h>

#include <array>

#include "crypto/libcrypto.hpp"
#include "ecc/order.hpp"
#include "ecc/schemes/encodings.hpp"
#include "ecc/test_bytes.hpp"
#include "repr/limbs.hpp"

namespace manymod::ecc {
namespace {

using testing::Bytes;

crypto::Number number_of(std::span<const Limb> limbs) {
  Bytes bytes(limbs.size_bytes());
  bytes_from_limbs(bytes, limbs);
  return crypto::Number(BN_bin2bn(bytes.data(), static_cast<int>(bytes.size()), nullptr));
}

/// Numbers below n: 0, 1, n - 1, and others.
Rows operands(const Curve& curve, std::size_t count, std::uint64_t seed) {
  Rows rows(count, curve.scalar_limbs());
  for (std::size_t i = 3; i < count; ++i) {
    limbs_from_bytes(rows[i], testing::noise(curve.scalar_bytes(), seed + i));
    limbs::truncate_bits(rows[i], curve.order_bits - 1);
  }
  rows[1][0] = 1;
  std::ranges::copy(curve.n, rows[2].begin());
  --rows[2][0];
  return rows;
}

TEST(Order, AgreesWithLibcrypto) {
  const crypto::Libcrypto<BN_CTX> context(BN_CTX_new());
  constexpr std::size_t kCount = 300;  // more than share one inversion
  for (const Curve& curve : named_curves()) {
    const auto order = Order::of(curve);
    const crypto::Number n = number_of(curve.n);
    const Rows a = operands(curve, kCount, 1);
    const Rows b = operands(curve, kCount, 1000);
    Rows product(kCount, order->limbs()), sum(kCount, order->limbs()), rest(kCount, order->limbs()),
        negative(kCount, order->limbs()), inverse(kCount, order->limbs());
    order->mul(product.data(), a.view(), b.view(), kCount);
    order->add(sum.data(), a.view(), b.view(), kCount);
    order->sub(rest.data(), a.view(), b.view(), kCount);
    order->negate(negative.data(), a.view(), kCount);
    order->inverse(inverse.data(), a.view(), kCount);
    const crypto::Number expected(BN_new()), zero(BN_new());
    for (std::size_t i = 0; i < kCount; ++i) {
      const crypto::Number x = number_of(a[i]);
      const crypto::Number y = number_of(b[i]);
      const auto is_expected = [&](const Rows& row) {
        return BN_cmp(number_of(row[i]).get(), expected.get()) == 0;
      };
      BN_mod_mul(expected.get(), x.get(), y.get(), n.get(), context.get());
      EXPECT_TRUE(is_expected(product)) << curve.name << i;
      BN_mod_add(expected.get(), x.get(), y.get(), n.get(), context.get());
      EXPECT_TRUE(is_expected(sum)) << curve.name << i;
      BN_mod_sub(expected.get(), x.get(), y.get(), n.get(), context.get());
      EXPECT_TRUE(is_expected(rest)) << curve.name << i;
      BN_mod_sub(expected.get(), zero.get(), x.get(), n.get(), context.get());
      EXPECT_TRUE(is_expected(negative)) << curve.name << i;
      if (BN_is_zero(x.get())) {
        BN_zero(expected.get());
      } else {
        BN_mod_inverse(expected.get(), x.get(), n.get(), context.get());
      }
      EXPECT_TRUE(is_expected(inverse)) << curve.name << i;
    }
  }
}

TEST(Der, IsReadOnlyWhereItIsTheOneEncoding) {
  const auto reads = [](const char* digits) {
    Limb r[4], s[4];
    return read_der(testing::from_hex(digits), r, s);
  };
  EXPECT_TRUE(reads("3006020101020101"));
  EXPECT_TRUE(reads("300702020080020101"));
  const char* const bad[] = {
      "",
      "30",
      "3000",
      "3003020101",
      "300602010102010100",    // a byte behind
      "300702010102010100",    // and within
      "3005020101020101",      // shorter than its content
      "3007020101020101",      // longer
      "308106020101020101",    // a long form of a short length
      "30820006020101020101",  //
      "3080020101020101"
      "0000",                // an indefinite length
      "300702020001020101",  // a padded number
      "3006020180020101",    // a negative one
      "30060201ff020101",    //
      "3005020002"
      "0101",              // an empty one
      "3106020101020101",  // another tag
      "3006030101020101",  //
      "300602810101"
      "0201"
      "01",  // a long form within
      "302702"
      "21"
      "01"
      "0000000000000000000000000000000000000000000000000000000000000000"
      "0201"
      "01",  // too wide
  };
  for (const char* digits : bad) EXPECT_FALSE(reads(digits)) << digits;
}

TEST(Der, IsReadAsItIsWritten) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Limb r[9]{}, s[9]{}, r_read[9], s_read[9];
    limbs_from_bytes(r, testing::noise(seed % 66 + 1, seed + 1));
    limbs_from_bytes(s, testing::noise((seed * 7) % 66 + 1, seed + 2));
    std::array<std::uint8_t, kMaxDer> bytes{};
    const std::size_t size = write_der(bytes, r, s);
    ASSERT_LE(size, longest_der(528));
    ASSERT_TRUE(read_der(ByteSpan(bytes).first(size), r_read, s_read)) << seed;
    EXPECT_TRUE(std::ranges::equal(r, r_read) && std::ranges::equal(s, s_read)) << seed;
    EXPECT_FALSE(read_der(ByteSpan(bytes).first(size - 1), r_read, s_read)) << seed;
  }
}

}  // namespace
}  // namespace manymod::ecc
