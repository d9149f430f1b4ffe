/* SPDX-License-Identifier: Apache-2.0 */
/* Powers of arrays in the memory of a CUDA device, which are used in place: x^n = x modulo the prime n.
 * Without such a device it does nothing. */
#include <stdio.h>
#include <string.h>

#include "manymod/manymod.h"

enum { COUNT = 1000, WIDTH = 2, BYTES = COUNT * WIDTH * sizeof(uint64_t) };

static int failed(const char* what) {
  fprintf(stderr, "%s: %s\n", what, mm_last_error());
  return 1;
}

/* An array of BYTES bytes on device 0 with those of `from`; NULL on failure. A program with CUDA's runtime
 * uses cudaMalloc and cudaMemcpy. */
static uint64_t* on_device(const uint64_t* from) {
  void* address = NULL;
  if (mm_device_allocate(0, BYTES, &address) != MM_OK) return NULL;
  return mm_device_copy(0, address, from, BYTES, MM_COPY_TO_DEVICE) == MM_OK ? address : NULL;
}

int main(void) {
  mm_cuda_info cuda = {0};
  cuda.struct_size = sizeof cuda;
  if (mm_cuda_get_info(&cuda) != MM_OK) return failed("mm_cuda_get_info");
  if (cuda.obstacle[0] != 0) {
    printf("no CUDA device: %s\n", cuda.obstacle);
    return 0;
  }

  static uint64_t x[COUNT][WIDTH], n[COUNT][WIDTH], power[COUNT][WIDTH];
  const uint64_t exponent[WIDTH] = {UINT64_MAX, UINT64_MAX >> 1}; /* 2^127 - 1, which is prime */
  for (int i = 0; i < COUNT; ++i) {
    x[i][0] = (uint64_t)i + 2;
    memcpy(n[i], exponent, sizeof exponent);
  }
  uint64_t* const bases = on_device(x[0]);
  uint64_t* const moduli = on_device(n[0]);
  uint64_t* const powers = on_device(power[0]);
  if (bases == NULL || moduli == NULL || powers == NULL) return failed("device memory");

  mm_plan_options options = {0};
  options.struct_size = sizeof options;
  options.op = MM_OP_POWMOD;
  options.modulus_bits = 127;
  mm_plan* plan = NULL;
  if (mm_plan_create(&options, &plan) != MM_OK) return failed("mm_plan_create");

  mm_call call = {0};
  call.struct_size = sizeof call;
  call.count = COUNT;
  call.x = (mm_view){bases, COUNT, WIDTH, 0, NULL};
  call.y = (mm_view){exponent, 1, WIDTH, 0, NULL}; /* on the host */
  call.modulus = (mm_view){moduli, COUNT, WIDTH, 0, NULL};
  call.result = (mm_result){powers, COUNT, WIDTH, 0, NULL};
  call.on_device = MM_ON_DEVICE_X | MM_ON_DEVICE_MODULUS | MM_ON_DEVICE_RESULT;
  call.device_index = 0;
  call.stream = NULL; /* or the cudaStream_t on which the operands are made */
  if (mm_plan_run(plan, &call) != MM_OK) return failed("mm_plan_run");

  mm_plan_destroy(plan);
  if (mm_device_copy(0, power, powers, BYTES, MM_COPY_TO_HOST) != MM_OK) return failed("mm_device_copy");
  mm_device_free(0, bases);
  mm_device_free(0, moduli);
  mm_device_free(0, powers);
  printf("%d powers on cuda:0\n", COUNT);
  return memcmp(power, x, sizeof power) == 0 ? 0 : 1;
}
