// SPDX-License-Identifier: Apache-2.0
// Host code shared by the examples: device arrays, error checks and arithmetic on numbers of little-endian
// words.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace example {

using Words = std::vector<std::uint32_t>;

inline void check(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(status));
  std::exit(1);
}

/// An array in device memory, freed on destruction.
class DeviceArray {
 public:
  explicit DeviceArray(std::size_t count) : count_(count) {
    check(cudaMalloc(&words_, count * sizeof(std::uint32_t)), "cudaMalloc");
  }
  explicit DeviceArray(const Words& from) : DeviceArray(from.size()) {
    check(cudaMemcpy(words_, from.data(), count_ * sizeof(std::uint32_t), cudaMemcpyHostToDevice), "copy");
  }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;
  ~DeviceArray() { cudaFree(words_); }

  std::uint32_t* data() const { return words_; }
  Words to_host() const {
    Words r(count_);
    check(cudaMemcpy(r.data(), words_, count_ * sizeof(std::uint32_t), cudaMemcpyDeviceToHost), "copy");
    return r;
  }

 private:
  std::uint32_t* words_ = nullptr;
  std::size_t count_;
};

/// Whether there is a CUDA device. Prints a message if there is none.
inline bool have_device() {
  int count = 0;
  if (cudaGetDeviceCount(&count) == cudaSuccess && count > 0) return true;
  std::puts("skipped: no CUDA device");
  return false;
}
inline constexpr int kSkipped = 77;  // exit status that ctest counts as a skipped test

/// Words of 2^bits - k.
inline Words below_power(unsigned bits, std::uint32_t k) {
  Words r((bits + 31) / 32, 0xffffffffu);
  if (bits % 32 != 0) r.back() = (std::uint32_t{1} << (bits % 32)) - 1;
  r[0] -= k - 1;  // no borrow: k is small
  return r;
}

inline Words product(const Words& a, const Words& b) {
  Words r(a.size() + b.size(), 0);
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::uint64_t carry = 0;
    for (std::size_t j = 0; j < b.size(); ++j) {
      carry += std::uint64_t{a[i]} * b[j] + r[i + j];
      r[i + j] = static_cast<std::uint32_t>(carry);
      carry >>= 32;
    }
    r[i + b.size()] = static_cast<std::uint32_t>(carry);
  }
  return r;
}

inline std::uint32_t remainder(const Words& a, std::uint32_t divisor) {
  std::uint64_t r = 0;
  for (std::size_t i = a.size(); i-- > 0;) r = (r << 32 | a[i]) % divisor;
  return static_cast<std::uint32_t>(r);
}

inline std::vector<std::uint32_t> primes_below(std::uint32_t limit) {
  std::vector<std::uint32_t> primes;
  for (std::uint32_t p = 2; p < limit; ++p) {
    bool prime = true;
    for (const std::uint32_t q : primes) prime = prime && p % q != 0;
    if (prime) primes.push_back(p);
  }
  return primes;
}

}  // namespace example
