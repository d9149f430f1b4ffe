// SPDX-License-Identifier: Apache-2.0
// RSA requests through the C ABI of services, beside libcrypto; and malformed calls.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <thread>

#include "rsa/test_keys.hpp"
#include "service/requests.hpp"

namespace manymod::testing {
namespace {

const mm_rsa_padding kPkcs1{MM_RSA_PKCS1V15, MM_SHA256, MM_HASH_NONE, 0, 0, {}};
const mm_rsa_padding kOaep{MM_RSA_OAEP, MM_SHA256, MM_HASH_NONE, 0, 0, {}};

/// A service with two keys of different lengths.
struct RsaService {
  Holder<mm_rsa_ring> ring;
  Holder<mm_service> service = make_service();
  std::size_t sign = 9, verify = 9, decrypt = 9;

  RsaService() {
    const mm_rsa_key* keys[] = {test_key(1024).key.get(), test_key(2048).key.get()};
    mm_rsa_ring* made = nullptr;
    EXPECT_EQ(mm_rsa_ring_create(nullptr, keys, 2, &made), MM_OK) << mm_last_error();
    ring.reset(made);
    EXPECT_EQ(mm_service_add_rsa(service.get(), made, MM_RSA_SIGN, &kPkcs1, &sign), MM_OK);
    EXPECT_EQ(mm_service_add_rsa(service.get(), made, MM_RSA_VERIFY, &kPkcs1, &verify), MM_OK);
    EXPECT_EQ(mm_service_add_rsa(service.get(), made, MM_RSA_DECRYPT, &kOaep, &decrypt), MM_OK);
  }
};

const TestKey& key_number(std::uint32_t key) { return test_key(key == 0 ? 1024 : 2048); }

TEST(ServiceRsa, CallsSignVerifyAndDecrypt) {
  const RsaService x;
  EXPECT_EQ(x.sign, 0U);
  EXPECT_EQ(x.decrypt, 2U);
  for (std::uint32_t key = 0; key < 2; ++key) {
    const Bytes message(20 + key, 7);
    const Called made = call(x.service.get(), make_request(x.sign, message, key));
    EXPECT_EQ(made.status, MM_OK);
    EXPECT_EQ(made.output, oracle_sign(key_number(key), message, kPkcs1));
    mm_service_request verification = make_request(x.verify, message, key);
    verification.signature = view_of(made.output);
    EXPECT_EQ(call(x.service.get(), verification).valid, 1);
    verification.input.size -= 1;
    const Called wrong = call(x.service.get(), verification);
    EXPECT_EQ(wrong.status, MM_OK);
    EXPECT_EQ(wrong.valid, 0);
    const Bytes ciphertext = oracle_encrypt(key_number(key), message, kOaep);
    EXPECT_EQ(call(x.service.get(), make_request(x.decrypt, ciphertext, key)).output, message);
  }
}

TEST(ServiceRsa, ItemsHaveTheStatusesOfCalls) {
  const RsaService x;
  const Bytes message(3, 1);
  const Called missing = call(x.service.get(), make_request(x.sign, message, 2));
  EXPECT_EQ(missing.status, MM_ITEM_RSA_KEY);
  EXPECT_TRUE(missing.output.empty());
  EXPECT_STREQ(mm_last_error(), mm_status_message(MM_ITEM_RSA_KEY));
  EXPECT_EQ(call(x.service.get(), make_request(x.decrypt, Bytes(128, 1))).status, MM_ITEM_RSA_DECRYPTION);
  mm_service_request verification = make_request(x.verify, message);
  verification.signature = view_of(message);
  EXPECT_EQ(call(x.service.get(), verification).status, MM_ITEM_RSA_SIGNATURE_LENGTH);
  const mm_service_statistics all = statistics_of(x.service.get());
  EXPECT_EQ(all.failed, 2U);
  EXPECT_EQ(all.computed, 1U);
}

TEST(ServiceRsa, TicketsAndCallbacks) {
  const RsaService x;
  const Bytes message(11, 3);
  const mm_service_request request = make_request(x.sign, message, 1);
  Bytes called;
  const mm_answer_fn keep = [](const mm_answer* answer, void* user) {
    static_cast<Bytes*>(user)->assign(answer->output.data, answer->output.data + answer->output.size);
  };
  mm_ticket* ticket = nullptr;
  ASSERT_EQ(mm_service_submit(x.service.get(), &request, keep, &called, &ticket), MM_OK);
  const Holder<mm_ticket> holder(ticket);
  ASSERT_EQ(mm_ticket_wait(ticket, UINT64_MAX), MM_OK);
  mm_answer answer{};
  ASSERT_EQ(mm_ticket_answer(ticket, &answer), MM_OK);
  const Bytes signature = oracle_sign(key_number(1), message, kPkcs1);
  EXPECT_EQ(called, signature);
  EXPECT_EQ(Bytes(answer.output.data, answer.output.data + answer.output.size), signature);
  EXPECT_EQ(mm_ticket_cancel(ticket), 0U);
}

/// What a callback finds.
struct Found {
  mm_ticket* ticket = nullptr;  ///< as mm_service_submit has left it
  bool there = false;
  std::thread::id thread;
};

TEST(ServiceRsa, AnIdleServiceComputesOnTheSubmittingThread) {
  const RsaService x;
  const Bytes message(5, 2);
  mm_service_request request = make_request(x.sign, message);
  request.here = 1;
  Found found;
  const mm_answer_fn look = [](const mm_answer*, void* user) {
    auto& seen = *static_cast<Found*>(user);
    seen.there = seen.ticket != nullptr;
    seen.thread = std::this_thread::get_id();
  };
  ASSERT_EQ(mm_service_submit(x.service.get(), &request, look, &found, &found.ticket), MM_OK);
  const Holder<mm_ticket> holder(found.ticket);
  EXPECT_TRUE(found.there);
  EXPECT_EQ(found.thread, std::this_thread::get_id());
  mm_answer answer{};
  ASSERT_EQ(mm_ticket_answer(found.ticket, &answer), MM_OK);
  EXPECT_EQ(Bytes(answer.output.data, answer.output.data + answer.output.size),
            oracle_sign(key_number(0), message, kPkcs1));
}

TEST(ServiceRsa, AStoppedServiceRefuses) {
  const RsaService x;
  const Bytes message(5, 2);
  const mm_service_request request = make_request(x.sign, message);
  EXPECT_EQ(mm_service_stop(x.service.get(), 1), MM_OK);
  EXPECT_EQ(mm_service_stop(nullptr, 1), MM_ERR_NULL);
  mm_ticket* ticket = reinterpret_cast<mm_ticket*>(1);
  EXPECT_EQ(mm_service_submit(x.service.get(), &request, nullptr, nullptr, &ticket), MM_ERR_CLOSED);
  EXPECT_EQ(ticket, nullptr);
  EXPECT_EQ(mm_service_close(x.service.get(), 1), MM_OK);
}

TEST(ServiceRsa, ArraysOfRequests) {
  const RsaService x;
  constexpr std::size_t kCount = 9;
  std::vector<std::uint32_t> keys(kCount);
  Bytes messages(kCount * 5), output(kCount * 256), statuses(kCount), valid(kCount);
  std::vector<std::size_t> sizes(kCount);
  for (std::size_t i = 0; i < kCount; ++i) keys[i] = i % 2;
  keys[4] = 7;
  for (std::size_t i = 0; i < messages.size(); ++i) messages[i] = static_cast<std::uint8_t>(i);
  mm_service_requests many{};
  many.struct_size = sizeof many;
  many.operation = x.sign;
  many.count = kCount;
  many.key = keys.data();
  many.input = {kCount, messages.data(), 5, 0, nullptr, nullptr};
  many.output = {output.data(), kCount, 256, sizes.data()};
  many.item_status = statuses.data();
  mm_status done = MM_OK;
  mm_ticket* ticket = nullptr;
  ASSERT_EQ(
      mm_service_submit_many(
          x.service.get(), &many,
          [](mm_status status, void* user) { *static_cast<mm_status*>(user) = status; }, &done, &ticket),
      MM_OK)
      << mm_last_error();
  const Holder<mm_ticket> holder(ticket);
  ASSERT_EQ(mm_ticket_wait(ticket, UINT64_MAX), MM_OK);
  EXPECT_EQ(done, MM_ERR_ITEMS);
  for (std::size_t i = 0; i < kCount; ++i) {
    EXPECT_EQ(statuses[i], i == 4 ? MM_ITEM_RSA_KEY : MM_OK);
    if (i == 4) continue;
    const Bytes message(messages.begin() + 5 * static_cast<long>(i),
                        messages.begin() + 5 * static_cast<long>(i + 1));
    const auto row = output.begin() + 256 * static_cast<long>(i);
    EXPECT_EQ(Bytes(row, row + static_cast<long>(sizes[i])),
              oracle_sign(key_number(keys[i]), message, kPkcs1));
  }
  many.operation = x.verify;
  many.signature = {kCount, output.data(), 128, 256, nullptr, nullptr};
  many.output = {};
  many.valid = valid.data();
  ASSERT_EQ(mm_service_submit_many(x.service.get(), &many, nullptr, nullptr, &ticket), MM_OK)
      << mm_last_error();
  const Holder<mm_ticket> second(ticket);
  ASSERT_EQ(mm_ticket_wait(ticket, UINT64_MAX), MM_OK);
  EXPECT_EQ(valid, (Bytes{1, 0, 1, 0, 0, 0, 1, 0, 1}));  // those of 128 bytes, and not the missing key's
}

TEST(ServiceRsa, MalformedCalls) {
  const RsaService x;
  const Bytes message(5, 1);
  mm_service_request request = make_request(x.sign, message);
  mm_ticket* ticket = nullptr;
  mm_service* const service = x.service.get();
  EXPECT_EQ(mm_service_submit(nullptr, &request, nullptr, nullptr, &ticket), MM_ERR_NULL);
  EXPECT_EQ(mm_service_submit(service, nullptr, nullptr, nullptr, &ticket), MM_ERR_NULL);
  EXPECT_EQ(mm_service_submit(service, &request, nullptr, nullptr, nullptr), MM_ERR_NULL);
  request.operation = 3;
  EXPECT_EQ(mm_service_submit(service, &request, nullptr, nullptr, &ticket), MM_ERR_ARGUMENT);
  request = make_request(x.sign, message);
  request.signature = request.input;
  EXPECT_EQ(mm_service_submit(service, &request, nullptr, nullptr, &ticket), MM_ERR_ARGUMENT);
  request = make_request(x.sign, message);
  request.input.data = nullptr;
  EXPECT_EQ(mm_service_submit(service, &request, nullptr, nullptr, &ticket), MM_ERR_NULL);
  request = make_request(x.sign, message);
  request.struct_size = 3;
  EXPECT_EQ(mm_service_submit(service, &request, nullptr, nullptr, &ticket), MM_ERR_ARGUMENT);
  request = make_request(x.sign, message);
  std::uint8_t little[4];
  mm_answer answer{};
  EXPECT_EQ(mm_service_call(service, &request, little, sizeof little, &answer), MM_ERR_ARGUMENT);
  EXPECT_EQ(answer.status, MM_ERR_ARGUMENT);
  EXPECT_EQ(ticket, nullptr);
  mm_service_requests many{};
  many.struct_size = sizeof many;
  many.operation = x.sign;
  EXPECT_EQ(mm_service_submit_many(service, &many, nullptr, nullptr, &ticket), MM_ERR_ARGUMENT);  // count
  Bytes rows(512);
  many.count = 2;
  many.input = {1, message.data(), message.size(), 0, nullptr, nullptr};
  many.output = {rows.data(), 2, 255, nullptr};
  EXPECT_EQ(mm_service_submit_many(service, &many, nullptr, nullptr, &ticket), MM_ERR_ARGUMENT);
  many.output = {rows.data(), 1, 256, nullptr};
  EXPECT_EQ(mm_service_submit_many(service, &many, nullptr, nullptr, &ticket), MM_ERR_ARGUMENT);
  many.output = {rows.data(), 2, SIZE_MAX / 2, nullptr};  // larger than any array
  EXPECT_EQ(mm_service_submit_many(service, &many, nullptr, nullptr, &ticket), MM_ERR_ARGUMENT);
  many.output = {rows.data(), 2, 256, nullptr};
  many.input.data = rows.data() + 300;
  EXPECT_EQ(mm_service_submit_many(service, &many, nullptr, nullptr, &ticket), MM_ERR_OVERLAP);
  many.input.data = message.data();
  many.output.sizes = reinterpret_cast<std::size_t*>(rows.data() + 496);
  EXPECT_EQ(mm_service_submit_many(service, &many, nullptr, nullptr, &ticket), MM_ERR_OVERLAP);
  many.output.sizes = nullptr;
  many.item_status = rows.data() + 511;
  EXPECT_EQ(mm_service_submit_many(service, &many, nullptr, nullptr, &ticket), MM_ERR_OVERLAP);
  many.operation = x.verify;
  many.signature = {2, rows.data(), 256, 0, nullptr, nullptr};
  Bytes valid(2);
  many.valid = valid.data();
  EXPECT_EQ(mm_service_submit_many(service, &many, nullptr, nullptr, &ticket), MM_ERR_OVERLAP);
  many.item_status = valid.data() + 1;
  EXPECT_EQ(mm_service_submit_many(service, &many, nullptr, nullptr, &ticket), MM_ERR_OVERLAP);
  EXPECT_EQ(statistics_of(service).accepted, 1U);  // the one whose result found no room
}

TEST(ServiceRsa, OperationsAreCheckedWhenTheyAreAdded) {
  const RsaService x;
  std::size_t number = 77;
  mm_rsa_padding wrong = kPkcs1;
  wrong.hash = MM_SHAKE128;
  EXPECT_EQ(mm_service_add_rsa(x.service.get(), x.ring.get(), MM_RSA_SIGN, &wrong, &number), MM_ERR_ARGUMENT);
  EXPECT_EQ(mm_service_add_rsa(x.service.get(), x.ring.get(), MM_RSA_DECRYPT, &kPkcs1, nullptr), MM_ERR_NULL);
  EXPECT_EQ(mm_service_add_rsa(x.service.get(), nullptr, MM_RSA_SIGN, &kPkcs1, &number), MM_ERR_NULL);
  wrong = kOaep;
  wrong.label.size = 4;
  EXPECT_EQ(mm_service_add_rsa(x.service.get(), x.ring.get(), MM_RSA_DECRYPT, &wrong, &number), MM_ERR_NULL);
  EXPECT_EQ(number, 77U);
  mm_service_options options{};
  options.struct_size = sizeof options;
  options.max_concurrent = 1025;
  mm_service* service = nullptr;
  EXPECT_EQ(mm_service_create(&options, &service), MM_ERR_ARGUMENT);
  EXPECT_EQ(mm_service_close(x.service.get(), 1), MM_OK);
  EXPECT_EQ(mm_service_add_rsa(x.service.get(), x.ring.get(), MM_RSA_SIGN, &kPkcs1, &number), MM_ERR_CLOSED);
}

}  // namespace
}  // namespace manymod::testing
