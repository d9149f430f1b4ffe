// SPDX-License-Identifier: Apache-2.0
#include "gpu/cuda/driver.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "gpu/cuda/device.hpp"

namespace manymod::cuda {
namespace {

// An atomic, not a mutex: a child that is forked while another thread holds a mutex can never lock it.
std::atomic<Driver*>& current_driver() {
  static std::atomic<Driver*> driver = nullptr;
  return driver;
}

std::atomic<unsigned>& use_count() {
  static std::atomic<unsigned> count = 0;
  return count;
}

std::string too_old_message(int version, int needed) {
  return "the NVIDIA driver is too old: it serves CUDA " + version_text(version) + ", manymod needs CUDA " +
         version_text(needed);
}

}  // namespace

std::string version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

std::string forked_message() {
  return "CUDA was initialised before this process was forked off, so it does not work here; start processes "
         "by spawn, or use device cpu";
}

Driver& Driver::current() {
  std::atomic<Driver*>& current = current_driver();
  Driver* driver = current.load();
  while (driver == nullptr || !driver->own_process()) {
    auto fresh = driver == nullptr
                     ? std::make_unique<Driver>(DriverSources{}, false, nullptr)
                     : std::make_unique<Driver>(driver->sources(), driver->initialised(), driver);
    if (current.compare_exchange_strong(driver, fresh.get())) driver = fresh.release();
  }
  return *driver;
}

void Driver::use(const DriverSources& sources) {
  auto fresh = std::make_unique<Driver>(sources, false, current_driver().load());
  current_driver() = fresh.release();
  ++use_count();
}

unsigned Driver::uses() { return use_count(); }

Driver::Driver(DriverSources sources, bool inherited, const Driver* previous)
    : sources_(std::move(sources)),
      process_(getpid()),
      inherited_(inherited),
      previous_(previous),
      initialised_(inherited) {}

Driver::~Driver() = default;

bool Driver::own_process() const { return getpid() == process_; }

std::string Driver::result_name(Result result) const {
  const char* name = nullptr;
  const bool named = api_->get_error_name(result, &name) == kSuccess && name != nullptr;
  return named ? name : "CUDA error " + std::to_string(result);
}

void Driver::throw_result(const char* call, Result result, int device) const {
  throw DriverError(fault_of(result), device, call, result_name(result));
}

void Driver::load() {
  if (api_ != nullptr) return;
  void* const library = dlopen(sources_.driver.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* const why = dlerror();
    throw DriverError(Fault::no_driver, DriverError::kNoDevice,
                      "no NVIDIA driver: " + std::string(why == nullptr ? sources_.driver.c_str() : why));
  }
  auto api = std::make_unique<const DriverApi>(library, sources_.hidden_functions);
  if (inherited_) {
    version_ = previous_->version_;  // the driver must not be called here
  } else if (api->driver_get_version) {
    api->driver_get_version(&version_);
  }
  api_ = std::move(api);
}

const DriverApi& Driver::usable_api() {
  load();
  if (const int needed = oldest_driver(sources_.compiler); version_ < needed) {
    throw DriverError(Fault::driver_too_old, DriverError::kNoDevice, too_old_message(version_, needed));
  }
  if (!api_->missing().empty()) {
    throw DriverError(Fault::driver_too_old, DriverError::kNoDevice,
                      "the NVIDIA driver lacks " + api_->missing());
  }
  return *api_;
}

const DriverApi& Driver::initialise() {
  if (forked()) throw DriverError(Fault::forked, DriverError::kNoDevice, forked_message());
  const DriverApi& api = usable_api();
  if (!init_result_) {
    initialised_ = true;  // set before the call, for a child that is forked during it
    init_result_ = api.init(0);
    initialised_ = init_result_ == kSuccess;
  }
  // Other code of the parent initialised CUDA before the fork, which only the driver knows.
  if (init_result_ == kErrorNotInitialized) {
    throw DriverError(Fault::forked, DriverError::kNoDevice, forked_message());
  }
  check(api.init, *init_result_);
  return api;
}

const DriverApi& Driver::initialised_api() {
  const std::lock_guard lock(mutex_);
  return initialise();
}

int Driver::version() {
  const std::lock_guard lock(mutex_);
  load();
  return version_;
}

void Driver::check_version() {
  const std::lock_guard lock(mutex_);
  usable_api();
}

Device& Driver::device(unsigned index) {
  const std::lock_guard lock(mutex_);
  const DriverApi& api = initialise();
  if (index < devices_.size() && devices_[index] != nullptr) return *devices_[index];
  int count = 0;
  check(api.device_get_count, api.device_get_count(&count));
  if (std::cmp_greater_equal(index, count)) {
    throw DriverError(Fault::no_device, static_cast<int>(index),
                      "there is no such GPU; the driver offers " + std::to_string(count));
  }
  devices_.resize(static_cast<std::size_t>(count));
  devices_[index] = std::make_unique<Device>(*this, index);
  return *devices_[index];
}

Device& device(unsigned index) { return Driver::current().device(index); }

}  // namespace manymod::cuda
