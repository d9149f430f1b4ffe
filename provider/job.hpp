// SPDX-License-Identifier: Apache-2.0
// Asynchronous jobs of libcrypto (ASYNC_start_job(3)), in which servers run handshakes that they do not want
// to block an event loop.
#pragma once

#include <openssl/async.h>

#include <functional>

#include "engine.hpp"

namespace manymod::provider {

/// The job that the calling thread is in, or null.
inline ASYNC_JOB* current_job() { return ASYNC_get_current_job(); }

/// Run `body` on a thread of its own and wait for it. The stack of a job has 32 KiB: enough for libcrypto's
/// own computations, but not for those that prepare a key. @throws what `body` throws, std::system_error
void on_thread_of_its_own(const std::function<void()>& body);

/// Compute a request, pausing the job until the answer is there. It pauses at least once: some servers abort
/// where a job sets a descriptor to wait for and does not pause.
/// @throws std::system_error if there is no descriptor or thread to be had, and as PrivateKey::submit
Answer compute_in_job(ASYNC_JOB* job, PrivateKey& key, const Request& request);

}  // namespace manymod::provider
