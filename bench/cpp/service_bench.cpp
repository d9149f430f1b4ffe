// SPDX-License-Identifier: Apache-2.0
// What a service costs beside the arithmetic: the processor time of all threads for each request to an
// operation that computes nothing, and the requests a second that it takes.
#include <benchmark/benchmark.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "service/service.hpp"

namespace {

using manymod::service::BatchArrays;
using manymod::service::Service;

constexpr std::size_t kResultBytes = 256;
constexpr auto kForever = std::chrono::hours(1);

class Nothing final : public manymod::service::Operation {
 public:
  [[nodiscard]] std::size_t output_bytes() const override { return kResultBytes; }
  [[nodiscard]] std::size_t batches_on_gpus() const override { return 0; }
  [[nodiscard]] mm_status run(BatchArrays& batch) const override {
    for (std::size_t i = 0; i < batch.count(); ++i) {
      batch.statuses[i] = MM_OK;
      batch.sizes[i] = kResultBytes;
    }
    return MM_OK;
  }
};

std::shared_ptr<Service> make_service() {
  auto service = std::make_shared<Service>(
      manymod::service::Limits{std::chrono::milliseconds(1), 65'536, 131'072, 2, 0});
  service->add(std::make_unique<Nothing>());
  return service;
}

void count_answer(const mm_answer*, void* user) { ++*static_cast<std::atomic<std::size_t>*>(user); }

/// Requests with a callback each, from this thread.
void singles(benchmark::State& state) {
  const auto service = make_service();
  std::atomic<std::size_t> answered{0};
  const std::uint8_t digest[32] = {1};
  mm_service_request request{};
  request.input = {digest, sizeof digest};
  for (auto _ : state) {
    service->submit(
        std::make_shared<manymod::service::SingleRequest>(request, count_answer, &answered, false), kForever);
  }
  service->close(true);
  state.SetItemsProcessed(static_cast<std::int64_t>(answered));
}
BENCHMARK(singles)->Name("service/single_requests")->MeasureProcessCPUTime()->UseRealTime();

/// Calls of an idle service, computed on this thread.
void calls(benchmark::State& state) {
  const auto service = make_service();
  const std::uint8_t digest[32] = {1};
  mm_service_request request{};
  request.input = {digest, sizeof digest};
  for (auto _ : state) {
    const auto call = std::make_shared<manymod::service::SingleRequest>(request, nullptr, nullptr, true);
    if (!service->run_here(call)) state.SkipWithError("the service was busy");
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(calls)->Name("service/calls")->MeasureProcessCPUTime()->UseRealTime();

/// Arrays of requests.
void arrays(benchmark::State& state) {
  const auto service = make_service();
  const auto count = static_cast<std::size_t>(state.range(0));
  std::vector<std::uint8_t> digests(32 * count), results(kResultBytes * count);
  mm_service_requests requests{};
  requests.count = count;
  requests.input = {count, digests.data(), 32, 0, nullptr, nullptr};
  requests.output = {results.data(), count, kResultBytes, nullptr};
  for (auto _ : state) {
    const auto array =
        std::make_shared<manymod::service::RequestArray>(requests, kResultBytes, nullptr, nullptr);
    service->submit(array, kForever);
    static_cast<void>(array->wait(UINT64_MAX));
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(arrays)->Name("service/arrays")->Arg(1000)->Arg(100'000)->MeasureProcessCPUTime()->UseRealTime();

}  // namespace
