// SPDX-License-Identifier: Apache-2.0
// Public operations with keys of many exponents.
#include "rsa/exponent_groups.hpp"

#include <gtest/gtest.h>

#include <map>

#include "rsa/ring.hpp"
#include "rsa/test_calls.hpp"

namespace manymod::testing {
namespace {

// Public keys with arbitrary odd moduli of 1024 bits and these exponents.
std::vector<std::shared_ptr<const rsa::Key>> keys_with(std::span<const std::uint64_t> exponents) {
  std::vector<std::shared_ptr<const rsa::Key>> keys;
  for (std::size_t i = 0; i < exponents.size(); ++i) {
    Bytes n = noise(128, i);
    n.front() |= 0x80;
    n.back() |= 1;
    Bytes e;
    for (int shift = 56; shift >= 0; shift -= 8) {
      e.push_back(static_cast<std::uint8_t>(exponents[i] >> shift));
    }
    mm_rsa_numbers numbers{};
    numbers.n = view_of(n);
    numbers.e = view_of(e);
    keys.push_back(rsa::key_from_numbers(numbers));
  }
  return keys;
}

Number number_of(std::span<const Limb> limbs) {
  return Number(BN_lebin2bn(reinterpret_cast<const unsigned char*>(limbs.data()),
                            static_cast<int>(limbs.size_bytes()), nullptr));
}

// Twice as many keys, with an exponent each, take about twice as many comparisons, not four times.
TEST(RsaExponentGroups, TakeFewComparisons) {
  const auto comparisons = [](std::size_t count) {
    std::vector<std::uint64_t> exponents(count);
    for (std::size_t i = 0; i < count; ++i) exponents[i] = 3 + 2 * (i * 7919 % count);
    const rsa::Ring ring(ring_options(1), keys_with(exponents));
    std::vector<rsa::KeyRun> runs;
    for (std::size_t i = 0; i < count; ++i) runs.push_back({&ring.key(i), i, i + 1});
    std::size_t calls = 0;
    const auto counted = [&](const rsa::Key& x, const rsa::Key& y) {
      ++calls;
      return rsa::exponent_less(x, y);
    };
    EXPECT_EQ(rsa::group_by_exponent(runs, counted).size(), count);
    return calls;
  };
  EXPECT_LT(comparisons(1024), 3 * comparisons(512));
}

TEST(RsaExponentGroups, HaveEachRunOnceInOrder) {
  const std::uint64_t exponents[] = {5, 3, 65537, 3, 5, std::uint64_t{1} << 63 | 1, 3, 17};
  const rsa::Ring ring(ring_options(1), keys_with(exponents));
  std::vector<rsa::KeyRun> runs;
  for (std::size_t i = 0; i < std::size(exponents); ++i) runs.push_back({&ring.key(i), 2 * i, 2 * i + 2});
  std::map<std::uint64_t, std::vector<std::size_t>> found;
  const auto groups = rsa::group_by_exponent(runs, rsa::exponent_less);
  for (const std::span<const rsa::KeyRun> group : groups) {
    std::vector<std::size_t>& begins = found[group.front().key->key().e()[0]];
    EXPECT_TRUE(begins.empty());
    for (const rsa::KeyRun& run : group) begins.push_back(run.begin);
  }
  const std::map<std::uint64_t, std::vector<std::size_t>> expected{
      {3, {2, 6, 12}}, {5, {0, 8}}, {17, {14}}, {65537, {4}}, {exponents[5], {10}}};
  EXPECT_EQ(found, expected);
  EXPECT_TRUE(rsa::group_by_exponent(std::span<rsa::KeyRun>(), rsa::exponent_less).empty());
}

TEST(RsaExponentGroups, ComputeEveryItem) {
  std::vector<std::uint64_t> exponents;
  for (std::uint64_t i = 0; i < 60; ++i) exponents.push_back(i % 3 == 0 ? 65537 : 3 + 2 * (i * 37 % 50));
  const auto keys = keys_with(exponents);
  const rsa::Ring ring(ring_options(2), keys);
  std::vector<std::uint32_t> key_of;
  for (std::uint32_t i = 0; i < 200; ++i) key_of.push_back(i * i % 60);
  std::vector<Bytes> numbers;
  for (std::size_t i = 0; i < key_of.size(); ++i) numbers.push_back(noise(120, 1000 + i));
  const Pointers input(numbers);
  Bytes output(128 * key_of.size());
  mm_rsa_call call{};
  call.op = MM_RSA_PUBLIC;
  call.count = key_of.size();
  call.key = key_of.data();
  call.input = input.view();
  call.output = {output.data(), key_of.size(), 128, nullptr};
  ASSERT_EQ(ring.run(call), MM_OK);
  const Owned<BN_CTX> context(BN_CTX_new());
  for (std::size_t i = 0; i < key_of.size(); ++i) {
    const rsa::Key& key = *keys[key_of[i]];
    const Number x(BN_bin2bn(numbers[i].data(), static_cast<int>(numbers[i].size()), nullptr));
    const Number power(BN_new());
    ASSERT_EQ(
        BN_mod_exp(power.get(), x.get(), number_of(key.e()).get(), number_of(key.n()).get(), context.get()),
        1);
    Bytes expected(128);
    ASSERT_EQ(BN_bn2binpad(power.get(), expected.data(), 128), 128);
    EXPECT_TRUE(
        std::equal(expected.begin(), expected.end(), output.begin() + static_cast<std::ptrdiff_t>(128 * i)))
        << "item " << i;
  }
}

}  // namespace
}  // namespace manymod::testing
