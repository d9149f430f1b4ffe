// SPDX-License-Identifier: Apache-2.0
// The functions of service.h: they check pointers and struct sizes, own the objects and turn exceptions into
// statuses.
#include <cstring>
#include <memory>
#include <string>

#include "abi/last_error.hpp"
#include "abi/required.hpp"
#include "core/thread_pool.hpp"
#include "manymod/service.h"
#include "service/ecc_operation.hpp"
#include "service/rsa_operation.hpp"
#include "service/service.hpp"

using manymod::StatusError;
using manymod::service::Service;
using manymod::service::Submission;

struct mm_service {
  std::shared_ptr<Service> service;
};

struct mm_ticket {
  std::shared_ptr<Submission> submission;
  std::shared_ptr<Service> service;
};

namespace {

using manymod::required;
using manymod::required_struct;

constexpr std::uint64_t kDeadlineNs = 1'000'000;
constexpr std::size_t kMaxBatch = 65'536, kMaxQueue = 131'072;

manymod::service::Limits limits_of(const mm_service_options& options) {
  if (options.max_concurrent > manymod::kMaxThreads) {
    throw StatusError(MM_ERR_ARGUMENT, "max_concurrent is " + std::to_string(options.max_concurrent) +
                                           ", expected at most " + std::to_string(manymod::kMaxThreads));
  }
  const auto chosen = [](auto given, auto standard) { return given == 0 ? standard : given; };
  return {manymod::service::bounded(chosen(options.deadline_ns, kDeadlineNs)),
          chosen(options.max_batch, kMaxBatch), chosen(options.max_queue, kMaxQueue),
          chosen(options.max_concurrent, mm_get_threads()), options.max_concurrent == 0};
}

/// @throws StatusError in a forked child
Service& here(const std::shared_ptr<Service>& service) {
  if (!service->is_of_this_process()) {
    throw StatusError(MM_ERR_ARGUMENT, "the service belongs to the process that this one was forked off");
  }
  return *service;
}

Service& required_service(const mm_service* service) { return here(required(service, "service").service); }

/// Submit, or compute a request on this thread where `idle_here` and the service is idle.
void submit(Service& service, const std::shared_ptr<Submission>& submission, std::uint64_t room_ns,
            bool idle_here) {
  if (idle_here && !service.in_callback() && service.run_here(submission)) return;
  service.submit(submission, manymod::service::bounded(room_ns));
}

/// As above, and give the caller a ticket, before callbacks are called.
void submit(const mm_service& service, const std::shared_ptr<Submission>& submission, std::uint64_t room_ns,
            bool idle_here, mm_ticket** ticket) {
  std::unique_ptr<mm_ticket> made;
  if (ticket != nullptr) made.reset(*ticket = new mm_ticket{submission, service.service});
  try {
    submit(here(service.service), submission, room_ns, idle_here);
  } catch (...) {
    if (ticket != nullptr) *ticket = nullptr;
    throw;
  }
  static_cast<void>(made.release());
}

/// @throws StatusError in a callback of the service
void require_outside_callbacks(const Service& service) {
  if (service.in_callback()) {
    throw StatusError(MM_ERR_ARGUMENT, "a callback of the service cannot wait for it");
  }
}

void require_someone(bool someone) {
  if (!someone) throw StatusError(MM_ERR_NULL, "done and ticket are both NULL");
}

/// Copy a request's answer to its caller. @return its status
mm_status deliver(const mm_answer& given, std::uint8_t* output, std::size_t room, mm_answer& answer) {
  if (given.output.size > room) {
    throw StatusError(MM_ERR_ARGUMENT, "room is " + std::to_string(room) + ", less than the " +
                                           std::to_string(given.output.size) + " bytes of the result");
  }
  if (given.output.size != 0) std::memcpy(&required(output, "output"), given.output.data, given.output.size);
  answer = {given.status, given.valid, {output, given.output.size}, ""};
  if (given.status == MM_OK) return MM_OK;
  return manymod::fail(given.status, *given.message != 0 ? given.message : mm_status_message(given.status));
}

}  // namespace

