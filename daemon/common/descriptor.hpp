// SPDX-License-Identifier: Apache-2.0
// File descriptors that are closed, and deadlines.
#pragma once

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <system_error>
#include <utility>

namespace manymod::signd {

using Clock = std::chrono::steady_clock;

/// A file descriptor, closed with its owner.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() { reset(); }
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  [[nodiscard]] int get() const { return number_; }
  explicit operator bool() const { return number_ >= 0; }
  void reset() {
    if (number_ >= 0) close(number_);
    number_ = -1;
  }

 private:
  int number_ = -1;
};

/// Which file a descriptor stood for when it was noted: a forked child may have closed its copy, and have
/// another file by that number. For sockets, pipes and files, which have inodes of their own.
class NotedDescriptor {
 public:
  NotedDescriptor() = default;
  explicit NotedDescriptor(int number) {
    struct stat found{};
    if (fstat(number, &found) != 0) return;
    device_ = found.st_dev;
    inode_ = found.st_ino;
    number_ = number;
  }
  /// Close it if the number still stands for that file.
  void close_copy() const {
    const NotedDescriptor now(number_);
    if (now.number_ >= 0 && now.device_ == device_ && now.inode_ == inode_) close(number_);
  }

 private:
  dev_t device_ = 0;
  ino_t inode_ = 0;
  int number_ = -1;
};

/// The descriptor that a system call returned. @throws std::system_error if it failed
inline Descriptor checked(int number, const char* what) {
  if (number < 0) throw std::system_error(errno, std::generic_category(), what);
  return Descriptor(number);
}

/// What is left until then, in ms for poll(): at least 0, rounded up.
inline int left_ms(Clock::time_point until) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()).count();
  return static_cast<int>(std::clamp<long long>(left, 0, 3'600'000));
}

}  // namespace manymod::signd
