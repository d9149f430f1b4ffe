// SPDX-License-Identifier: Apache-2.0
#include "gpu/opencl/driver.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <utility>

#include "gpu/nvidia.hpp"
#include "gpu/opencl/device.hpp"

namespace manymod::opencl {
namespace {

// An atomic, not a mutex: a child that is forked while another thread holds a mutex can never lock it.
std::atomic<Driver*>& the_current() {
  static std::atomic<Driver*> driver = nullptr;
  return driver;
}

std::atomic<unsigned>& count_of_uses() {
  static std::atomic<unsigned> count = 0;
  return count;
}

/// Reads what drivers tell of platforms and devices; what a driver does not tell is 0 or empty.
class FactReader {
 public:
  explicit FactReader(const DriverApi& api) : api_(api) {}

  // In the order of the drivers, but CPUs last: "opencl:0" is a GPU wherever there is one.
  [[nodiscard]] std::vector<DeviceFacts> all() const {
    std::vector<DeviceFacts> found;
    for (const PlatformHandle platform : platforms()) {
      for (const DeviceHandle device : devices(platform)) found.push_back(facts(platform, device));
    }
    std::stable_sort(found.begin(), found.end(),
                     [](const DeviceFacts& a, const DeviceFacts& b) { return !a.is_cpu && b.is_cpu; });
    return found;
  }

 private:
  const DriverApi& api_;

  [[nodiscard]] std::vector<PlatformHandle> platforms() const {
    std::uint32_t count = 0;
    const Status status = api_.get_platforms(0, nullptr, &count);
    if (status == kPlatformNotFound || count == 0) return {};
    check(api_.get_platforms.name(), status);
    std::vector<PlatformHandle> found(count);
    check(api_.get_platforms.name(), api_.get_platforms(count, found.data(), nullptr));
    return found;
  }

  // A platform that fails has no devices: it must not hide those of the others.
  [[nodiscard]] std::vector<DeviceHandle> devices(PlatformHandle platform) const {
    std::uint32_t count = 0;
    if (api_.get_devices(platform, kDeviceTypeAll, 0, nullptr, &count) != kSuccess) return {};
    std::vector<DeviceHandle> found(count);
    if (count == 0 || api_.get_devices(platform, kDeviceTypeAll, count, found.data(), nullptr) != kSuccess) {
      return {};
    }
    return found;
  }

  template <class Read>
  static std::string text(const Read& read) {
    std::size_t bytes = 0;
    if (read(0, nullptr, &bytes) != kSuccess || bytes == 0) return {};
    std::string value(bytes, '\0');
    if (read(bytes, value.data(), nullptr) != kSuccess) return {};
    value.resize(value.find('\0') == std::string::npos ? bytes : value.find('\0'));
    while (!value.empty() && std::isspace(static_cast<unsigned char>(value.back())) != 0) value.pop_back();
    return value;
  }

  [[nodiscard]] std::string text_of(DeviceHandle device, Info info) const {
    return text([&](std::size_t bytes, void* value, std::size_t* needed) {
      return api_.get_device_info(device, info, bytes, value, needed);
    });
  }

  template <class Value>
  [[nodiscard]] Value value_of(DeviceHandle device, Info info) const {
    Value value{};
    return api_.get_device_info(device, info, sizeof value, &value, nullptr) == kSuccess ? value : Value{};
  }

  [[nodiscard]] DeviceFacts facts(PlatformHandle platform, DeviceHandle device) const {
    DeviceFacts facts;
    facts.platform = platform;
    facts.handle = device;
    facts.platform_name = text([&](std::size_t bytes, void* value, std::size_t* needed) {
      return api_.get_platform_info(platform, kPlatformName, bytes, value, needed);
    });
    facts.name = text_of(device, kDeviceName);
    facts.vendor = text_of(device, kDeviceVendor);
    facts.driver_version = text_of(device, kDriverVersion);
    facts.version = text_of(device, kDeviceVersion);
    facts.is_cpu = (value_of<Bits>(device, kDeviceType) & kDeviceTypeCpu) != 0;
    facts.compute_units = value_of<std::uint32_t>(device, kDeviceComputeUnits);
    facts.work_group_size = value_of<std::size_t>(device, kDeviceWorkGroupSize);
    facts.local_bytes = value_of<std::uint64_t>(device, kDeviceLocalBytes);
    facts.memory_bytes = value_of<std::uint64_t>(device, kDeviceMemoryBytes);
    facts.doubles = doubles(device);
    facts.obstacle = obstacle(device, facts);
    return facts;
  }

  [[nodiscard]] Doubles doubles(DeviceHandle device) const {
    constexpr Bits kExact = kRoundsToNearest | kHasFma;
    if ((value_of<Bits>(device, kDeviceDoubleConfig) & kExact) != kExact) return Doubles::none;
    if (text_of(device, kDeviceExtensions).find("cl_nv_device_attribute_query") == std::string::npos) {
      return Doubles::exact;
    }
    const auto major = value_of<std::uint32_t>(device, kDeviceCapabilityMajor);
    const auto minor = value_of<std::uint32_t>(device, kDeviceCapabilityMinor);
    return gpu::full_rate_doubles(10 * major + minor) ? Doubles::fast : Doubles::exact;
  }

