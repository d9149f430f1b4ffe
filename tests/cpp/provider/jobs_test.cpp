// SPDX-License-Identifier: Apache-2.0
// Threads, forked processes and asynchronous jobs.
#include <dlfcn.h>
#include <openssl/async.h>
#include <openssl/err.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "library.hpp"

namespace {

std::atomic<long> pauses{0};
std::atomic<long> events{0};
std::atomic<bool> events_are_late{false};

}  // namespace

/// Counts the provider's pauses: calls from modules, too, find the executable's functions first.
extern "C" __attribute__((visibility("default"))) int ASYNC_pause_job(void) {
  ++pauses;
  return reinterpret_cast<int (*)()>(dlsym(RTLD_NEXT, "ASYNC_pause_job"))();
}

/// Counts the events that the provider has set. A late one gives its job a tenth of a second to end before.
extern "C" __attribute__((visibility("default"))) int eventfd_write(int descriptor, eventfd_t value) {
  for (int i = 0; i < 100 && events_are_late; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  const int result =
      reinterpret_cast<int (*)(int, eventfd_t)>(dlsym(RTLD_NEXT, "eventfd_write"))(descriptor, value);
  ++events;
  return result;
}

namespace manymod::test {
namespace {

const Bytes kMessage(100, 0x44);

TEST(ProviderThreads, ShareAKey) {
  const Library library(Order::default_first, "concurrent = 1");
  const Evp<EVP_PKEY> key = library.decode(private_pem("RSA:2048"));
  std::atomic<int> valid{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      for (int j = 0; j < 4; ++j) {
        const Bytes signature = sign_message(library, key.get(), "SHA256", kMessage, {}, 1);
        valid += verify_message(library, key.get(), "SHA256", kMessage, signature, {}) == 1 ? 1 : 0;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(valid, 32);
}

/// Before and after the parent has computed, children compute and release what they inherited.
TEST(ProviderFork, ChildrenCompute) {
  auto library = std::make_unique<Library>();
  Evp<EVP_PKEY> key = library->decode(private_pem("RSA:3072"));
  Evp<EVP_PKEY> curve_key = library->decode(private_pem("EC:P-384"));
  const auto works = [&] {
    const std::size_t before = library->computed();
    for (EVP_PKEY* each : {key.get(), curve_key.get()}) {
      const Bytes signature = sign_message(*library, each, "SHA384", kMessage, {}, 1);
      if (verify_message(*library, each, "SHA384", kMessage, signature, {}) != 1) return false;
    }
    return library->computed() == before + 2;
  };
  for (const bool parent_first : {false, true}) {
    if (parent_first) {
      EXPECT_TRUE(works());
    }
    const pid_t child = fork();
    if (child == 0) {
      alarm(20);  // a deadlock ends the child
      const bool good = works();
      key.reset();
      curve_key.reset();
      library.reset();
      _exit(good ? 0 : 1);
    }
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  }
}

/// What a job of these tests signs.
struct Signing {
  const Library* library;
  EVP_PKEY* key;
};

int sign_in_job(void* argument) {
  const Signing& signing = **static_cast<Signing**>(argument);
  const Bytes signature = sign_message(*signing.library, signing.key, "SHA256", kMessage, {}, 1);
  return verify_message(*signing.library, signing.key, "SHA256", kMessage, signature, {});
}

int start(ASYNC_JOB** job, ASYNC_WAIT_CTX* waiting, Signing& signing, int& result,
          int (*body)(void*) = sign_in_job) {
  Signing* argument = &signing;
  return ASYNC_start_job(job, waiting, &result, body, static_cast<void*>(&argument), sizeof argument);
}

/// The result of a job that is resumed although nothing was signalled, until it ends.
int result_of_job(ASYNC_WAIT_CTX* waiting, Signing& signing) {
  ASYNC_JOB* job = nullptr;
  int result = 0;
  while (start(&job, waiting, signing, result) == ASYNC_PAUSE) std::this_thread::yield();
  return result;
}

TEST(ProviderJobs, PauseUntilTheAnswerIsThere) {
  const Library library;
  const Evp<EVP_PKEY> key = library.decode(private_pem("RSA:2048"));
  Signing signing{&library, key.get()};
  ASYNC_WAIT_CTX* const waiting = ASYNC_WAIT_CTX_new();
  for (int i = 0; i < 3; ++i) {
    ASYNC_JOB* job = nullptr;
    int result = 0;
    int pauses = 0;
    while (start(&job, waiting, signing, result) == ASYNC_PAUSE) {
      ++pauses;
      std::size_t count = 0;
      OSSL_ASYNC_FD descriptor = -1;
      ASSERT_EQ(ASYNC_WAIT_CTX_get_all_fds(waiting, nullptr, &count), 1);
      ASSERT_EQ(count, 1U);
      ASSERT_EQ(ASYNC_WAIT_CTX_get_all_fds(waiting, &descriptor, &count), 1);
      pollfd waited{descriptor, POLLIN, 0};
      ASSERT_EQ(poll(&waited, 1, 20'000), 1);
    }
    EXPECT_EQ(result, 1);
    EXPECT_GE(pauses, 1);
  }
  EXPECT_EQ(library.computed(), 3U);
  ASYNC_WAIT_CTX_free(waiting);
}

/// Servers may resume jobs although nothing was signalled.
TEST(ProviderJobs, PauseAgainWhenResumedTooEarly) {
  const Library library;
  const Evp<EVP_PKEY> key = library.decode(private_pem("RSA:3072"));
  Signing signing{&library, key.get()};
  ASYNC_WAIT_CTX* const waiting = ASYNC_WAIT_CTX_new();
  EXPECT_EQ(result_of_job(waiting, signing), 1);
  ASYNC_WAIT_CTX_free(waiting);
}

/// A job does not end before the event of its answer is set, and leaves it cleared. An event that is set
/// later would resume the connection's next job again and again.
TEST(ProviderJobs, LeaveNoEventBehind) {
  const Library library;
  const Evp<EVP_PKEY> key = library.decode(private_pem("RSA:3072"));
  Signing signing{&library, key.get()};
  ASYNC_WAIT_CTX* const waiting = ASYNC_WAIT_CTX_new();
  const long before = events;
  events_are_late = true;
  EXPECT_EQ(result_of_job(waiting, signing), 1);
  events_are_late = false;
  while (events == before) std::this_thread::yield();
  OSSL_ASYNC_FD descriptor = -1;
  std::size_t count = 1;
  ASSERT_EQ(ASYNC_WAIT_CTX_get_all_fds(waiting, &descriptor, &count), 1);
  pollfd waited{descriptor, POLLIN, 0};
  EXPECT_EQ(poll(&waited, 1, 0), 0);
  ASYNC_WAIT_CTX_free(waiting);
}

/// Servers free connections, and their wait contexts, while answers are to come.
TEST(ProviderJobs, OutliveTheirWaitContexts) {
  const Library library;
  const Evp<EVP_PKEY> key = library.decode(private_pem("RSA:3072"));
  Signing signing{&library, key.get()};
  ASYNC_WAIT_CTX* const first = ASYNC_WAIT_CTX_new();
  ASYNC_WAIT_CTX* const second = ASYNC_WAIT_CTX_new();
  ASYNC_JOB* abandoned = nullptr;
  ASYNC_JOB* job = nullptr;
  int abandoned_result = 0;
  int result = 0;
  ASSERT_EQ(start(&abandoned, first, signing, abandoned_result), ASYNC_PAUSE);
  while (start(&job, second, signing, result) == ASYNC_PAUSE) std::this_thread::yield();
  EXPECT_EQ(result, 1);
  ASYNC_WAIT_CTX_free(second);
  // The job itself must end, since libcrypto has no way to give it up.
  while (start(&abandoned, first, signing, abandoned_result) == ASYNC_PAUSE) std::this_thread::yield();
  EXPECT_EQ(abandoned_result, 1);
  ASYNC_WAIT_CTX_free(first);
}

int sign_without_pauses(void* argument) {
  ASYNC_block_pause();
  const int result = sign_in_job(argument);
  ASYNC_unblock_pause();
  return result;
}

/// A pause that is blocked returns at once: then the thread sleeps for the answer, and wakes from time to
/// time.
TEST(ProviderJobs, SleepWherePausesAreBlocked) {
  using std::chrono::milliseconds;
  const Library library;
  const Evp<EVP_PKEY> key = library.decode(private_pem("RSA:3072"));
  Signing signing{&library, key.get()};
  ASYNC_WAIT_CTX* const waiting = ASYNC_WAIT_CTX_new();
  const long before = pauses;
  const auto start_time = std::chrono::steady_clock::now();
  constexpr int kJobs = 4;
  for (int i = 0; i < kJobs; ++i) {
    ASYNC_JOB* job = nullptr;
    int result = 0;
    ASSERT_EQ(start(&job, waiting, signing, result, sign_without_pauses), ASYNC_FINISH);
    EXPECT_EQ(result, 1);
  }
  const auto passed = std::chrono::steady_clock::now() - start_time;
  EXPECT_EQ(library.computed(), kJobs);
  EXPECT_GE(pauses - before, kJobs);
  // Each wait lasts a millisecond unless the answer ends it.
  EXPECT_LE(pauses - before, kJobs + passed / milliseconds(1));
  ASYNC_WAIT_CTX_free(waiting);
}

}  // namespace
}  // namespace manymod::test
