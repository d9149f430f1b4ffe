// SPDX-License-Identifier: Apache-2.0
/**
 * @file service.hpp
 * @brief C++20 wrapper of service.h: RAII, futures, exceptions. Header only; it links to the C library alone.
 * service.h documents the semantics, timing and statuses.
 *
 *     manymod::rsa::Ring ring(key);
 *     manymod::Service service;
 *     std::size_t sign = service.add(ring, MM_RSA_SIGN, manymod::rsa::pss(MM_SHA256));
 *     manymod::Bytes signature = service.call(sign, message);  // on any of many threads
 *
 * Callbacks, tickets, which cancel what has not begun, and arrays of requests are reached by get() and the
 * functions of the C ABI, mm_service_submit and mm_service_submit_many.
 */
#ifndef MANYMOD_SERVICE_HPP
#define MANYMOD_SERVICE_HPP

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <future>
#include <memory>
#include <span>
#include <utility>

#include "manymod/bytes.hpp"
#include "manymod/calls.hpp"
#include "manymod/ecc.hpp"
#include "manymod/rsa.hpp"
#include "manymod/service.h"

namespace manymod {
inline namespace wrapper {

namespace detail {

/// A duration for the C ABI, where a negative one would be a very long one.
inline std::uint64_t nanoseconds_of(std::chrono::nanoseconds duration) {
  require(duration.count() >= 0, "manymod::Service: a duration is negative");
  return static_cast<std::uint64_t>(duration.count());
}

/// The status of an answer or of a call, unless it is MM_OK, with `message` if there is one.
inline void check_answer(mm_status status, const char* message) {
  if (status != MM_OK) throw Error(status, *message != 0 ? message : mm_status_message(status));
}

inline void take(const mm_answer& answer, std::promise<Bytes>& promise) {
  check_answer(answer.status, answer.message);
  promise.set_value(copy_of(answer.output));
}

/// Signatures that cannot be are not valid; they have a status besides.
inline bool is_verdict(mm_status status) {
  return status == MM_OK || status == MM_ITEM_RSA_SIGNATURE_LENGTH || status == MM_ITEM_ECC_SIGNATURE;
}

inline void take(const mm_answer& answer, std::promise<bool>& promise) {
  if (!is_verdict(answer.status)) check_answer(answer.status, answer.message);
  promise.set_value(answer.valid != 0);
}

}  // namespace detail

/// How a service gathers requests; 0 stands for the defaults of mm_service_options.
struct ServiceOptions {
  std::chrono::nanoseconds deadline{0};
  std::size_t max_batch = 0, max_queue = 0;
  unsigned max_concurrent = 0;
};

/// How long a request may wait. Negative durations are refused, by Error with MM_ERR_ARGUMENT.
struct Patience {
  std::chrono::nanoseconds timeout{0};                           ///< until it begins; 0: for ever
  std::chrono::nanoseconds room = std::chrono::hours(24 * 365);  ///< for room in a full queue
};

/// A service. Destroying it cancels the requests that wait.
class Service {
 public:
  /// A service without operations; `chosen` says how it gathers. @throws Error as mm_service_create
  explicit Service(const ServiceOptions& chosen = {}) {
    mm_service_options options{};
    options.struct_size = sizeof options;
    options.deadline_ns = detail::nanoseconds_of(chosen.deadline);
    options.max_batch = chosen.max_batch;
    options.max_queue = chosen.max_queue;
    options.max_concurrent = chosen.max_concurrent;
    mm_service* service = nullptr;
    check(mm_service_create(&options, &service));
    service_.reset(service);
  }

  /// Add the operation `op` with `padding` and the keys of `ring`, which must outlive the service. @return
  /// its number. @throws Error as mm_service_add_rsa
  std::size_t add(rsa::Ring& ring, mm_rsa_op op, const mm_rsa_padding& padding) {
    std::size_t operation = 0;
    check(mm_service_add_rsa(service_.get(), ring.get(), op, &padding, &operation));
    return operation;
  }
  /// The same on curves; `plan` must outlive the service, `pattern` need not. @throws Error as
  /// mm_service_add_ecc
  std::size_t add(ecc::Plan& plan, const mm_ecc_call& pattern) {
    std::size_t operation = 0;
    check(mm_service_add_ecc(service_.get(), plan.get(), &pattern, &operation));
    return operation;
  }

  /// Ask for the result of `operation` on `input` by key number `key`, with `patience`. @throws Error as
  /// mm_service_submit; the future throws Error for other statuses of the answer than MM_OK
  std::future<Bytes> submit(std::size_t operation, std::span<const std::uint8_t> input, std::uint32_t key = 0,
                            const Patience& patience = {}) {
    return ask<Bytes>(request_of(operation, input, {}, key, patience));
  }
  /// Ask whether `signature` of `input` by key number `key` is valid, by an `operation` that verifies, with
  /// `patience`. @throws Error as mm_service_submit; the future throws Error as verify()
  std::future<bool> submit_verify(std::size_t operation, std::span<const std::uint8_t> input,
                                  std::span<const std::uint8_t> signature, std::uint32_t key = 0,
                                  const Patience& patience = {}) {
    return ask<bool>(request_of(operation, input, signature, key, patience));
  }

  /// Wait for the result of `operation` on `input` by key number `key`, at most `room` bytes, with
  /// `patience`. @throws Error as mm_service_call
  Bytes call(std::size_t operation, std::span<const std::uint8_t> input, std::uint32_t key = 0,
             const Patience& patience = {}, std::size_t room = MM_RSA_MAX_BITS / 8) {
    const mm_service_request request = request_of(operation, input, {}, key, patience);
    Bytes output(room);
    mm_answer answer{};
    check(mm_service_call(service_.get(), &request, output.data(), output.size(), &answer));
    output.resize(answer.output.size);
    return output;
  }

  /// Whether `signature` of `input` by key number `key` is valid, by an `operation` that verifies, with
  /// `patience`. @throws Error as mm_service_call, but not for signatures that cannot be
  bool verify(std::size_t operation, std::span<const std::uint8_t> input,
              std::span<const std::uint8_t> signature, std::uint32_t key = 0, const Patience& patience = {}) {
    const mm_service_request request = request_of(operation, input, signature, key, patience);
    mm_answer answer{};
    const mm_status status = mm_service_call(service_.get(), &request, nullptr, 0, &answer);
    if (!detail::is_verdict(status)) check(status);
    return answer.valid != 0;
  }

  /// Accept nothing more, and do not wait; without `drain` cancel what waits. @throws Error as
  /// mm_service_stop
  void stop(bool drain = true) { check(mm_service_stop(service_.get(), drain ? 1 : 0)); }
  /// Accept nothing more, and wait for all answers; without `drain` cancel what waits. @throws Error as
  /// mm_service_close
  void close(bool drain = true) { check(mm_service_close(service_.get(), drain ? 1 : 0)); }

  /// What it has done. @throws Error as mm_service_get_statistics
  [[nodiscard]] mm_service_statistics statistics() const {
    mm_service_statistics all{};
    all.struct_size = sizeof all;
    check(mm_service_get_statistics(service_.get(), &all));
    return all;
  }

  /// The service of the C interface, which this object owns.
  [[nodiscard]] mm_service* get() const noexcept { return service_.get(); }

 private:
  struct Destroy {
    void operator()(mm_service* service) const noexcept { mm_service_destroy(service); }
  };
  std::unique_ptr<mm_service, Destroy> service_;

  static mm_service_request request_of(std::size_t operation, std::span<const std::uint8_t> input,
                                       std::span<const std::uint8_t> signature, std::uint32_t key,
                                       const Patience& patience) {
    mm_service_request request{};
    request.struct_size = sizeof request;
    request.operation = operation;
    request.key = key;
    request.input = {input.data(), input.size()};
    request.signature = {signature.data(), signature.size()};
    request.timeout_ns = detail::nanoseconds_of(patience.timeout);
    request.room_ns = detail::nanoseconds_of(patience.room);
    return request;
  }

  template <class Result>
  std::future<Result> ask(const mm_service_request& request) {
    auto promise = std::make_unique<std::promise<Result>>();
    std::future<Result> future = promise->get_future();
    check(mm_service_submit(service_.get(), &request, &fulfil<Result>, promise.get(), nullptr));
    static_cast<void>(promise.release());  // fulfil() deletes it
    return future;
  }

  template <class Result>
  static void fulfil(const mm_answer* answer, void* user) {
    const std::unique_ptr<std::promise<Result>> promise(static_cast<std::promise<Result>*>(user));
    try {
      detail::take(*answer, *promise);
    } catch (...) {
      promise->set_exception(std::current_exception());
    }
  }
};

}  // namespace wrapper
}  // namespace manymod

#endif