  // The first version of Mesa's rusticl, 22.3, computes launches of kernels with the arguments of earlier
  // ones, but not those of the test of kernels (tests/python/test_opencl_rusticl.py).
  static bool miscomputes(const DeviceFacts& facts) {
    return facts.platform_name == "rusticl" && facts.driver_version.starts_with("22.");
  }

  [[nodiscard]] std::string obstacle(DeviceHandle device, const DeviceFacts& facts) const {
    const auto has = [&](Info info) { return value_of<Bool>(device, info) != 0; };
    // "OpenCL <major>.<minor> ..."
    const bool old = facts.version.starts_with("OpenCL 1.0") || facts.version.starts_with("OpenCL 1.1");
    if (old || !facts.version.starts_with("OpenCL ")) return "it has " + facts.version + ", not OpenCL 1.2";
    if (miscomputes(facts))
      return "its driver, rusticl of Mesa " + facts.driver_version + ", computes wrongly";
    if (!has(kDeviceAvailable)) return "its driver says that it is not available";
    if (!has(kDeviceCompilerAvailable)) return "its driver has no compiler";
    if (!has(kDeviceLittleEndian)) return "it is not little-endian";
    // 64-bit integers are optional in the embedded profile.
    if (text_of(device, kDeviceProfile) != "FULL_PROFILE") return "it has the embedded profile of OpenCL";
    if (facts.compute_units == 0 || facts.work_group_size < kWorkGroup) {
      return "its work-groups are smaller than " + std::to_string(kWorkGroup) + " work-items";
    }
    return {};
  }
};

}  // namespace

std::string forked_message() {
  return "OpenCL was initialised before this process was forked off, so it does not work here; start "
         "processes by spawn, or use device cpu";
}

void check(const char* call, Status status, int device) {
  if (status != kSuccess) throw DriverError(fault_of(status), device, call, status_name(status));
}

Driver& Driver::current() {
  std::atomic<Driver*>& current = the_current();
  Driver* driver = current.load();
  while (driver == nullptr || !driver->own_process()) {
    auto fresh = driver == nullptr ? std::make_unique<Driver>(DriverSources{}, nullptr, false)
                                   : std::make_unique<Driver>(driver->sources(), driver, driver->forked());
    if (current.compare_exchange_strong(driver, fresh.get())) driver = fresh.release();
  }
  return *driver;
}

void Driver::use(const DriverSources& sources) {
  auto fresh = std::make_unique<Driver>(sources, the_current().load(), false);
  the_current() = fresh.release();
  ++count_of_uses();
}

unsigned Driver::uses() { return count_of_uses(); }

Driver::Driver(DriverSources sources, const Driver* inherited_from, bool forked)
    : sources_(std::move(sources)), process_(getpid()), forked_(forked), previous_(inherited_from) {}

Driver::~Driver() = default;

bool Driver::own_process() const { return getpid() == process_; }

void Driver::load() {
  if (api_ != nullptr) return;
  loaded_ = true;  // set before the call, for a child that is forked during it
  void* const library = dlopen(sources_.loader.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    loaded_ = false;
    const char* const why = dlerror();
    throw DriverError(Fault::no_driver, DriverError::kNoDevice,
                      "no OpenCL: " + std::string(why == nullptr ? sources_.loader.c_str() : why));
  }
  auto api =
      std::make_unique<const DriverApi>(library, sources_.hidden_functions, sources_.replaced_functions);
  if (!api->missing().empty()) {
    throw DriverError(Fault::driver_too_old, DriverError::kNoDevice, "OpenCL lacks " + api->missing());
  }
  api_ = std::move(api);
}

void Driver::list() {
  if (listed_) return;
  if (forked_) throw DriverError(Fault::forked, DriverError::kNoDevice, forked_message());
  load();
  facts_ = FactReader(*api_).all();
  devices_.resize(facts_.size());
  listed_ = true;
}

std::span<const DeviceFacts> Driver::devices() {
  const std::lock_guard lock(mutex_);
  list();
  return facts_;
}

Device& Driver::device(unsigned index) {
  const int number = static_cast<int>(index);
  const std::lock_guard lock(mutex_);
  list();
  if (index >= facts_.size()) {
    throw DriverError(Fault::no_device, number,
                      "there is no such device; the drivers offer " + std::to_string(facts_.size()));
  }
  if (!facts_[index].obstacle.empty()) throw DriverError(Fault::no_device, number, facts_[index].obstacle);
  if (devices_[index] == nullptr) devices_[index] = std::make_unique<Device>(*this, index, facts_[index]);
  return *devices_[index];
}

}  // namespace manymod::opencl
