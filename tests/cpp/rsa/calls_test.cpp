// SPDX-License-Identifier: Apache-2.0
// Invalid calls, forms of input and output, cancellation, and the C++ wrapper.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <string>
#include <thread>

#include "manymod/rsa.hpp"
#include "rsa/test_calls.hpp"
#include "support/enum_number.hpp"

namespace manymod::testing {
namespace {

/// A call that signs three messages, with the data that it points to.
struct SigningCall {
  std::array<std::uint8_t, 30> messages{};
  Bytes signatures = Bytes(3 * 128);
  std::array<std::uint8_t, 3> valid{};
  std::array<std::size_t, 3> sizes{};
  mm_rsa_call call{};

  SigningCall() {
    call.struct_size = sizeof call;
    call.op = MM_RSA_SIGN;
    call.padding = padding(MM_RSA_PSS, MM_SHA256);
    call.count = 3;
    call.input = {3, messages.data(), 10, 0, nullptr, nullptr};
    call.signature = {3, signatures.data(), 128, 0, nullptr, nullptr};
    call.output = {signatures.data(), 3, 128, sizes.data()};
    call.valid = valid.data();
  }
};

struct BadCall {
  const char* what;
  std::function<void(SigningCall&)> spoil;
  mm_status status;
};

TEST(RsaCalls, MalformedOnesWriteNothing) {
  const RingPointer ring = make_ring(1024);
  static const std::int64_t descending[] = {0, 5, 4, 30};
  static const std::int64_t negative[] = {-1, 5, 14, 30};
  static const mm_bytes null_item[] = {{nullptr, 3}, {nullptr, 0}, {nullptr, 0}};
  static const std::uint8_t byte = 0;
  static const mm_bytes huge_item[] = {{&byte, 1}, {&byte, SIZE_MAX}, {&byte, 1}};
  const BadCall cases[] = {
      {"struct size", [](auto& x) { x.call.struct_size = 8; }, MM_ERR_ARGUMENT},
      {"op", [](auto& x) { set_number(x.call.op, 6); }, MM_ERR_ARGUMENT},
      {"scheme", [](auto& x) { set_number(x.call.padding.scheme, 4); }, MM_ERR_ARGUMENT},
      {"scheme of another operation", [](auto& x) { x.call.padding.scheme = MM_RSA_OAEP; }, MM_ERR_ARGUMENT},
      {"PSS for encryption", [](auto& x) { x.call.op = MM_RSA_ENCRYPT; }, MM_ERR_ARGUMENT},
      {"padding for a raw power", [](auto& x) { x.call.op = MM_RSA_PRIVATE; }, MM_ERR_ARGUMENT},
      {"no hash", [](auto& x) { x.call.padding.hash = MM_HASH_NONE; }, MM_ERR_ARGUMENT},
      {"unknown hash", [](auto& x) { set_number(x.call.padding.hash, MM_HASH_COUNT); }, MM_ERR_ARGUMENT},
      {"SHAKE in PKCS#1 v1.5",
       [](auto& x) { set_number(x.call.padding.hash, MM_SHAKE128), x.call.padding.scheme = MM_RSA_PKCS1V15; },
       MM_ERR_ARGUMENT},
      {"another mask for SHAKE", [](auto& x) { set_number(x.call.padding.mgf_hash, MM_SHAKE128); },
       MM_ERR_ARGUMENT},
      {"unknown MGF1 hash", [](auto& x) { set_number(x.call.padding.mgf_hash, 15); }, MM_ERR_ARGUMENT},
      {"automatic salt", [](auto& x) { x.call.padding.salt_length = MM_RSA_SALT_AUTO; }, MM_ERR_ARGUMENT},
      {"salt -4", [](auto& x) { x.call.padding.salt_length = -4; }, MM_ERR_ARGUMENT},
      {"input count", [](auto& x) { x.call.input.count = 2; }, MM_ERR_ARGUMENT},
      {"input NULL", [](auto& x) { x.call.input.data = nullptr; }, MM_ERR_NULL},
      {"input stride", [](auto& x) { x.call.input.stride = 9; }, MM_ERR_ARGUMENT},
      {"input that wraps around", [](auto& x) { x.call.input.stride = SIZE_MAX; }, MM_ERR_ARGUMENT},
      {"input larger than any array", [](auto& x) { x.call.input.stride = SIZE_MAX / 4 + 1; },
       MM_ERR_ARGUMENT},
      {"an item larger than any array", [](auto& x) { x.call.input.items = huge_item; }, MM_ERR_ARGUMENT},
      {"signatures that wrap around",
       [](auto& x) { x.call.op = MM_RSA_VERIFY, x.call.signature.stride = SIZE_MAX; }, MM_ERR_ARGUMENT},
      {"descending offsets", [](auto& x) { x.call.input.offsets = descending; }, MM_ERR_ARGUMENT},
      {"negative offset", [](auto& x) { x.call.input.offsets = negative; }, MM_ERR_ARGUMENT},
      {"an item NULL", [](auto& x) { x.call.input.items = null_item; }, MM_ERR_NULL},
      {"output NULL", [](auto& x) { x.call.output.data = nullptr; }, MM_ERR_NULL},
      {"output count", [](auto& x) { x.call.output.count = 4; }, MM_ERR_ARGUMENT},
      {"output stride", [](auto& x) { x.call.output.stride = 127; }, MM_ERR_ARGUMENT},
      {"output larger than any array", [](auto& x) { x.call.output.stride = SIZE_MAX / 4 + 1; },
       MM_ERR_ARGUMENT},
      {"overlap",
       [](auto& x) {
         x.call.input.data = x.signatures.data() + 383;
         x.call.input.size = 1;
         x.call.input.count = 1;
       },
       MM_ERR_OVERLAP},
      {"sizes in output",
       [](auto& x) { x.call.output.sizes = reinterpret_cast<std::size_t*>(x.signatures.data() + 360); },
       MM_ERR_OVERLAP},
      {"statuses in input", [](auto& x) { x.call.item_status = x.messages.data() + 29; }, MM_ERR_OVERLAP},
      {"flags of recomputed items in statuses",
       [](auto& x) { x.call.item_status = x.call.item_recomputed = x.valid.data(); }, MM_ERR_OVERLAP},
      {"verdicts in input", [](auto& x) { x.call.op = MM_RSA_VERIFY, x.call.valid = x.messages.data(); },
       MM_ERR_OVERLAP},
      {"flags of recomputed items in signatures",
       [](auto& x) { x.call.op = MM_RSA_VERIFY, x.call.item_recomputed = x.signatures.data() + 383; },
       MM_ERR_OVERLAP},
      {"statuses in verdicts",
       [](auto& x) { x.call.op = MM_RSA_VERIFY, x.call.item_status = x.valid.data() + 2; }, MM_ERR_OVERLAP},
      {"decryption without sizes",
       [](auto& x) {
         x.call.op = MM_RSA_DECRYPT;
         x.call.padding.scheme = MM_RSA_PKCS1V15;
         x.call.output.sizes = nullptr;
       },
       MM_ERR_NULL},
      {"verification without `valid`", [](auto& x) { x.call.op = MM_RSA_VERIFY, x.call.valid = nullptr; },
       MM_ERR_NULL},
      {"verification without signatures", [](auto& x) { x.call.op = MM_RSA_VERIFY, x.call.signature = {}; },
       MM_ERR_ARGUMENT},
      {"a label NULL",
       [](auto& x) {
         x.call.op = MM_RSA_ENCRYPT;
         x.call.padding.scheme = MM_RSA_OAEP;
         x.call.padding.label = {nullptr, 4};
       },
       MM_ERR_NULL},
  };
  for (const BadCall& bad : cases) {
    SigningCall signing;
    bad.spoil(signing);
    EXPECT_EQ(mm_rsa_run(ring.get(), &signing.call), bad.status) << bad.what << ": " << mm_last_error();
    EXPECT_EQ(count_of(signing.signatures, 0), signing.signatures.size()) << bad.what;
  }
  SigningCall signing;
  EXPECT_EQ(mm_rsa_run(nullptr, &signing.call), MM_ERR_NULL);
  EXPECT_EQ(mm_rsa_run(ring.get(), nullptr), MM_ERR_NULL);
  EXPECT_EQ(mm_rsa_run(ring.get(), &signing.call), MM_OK) << mm_last_error();
  signing.call.count = 0;
  EXPECT_EQ(mm_rsa_run(ring.get(), &signing.call), MM_OK);
}

TEST(RsaCalls, RingsNeedKeysAndGoodOptions) {
  mm_rsa_ring* ring = nullptr;
  const mm_rsa_key* keys[] = {test_key(1024).key.get(), nullptr};
  EXPECT_EQ(mm_rsa_ring_create(nullptr, keys, 0, &ring), MM_ERR_ARGUMENT);
  EXPECT_EQ(mm_rsa_ring_create(nullptr, nullptr, 1, &ring), MM_ERR_NULL);
  EXPECT_EQ(mm_rsa_ring_create(nullptr, keys, 2, &ring), MM_ERR_NULL);
  EXPECT_NE(std::string(mm_last_error()).find("keys[1]"), std::string::npos);
  EXPECT_EQ(mm_rsa_ring_create(nullptr, keys, 1, nullptr), MM_ERR_NULL);
  mm_rsa_ring_options options = ring_options();
  options.device = "abacus";
  EXPECT_EQ(mm_rsa_ring_create(&options, keys, 1, &ring), MM_ERR_UNKNOWN_DEVICE);
  options = ring_options();
  options.variant = "abacus";
  EXPECT_EQ(mm_rsa_ring_create(&options, keys, 1, &ring), MM_ERR_UNKNOWN_VARIANT);
  options = ring_options(5000);
  EXPECT_EQ(mm_rsa_ring_create(&options, keys, 1, &ring), MM_ERR_ARGUMENT);
  options = ring_options();
  set_number(options.blinding, 2);
  EXPECT_EQ(mm_rsa_ring_create(&options, keys, 1, &ring), MM_ERR_ARGUMENT);
  options.struct_size = 4;
  EXPECT_EQ(mm_rsa_ring_create(&options, keys, 1, &ring), MM_ERR_ARGUMENT);
  EXPECT_EQ(ring, nullptr);
  mm_rsa_ring_destroy(nullptr);
}

TEST(RsaCalls, AllFormsOfInputAreTheSame) {
  const RingPointer ring = make_ring(1024);
  SigningCall signing;
  for (std::size_t i = 0; i < 30; ++i) signing.messages[i] = static_cast<std::uint8_t>(i);
  signing.call.padding = padding(MM_RSA_PKCS1V15, MM_SHA256);
  ASSERT_EQ(mm_rsa_run(ring.get(), &signing.call), MM_OK) << mm_last_error();
  const Bytes expected = signing.signatures;
  const std::int64_t offsets[] = {0, 10, 20, 30};
  const mm_bytes items[] = {
      {&signing.messages[0], 10}, {&signing.messages[10], 10}, {&signing.messages[20], 10}};
  signing.call.input = {3, signing.messages.data(), 0, 0, offsets, nullptr};
  ASSERT_EQ(mm_rsa_run(ring.get(), &signing.call), MM_OK) << mm_last_error();
  EXPECT_EQ(signing.signatures, expected);
  signing.call.input = {3, nullptr, 0, 0, nullptr, items};
  signing.call.output.sizes = nullptr;
  ASSERT_EQ(mm_rsa_run(ring.get(), &signing.call), MM_OK) << mm_last_error();
  EXPECT_EQ(signing.signatures, expected);
  signing.call.input = {3, signing.messages.data() + 20, 10, 1, nullptr, nullptr};
  EXPECT_EQ(mm_rsa_run(ring.get(), &signing.call), MM_ERR_ARGUMENT);
  signing.call.input = {1, signing.messages.data() + 20, 10, 0, nullptr, nullptr};
  ASSERT_EQ(mm_rsa_run(ring.get(), &signing.call), MM_OK) << mm_last_error();
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(std::memcmp(&signing.signatures[128 * i], &expected[256], 128), 0);
  }
}

TEST(RsaCalls, OutputsOfItemsWithoutAKeyAreZero) {
  const RingPointer ring = make_ring(1024);
  const std::uint32_t some[] = {0, 5, 0};
  const std::uint32_t none[] = {7, 5, 6};
  for (const std::uint32_t* key_of : {some, none}) {
    SigningCall signing;
    std::ranges::fill(signing.signatures, std::uint8_t{0xee});
    std::ranges::fill(signing.sizes, 99);
    signing.call.key = key_of;
    EXPECT_EQ(mm_rsa_run(ring.get(), &signing.call), MM_ERR_ITEMS);
    for (std::size_t i = 0; i < 3; ++i) {
      const bool there = key_of[i] == 0;
      EXPECT_EQ(signing.sizes[i], there ? 128U : 0U);
      if (there) continue;
      const std::uint8_t* row = &signing.signatures[128 * i];
      EXPECT_EQ(std::count(row, row + 128, 0), 128) << i;
    }
  }
}

TEST(RsaCalls, WithoutKeysWriteNoMoreThanTheirStride) {
  const RingPointer ring = make_ring(1024);
  const std::uint32_t none[] = {7, 5, 6};
  SigningCall signing;
  std::ranges::fill(signing.signatures, std::uint8_t{0xee});
  signing.call.key = none;
  signing.call.output.stride = 10;
  EXPECT_EQ(mm_rsa_run(ring.get(), &signing.call), MM_ERR_ITEMS);
  EXPECT_EQ(count_of(signing.signatures, 0), 30U);
}

TEST(RsaCalls, EveryVariantThatCanSignsAlike) {
  const std::vector<Bytes> messages = messages_of(9);
  const mm_rsa_padding wanted = padding(MM_RSA_PKCS1V15, MM_SHA256);
  std::vector<Bytes> expected;
  for (const Bytes& message : messages) expected.push_back(oracle_sign(test_key(1031), message, wanted));
  for (std::size_t i = 0; i < mm_variant_count(); ++i) {
    mm_variant_info variant{};
    variant.struct_size = sizeof variant;
    ASSERT_EQ(mm_variant_get(i, &variant), MM_OK);
    const bool serves = variant.usable != 0 && variant.backend == MM_BACKEND_CPU &&
                        ((variant.secret_ops >> MM_OP_POWMOD) & 1U) != 0 && variant.max_bits >= 1088;
    if (!serves) continue;
    mm_rsa_ring_options options = ring_options(1);
    options.variant = variant.name;
    const RingPointer ring = make_ring(1031, options);
    const Results results = run(ring.get(), MM_RSA_SIGN, wanted, messages);
    EXPECT_EQ(results.status, MM_OK) << mm_last_error();
    EXPECT_EQ(results.outputs, expected) << variant.name;
    EXPECT_EQ(count_of(results.recomputed, 0), messages.size()) << variant.name;
    for (const std::size_t items : {std::size_t{0}, std::size_t{1}, std::size_t{9}, SIZE_MAX}) {
      EXPECT_STREQ(mm_rsa_ring_variant(ring.get(), 0, 1, items), variant.name);
    }
  }
}

TEST(RsaCalls, ManyAtOnceOnOneRingAreRight) {
  const RingPointer ring = make_ring(1024, ring_options(2));
  const mm_rsa_padding wanted = padding(MM_RSA_PKCS1V15, MM_SHA256);
  const std::vector<Bytes> messages = messages_of(20);
  std::vector<Bytes> expected;
  for (const Bytes& message : messages) expected.push_back(oracle_sign(test_key(1024), message, wanted));
  std::array<int, 4> right{};
  std::vector<std::thread> threads;
  for (int& count : right) {
    threads.emplace_back([&] {
      for (int call = 0; call < 10; ++call) {
        count += run(ring.get(), MM_RSA_SIGN, wanted, messages).outputs == expected ? 1 : 0;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, (std::array<int, 4>{10, 10, 10, 10}));
}

struct Stopper {
  std::size_t calls = 0;
  std::size_t last = 0;
  bool ordered = true;

  static int stop_at_the_second(std::size_t done, std::size_t total, void* user) {
    auto& self = *static_cast<Stopper*>(user);
    self.ordered = self.ordered && self.last <= done && done <= total;
    self.last = done;
    return ++self.calls >= 2 ? 1 : 0;
  }
};

TEST(RsaCalls, StopWhenToldTo) {
  const RingPointer ring = make_ring(4096, ring_options(2));
  const std::size_t count = 3000;
  Bytes signatures(count * 512, 0xee);
  std::vector<std::uint8_t> statuses(count);
  std::vector<std::size_t> sizes(count);
  Stopper stopper;
  mm_rsa_call call{};
  call.struct_size = sizeof call;
  call.op = MM_RSA_SIGN;
  call.padding = padding(MM_RSA_PSS, MM_SHA256);
  call.count = count;
  call.input = {1, statuses.data(), 0, 0, nullptr, nullptr};
  call.output = {signatures.data(), count, 512, sizes.data()};
  call.item_status = statuses.data();
  call.progress = &Stopper::stop_at_the_second;
  call.progress_user = &stopper;
  EXPECT_EQ(mm_rsa_run(ring.get(), &call), MM_ERR_CANCELLED);
  EXPECT_EQ(count_of(statuses, MM_ITEM_NOT_COMPUTED), count);
  EXPECT_EQ(count_of(signatures, 0), signatures.size());
  EXPECT_TRUE(stopper.ordered);
}

TEST(RsaWrapper, SignsVerifiesAndDecrypts) {
  const KeyBytes& bytes = test_key(1024).bytes;
  const wrapper::rsa::Numbers numbers{bytes.n, bytes.e,  bytes.d,  bytes.p,
                                      bytes.q, bytes.dp, bytes.dq, bytes.qinv};
  const wrapper::rsa::Key key(numbers);
  EXPECT_EQ(key.info().modulus_bits, 1024U);
  wrapper::rsa::Ring ring(key);
  const std::vector<Bytes> messages = messages_of(4, 60);
  const mm_rsa_padding pss = wrapper::rsa::pss(MM_SHA256);
  std::vector<Bytes> signatures = ring.sign(messages, pss);
  EXPECT_EQ(ring.verify(messages, signatures, pss), std::vector<bool>(4, true));
  signatures[2][0] ^= 1;
  EXPECT_EQ(ring.verify(messages, signatures, pss), (std::vector<bool>{true, true, false, true}));
  const Bytes label = bytes_of("label");
  const mm_rsa_padding oaep = wrapper::rsa::oaep(MM_SHA1, label);
  EXPECT_EQ(ring.decrypt(ring.encrypt(messages, oaep), oaep), messages);
  EXPECT_EQ(ring.raw_public(ring.raw_private(std::vector<Bytes>{Bytes(128, 1)}))[0], Bytes(128, 1));
  std::vector<mm_status> statuses;
  const std::vector<Bytes> sealed =
      ring.encrypt(std::vector<Bytes>{Bytes(118), Bytes(117)}, wrapper::rsa::pkcs1v15(), {}, &statuses);
  EXPECT_EQ(statuses, (std::vector<mm_status>{MM_ITEM_RSA_LENGTH, MM_OK}));
  EXPECT_TRUE(sealed[0].empty());
  EXPECT_THROW(static_cast<void>(ring.encrypt(std::vector<Bytes>{Bytes(118)}, wrapper::rsa::pkcs1v15())),
               Error);
  EXPECT_THROW(wrapper::rsa::Key::decode("no key"), Error);
}

TEST(RsaWrapper, SignaturesOfAWrongLengthAreAnswersWithAStatus) {
  const TestKey& test = test_key(1024);
  wrapper::rsa::Ring ring{wrapper::rsa::Key({test.bytes.n, test.bytes.e, test.bytes.d, {}, {}, {}, {}, {}})};
  const mm_rsa_padding how = wrapper::rsa::pkcs1v15(MM_SHA256);
  std::vector<Bytes> messages = messages_of(1500);
  std::vector<Bytes> signatures = ring.sign(messages, how);
  const auto stripped =
      std::ranges::find_if(signatures, [](const Bytes& signature) { return signature[0] == 0; });
  ASSERT_NE(stripped, signatures.end());
  const std::vector<Bytes> message{messages[static_cast<std::size_t>(stripped - signatures.begin())]};
  const std::vector<Bytes> shorter{{stripped->begin() + 1, stripped->end()}};
  Bytes longer{0};
  longer.insert(longer.end(), stripped->begin(), stripped->end());
  // No exception: the answer is that it is not valid.
  EXPECT_EQ(ring.verify(message, shorter, how), std::vector<bool>{false});
  std::vector<mm_status> statuses;
  for (const std::vector<Bytes>& wrong : {shorter, {longer}, {Bytes{}}}) {
    EXPECT_EQ(ring.verify(message, wrong, how, {}, &statuses), std::vector<bool>{false});
    EXPECT_EQ(statuses, std::vector<mm_status>{MM_ITEM_RSA_SIGNATURE_LENGTH});
  }
  EXPECT_EQ(ring.verify(message, shorter, how, {}, &statuses, true), std::vector<bool>{true});
  EXPECT_EQ(statuses, std::vector<mm_status>{MM_OK});
  EXPECT_EQ(ring.verify(message, {{longer}}, how, {}, &statuses, true), std::vector<bool>{false});
}

}  // namespace
}  // namespace manymod::testing
