// SPDX-License-Identifier: Apache-2.0
// Fixtures for tests on the fake driver. Each test begins with a new driver and ends with a check that it was
// used correctly.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdlib>
#include <functional>
#include <optional>
#include <utility>

#include <sys/wait.h>
#include <unistd.h>

#include "gpu/cuda/driver.hpp"
#include "support/fake_cuda/control.hpp"
#include "support/fake_cuda/kernels.hpp"

namespace manymod::testing {

inline constexpr std::array<unsigned char, 4> kFakeImageBytes{};
inline constexpr std::array<cuda::DeviceImage, 2> kFakeImages{{
    {"row32/kernels", kFakeImageBytes.data(), kFakeImageBytes.size()},
    {"gpu/kernels/residue", kFakeImageBytes.data(), kFakeImageBytes.size()},
}};

inline constexpr std::array<cuda::CodeArchitecture, 1> kFakeArchitectures{{{90, 'a', false}}};

inline constexpr int kFakeCompiler = 12080;

/// The fake driver, and images in which it finds every registered kernel.
inline cuda::DriverSources fake_sources() {
  return {MANYMOD_FAKE_CUDA, MANYMOD_FAKE_CUDA, kFakeImages, {}, kFakeArchitectures, {}, kFakeCompiler};
}

/// While this lives, driver call number `at` from then on fails (kNever: none).
class FailingCall {
 public:
  explicit FailingCall(std::size_t at) : before_(fake_cuda::counts().calls) {
    if (at != fake_cuda::kNever) fake_cuda::settings().failing_call = before_ + at;
  }
  FailingCall(const FailingCall&) = delete;
  FailingCall& operator=(const FailingCall&) = delete;
  ~FailingCall() { fake_cuda::settings().failing_call = fake_cuda::kNever; }

  /// Driver calls since then.
  [[nodiscard]] std::size_t calls() const { return fake_cuda::counts().calls - before_; }

 private:
  std::size_t before_;
};

class FakeCudaTest : public ::testing::Test {
 protected:
  void SetUp() override {
    unsetenv("CUDA_VISIBLE_DEVICES");
    unsetenv("CUDA_DEVICE_ORDER");
    fake_cuda::reset();
    cuda::Driver::use(fake_sources());
  }

  void TearDown() override {
    EXPECT_EQ(fake_cuda::counts().misuses, 0u);
    EXPECT_EQ(fake_cuda::counts().context_depth, 0u);
    EXPECT_EQ(fake_cuda::counts().unwiped, 0u);
    EXPECT_EQ(fake_cuda::counts().streams, 0u);
    EXPECT_EQ(fake_cuda::counts().events, 0u);
    cuda::Driver::use(cuda::DriverSources{});
  }
};

/// A GPU with the library's kernels that runs only 128 threads at a time, so that small batches take several
/// rounds. At the end, all of its memory and objects must be freed.
class FakeGpuTest : public FakeCudaTest {
 protected:
  void SetUp() override {
    FakeCudaTest::SetUp();
    renew();
  }

  void TearDown() override {
    expect_nothing_left();
    FakeCudaTest::TearDown();
  }

  /// Replaces the driver by a new one.
  static void renew() {
    fake_cuda::reset();
    fake_cuda::install_kernels();
    fake_cuda::settings().multiprocessors = 1;
    fake_cuda::settings().threads_per_multiprocessor = 128;
    cuda::Driver::use(fake_sources());
  }

  static void expect_nothing_left() {
    EXPECT_EQ(fake_cuda::counts().allocations, 0u);
    EXPECT_EQ(fake_cuda::counts().host_allocations, 0u);
    EXPECT_EQ(fake_cuda::counts().streams, 0u);
    EXPECT_EQ(fake_cuda::counts().events, 0u);
    EXPECT_EQ(fake_cuda::counts().context_depth, 0u);
    EXPECT_EQ(fake_cuda::counts().misuses, 0u);
  }
};

/// The exception that `call` throws; none if it returns.
template <class Call>
std::optional<cuda::DriverError> driver_error(Call&& call) {
  try {
    std::forward<Call>(call)();
  } catch (const cuda::DriverError& error) {
    return error;
  }
  return std::nullopt;
}

template <class Call>
std::optional<cuda::Fault> fault_in(Call&& call) {
  const auto error = driver_error(std::forward<Call>(call));
  return error ? std::optional(error->fault()) : std::nullopt;
}

/// Run in a forked child. @return whether it returned true, within two minutes
inline bool true_in_child(const std::function<bool()>& call) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(120);
    bool ok = false;
    try {
      ok = call();
    } catch (...) {
      ok = false;
    }
    _exit(ok ? 0 : 1);
  }
  int status = 0;
  return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace manymod::testing
