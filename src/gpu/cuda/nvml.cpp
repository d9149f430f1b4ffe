// SPDX-License-Identifier: Apache-2.0
#include "gpu/cuda/nvml.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

#include "gpu/cuda/driver_api.hpp"

namespace manymod::cuda {
namespace {

using ManagedHandle = struct ManagedObject*;  // nvmlDevice_t

struct ManagedMemory {  // nvmlMemory_t, in bytes
  unsigned long long total = 0;
  unsigned long long free = 0;
  unsigned long long used = 0;
};

// The declarations follow nvml.h (NVML API reference). nvmlReturn_t is 0 for success, as CUresult is.
class ManagementApi {
 public:
  explicit ManagementApi(void* library) : required_(library), optional_(library) {}
  [[nodiscard]] bool complete() const { return required_.missing().empty(); }

 private:
  SymbolSource required_;  // declared first: the initialisers of the functions use these two
  const SymbolSource optional_;

 public:
  Function<> init{required_, "nvmlInit_v2"};
  Function<> shutdown{required_, "nvmlShutdown"};
  Function<unsigned*> get_count{required_, "nvmlDeviceGetCount_v2"};
  Function<unsigned, ManagedHandle*> get_handle{required_, "nvmlDeviceGetHandleByIndex_v2"};
  Function<ManagedHandle, char*, unsigned> get_name{required_, "nvmlDeviceGetName"};
  Function<ManagedHandle, char*, unsigned> get_uuid{required_, "nvmlDeviceGetUUID"};
  Function<ManagedHandle, int*, int*> get_capability{required_, "nvmlDeviceGetCudaComputeCapability"};
  Function<ManagedHandle, ManagedMemory*> get_memory{required_, "nvmlDeviceGetMemoryInfo"};
  Function<ManagedHandle, int*> get_compute_mode{optional_, "nvmlDeviceGetComputeMode"};
  Function<ManagedHandle, unsigned*> get_cores{optional_, "nvmlDeviceGetNumGpuCores"};
  Function<ManagedHandle, unsigned*, unsigned*> get_mig_mode{optional_, "nvmlDeviceGetMigMode"};
};

constexpr int kProhibited = 2;       // NVML_COMPUTEMODE_PROHIBITED
constexpr unsigned kMigEnabled = 1;  // NVML_DEVICE_MIG_ENABLE

// CUDA C++ Programming Guide, arithmetic instructions: FP32 additions per clock and multiprocessor.
unsigned cores_per_multiprocessor(unsigned compute_capability) {
  if (compute_capability == 60 || compute_capability == 80) return 64;
  return compute_capability / 10 == 7 ? 64 : 128;
}

std::optional<ManagedDevice> describe(const ManagementApi& api, unsigned index) {
  ManagedHandle handle = nullptr;
  std::array<char, 97> name{};
  std::array<char, 97> uuid{};
  ManagedMemory memory;
  int major = 0;
  int minor = 0;
  if (api.get_handle(index, &handle) != kSuccess || api.get_name(handle, name.data(), 96) != kSuccess ||
      api.get_uuid(handle, uuid.data(), 96) != kSuccess ||
      api.get_capability(handle, &major, &minor) != kSuccess) {
    return std::nullopt;
  }
  ManagedDevice device;
  device.uuid = uuid.data();
  device.info.model = name.data();
  device.info.compute_capability = static_cast<unsigned>(10 * major + minor);
  if (api.get_memory(handle, &memory) == kSuccess) device.info.memory_bytes = memory.total;
  unsigned cores = 0;
  if (api.get_cores && api.get_cores(handle, &cores) == kSuccess) {
    device.info.multiprocessors = cores / cores_per_multiprocessor(device.info.compute_capability);
  }
  unsigned mig = 0;
  unsigned mig_after_reset = 0;
  if (api.get_mig_mode && api.get_mig_mode(handle, &mig, &mig_after_reset) == kSuccess) {
    device.partitioned = mig == kMigEnabled;
  }
  int mode = 0;
  if (api.get_compute_mode && api.get_compute_mode(handle, &mode) == kSuccess && mode == kProhibited) {
    device.info.obstacle = prohibited_message();
  }
  return device;
}

std::optional<std::vector<ManagedDevice>> describe_all(const ManagementApi& api) {
  unsigned count = 0;
  if (api.get_count(&count) != kSuccess) return std::nullopt;
  std::vector<ManagedDevice> devices;
  for (unsigned i = 0; i < count; ++i) {
    std::optional<ManagedDevice> device = describe(api, i);
    if (!device) return std::nullopt;
    devices.push_back(std::move(*device));
  }
  return devices;
}

enum class Entry : std::uint8_t { device, end, ambiguous };

// One entry of CUDA_VISIBLE_DEVICES: an index, or a prefix of one GPU's UUID. An entry that names no device
// ends the list.
Entry parse_entry(std::string_view text, const std::vector<ManagedDevice>& devices, std::size_t& number) {
  if (text.starts_with("GPU-")) {
    const auto is_named = [&](const ManagedDevice& device) { return device.uuid.starts_with(text); };
    const auto found = std::find_if(devices.begin(), devices.end(), is_named);
    if (found == devices.end()) return Entry::end;
    if (std::find_if(found + 1, devices.end(), is_named) != devices.end()) return Entry::ambiguous;
    number = static_cast<std::size_t>(found - devices.begin());
    return Entry::device;
  }
  long long value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return Entry::ambiguous;
  if (value < 0 || value >= static_cast<long long>(devices.size())) return Entry::end;
  number = static_cast<std::size_t>(value);
  return Entry::device;
}

bool is_bus_order(const std::vector<ManagedDevice>& devices, const char* cuda_device_order) {
  if (cuda_device_order != nullptr && std::string_view(cuda_device_order) == "PCI_BUS_ID") return true;
  return std::all_of(devices.begin(), devices.end(), [&](const ManagedDevice& device) {
    return device.info.model == devices.front().info.model;
  });
}

}  // namespace

std::optional<std::vector<ManagedDevice>> managed_devices(const std::string& library) {
  void* const opened = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (opened == nullptr) return std::nullopt;
  const ManagementApi api(opened);
  if (!api.complete() || api.init() != kSuccess) return std::nullopt;
  auto devices = describe_all(api);
  api.shutdown();
  return devices;
}

std::optional<std::vector<std::size_t>> visible_order(const std::vector<ManagedDevice>& devices,
                                                      const char* cuda_visible_devices,
                                                      const char* cuda_device_order) {
  if (!is_bus_order(devices, cuda_device_order)) return std::nullopt;
  for (const ManagedDevice& device : devices) {
    if (device.partitioned) return std::nullopt;
  }
  std::vector<std::size_t> order;
  if (cuda_visible_devices == nullptr) {
    for (std::size_t i = 0; i < devices.size(); ++i) order.push_back(i);
    return order;
  }
  std::string_view rest = cuda_visible_devices;
  while (!rest.empty()) {
    const std::size_t length = std::min(rest.find(','), rest.size());
    std::size_t number = 0;
    const Entry entry = parse_entry(rest.substr(0, length), devices, number);
    if (entry == Entry::end) break;
    const bool repeated = std::find(order.begin(), order.end(), number) != order.end();
    if (entry == Entry::ambiguous || repeated) return std::nullopt;
    order.push_back(number);
    rest.remove_prefix(std::min(length + 1, rest.size()));
  }
  return order;
}

}  // namespace manymod::cuda