extern "C" {

mm_status mm_service_create(const mm_service_options* options, mm_service** service) {
  if (service != nullptr) *service = nullptr;
  return manymod::guarded([&] {
    mm_service*& created = required(service, "service");
    const mm_service_options chosen =
        options == nullptr ? mm_service_options{} : required_struct(options, "options");
    created = new mm_service{std::make_shared<Service>(limits_of(chosen))};
    return MM_OK;
  });
}

mm_status mm_service_close(mm_service* service, int drain) {
  return manymod::guarded([&] {
    Service& closing = required_service(service);
    if (!closing.close(drain != 0)) require_outside_callbacks(closing);
    return MM_OK;
  });
}

mm_status mm_service_stop(mm_service* service, int drain) {
  return manymod::guarded([&] {
    required_service(service).stop(drain != 0);
    return MM_OK;
  });
}

void mm_service_destroy(mm_service* service) {
  // A forked child leaves it alone: the threads are the parent's, one of which may have held its lock.
  if (service == nullptr || !service->service->is_of_this_process()) return;
  static_cast<void>(manymod::guarded([&] {
    if (service->service->close(false)) service->service->release_operations();
    return MM_OK;
  }));
  delete service;
}

mm_status mm_service_add_rsa(mm_service* service, mm_rsa_ring* ring, mm_rsa_op op,
                             const mm_rsa_padding* padding, size_t* operation) {
  return manymod::guarded([&] {
    Service& to = required_service(service);
    std::size_t& number = required(operation, "operation");
    number = to.add(
        manymod::service::make_rsa_operation(&required(ring, "ring"), op, required(padding, "padding")));
    return MM_OK;
  });
}

mm_status mm_service_add_ecc(mm_service* service, mm_ecc_plan* plan, const mm_ecc_call* pattern,
                             size_t* operation) {
  return manymod::guarded([&] {
    Service& to = required_service(service);
    std::size_t& number = required(operation, "operation");
    number = to.add(
        manymod::service::make_ecc_operation(&required(plan, "plan"), required_struct(pattern, "pattern")));
    return MM_OK;
  });
}

mm_status mm_service_submit(mm_service* service, const mm_service_request* request, mm_answer_fn done,
                            void* user, mm_ticket** ticket) {
  if (ticket != nullptr) *ticket = nullptr;
  return manymod::guarded([&] {
    const mm_service_request known = required_struct(request, "request");
    static_cast<void>(required_service(service));
    require_someone(done != nullptr || ticket != nullptr);
    submit(*service, std::make_shared<manymod::service::SingleRequest>(known, done, user, ticket != nullptr),
           known.room_ns, known.here != 0, ticket);
    return MM_OK;
  });
}

mm_status mm_service_call(mm_service* service, const mm_service_request* request, uint8_t* output,
                          size_t room, mm_answer* answer) {
  mm_answer unused{};
  mm_answer& out = answer == nullptr ? unused : *answer;
  out = {};
  const mm_status status = manymod::guarded([&] {
    const mm_service_request known = required_struct(request, "request");
    Service& to = required_service(service);
    require_outside_callbacks(to);
    const auto submission = std::make_shared<manymod::service::SingleRequest>(known, nullptr, nullptr, true);
    submit(to, submission, known.room_ns, true);
    static_cast<void>(submission->wait(UINT64_MAX));
    return deliver(submission->summary(), output, room, out);
  });
  out.status = status;
  if (out.message == nullptr) out.message = "";
  return status;
}

mm_status mm_service_submit_many(mm_service* service, const mm_service_requests* requests, mm_done_fn done,
                                 void* user, mm_ticket** ticket) {
  if (ticket != nullptr) *ticket = nullptr;
  return manymod::guarded([&] {
    const mm_service_requests known = required_struct(requests, "requests");
    const std::size_t row_bytes = required_service(service).operation(known.operation).output_bytes();
    require_someone(done != nullptr || ticket != nullptr);
    if (known.count == 0) throw StatusError(MM_ERR_ARGUMENT, "count is 0");
    submit(*service, std::make_shared<manymod::service::RequestArray>(known, row_bytes, done, user),
           known.room_ns, false, ticket);
    return MM_OK;
  });
}

mm_status mm_ticket_wait(mm_ticket* ticket, uint64_t timeout_ns) {
  return manymod::guarded([&] {
    mm_ticket& known = required(ticket, "ticket");
    if (known.submission->ended()) return MM_OK;
    require_outside_callbacks(here(known.service));
    if (known.submission->wait(timeout_ns)) return MM_OK;
    return manymod::fail(MM_ERR_TIMEOUT, "requests were not answered in time");
  });
}

size_t mm_ticket_cancel(mm_ticket* ticket) {
  if (ticket == nullptr || !ticket->service->is_of_this_process()) return 0;
  return ticket->service->cancel(ticket->submission);
}

mm_status mm_ticket_answer(const mm_ticket* ticket, mm_answer* answer) {
  return manymod::guarded([&] {
    const Submission& submission = *required(ticket, "ticket").submission;
    if (!submission.ended()) throw StatusError(MM_ERR_ARGUMENT, "requests are not answered yet");
    required(answer, "answer") = submission.summary();
    return MM_OK;
  });
}

void mm_ticket_destroy(mm_ticket* ticket) { delete ticket; }

mm_status mm_service_get_statistics(const mm_service* service, mm_service_statistics* statistics) {
  return manymod::guarded([&] {
    mm_service_statistics& out = required(statistics, "statistics");
    manymod::struct_to_caller(required_service(service).statistics(), out, "statistics");
    return MM_OK;
  });
}

}  // extern "C"
