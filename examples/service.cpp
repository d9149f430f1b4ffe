// SPDX-License-Identifier: Apache-2.0
// Many threads ask for one signature at a time; a service makes batches of their requests.
#include "manymod/service.hpp"

#include <cstdio>
#include <exception>
#include <future>
#include <thread>
#include <vector>

int main() try {
  if (mm_ecc_supported() == 0) return 0;
  manymod::ecc::Plan plan(manymod::ecc::Curve("P-256"));

  // One private key, which the service copies; a real one is a random number.
  manymod::Bytes secret(32, 0);
  secret.back() = 7;
  mm_ecc_call pattern{};
  pattern.struct_size = sizeof pattern;
  pattern.op = MM_ECC_SIGN;
  pattern.count = 1;
  pattern.secret = {1, secret.data(), secret.size(), 0, nullptr, nullptr};

  manymod::Service service;
  const std::size_t sign = service.add(plan, pattern);
  const manymod::Bytes message{'o', 'n', 'e'};
  std::future<manymod::Bytes> later = service.submit(sign, message);
  const manymod::Bytes signature = service.call(sign, message);  // waits for it
  // With deterministic nonces both are the same.
  if (later.get() != signature) return 1;

  std::vector<std::thread> threads;
  for (std::uint8_t thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&service, sign, thread] {
      for (std::uint8_t i = 0; i < 50; ++i) {
        const std::uint8_t request[] = {thread, i};
        service.call(sign, request);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  service.close();
  const mm_service_statistics all = service.statistics();
  std::printf("%llu signatures in %llu calls, the slowest after %.1f ms\n",
              static_cast<unsigned long long>(all.computed), static_cast<unsigned long long>(all.batches),
              static_cast<double>(all.answered.max) / 1e6);
  return all.computed == 202 ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
