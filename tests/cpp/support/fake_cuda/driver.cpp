// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include <unistd.h>

#include "gpu/cuda/driver_api.hpp"
#include "support/fake_cuda/control.hpp"

// The handle types are declared in driver_api.hpp and defined here.
namespace manymod::cuda {
struct ContextObject {
  int device;
};
struct FunctionObject {
  std::string name;
  fake_cuda::KernelFunction function;
};
struct KernelObject {
  FunctionObject* function;
};
struct LibraryObject {
  const void* data;
};
struct ModuleObject {
  const void* data;
};
struct StreamObject {
  int device;
};
struct EventObject {
  bool recorded;
};
}  // namespace manymod::cuda

namespace fake_cuda {
namespace {

using namespace manymod::cuda;  // NOLINT(google-build-using-namespace)

constexpr Result kOutOfMemory = 2;
constexpr Result kInvalidDevice = 101;
constexpr Result kInvalidContext = 201;
constexpr Result kNotFound = 500;

struct Memory {
  std::size_t bytes = 0;
  int device = 0;
  std::unique_ptr<unsigned char[]> data;
};

struct State {
  Settings settings;
  Counts counts;
  pid_t process = 0;               ///< that called cuInit
  Result fault = 0;                ///< returned by every call, once it is not 0
  std::size_t allocated = 0;       ///< bytes of device memory
  std::size_t host_allocated = 0;  ///< bytes of page-locked memory
  std::size_t allocations_made = 0;
  std::size_t host_allocations_made = 0;
  std::array<ContextObject, kMaxDevices> contexts{};
  std::map<std::uintptr_t, Memory> device_memory;  ///< by address
  std::map<std::uintptr_t, Memory> host_memory;
  std::map<std::string, FunctionObject> functions;
  std::map<std::string, KernelObject> kernels;
  LibraryObject library{};
  ModuleObject module{};
};

std::recursive_mutex& lock() {
  static std::recursive_mutex mutex;
  return mutex;
}

State& state() {
  static State state;
  return state;
}

using ContextStack = std::array<ContextObject*, 16>;
thread_local ContextStack context_stack{};
thread_local std::size_t context_depth = 0;

ContextObject* current_context() {
  return context_depth == 0 ? nullptr : context_stack.at(context_depth - 1);
}

Result misuse(Result result) {
  ++state().counts.misuses;
  return result;
}

// The first step of every call after cuInit.
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

Result find_range(const std::map<std::uintptr_t, Memory>& memory, std::uintptr_t address, std::size_t bytes) {
  auto after = memory.upper_bound(address);
  if (after == memory.begin()) return misuse(kErrorInvalidValue);
  const auto& [start, block] = *--after;
  const bool inside = address - start <= block.bytes && bytes <= block.bytes - (address - start);
  return inside ? kSuccess : misuse(kErrorInvalidValue);
}

std::uintptr_t keep(std::map<std::uintptr_t, Memory>& memory, std::size_t bytes) {
  Memory block{bytes, current_context()->device, std::make_unique<unsigned char[]>(bytes)};
  std::memset(block.data.get(), 0xa5, bytes);
  const auto address = reinterpret_cast<std::uintptr_t>(block.data.get());
  memory.emplace(address, std::move(block));
  return address;
}

// The memory of a lost device cannot be wiped. It counts as freed although the call fails, so that the rest
// is a leak.
Result drop(std::map<std::uintptr_t, Memory>& memory, std::size_t& allocated, std::uintptr_t address) {
  const Result begun = begin_context_call();
  const auto found = memory.find(address);
  if (found == memory.end()) return misuse(kErrorInvalidValue);
  const std::size_t bytes = found->second.bytes;
  const unsigned char* const data = found->second.data.get();
  const bool wiped = std::all_of(data, data + bytes, [](unsigned char byte) { return byte == 0; });
  const bool can_be_wiped = begun == kSuccess || &memory == &state().host_memory;
  if (can_be_wiped && !wiped) ++state().counts.unwiped;
  allocated -= bytes;
  memory.erase(found);
  return begun;
}

Result find_function(FunctionHandle* function, const char* name) {
  const auto found = state().functions.find(name);
  if (found == state().functions.end()) return kNotFound;
  *function = &found->second;
  return kSuccess;
}

bool is_device(int index) { return index >= 0 && std::cmp_less(index, state().settings.devices); }

std::string model_of(int index) {
  return state().settings.different_models ? "Fake GPU " + std::to_string(index) : std::string("Fake GPU");
}

Result copy_text(const std::string& text, char* to, std::size_t size) {
  if (text.size() >= size) return kErrorInvalidValue;
  std::memcpy(to, text.c_str(), text.size() + 1);
  return kSuccess;
}

}  // namespace

void reset() {
  const std::lock_guard guard(lock());
  state() = State{};
  for (unsigned i = 0; i < kMaxDevices; ++i) state().contexts.at(i).device = static_cast<int>(i);
  context_depth = 0;
}

Settings& settings() { return state().settings; }

const Counts& counts() {
  const std::lock_guard guard(lock());
  Counts& counts = state().counts;
  counts.context_depth = context_depth;
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

// NOLINTBEGIN(readability-identifier-naming,performance-no-int-to-ptr): the driver's own names and types
using namespace fake_cuda;      // NOLINT(google-build-using-namespace)
using namespace manymod::cuda;  // NOLINT(google-build-using-namespace)

extern "C" {

FAKE_CUDA_API Result cuInit(unsigned) {
  const std::lock_guard guard(lock());
  State& s = state();
  if (s.process != 0 && s.process != getpid()) return misuse(kErrorNotInitialized);
  ++s.counts.initialisations;
  if (s.settings.init_result == kSuccess) s.process = getpid();
  return s.settings.init_result;
}

FAKE_CUDA_API Result cuDriverGetVersion(int* version) {
  *version = state().settings.version;
  return kSuccess;
}

FAKE_CUDA_API Result cuGetErrorName(Result result, const char** name) {
  static const std::map<Result, const char*> names{{2, "CUDA_ERROR_OUT_OF_MEMORY"},
                                                   {100, "CUDA_ERROR_NO_DEVICE"},
                                                   {209, "CUDA_ERROR_NO_BINARY_FOR_GPU"},
                                                   {700, "CUDA_ERROR_ILLEGAL_ADDRESS"},
                                                   {701, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"},
                                                   {801, "CUDA_ERROR_NOT_SUPPORTED"}};
  const auto found = names.find(result);
  if (found == names.end()) return kErrorInvalidValue;
  *name = found->second;
  return kSuccess;
}

FAKE_CUDA_API Result cuDeviceGetCount(int* count) {
  const std::lock_guard guard(lock());
  *count = static_cast<int>(state().settings.devices);
  return begin_call();
}

FAKE_CUDA_API Result cuDeviceGet(DeviceHandle* device, int index) {
  const std::lock_guard guard(lock());
  *device = index;
  return is_device(index) ? begin_call() : kInvalidDevice;
}

FAKE_CUDA_API Result cuDeviceGetName(char* name, int size, DeviceHandle device) {
  const std::lock_guard guard(lock());
  const Result begun = begin_call();
  return begun != kSuccess ? begun : copy_text(model_of(device), name, static_cast<std::size_t>(size));
}

FAKE_CUDA_API Result cuDeviceGetAttribute(int* value, int attribute, DeviceHandle) {
  const std::lock_guard guard(lock());
  const Settings& s = state().settings;
  const std::map<int, int> values{{kMultiprocessorCount, static_cast<int>(s.multiprocessors)},
                                  {kComputeMode, s.prohibited ? 2 : 0},
                                  {kCapabilityMajor, s.capability / 10},
                                  {kCapabilityMinor, s.capability % 10},
                                  {kSharedPerBlockOptIn, 227 << 10}};
  const auto found = values.find(attribute);
  if (found == values.end()) return misuse(kErrorInvalidValue);
  *value = found->second;
  return begin_call();
}

FAKE_CUDA_API Result cuDeviceTotalMem_v2(std::size_t* bytes, DeviceHandle) {
  const std::lock_guard guard(lock());
  *bytes = state().settings.memory_bytes;
  return begin_call();
}

FAKE_CUDA_API Result cuDevicePrimaryCtxRetain(ContextHandle* context, DeviceHandle device) {
  const std::lock_guard guard(lock());
  const Result begun = begin_call();
  if (begun != kSuccess) return begun;
  if (state().settings.retain_result != kSuccess) return state().settings.retain_result;
  ++state().counts.contexts;
  *context = &state().contexts.at(static_cast<std::size_t>(device));
  return kSuccess;
}

FAKE_CUDA_API Result cuCtxPushCurrent_v2(ContextHandle context) {
  const std::lock_guard guard(lock());
  if (state().process != getpid()) return misuse(kErrorNotInitialized);
  context_stack.at(context_depth++) = context;
  return kSuccess;
}

FAKE_CUDA_API Result cuCtxPopCurrent_v2(ContextHandle* context) {
  const std::lock_guard guard(lock());
  if (context_depth == 0) return misuse(kInvalidContext);
  *context = context_stack.at(--context_depth);
  return kSuccess;
}

FAKE_CUDA_API Result cuCtxSynchronize() {
  const std::lock_guard guard(lock());
  return begin_context_call();
}

FAKE_CUDA_API Result cuLibraryLoadData(LibraryHandle* library, const void* data, int*, void**, unsigned, int*,
                                       void**, unsigned) {
  const std::lock_guard guard(lock());
  const Result begun = begin_context_call();
  if (begun != kSuccess) return begun;
  if (state().settings.load_result != kSuccess) return state().settings.load_result;
  ++state().counts.images;
  state().library.data = data;
  *library = &state().library;
  return kSuccess;
}

FAKE_CUDA_API Result cuLibraryGetKernel(KernelHandle* kernel, LibraryHandle, const char* name) {
  const std::lock_guard guard(lock());
  const Result begun = begin_context_call();
  if (begun != kSuccess) return begun;
  const auto found = state().kernels.find(name);
  if (found == state().kernels.end()) return kNotFound;
  *kernel = &found->second;
  return kSuccess;
}

FAKE_CUDA_API Result cuKernelGetFunction(FunctionHandle* function, KernelHandle kernel) {
  const std::lock_guard guard(lock());
  *function = kernel->function;
  return begin_context_call();
}

FAKE_CUDA_API Result cuModuleLoadData(ModuleHandle* module, const void* data) {
  const std::lock_guard guard(lock());
  const Result begun = begin_context_call();
  if (begun != kSuccess) return begun;
  if (state().settings.load_result != kSuccess) return state().settings.load_result;
  ++state().counts.images;
  state().module.data = data;
  *module = &state().module;
  return kSuccess;
}

FAKE_CUDA_API Result cuModuleGetFunction(FunctionHandle* function, ModuleHandle, const char* name) {
  const std::lock_guard guard(lock());
  const Result begun = begin_context_call();
  return begun != kSuccess ? begun : find_function(function, name);
}

FAKE_CUDA_API Result cuFuncGetAttribute(int* value, int attribute, FunctionHandle) {
  const std::lock_guard guard(lock());
  *value = attribute == kFunctionRegisters ? 64 : 0;
  return begin_context_call();
}

FAKE_CUDA_API Result cuFuncSetAttribute(FunctionHandle, int attribute, int value) {
  const std::lock_guard guard(lock());
  if (attribute != kFunctionMaxDynamicShared || value > 227 << 10) return misuse(kErrorInvalidValue);
  return begin_context_call();
}

FAKE_CUDA_API Result cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, FunctionHandle, int block,
                                                                 std::size_t shared_bytes) {
  const std::lock_guard guard(lock());
  *blocks = static_cast<int>(state().settings.threads_per_multiprocessor) / std::max(block, 1);
  if (shared_bytes > 0)
    *blocks = std::min(*blocks, static_cast<int>((std::size_t{228} << 10) / shared_bytes));
  return begin_context_call();
}

FAKE_CUDA_API Result cuLaunchKernel(FunctionHandle function, unsigned grid, unsigned, unsigned,
                                    unsigned block, unsigned, unsigned, unsigned shared_bytes, StreamHandle,
                                    void** parameters, void**) {
  KernelFunction body;
  {
    const std::lock_guard guard(lock());
    const Result begun = begin_context_call();
    if (begun != kSuccess) return begun;
    State& s = state();
    const std::size_t number = s.counts.launches++;
    if (grid == 0 || block == 0 || block > 1024) return misuse(kErrorInvalidValue);
    if (number == s.settings.failing_launch) return s.settings.launch_result;
    // A launch succeeds before its kernel fails.
    if (number >= s.settings.faulting_launch) s.fault = s.settings.fault_result;
    if (s.fault == kSuccess) body = function->function;
  }
  if (body) body(Launch{grid, block, shared_bytes}, parameters);
  return kSuccess;
}

FAKE_CUDA_API Result cuStreamCreate(StreamHandle* stream, unsigned) {
  const std::lock_guard guard(lock());
  const Result begun = begin_context_call();
  if (begun != kSuccess) return begun;
  if (state().settings.stream_result != kSuccess) return state().settings.stream_result;
  ++state().counts.streams;
  *stream = new StreamObject{current_context()->device};
  return kSuccess;
}

FAKE_CUDA_API Result cuStreamDestroy_v2(StreamHandle stream) {
  const std::lock_guard guard(lock());
  --state().counts.streams;
  delete stream;
  return begin_context_call();
}

FAKE_CUDA_API Result cuStreamSynchronize(StreamHandle) {
  const std::lock_guard guard(lock());
  return begin_context_call();
}

FAKE_CUDA_API Result cuEventCreate(EventHandle* event, unsigned) {
  const std::lock_guard guard(lock());
  const Result begun = begin_context_call();
  if (begun != kSuccess) return begun;
  ++state().counts.events;
  *event = new EventObject{false};
  return kSuccess;
}

FAKE_CUDA_API Result cuEventDestroy_v2(EventHandle event) {
  const std::lock_guard guard(lock());
  --state().counts.events;
  delete event;
  return begin_context_call();
}

FAKE_CUDA_API Result cuEventRecord(EventHandle event, StreamHandle) {
  const std::lock_guard guard(lock());
  event->recorded = true;
  return begin_context_call();
}

FAKE_CUDA_API Result cuEventSynchronize(EventHandle) {
  const std::lock_guard guard(lock());
  return begin_context_call();
}

FAKE_CUDA_API Result cuEventElapsedTime(float* milliseconds, EventHandle start, EventHandle end) {
  const std::lock_guard guard(lock());
  *milliseconds = 2.5F;
  return start->recorded && end->recorded ? begin_context_call() : misuse(kErrorInvalidValue);
}

FAKE_CUDA_API Result cuMemAlloc_v2(DeviceAddress* address, std::size_t bytes) {
  const std::lock_guard guard(lock());
  const Result begun = begin_context_call();
  if (begun != kSuccess) return begun;
  State& s = state();
  if (bytes == 0) return misuse(kErrorInvalidValue);
  if (s.allocations_made++ == s.settings.failing_allocation) return kOutOfMemory;
  if (bytes > s.settings.memory_bytes - std::min(s.allocated, s.settings.memory_bytes)) return kOutOfMemory;
  s.allocated += bytes;
  *address = keep(s.device_memory, bytes);
  return kSuccess;
}

FAKE_CUDA_API Result cuMemFree_v2(DeviceAddress address) {
  const std::lock_guard guard(lock());
  return drop(state().device_memory, state().allocated, address);
}

FAKE_CUDA_API Result cuMemHostAlloc(void** data, std::size_t bytes, unsigned) {
  const std::lock_guard guard(lock());
  const Result begun = begin_context_call();
  if (begun != kSuccess) return begun;
  State& s = state();
  if (s.host_allocations_made++ == s.settings.failing_host_allocation) return kOutOfMemory;
  if (bytes > s.settings.host_memory_bytes - std::min(s.host_allocated, s.settings.host_memory_bytes)) {
    return kOutOfMemory;
  }
  s.host_allocated += bytes;
  s.counts.largest_host_allocation = std::max(s.counts.largest_host_allocation, bytes);
  *data = reinterpret_cast<void*>(keep(s.host_memory, bytes));
  return kSuccess;
}

FAKE_CUDA_API Result cuMemFreeHost(void* data) {
  const std::lock_guard guard(lock());
  return drop(state().host_memory, state().host_allocated, reinterpret_cast<std::uintptr_t>(data));
}

FAKE_CUDA_API Result cuMemcpyHtoDAsync_v2(DeviceAddress to, const void* from, std::size_t bytes,
                                          StreamHandle) {
  const std::lock_guard guard(lock());
  Result result = begin_context_call();
  if (result == kSuccess) result = find_range(state().device_memory, to, bytes);
  if (result != kSuccess) return result;
  state().counts.to_device_bytes += bytes;
  std::memcpy(reinterpret_cast<void*>(to), from, bytes);
  return kSuccess;
}

FAKE_CUDA_API Result cuMemcpyDtoHAsync_v2(void* to, DeviceAddress from, std::size_t bytes, StreamHandle) {
  const std::lock_guard guard(lock());
  Result result = begin_context_call();
  if (result == kSuccess) result = find_range(state().device_memory, from, bytes);
  if (result != kSuccess) return result;
  state().counts.to_host_bytes += bytes;
  std::memcpy(to, reinterpret_cast<const void*>(from), bytes);
  return kSuccess;
}

FAKE_CUDA_API Result cuMemcpyDtoDAsync_v2(DeviceAddress to, DeviceAddress from, std::size_t bytes,
                                          StreamHandle) {
  const std::lock_guard guard(lock());
  Result result = begin_context_call();
  if (result == kSuccess) result = find_range(state().device_memory, to, bytes);
  if (result == kSuccess) result = find_range(state().device_memory, from, bytes);
  if (result != kSuccess) return result;
  state().counts.on_device_bytes += bytes;
  std::memmove(reinterpret_cast<void*>(to), reinterpret_cast<const void*>(from), bytes);
  return kSuccess;
}

FAKE_CUDA_API Result cuMemsetD8Async(DeviceAddress to, unsigned char value, std::size_t bytes, StreamHandle) {
  const std::lock_guard guard(lock());
  Result result = begin_context_call();
  if (result == kSuccess) result = find_range(state().device_memory, to, bytes);
  if (result == kSuccess) std::memset(reinterpret_cast<void*>(to), value, bytes);
  return result;
}

FAKE_CUDA_API Result cuPointerGetAttribute(void* value, int attribute, DeviceAddress address) {
  const std::lock_guard guard(lock());
  const Result begun = begin_context_call();
  if (begun != kSuccess) return begun;
  const auto& memory = state().device_memory;
  const auto after = memory.upper_bound(address);
  if (after == memory.begin()) return kErrorInvalidValue;
  const auto& [start, block] = *std::prev(after);
  if (address - start >= block.bytes) return kErrorInvalidValue;
  const int answer = attribute == kPointerMemoryType ? static_cast<int>(kMemoryTypeDevice) : block.device;
  std::memcpy(value, &answer, sizeof answer);
  return kSuccess;
}

// ---- NVML ---------------------------------------------------------------------------------------------

FAKE_CUDA_API Result nvmlInit_v2() { return settings().management ? kSuccess : 9; /* DRIVER_NOT_LOADED */ }
FAKE_CUDA_API Result nvmlShutdown() { return kSuccess; }

FAKE_CUDA_API Result nvmlDeviceGetCount_v2(unsigned* count) {
  *count = settings().devices;
  return kSuccess;
}

// The handle of device i is the number i + 1, which is not a pointer to anything.
FAKE_CUDA_API Result nvmlDeviceGetHandleByIndex_v2(unsigned index, void** handle) {
  *handle = reinterpret_cast<void*>(std::uintptr_t{index} + 1);
  return kSuccess;
}

FAKE_CUDA_API Result nvmlDeviceGetName(void* handle, char* name, unsigned size) {
  return copy_text(model_of(static_cast<int>(reinterpret_cast<std::uintptr_t>(handle)) - 1), name, size);
}

FAKE_CUDA_API Result nvmlDeviceGetUUID(void* handle, char* uuid, unsigned size) {
  return copy_text("GPU-0" + std::to_string(reinterpret_cast<std::uintptr_t>(handle) - 1), uuid, size);
}

FAKE_CUDA_API Result nvmlDeviceGetCudaComputeCapability(void*, int* major, int* minor) {
  *major = settings().capability / 10;
  *minor = settings().capability % 10;
  return kSuccess;
}

FAKE_CUDA_API Result nvmlDeviceGetMemoryInfo(void*, unsigned long long* total_free_used) {
  total_free_used[0] = settings().memory_bytes;
  return kSuccess;
}

FAKE_CUDA_API Result nvmlDeviceGetNumGpuCores(void*, unsigned* cores) {
  *cores = settings().multiprocessors * 128;
  return kSuccess;
}

FAKE_CUDA_API Result nvmlDeviceGetMigMode(void*, unsigned* current, unsigned* pending) {
  *current = *pending = settings().partitioned ? 1 : 0;
  return kSuccess;
}

FAKE_CUDA_API Result nvmlDeviceGetComputeMode(void*, int* mode) {
  *mode = settings().prohibited ? 2 : 0;
  return kSuccess;
}

}  // extern "C"
// NOLINTEND(readability-identifier-naming,performance-no-int-to-ptr)
