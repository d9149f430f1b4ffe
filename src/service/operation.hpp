// SPDX-License-Identifier: Apache-2.0
// What a service computes: one operation with its keys, on batches of requests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "manymod/service.h"
#include "repr/wipe.hpp"

namespace manymod::service {

/// A batch in the form of the calls of rsa.h and ecc.h. Its memory is kept for the next one.
class BatchArrays {
 public:
  BatchArrays() = default;
  BatchArrays(const BatchArrays&) = delete;
  BatchArrays& operator=(const BatchArrays&) = delete;
  ~BatchArrays() { wipe_outputs(); }

  /// Room for `count` requests, whose results have at most `output_bytes` bytes. On input: those of the batch
  /// before are zeroed. @throws std::bad_alloc
  void begin(std::size_t count, std::size_t output_bytes);

  /// Zero the results, which may be secret.
  void wipe_outputs() { wipe_bytes(output_.data(), count() * output_bytes_); }

  [[nodiscard]] std::size_t count() const { return keys.size(); }
  [[nodiscard]] mm_bytes output(std::size_t item) const {
    return {output_.data() + item * output_bytes_, output_bytes_ == 0 ? 0 : sizes[item]};
  }
  [[nodiscard]] mm_bytes_result result() { return {output_.data(), count(), output_bytes_, sizes.data()}; }
  static mm_bytes_view view_of(const std::vector<mm_bytes>& items) {
    return {items.size(), nullptr, 0, 0, nullptr, items.data()};
  }

  std::vector<std::uint32_t> keys;
  std::vector<mm_bytes> inputs, signatures;
  std::vector<std::uint8_t> statuses, valid;
  std::vector<std::size_t> sizes;

 private:
  std::size_t output_bytes_ = 0;
  std::vector<std::uint8_t> output_;  ///< zero behind the rows of the batch
};

class Operation {
 public:
  Operation() = default;
  virtual ~Operation() = default;
  Operation(const Operation&) = delete;
  Operation& operator=(const Operation&) = delete;

  /// The length of the longest result; 0 for verifications.
  [[nodiscard]] virtual std::size_t output_bytes() const = 0;
  /// Whether requests have signatures.
  [[nodiscard]] bool verifies() const { return output_bytes() == 0; }
  /// How many batches the GPUs should compute at the same time, if these are large enough: more of them would
  /// be smaller, and take longer as they share the GPUs. 0 if it is always the CPU.
  [[nodiscard]] virtual std::size_t batches_on_gpus() const = 0;
  /// Compute a batch. @return as mm_rsa_run; mm_last_error() explains the failure of a whole batch
  [[nodiscard]] virtual mm_status run(BatchArrays& batch) const = 0;
};

/// @throws StatusError with mm_last_error() unless `status` is MM_OK
void require_ok(mm_status status);

/// Call with a request with a nonexistent key, to find wrong options before real requests come.
/// @throws StatusError
void require_callable(const Operation& operation);

}  // namespace manymod::service
