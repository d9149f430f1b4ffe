// SPDX-License-Identifier: Apache-2.0
// The state of the fake driver and its controls.
#include "support/fake_cuda/state.hpp"

#include <algorithm>
#include <cstring>

#include <unistd.h>

namespace fake_cuda {

using namespace manymod::cuda;  // NOLINT(google-build-using-namespace)

std::recursive_mutex& lock() {
  static std::recursive_mutex mutex;
  return mutex;
}

State& state() {
  static State state;
  return state;
}

ContextStack& context_stack() {
  thread_local ContextStack stack;
  return stack;
}

ContextObject* current_context() {
  const ContextStack& stack = context_stack();
  return stack.depth == 0 ? nullptr : stack.contexts.at(stack.depth - 1);
}

Result misuse(Result result) {
  ++state().counts.misuses;
  return result;
}

Result begin_call() {
  State& s = state();
  if (s.process != getpid()) return misuse(kErrorNotInitialized);
  const std::size_t number = s.counts.calls++;
  if (number >= s.settings.lost_at_call && s.fault == kSuccess) s.fault = s.settings.fault_result;
  if (s.fault == kSuccess && number == s.settings.failing_call) return s.settings.call_result;
  return s.fault;
}

Result begin_context_call() {
  const Result begun = begin_call();
  if (begun != kSuccess) return begun;
  return current_context() == nullptr ? misuse(kInvalidContext) : kSuccess;
}

std::string model_of(int index) {
  return state().settings.different_models ? "Fake GPU " + std::to_string(index) : std::string("Fake GPU");
}

Result copy_text(const std::string& text, char* to, std::size_t size) {
  if (text.size() >= size) return kErrorInvalidValue;
  std::memcpy(to, text.c_str(), text.size() + 1);
  return kSuccess;
}

void reset() {
  const std::lock_guard guard(lock());
  state() = State{};
  for (unsigned i = 0; i < kMaxDevices; ++i) state().contexts.at(i).device = static_cast<int>(i);
  context_stack().depth = 0;
}

Settings& settings() { return state().settings; }

const Counts& counts() {
  const std::lock_guard guard(lock());
  Counts& counts = state().counts;
  counts.context_depth = context_stack().depth;
  counts.allocations = state().device_memory.size();
  counts.host_allocations = state().host_memory.size();
  return counts;
}

std::size_t allocated_bytes() {
  const std::lock_guard guard(lock());
  return state().allocated;
}

bool holds(const void* bytes, std::size_t size) {
  const std::lock_guard guard(lock());
  const auto in = [&](const std::map<std::uintptr_t, Memory>& memory) {
    return std::any_of(memory.begin(), memory.end(), [&](const auto& entry) {
      return memmem(entry.second.data.get(), entry.second.bytes, bytes, size) != nullptr;
    });
  };
  return in(state().device_memory) || in(state().host_memory);
}

KernelFunction kernel(const char* name) {
  const std::lock_guard guard(lock());
  return state().functions.at(name).function;
}

void add_kernel(const char* name, const KernelFunction& function) {
  const std::lock_guard guard(lock());
  FunctionObject& made = state().functions[name];
  made = {name, function};
  state().kernels[name] = {&made};
}

}  // namespace fake_cuda
