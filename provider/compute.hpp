// SPDX-License-Identifier: Apache-2.0
// Computes private operations of keys: inside an asynchronous job it pauses the job, elsewhere the thread
// waits.
#pragma once

#include <optional>

#include "engine.hpp"
#include "key.hpp"

namespace manymod::provider {

/// Counts a request, from its begin to its end, among those that threads wait for, wherever it is computed.
class ActiveRequest {
 public:
  explicit ActiveRequest(Key& key) : key_(key), count_(key.active().fetch_add(1) + 1) {}
  ~ActiveRequest() { key_.active().fetch_sub(1); }
  ActiveRequest(const ActiveRequest&) = delete;
  ActiveRequest& operator=(const ActiveRequest&) = delete;

  [[nodiscard]] Key& key() const { return key_; }
  /// Of the key's requests, with this one, when it began.
  [[nodiscard]] unsigned count() const { return count_; }

 private:
  Key& key_;
  const unsigned count_;
};

/// The result of a private operation.
/// @return nothing if the operation is to be delegated to the default provider, which has the key's numbers
/// @throws std::runtime_error if it was not computed and nothing else can
std::optional<SecretBytes> compute(const ActiveRequest& active, const Request& request);

}  // namespace manymod::provider
