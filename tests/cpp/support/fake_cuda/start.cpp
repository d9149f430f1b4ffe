// SPDX-License-Identifier: Apache-2.0
// The state of the driver when it is loaded: the library's kernels, and the settings of the environment
// variable FAKE_CUDA.
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

#include "support/fake_cuda/control.hpp"
#include "support/fake_cuda/kernels.hpp"
#include "support/fake_cuda/state.hpp"

namespace fake_cuda {
namespace {

using Setter = std::function<void(Settings& settings, unsigned long long value)>;

template <class T>
Setter setter(T Settings::* member) {
  return [member](Settings& settings, unsigned long long value) { settings.*member = static_cast<T>(value); };
}

const std::map<std::string, Setter, std::less<>>& setters() {
#define SETTING(name) {#name, setter(&Settings::name)}
  static const std::map<std::string, Setter, std::less<>> all{SETTING(devices),
                                                              SETTING(version),
                                                              SETTING(capability),
                                                              SETTING(multiprocessors),
                                                              SETTING(threads_per_multiprocessor),
                                                              SETTING(management),
                                                              SETTING(different_models),
                                                              SETTING(prohibited),
                                                              SETTING(partitioned),
                                                              SETTING(init_result),
                                                              SETTING(retain_result),
                                                              SETTING(load_result),
                                                              SETTING(stream_result),
                                                              SETTING(memory_bytes),
                                                              SETTING(host_memory_bytes),
                                                              SETTING(failing_allocation),
                                                              SETTING(failing_host_allocation),
                                                              SETTING(failing_call),
                                                              SETTING(call_result),
                                                              SETTING(failing_launch),
                                                              SETTING(launch_result),
                                                              SETTING(faulting_launch),
                                                              SETTING(fault_result),
                                                              SETTING(lost_at_call)};
#undef SETTING
  return all;
}

const std::map<std::string, std::size_t Counts::*, std::less<>>& counters() {
#define COUNT(name) {#name, &Counts::name}
  static const std::map<std::string, std::size_t Counts::*, std::less<>> all{
      COUNT(calls),           COUNT(initialisations), COUNT(contexts),       COUNT(context_depth),
      COUNT(images),          COUNT(launches),        COUNT(allocations),    COUNT(host_allocations),
      COUNT(streams),         COUNT(events),          COUNT(unwiped),        COUNT(misuses),
      COUNT(to_device_bytes), COUNT(to_host_bytes),   COUNT(on_device_bytes)};
#undef COUNT
  return all;
}

// A test with an unknown setting must not pass.
[[noreturn]] void refuse(const char* what, std::string_view text) {
  std::fprintf(stderr, "fake CUDA driver: %s: %.*s\n", what, static_cast<int>(text.size()), text.data());
  std::abort();
}

void apply(std::string_view entry) {
  const std::size_t equals = entry.find('=');
  if (equals == std::string_view::npos) refuse("no value in FAKE_CUDA", entry);
  const auto found = setters().find(entry.substr(0, equals));
  if (found == setters().end()) refuse("no such setting", entry);
  const std::string text(entry.substr(equals + 1));
  char* end = nullptr;
  const unsigned long long value = std::strtoull(text.c_str(), &end, 10);
  if (text.empty() || *end != '\0') refuse("no number", entry);
  found->second(settings(), value);
}

void apply_environment() {
  const char* const value = std::getenv("FAKE_CUDA");
  std::string_view rest = value == nullptr ? "" : value;
  while (!rest.empty()) {
    const std::size_t length = rest.find(',');
    apply(rest.substr(0, length));
    rest = length == std::string_view::npos ? std::string_view() : rest.substr(length + 1);
  }
}

struct Start {
  Start() noexcept {
    reset();
    install_kernels();
    apply_environment();
  }
};
const Start kStart;

}  // namespace
}  // namespace fake_cuda

extern "C" FAKE_CUDA_API std::size_t fake_cuda_count(const char* name) {
  const auto found = fake_cuda::counters().find(std::string_view(name));
  if (found == fake_cuda::counters().end()) fake_cuda::refuse("no such count", name);
  return fake_cuda::counts().*found->second;
}

extern "C" FAKE_CUDA_API void fake_cuda_lose() {
  const std::lock_guard guard(fake_cuda::lock());
  fake_cuda::settings().lost_at_call = 0;
}
