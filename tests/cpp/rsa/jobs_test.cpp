// SPDX-License-Identifier: Apache-2.0
// RSA calls as jobs: through the C ABI, and through the C++ wrapper.
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "api/job_helpers.hpp"
#include "manymod/rsa.hpp"
#include "rsa/test_calls.hpp"

namespace manymod::testing {
namespace {

/// A call that signs `count` messages of ten bytes, with the data that it points to.
struct Signing {
  std::vector<std::uint8_t> messages, signatures, statuses;
  mm_rsa_call call{};

  explicit Signing(std::size_t count)
      : messages(10 * count), signatures(128 * count, 9), statuses(count, 0xff) {
    for (std::size_t i = 0; i < count; ++i) messages[10 * i] = static_cast<std::uint8_t>(i);
    call.struct_size = sizeof call;
    call.op = MM_RSA_SIGN;
    call.padding = padding(MM_RSA_PKCS1V15, MM_SHA256);
    call.count = count;
    call.input = {count, messages.data(), 10, 0, nullptr, nullptr};
    call.output = {signatures.data(), count, 128, nullptr};
    call.item_status = statuses.data();
  }
  Signing(const Signing&) = delete;
  Signing& operator=(const Signing&) = delete;
};

JobPointer submit(mm_rsa_ring* ring, const mm_rsa_call& call, mm_done_fn done = nullptr,
                  void* user = nullptr) {
  mm_job* job = nullptr;
  EXPECT_EQ(mm_rsa_submit(ring, &call, done, user, &job), MM_OK) << mm_last_error();
  EXPECT_NE(job, nullptr);
  return JobPointer(job);
}

TEST(RsaJobs, AnswerAsCallsDo) {
  const RingPointer ring = make_ring(1024);
  Signing expected(5);
  ASSERT_EQ(mm_rsa_run(ring.get(), &expected.call), MM_OK) << mm_last_error();
  std::vector<std::unique_ptr<Signing>> calls;
  std::vector<JobPointer> jobs;
  std::atomic<int> done{0};
  for (int i = 0; i < 20; ++i) {
    calls.push_back(std::make_unique<Signing>(5));
    jobs.push_back(submit(
        ring.get(), calls.back()->call,
        [](mm_status status, void* user) {
          *static_cast<std::atomic<int>*>(user) += status == MM_OK ? 1 : 100;
        },
        &done));
    calls.back()->call = {};  // it was copied
  }
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    EXPECT_EQ(mm_job_wait(jobs[i].get()), MM_OK) << mm_last_error();
    EXPECT_EQ(calls[i]->signatures, expected.signatures);
    EXPECT_EQ(calls[i]->statuses, std::vector<std::uint8_t>(5, MM_OK));
  }
  EXPECT_EQ(done, 20);
}

TEST(RsaJobs, OutcomesAndRefusals) {
  const RingPointer ring = make_ring(1024);
  Signing call(2);
  mm_job* job = nullptr;
  EXPECT_EQ(mm_rsa_submit(nullptr, &call.call, nullptr, nullptr, &job), MM_ERR_NULL);
  EXPECT_EQ(mm_rsa_submit(ring.get(), nullptr, nullptr, nullptr, &job), MM_ERR_NULL);
  EXPECT_EQ(mm_rsa_submit(ring.get(), &call.call, nullptr, nullptr, nullptr), MM_ERR_NULL);
  call.call.struct_size = 8;
  EXPECT_EQ(mm_rsa_submit(ring.get(), &call.call, nullptr, nullptr, &job), MM_ERR_ARGUMENT);
  EXPECT_EQ(job, nullptr);
  call.call.struct_size = sizeof call.call;
  const std::uint32_t keys[] = {0, 7};
  call.call.key = keys;
  EXPECT_EQ(mm_job_wait(submit(ring.get(), call.call).get()), MM_ERR_ITEMS);
  EXPECT_NE(std::string(mm_last_error()).find("item 1"), std::string::npos) << mm_last_error();
  EXPECT_EQ(call.statuses, (std::vector<std::uint8_t>{MM_OK, MM_ITEM_RSA_KEY}));
  call.call.padding.scheme = MM_RSA_OAEP;
  EXPECT_EQ(mm_job_wait(submit(ring.get(), call.call).get()), MM_ERR_ARGUMENT);
}

TEST(RsaJobs, AreCancelledBeforeTheyBegin) {
  const RingPointer ring = make_ring(1024);
  const auto held = hold_threads();
  Signing call(3);
  const JobPointer job = submit(ring.get(), call.call);
  mm_job_cancel(job.get());
  EXPECT_EQ(mm_job_ended(job.get()), 1);
  EXPECT_EQ(mm_job_wait(job.get()), MM_ERR_CANCELLED);
  EXPECT_EQ(call.statuses, std::vector<std::uint8_t>(3, MM_ITEM_NOT_COMPUTED));
  EXPECT_EQ(call.signatures, std::vector<std::uint8_t>(3 * 128, 9));
}

// Nothing that was there before passes for a verdict.
TEST(RsaJobs, SignaturesOfCancelledVerificationsAreNotValid) {
  const RingPointer ring = make_ring(1024);
  const auto held = hold_threads();
  Signing call(3);
  std::vector<std::uint8_t> valid(3, 1), recomputed(3, 1);
  call.call.op = MM_RSA_VERIFY;
  call.call.signature = {3, call.signatures.data(), 128, 0, nullptr, nullptr};
  call.call.valid = valid.data();
  call.call.item_recomputed = recomputed.data();
  const JobPointer job = submit(ring.get(), call.call);
  mm_job_cancel(job.get());
  EXPECT_EQ(mm_job_wait(job.get()), MM_ERR_CANCELLED);
  EXPECT_EQ(call.statuses, std::vector<std::uint8_t>(3, MM_ITEM_NOT_COMPUTED));
  EXPECT_EQ(valid, std::vector<std::uint8_t>(3, 0));
  EXPECT_EQ(recomputed, std::vector<std::uint8_t>(3, 0));
}

TEST(RsaJobs, StopByTheirProgress) {
  const RingPointer ring = make_ring(1024, ring_options(1));
  Signing call(200'000);
  std::atomic<int> calls{0};
  call.call.progress = [](std::size_t, std::size_t, void* user) {
    ++*static_cast<std::atomic<int>*>(user);
    return 1;
  };
  call.call.progress_user = &calls;
  EXPECT_EQ(mm_job_wait(submit(ring.get(), call.call).get()), MM_ERR_CANCELLED);
  EXPECT_GE(calls, 1);
}

TEST(RsaJobs, ThroughTheWrapper) {
  const KeyBytes& bytes = test_key(1024).bytes;
  const wrapper::rsa::Numbers numbers{bytes.n, bytes.e, bytes.d, {}, {}, {}, {}, {}};
  wrapper::rsa::Ring ring{wrapper::rsa::Key(numbers)};
  const std::vector<Bytes> messages{Bytes(3, 1), Bytes{}, Bytes(500, 7)};
  const mm_rsa_padding pss = wrapper::rsa::pss(MM_SHA256);
  const mm_rsa_padding oaep = wrapper::rsa::oaep(MM_SHA1);
  wrapper::rsa::Job signing = ring.submit_sign(messages, pss);
  const std::vector<Bytes> signatures = signing.wait();
  EXPECT_TRUE(signing.ended());
  EXPECT_THROW((void)signing.wait(), Error);
  EXPECT_EQ(ring.submit_verify(messages, signatures, pss).wait(), std::vector<bool>(3, true));
  std::vector<mm_status> statuses;
  const std::vector<Bytes> ciphertexts = ring.submit_encrypt(messages, oaep).wait(&statuses);
  EXPECT_EQ(statuses, (std::vector<mm_status>{MM_OK, MM_OK, MM_ITEM_RSA_LENGTH}));
  const std::vector<Bytes> pair(ciphertexts.begin(), ciphertexts.begin() + 2);
  EXPECT_EQ(ring.submit_decrypt(pair, oaep).wait(),
            std::vector<Bytes>(messages.begin(), messages.begin() + 2));
  const std::vector<Bytes> powers = ring.submit_raw_public(std::vector<Bytes>(signatures)).wait();
  EXPECT_EQ(ring.submit_raw_private(powers).wait(), signatures);
  EXPECT_THROW((void)ring.submit_raw_public(std::vector<Bytes>{Bytes(128, 0xff)}).wait(), Error);
  const std::vector<std::uint32_t> one_index{0};
  for (const auto& refused :
       std::vector<std::function<void()>>{[&] { (void)ring.submit_sign(messages, pss, one_index); },
                                          [&] { (void)ring.sign(messages, pss, one_index); },
                                          [&] { (void)ring.submit_verify(messages, pair, pss); },
                                          [&] { (void)ring.verify(messages, pair, pss); }}) {
    try {
      refused();
      ADD_FAILURE();
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), MM_ERR_ARGUMENT) << error.what();
    }
  }
  const std::vector<Bytes> many(100'000, Bytes(1));
  wrapper::rsa::Job stopped = ring.submit_sign(
      many, pss, {}, [](std::size_t, std::size_t) -> bool { throw std::range_error("stop"); });
  EXPECT_THROW((void)stopped.wait(), std::range_error);
  wrapper::rsa::Job cancelled = ring.submit_sign(many, pss);
  cancelled.cancel();
  EXPECT_THROW((void)cancelled.wait(), Error);
}

}  // namespace
}  // namespace manymod::testing
