// SPDX-License-Identifier: Apache-2.0
// Failures of OpenCL drivers: each function can be made to fail, or to be wrong, while the others are those
// of the driver of this machine. Skipped where there is none.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <string_view>

#include "gpu/opencl/driver.hpp"
#include "gpu/opencl/requirements.hpp"
#include "manymod/manymod.hpp"
#include "support/opencl_faults.hpp"
#include "support/opencl_fixture.hpp"

namespace manymod::testing {
namespace {

using opencl::Driver;
using opencl::DriverSources;

int built_from_source = 0;
bool builds_fail = false;

opencl::ProgramHandle count_builds(opencl::ContextHandle context, std::uint32_t count, const char** texts,
                                   const std::size_t* lengths, opencl::Status* status) {
  ++built_from_source;
  return own<decltype(&count_builds)>("clCreateProgramWithSource")(context, count, texts, lengths, status);
}

opencl::ProgramHandle refuse_binaries(opencl::ContextHandle, std::uint32_t, const opencl::DeviceHandle*,
                                      const std::size_t*, const unsigned char**, opencl::Status*,
                                      opencl::Status* status) {
  *status = -42;  // CL_INVALID_BINARY
  return nullptr;
}

opencl::MemoryHandle lack_memory(opencl::ContextHandle, opencl::Bits, std::size_t, void*,
                                 opencl::Status* status) {
  *status = -4;  // CL_MEM_OBJECT_ALLOCATION_FAILURE
  return nullptr;
}

opencl::Status lose_device(opencl::QueueHandle, opencl::KernelHandle, std::uint32_t, const std::size_t*,
                           const std::size_t*, const std::size_t*, std::uint32_t, const opencl::EventHandle*,
                           opencl::EventHandle*) {
  return -36;  // CL_INVALID_COMMAND_QUEUE
}

// Of a GPU behind each driver's own devices, of which nothing but its type is known.
opencl::DeviceHandle added_gpu() {
  static int gpu = 0;
  return reinterpret_cast<opencl::DeviceHandle>(&gpu);
}

opencl::Status list_another(opencl::PlatformHandle platform, opencl::Bits type, std::uint32_t most,
                            opencl::DeviceHandle* devices, std::uint32_t* count) {
  std::uint32_t own_devices = 0;
  const auto list = own<decltype(&list_another)>("clGetDeviceIDs");
  opencl::Status status = list(platform, type, 0, nullptr, &own_devices);
  if (status == opencl::kSuccess && devices != nullptr && most > own_devices) {
    status = list(platform, type, own_devices, devices, nullptr);
    devices[own_devices] = added_gpu();
  }
  if (count != nullptr) *count = own_devices + 1;
  return status;
}

opencl::Status describe_another(opencl::DeviceHandle device, opencl::Info info, std::size_t bytes,
                                void* value, std::size_t* needed) {
  if (device != added_gpu()) {
    return own<decltype(&describe_another)>("clGetDeviceInfo")(device, info, bytes, value, needed);
  }
  if (info != opencl::kDeviceType) return -30;   // CL_INVALID_VALUE
  *static_cast<opencl::Bits*>(value) = 1U << 2;  // CL_DEVICE_TYPE_GPU
  return opencl::kSuccess;
}

opencl::Status answer_text(std::string_view text, std::size_t bytes, void* value, std::size_t* needed) {
  if (needed != nullptr) *needed = text.size() + 1;
  if (value != nullptr) {
    std::memset(value, 0, bytes);
    std::memcpy(value, text.data(), std::min(bytes, text.size()));
  }
  return opencl::kSuccess;
}

constexpr std::size_t kLocalBytes = std::size_t{48} << 10;

opencl::Status have_little_local_memory(opencl::DeviceHandle device, opencl::Info info, std::size_t bytes,
                                        void* value, std::size_t* needed) {
  const opencl::Status status =
      own<decltype(&have_little_local_memory)>("clGetDeviceInfo")(device, info, bytes, value, needed);
  if (info == opencl::kDeviceLocalBytes && value != nullptr) {
    *static_cast<std::uint64_t*>(value) = kLocalBytes;
  }
  return status;
}

// clSetKernelArg of a driver that needs some of the local memory itself.
opencl::Status refuse_all_local_memory(opencl::KernelHandle kernel, std::uint32_t number, std::size_t bytes,
                                       const void* value) {
  if (value == nullptr && bytes >= kLocalBytes) return -5;  // CL_OUT_OF_RESOURCES
  return own<decltype(&refuse_all_local_memory)>("clSetKernelArg")(kernel, number, bytes, value);
}

// A driver with the names of the first version of Mesa's rusticl.
opencl::Status name_rusticl(opencl::PlatformHandle platform, opencl::Info info, std::size_t bytes,
                            void* value, std::size_t* needed) {
  return info == opencl::kPlatformName
             ? answer_text("rusticl", bytes, value, needed)
             : own<decltype(&name_rusticl)>("clGetPlatformInfo")(platform, info, bytes, value, needed);
}

opencl::Status have_first_version(opencl::DeviceHandle device, opencl::Info info, std::size_t bytes,
                                  void* value, std::size_t* needed) {
  return info == opencl::kDriverVersion
             ? answer_text("22.3.6", bytes, value, needed)
             : own<decltype(&have_first_version)>("clGetDeviceInfo")(device, info, bytes, value, needed);
}

// A driver that has no larger work-groups for kernels, unless their source names the size.
constexpr std::size_t kMostWorkItems = 32;

opencl::Status allow_few_work_items(opencl::KernelHandle kernel, opencl::DeviceHandle device,
                                    opencl::Info info, std::size_t bytes, void* value, std::size_t* needed) {
  const auto ask = own<decltype(&allow_few_work_items)>("clGetKernelWorkGroupInfo");
  const opencl::Status status = ask(kernel, device, info, bytes, value, needed);
  std::array<std::size_t, 3> named{};
  ask(kernel, device, opencl::kKernelRequiredWorkGroupSize, sizeof named, named.data(), nullptr);
  if (info == opencl::kKernelWorkGroupSize && value != nullptr && named[0] == 0) {
    *static_cast<std::size_t*>(value) = kMostWorkItems;
  }
  return status;
}

opencl::Status launch_few_work_items(opencl::QueueHandle queue, opencl::KernelHandle kernel,
                                     std::uint32_t dimensions, const std::size_t* offset,
                                     const std::size_t* global, const std::size_t* local, std::uint32_t count,
                                     const opencl::EventHandle* events, opencl::EventHandle* event) {
  std::size_t most = 0;
  allow_few_work_items(kernel, nullptr, opencl::kKernelWorkGroupSize, sizeof most, &most, nullptr);
  if (*local > most) return -54;  // CL_INVALID_WORK_GROUP_SIZE
  return own<decltype(&launch_few_work_items)>("clEnqueueNDRangeKernel")(queue, kernel, dimensions, offset,
                                                                         global, local, count, events, event);
}

/// A driver one of whose launches finds too little memory, and that then invalidates the queues that there
/// are.
struct Shortage {
  int launches_before = 0;    ///< that run
  bool is_permanent = false;  ///< queues that are made later are invalid as well
  bool happened = false;
  std::set<opencl::QueueHandle> valid = {};

