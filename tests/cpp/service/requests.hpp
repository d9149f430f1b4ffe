// SPDX-License-Identifier: Apache-2.0
// Short notations for services and requests of the C ABI.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "manymod/service.h"

namespace manymod::testing {

struct DestroyForService {
  void operator()(mm_service* service) const { mm_service_destroy(service); }
  void operator()(mm_ticket* ticket) const { mm_ticket_destroy(ticket); }
  void operator()(mm_rsa_ring* ring) const { mm_rsa_ring_destroy(ring); }
  void operator()(mm_ecc_plan* plan) const { mm_ecc_plan_destroy(plan); }
};
template <class T>
using Holder = std::unique_ptr<T, DestroyForService>;

inline Holder<mm_service> make_service(unsigned max_concurrent = 2, std::size_t max_queue = 0) {
  mm_service_options options{};
  options.struct_size = sizeof options;
  options.max_concurrent = max_concurrent;
  options.max_queue = max_queue;
  mm_service* service = nullptr;
  EXPECT_EQ(mm_service_create(&options, &service), MM_OK) << mm_last_error();
  return Holder<mm_service>(service);
}

inline mm_service_request make_request(std::size_t operation, const std::vector<std::uint8_t>& input,
                                       std::uint32_t key = 0) {
  mm_service_request request{};
  request.struct_size = sizeof request;
  request.operation = operation;
  request.key = key;
  request.input = {input.data(), input.size()};
  return request;
}

/// The outcome of mm_service_call.
struct Called {
  mm_status status = MM_OK;
  int valid = 0;
  std::vector<std::uint8_t> output;
};

inline Called call(mm_service* service, const mm_service_request& request) {
  Called called;
  called.output.resize(600);
  mm_answer answer{};
  called.status = mm_service_call(service, &request, called.output.data(), called.output.size(), &answer);
  EXPECT_EQ(answer.status, called.status);
  called.valid = answer.valid;
  called.output.resize(answer.output.size);
  return called;
}

inline mm_service_statistics statistics_of(const mm_service* service) {
  mm_service_statistics all{};
  all.struct_size = sizeof all;
  EXPECT_EQ(mm_service_get_statistics(service, &all), MM_OK) << mm_last_error();
  return all;
}

}  // namespace manymod::testing
