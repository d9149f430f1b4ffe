// SPDX-License-Identifier: Apache-2.0
#include "compute.hpp"

#include <stdexcept>
#include <utility>

#include "job.hpp"

namespace manymod::provider {
namespace {

/// The answer of a service in this process, in place of the daemon's; nothing for keys that manymod does not
/// support. It is computed on a thread of its own, because the stack of an asynchronous job is too small.
std::optional<Answer> answer_of_process(const Key& key, const Request& request) {
  std::optional<Answer> answer;
  on_thread_of_its_own([&] {
    if (PrivateKey* const own = key.own_private_key()) answer = own->call(request);
  });
  return answer;
}

}  // namespace

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
  const bool by_daemon = key.provider().configuration().mode == Mode::daemon;
  if (!answer.ok && request.never_by_libcrypto && by_daemon && !key.is_reference()) {
    std::optional<Answer> own = answer_of_process(key, request);
    if (!own) return std::nullopt;
    answer = std::move(*own);
  }
  if (answer.ok) {
    key.provider().computed().fetch_add(1, std::memory_order_relaxed);
    return std::move(answer.output);
  }
  if (key.is_reference() || request.never_by_libcrypto) throw std::runtime_error(answer.reason);
  return std::nullopt;
}

}  // namespace manymod::provider
