// SPDX-License-Identifier: Apache-2.0
#include "timer.hpp"

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <vector>

namespace manymod::bench {
namespace {

constexpr std::uint64_t kClockNanoseconds = 200000;

// Both counters are read at a tick of the timer, which on some GPUs is a microsecond long.
constexpr const char* kClockKernel = R"(
.version 7.0
.target sm_70
.address_size 64
.visible .entry mm_bench_clock(.param .align 8 .b8 argument[16])
{
  .reg .pred %again;
  .reg .u64 %result, %length, %first, %start, %end, %cycles, %before;
  ld.param.u64 %result, [argument];
  ld.param.u64 %length, [argument + 8];
  cvta.to.global.u64 %result, %result;
  mov.u64 %first, %globaltimer;
align:
  mov.u64 %start, %globaltimer;
  setp.eq.u64 %again, %start, %first;
  @%again bra align;
  mov.u64 %before, %clock64;
  add.u64 %length, %length, %start;
measure:
  mov.u64 %end, %globaltimer;
  setp.lt.u64 %again, %end, %length;
  @%again bra measure;
  mov.u64 %cycles, %clock64;
  sub.u64 %cycles, %cycles, %before;
  sub.u64 %end, %end, %start;
  st.global.u64 [%result], %cycles;
  st.global.u64 [%result + 8], %end;
  ret;
}
)";

std::optional<cuda::Kernel> clock_kernel(cuda::Device& device) {
  const cuda::DriverApi& api = device.api();
  cuda::ModuleHandle module = nullptr;
  cuda::FunctionHandle function = nullptr;
  if (device.query(api.module_load_data, &module, static_cast<const void*>(kClockKernel)) != cuda::kSuccess ||
      device.query(api.module_get_function, &function, module, "mm_bench_clock") != cuda::kSuccess) {
    return std::nullopt;
  }
  return cuda::Kernel(device, function, "mm_bench_clock");
}

double nominal_mhz(cuda::Device& device) {
  constexpr int kClockRate = 13;  // CU_DEVICE_ATTRIBUTE_CLOCK_RATE, in kHz
  cuda::DeviceHandle handle = 0;
  int rate = 0;
  device.call(device.api().device_get, &handle, static_cast<int>(device.index()));
  device.call(device.api().device_get_attribute, &rate, kClockRate, handle);
  return rate / 1000.0;
}

}  // namespace

ClockMeter::ClockMeter(cuda::Device& device)
    : kernel_(clock_kernel(device)),
      nominal_mhz_(kernel_ ? 0 : nominal_mhz(device)),
      result_(device, 2 * sizeof(std::uint64_t)),
      host_(device, 2 * sizeof(std::uint64_t)) {}

void ClockMeter::queue(const cuda::Stream& stream) const {
  if (!kernel_) return;
  kernel_->launch(stream, {}, Argument{result_.as<std::uint64_t>(), kClockNanoseconds});
  stream.copy_to_host(host_.data(), result_.data(), result_.bytes());
}

double ClockMeter::mhz() const {
  if (!kernel_) return nominal_mhz_;
  const auto* const read = host_.as<std::uint64_t>();
  if (read[1] == 0) throw std::runtime_error("the device's timer stands still");
  return static_cast<double>(read[0]) * 1000 / static_cast<double>(read[1]);
}

Timer::Timer(const cuda::Stream& stream)
    : stream_(stream),
      start_(stream.device(), cuda::Event::Timing::on),
      stop_(stream.device(), cuda::Event::Timing::on),
      clock_(stream.device()) {}

double Timer::once(const std::function<void()>& queue) {
  start_.record(stream_);
  queue();
  stop_.record(stream_);
  clock_.queue(stream_);
  stream_.synchronize();
  return stop_.seconds_since(start_);
}

Timing Timer::measure(const std::function<void()>& queue, const Effort& effort) {
  const double first = once(queue);
  const double fitting = std::clamp(effort.seconds / std::max(first, 1e-6), 1.0, double{1 << 20});
  return measure_after(queue, 0, std::clamp(static_cast<unsigned>(fitting), effort.least, effort.most));
}

Timing Timer::measure_after(const std::function<void()>& queue, unsigned warm_ups, unsigned repetitions) {
  for (unsigned run = 0; run < warm_ups; ++run) queue();
  std::vector<double> seconds, mhz;
  for (unsigned run = 0; run < repetitions; ++run) {
    seconds.push_back(once(queue));
    mhz.push_back(clock_.mhz());
  }
  return {median_of(seconds), *std::ranges::min_element(seconds), median_of(mhz), repetitions};
}

}  // namespace manymod::bench
