/* SPDX-License-Identifier: Apache-2.0 */
/* An asynchronous call through the C ABI: inverses modulo 2^61 - 1, which is prime. */
#include <inttypes.h>
#include <stdio.h>

#include "manymod/manymod.h"

enum { COUNT = 3 };

static int failed(const char* what) {
  fprintf(stderr, "%s: %s\n", what, mm_last_error());
  return 1;
}

int main(void) {
  /* These and the plan stay as they are until the job has ended. */
  const uint64_t x[COUNT] = {2, 3, UINT64_C(1) << 60};
  const uint64_t modulus = (UINT64_C(1) << 61) - 1;
  uint64_t inverse[COUNT];

  mm_plan_options options = {0};
  options.struct_size = sizeof options;
  options.op = MM_OP_INVMOD;
  options.modulus_kind = MM_MODULUS_SHARED;
  options.modulus_bits = 61;
  mm_plan* plan = NULL;
  if (mm_plan_create(&options, &plan) != MM_OK) return failed("mm_plan_create");

  mm_call call = {0};
  call.struct_size = sizeof call;
  call.count = COUNT;
  call.x = (mm_view){x, COUNT, 1, 0, NULL};
  call.modulus = (mm_view){&modulus, 1, 1, 0, NULL};
  call.result = (mm_result){inverse, COUNT, 1, 0, NULL};

  mm_job* job = NULL;
  if (mm_plan_submit(plan, &call, NULL, NULL, &job) != MM_OK) return failed("mm_plan_submit");
  /* ... other work ... */
  const mm_status status = mm_job_wait(job); /* as mm_plan_run's */
  if (status != MM_OK) return failed("mm_job_wait");
  mm_job_destroy(job);

  mm_plan_destroy(plan);
  for (int i = 0; i < COUNT; ++i) printf("%" PRIu64 "^-1 = %" PRIu64 "\n", x[i], inverse[i]);
  /* 2^60 * 2 = 1, and 3 * 1537228672809129301 = 2^62 - 1 = 1. */
  return inverse[0] == x[2] && inverse[1] == UINT64_C(1537228672809129301) && inverse[2] == 2 ? 0 : 1;
}