  [[nodiscard]] bool has(opencl::QueueHandle queue) const { return valid.contains(queue); }
};
Shortage shortage;

opencl::QueueHandle make_queue(opencl::ContextHandle context, opencl::DeviceHandle device,
                               opencl::Bits properties, opencl::Status* status) {
  const auto create = own<decltype(&make_queue)>("clCreateCommandQueue");
  const opencl::QueueHandle queue = create(context, device, properties, status);
  if (!shortage.happened || !shortage.is_permanent) shortage.valid.insert(queue);
  return queue;
}

opencl::Status launch_in_shortage(opencl::QueueHandle queue, opencl::KernelHandle kernel,
                                  std::uint32_t dimensions, const std::size_t* offset,
                                  const std::size_t* global, const std::size_t* local, std::uint32_t count,
                                  const opencl::EventHandle* events, opencl::EventHandle* event) {
  if (!shortage.has(queue)) return opencl::kInvalidQueue;
  if (!shortage.happened && shortage.launches_before-- == 0) {
    shortage.happened = true;
    shortage.valid.clear();
    return -5;  // CL_OUT_OF_RESOURCES
  }
  return own<decltype(&launch_in_shortage)>("clEnqueueNDRangeKernel")(queue, kernel, dimensions, offset,
                                                                      global, local, count, events, event);
}

void* map_in_shortage(opencl::QueueHandle queue, opencl::MemoryHandle memory, opencl::Bool wait,
                      opencl::Bits flags, std::size_t offset, std::size_t bytes, std::uint32_t count,
                      const opencl::EventHandle* events, opencl::EventHandle* event, opencl::Status* status) {
  if (shortage.has(queue)) {
    const auto map = own<decltype(&map_in_shortage)>("clEnqueueMapBuffer");
    return map(queue, memory, wait, flags, offset, bytes, count, events, event, status);
  }
  *status = opencl::kInvalidQueue;
  return nullptr;
}

opencl::Status write_in_shortage(opencl::QueueHandle queue, opencl::MemoryHandle memory, opencl::Bool wait,
                                 std::size_t offset, std::size_t bytes, const void* from, std::uint32_t count,
                                 const opencl::EventHandle* events, opencl::EventHandle* event) {
  if (!shortage.has(queue)) return opencl::kInvalidQueue;
  return own<decltype(&write_in_shortage)>("clEnqueueWriteBuffer")(queue, memory, wait, offset, bytes, from,
                                                                   count, events, event);
}

opencl::Status fill_in_shortage(opencl::QueueHandle queue, opencl::MemoryHandle memory, const void* pattern,
                                std::size_t pattern_bytes, std::size_t offset, std::size_t bytes,
                                std::uint32_t count, const opencl::EventHandle* events,
                                opencl::EventHandle* event) {
  if (!shortage.has(queue)) return opencl::kInvalidQueue;
  return own<decltype(&fill_in_shortage)>("clEnqueueFillBuffer")(queue, memory, pattern, pattern_bytes,
                                                                 offset, bytes, count, events, event);
}

class OpenclFaults : public OpenclTest {
 protected:
  void SetUp() override {
    OpenclTest::SetUp();
    if (IsSkipped()) return;
    std::string pattern = (std::filesystem::temp_directory_path() / "manymod-faults-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    setenv("MANYMOD_OPENCL_CACHE", (folder_ / "kernels").c_str(), 1);
    built_from_source = 0;
  }
  void TearDown() override {
    unsetenv("MANYMOD_OPENCL_CACHE");
    if (!folder_.empty()) std::filesystem::remove_all(folder_);
    opencl::forget_disqualified();
    OpenclTest::TearDown();
  }

  static void replace(const char* name, void* function) {
    DriverSources sources;
    sources.replaced_functions = {{"clCreateProgramWithSource", address(count_builds)}, {name, function}};
    Driver::use(sources);
  }

  // 3^5 modulo 10^18 + 9 or, with more limbs, modulo a power of 2 more; one item. MM_OK if the result is
  // right.
  static mm_status power(const std::string& device, const std::string& variant = "", std::size_t limbs = 1) {
    try {
      Plan plan(Op::powmod, 64 * limbs, ModulusKind::each, Timing::public_, {device, variant, 0});
      Batch x(1, 1), y(1, 1), n(1, limbs);
      x[0][0] = 3, y[0][0] = 5, n[0][limbs - 1] = 1, n[0][0] = 1000000000000000009;
      const Batch r = plan.run({x, y, n});
      return r[0][0] == 243 ? MM_OK : MM_ERR_INTERNAL;
    } catch (const Error& error) {
      message = error.what();
      return error.status();
    }
  }

  // The same computed by the CPU after the device failed.
  static void expect_failover() { EXPECT_EQ(power("auto", kVariant), MM_OK) << message; }

  static constexpr const char* kVariant = "cios32.opencl.t1";
  static inline std::string message;
  std::filesystem::path folder_;
};

TEST_F(OpenclFaults, BinariesAreCachedAndDamageIsHarmless) {
  replace("", nullptr);
  ASSERT_EQ(power("opencl", kVariant), MM_OK) << message;
  const int built = built_from_source;
  EXPECT_GT(built, 0);
  replace("", nullptr);
  EXPECT_EQ(power("opencl", kVariant), MM_OK) << message;
  EXPECT_EQ(built_from_source, built);
  for (const auto& entry : std::filesystem::directory_iterator(folder_ / "kernels")) {
    std::fstream stream(entry.path(), std::ios::in | std::ios::out | std::ios::binary);
    stream.seekp(100);
    stream << "damage";
  }
  replace("", nullptr);
  EXPECT_EQ(power("opencl", kVariant), MM_OK) << message;
  EXPECT_EQ(built_from_source, 2 * built);
  replace("clCreateProgramWithBinary", address(refuse_binaries));
  EXPECT_EQ(power("opencl", kVariant), MM_OK) << message;
  EXPECT_EQ(built_from_source, 3 * built);
}

TEST_F(OpenclFaults, GpusComeBeforeCpus) {
  DriverSources sources;
  sources.replaced_functions = {{"clGetDeviceIDs", address(list_another)},
                                {"clGetDeviceInfo", address(describe_another)}};
  Driver::use(sources);
  const auto devices = Driver::current().devices();
  ASSERT_GT(devices.size(), 1U);
  EXPECT_FALSE(devices.front().is_cpu);
  EXPECT_TRUE(std::ranges::is_sorted(devices, {}, &opencl::DeviceFacts::is_cpu));
}

TEST_F(OpenclFaults, CompilerThatFails) {
  replace("clBuildProgram", address(fail_to_build));
  EXPECT_EQ(power("opencl", kVariant), MM_ERR_DEVICE);
  EXPECT_NE(message.find("cannot compile"), std::string::npos) << message;
  expect_failover();
}

opencl::Status fail_to_build_at_first(opencl::ProgramHandle program, std::uint32_t count,
                                      const opencl::DeviceHandle* devices, const char* options, void* notify,
                                      void* data) {
  if (builds_fail) return fail_to_build(program, count, devices, options, notify, data);
  return own<decltype(&fail_to_build_at_first)>("clBuildProgram")(program, count, devices, options, notify,
                                                                  data);
}

int programs = 0;  // that are not released

opencl::ProgramHandle add_program(opencl::ContextHandle context, std::uint32_t count, const char** texts,
                                  const std::size_t* lengths, opencl::Status* status) {
  ++programs;
  return own<decltype(&add_program)>("clCreateProgramWithSource")(context, count, texts, lengths, status);
}

opencl::Status remove_program(opencl::ProgramHandle program) {
  --programs;
  return own<decltype(&remove_program)>("clReleaseProgram")(program);
}

opencl::KernelHandle fail_to_create_kernel(opencl::ProgramHandle, const char*, opencl::Status* status) {
  *status = -6;  // CL_OUT_OF_HOST_MEMORY
  return nullptr;
}

TEST_F(OpenclFaults, ProgramsOfKernelsThatFailAreReleased) {
  DriverSources sources;
  sources.replaced_functions = {{"clCreateProgramWithSource", address(add_program)},
                                {"clReleaseProgram", address(remove_program)},
                                {"clCreateKernel", address(fail_to_create_kernel)}};
  Driver::use(sources);
  setenv("MANYMOD_OPENCL_CACHE", "off", 1);
  programs = 0;
  EXPECT_NE(power("opencl", kVariant), MM_OK);
  EXPECT_NE(message.find("clCreateKernel"), std::string::npos) << message;
  EXPECT_EQ(programs, 0);
}

TEST_F(OpenclFaults, CompilerThatFailsAtOneWidth) {
  replace("clBuildProgram", address(fail_to_build_at_first));
  builds_fail = true;
  EXPECT_EQ(power("opencl", kVariant), MM_ERR_DEVICE);
  builds_fail = false;
  EXPECT_EQ(power("opencl", kVariant), MM_ERR_DEVICE);
  EXPECT_NE(message.find("cannot compile cios32_1x4"), std::string::npos) << message;
  EXPECT_EQ(power("opencl", kVariant, 3), MM_OK) << message;
}

std::size_t opencl_devices() {
  std::size_t count = 0;
  for (std::size_t i = 0; i < mm_device_count(); ++i) {
    mm_device_info info{};
    info.struct_size = sizeof info;
    if (mm_device_get(i, &info) == MM_OK && info.backend == MM_BACKEND_OPENCL) ++count;
  }
  return count;
}

TEST_F(OpenclFaults, WrongResultsDisqualifyTheTechnique) {
  replace("clEnqueueReadBuffer", address(read_wrongly));
  EXPECT_EQ(power("opencl", kVariant), MM_ERR_DEVICE);
  EXPECT_NE(message.find("computes wrong results"), std::string::npos) << message;
  EXPECT_EQ(power("opencl", kVariant), MM_ERR_UNUSABLE_VARIANT);
  EXPECT_NE(message.find("computes wrong results"), std::string::npos) << message;
  bool listed = false;
  for (std::size_t i = 0; i < mm_variant_count(); ++i) {
    mm_variant_info info{};
    info.struct_size = sizeof info;
    ASSERT_EQ(mm_variant_get(i, &info), MM_OK);
    if (std::string(info.name) != kVariant) continue;
    listed = true;
    if (opencl_devices() > 1) continue;  // another device may run it
    EXPECT_EQ(info.usable, 0);
    EXPECT_NE(std::string(info.reason).find("computes wrong results"), std::string::npos) << info.reason;
  }
  EXPECT_TRUE(listed);
}

TEST_F(OpenclFaults, WrongResultsFailOver) {
  replace("clEnqueueReadBuffer", address(read_wrongly));
  expect_failover();
}

TEST_F(OpenclFaults, LackOfMemory) {
  replace("clCreateBuffer", address(lack_memory));
  EXPECT_EQ(power("opencl", kVariant), MM_ERR_MEMORY);
  expect_failover();
}

TEST_F(OpenclFaults, LostDevice) {
  replace("clEnqueueNDRangeKernel", address(lose_device));
  EXPECT_EQ(power("opencl", kVariant), MM_ERR_DEVICE);
  EXPECT_NE(message.find("CL_INVALID_COMMAND_QUEUE"), std::string::npos) << message;
  EXPECT_EQ(power("opencl", kVariant), MM_ERR_DEVICE);
  EXPECT_NE(message.find("lost by an earlier failure"), std::string::npos) << message;
  expect_failover();
}

void use_shortage(const Shortage& wanted) {
  shortage = wanted;
  DriverSources sources;
  sources.replaced_functions = {{"clCreateCommandQueue", address(make_queue)},
                                {"clEnqueueNDRangeKernel", address(launch_in_shortage)},
                                {"clEnqueueMapBuffer", address(map_in_shortage)},
                                {"clEnqueueWriteBuffer", address(write_in_shortage)},
                                {"clEnqueueFillBuffer", address(fill_in_shortage)}};
  Driver::use(sources);
}

/// Whichever launch fails: the test of the kernel goes on with fewer items, or the call fails by its lack of
/// memory; the next call is right, with new queues.
TEST_F(OpenclFaults, QueuesThatAFailedCommandInvalidated) {
  int failed_calls = 0;
  for (int before = 0;; ++before) {
    use_shortage({.launches_before = before});
    const mm_status first = power("opencl", kVariant);
    if (!shortage.happened) break;
    if (first != MM_OK) {
      ++failed_calls;
      EXPECT_EQ(first, MM_ERR_MEMORY) << before << ": " << message;
      EXPECT_NE(message.find("clEnqueueNDRangeKernel"), std::string::npos) << message;
    }
    EXPECT_EQ(power("opencl", kVariant), MM_OK) << before << ": " << message;
  }
  EXPECT_GT(failed_calls, 0);
}

/// A device that computes nothing more is lost by the command that failed first, not by the next ones.
TEST_F(OpenclFaults, DeviceLostByAFailedCommand) {
  use_shortage({.is_permanent = true});
  const std::string cause =
      "CL_INVALID_COMMAND_QUEUE, after clEnqueueNDRangeKernel returned CL_OUT_OF_RESOURCES";
  EXPECT_EQ(power("opencl", kVariant), MM_ERR_DEVICE);
  EXPECT_NE(message.find(cause), std::string::npos) << message;
  EXPECT_EQ(power("opencl", kVariant), MM_ERR_DEVICE);
  EXPECT_NE(message.find("lost by an earlier failure"), std::string::npos) << message;
  EXPECT_NE(message.find(cause), std::string::npos) << message;
  expect_failover();
}

/// The reduction of 3072-bit numbers would take all local memory of a work-group of 64 work-items.
TEST_F(OpenclFaults, SomeLocalMemoryIsLeftToTheDriver) {
  DriverSources sources;
  sources.replaced_functions = {{"clGetDeviceInfo", address(have_little_local_memory)},
                                {"clSetKernelArg", address(refuse_all_local_memory)}};
  Driver::use(sources);
  EXPECT_EQ(power("opencl", kVariant, 48), MM_OK) << message;
}

/// Reductions, which use local memory, are launched in smaller work-groups than there could be.
TEST_F(OpenclFaults, SmallWorkGroups) {
  DriverSources sources;
  sources.replaced_functions = {{"clGetKernelWorkGroupInfo", address(allow_few_work_items)},
                                {"clEnqueueNDRangeKernel", address(launch_few_work_items)}};
  Driver::use(sources);
  EXPECT_EQ(power("opencl", kVariant), MM_OK) << message;
}

TEST_F(OpenclFaults, DriverThatMiscomputes) {
  DriverSources sources;
  sources.replaced_functions = {{"clGetPlatformInfo", address(name_rusticl)},
                                {"clGetDeviceInfo", address(have_first_version)}};
  Driver::use(sources);
  EXPECT_NE(power("opencl", kVariant), MM_OK);
  EXPECT_NE(message.find("rusticl of Mesa 22.3.6, computes wrongly"), std::string::npos) << message;
}

TEST_F(OpenclFaults, NoLoader) {
  DriverSources sources;
  sources.loader = "libmanymod-has-no-such-file.so";
  Driver::use(sources);
  EXPECT_EQ(power("opencl"), MM_ERR_UNKNOWN_DEVICE);
  mm_opencl_info info{};
  info.struct_size = sizeof info;
  ASSERT_EQ(mm_opencl_get_info(&info), MM_OK);
  EXPECT_NE(std::string(info.obstacle).find("no OpenCL"), std::string::npos) << info.obstacle;
}

TEST_F(OpenclFaults, LoaderOfAnOldVersion) {
  DriverSources sources;
  sources.hidden_functions = {"clEnqueueFillBuffer"};
  Driver::use(sources);
  EXPECT_EQ(power("opencl"), MM_ERR_UNKNOWN_DEVICE);
  mm_opencl_info info{};
  info.struct_size = sizeof info;
  ASSERT_EQ(mm_opencl_get_info(&info), MM_OK);
  EXPECT_NE(std::string(info.obstacle).find("lacks clEnqueueFillBuffer"), std::string::npos) << info.obstacle;
}

TEST_F(OpenclFaults, ConstantTimeIsOnRequestOnly) {
  unsetenv("MANYMOD_OPENCL_SECRET");
  try {
    Plan plan(Op::powmod, 64, ModulusKind::each, Timing::secret, {"opencl", "", 0});
    ADD_FAILURE() << "a plan in constant time";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), MM_ERR_UNUSABLE_VARIANT);
    EXPECT_NE(std::string(error.what()).find("MANYMOD_OPENCL_SECRET"), std::string::npos) << error.what();
  }
}

TEST_F(OpenclFaults, ForkedChild) {
  replace("", nullptr);
  ASSERT_EQ(power("opencl", kVariant), MM_OK) << message;
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const bool right = power("opencl", kVariant) == MM_ERR_DEVICE &&
                       message.find("before this process was forked off") != std::string::npos &&
                       power("cpu") == MM_OK;
    _exit(right ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace manymod::testing
