// SPDX-License-Identifier: Apache-2.0
#include "compute.hpp"

#include <stdexcept>

#include "job.hpp"

namespace manymod::provider {
std::optional<SecretBytes> compute(const ActiveRequest& active, const Request& request) {
  const Key& key = active.key();
  ASYNC_JOB* const job = current_job();
  if (job != nullptr && !key.has_looked()) on_thread_of_its_own([&] { key.private_key(); });
  PrivateKey* const where = key.private_key();
  if (where == nullptr || !where->offers(request)) {
    if (key.is_reference()) throw std::runtime_error("manymod-signd does not offer the operation");
    return std::nullopt;
  }
  Answer answer;
  if (job != nullptr) {
    answer = compute_in_job(job, *where, request);
  } else if (where->prefers(request, active.count())) {
    answer = where->call(request);
  } else {
    return std::nullopt;
  }
  if (answer.ok) {
    key.provider().computed().fetch_add(1, std::memory_order_relaxed);
    return std::move(answer.output);
  }
  if (key.is_reference()) throw std::runtime_error(answer.reason);
  return std::nullopt;
}

}  // namespace manymod::provider
