// SPDX-License-Identifier: Apache-2.0
// Made by tools/tuning_rows.py of what `manymod tune --device cuda` measured.
#include "dispatch/shipped_tuning.hpp"

namespace manymod {
namespace {

constexpr auto kPublic = TimingClass::public_;
constexpr auto kSecret = TimingClass::secret;

}  // namespace

// NVIDIA H200, 2026-11.
// Calls from and to arrays on the host. Rows with as many items as the row before serve GPUs that the variant
// of that row does not suit.
std::vector<TuningRow> shipped_gpu_rows() {
  return {
      {Operation::powmod, kPublic, 1, 320, 4096, "dpf52.cuda.t1",
       "256 bits, 4096 items: 0.45 ms; CPU, 16 threads 0.84 ms (1.9x)"},
      {Operation::powmod, kPublic, 1, 320, 4096, "row32.cuda.t1",
       "256 bits, 32768 items: 1.5 ms; CPU, 16 threads 5.5 ms (3.7x)"},
      {Operation::powmod, kPublic, 321, 640, 2048, "dpf52.cuda.t1",
       "512 bits, 4096 items: 1.4 ms; CPU, 16 threads 2.9 ms (2.1x)"},
      {Operation::powmod, kPublic, 321, 640, 2048, "row32.cuda.t1", "512 bits: 0.88 of dpf52.cuda.t1's rate"},
      {Operation::powmod, kPublic, 641, 1280, 16384, "dpf52.cuda.t1",
       "1024 bits, 32768 items: 17 ms; CPU, 16 threads 155 ms (9.2x)"},
      {Operation::powmod, kPublic, 641, 1280, 1024, "dpf52.cuda.t4",
       "1024 bits, 4096 items: 3.3 ms; CPU, 16 threads 19 ms (5.8x)"},
      {Operation::powmod, kPublic, 641, 1280, 1024, "row32.cuda.t4",
       "1024 bits: 0.9 of dpf52.cuda.t4's rate"},
      {Operation::powmod, kPublic, 1281, 1792, 2048, "dpf52.cuda.t2", "1536 bits, large batches: 0.81 M/s"},
      {Operation::powmod, kPublic, 1281, 1792, 2048, "row32.cuda.t4",
       "1536 bits: 0.9 of dpf52.cuda.t2's rate"},
      {Operation::powmod, kPublic, 1793, 2560, 16384, "dpf52.cuda.t4", "2048 bits, large batches: 0.36 M/s"},
      {Operation::powmod, kPublic, 1793, 2560, 1024, "dpf52.cuda.t8",
       "2048 bits, 4096 items: 15 ms; CPU, 16 threads 137 ms (9.2x)"},
      {Operation::powmod, kPublic, 1793, 2560, 512, "row32.cuda.t32",
       "2048 bits, 512 items: 7.4 ms; CPU, 16 threads 18 ms (2.5x)"},
      {Operation::powmod, kPublic, 2561, 3584, 1024, "row32.cuda.t8", "3072 bits, large batches: 111 k/s"},
      {Operation::powmod, kPublic, 3585, 4096, 1024, "dpf52.cuda.t8",
       "4096 bits, 32768 items: 702 ms; CPU, 16 threads 7.9 s (11x)"},
      {Operation::powmod, kPublic, 4097, 8192, 1024, "dpf52.cuda.t16", "8192 bits: 6.5 k/s in the kernel"},
      {Operation::powmod, kPublic, 3585, 8192, 128, "row32.cuda.t32",
       "4096 bits, 512 items: 27 ms; CPU, 16 threads 134 ms (4.9x)"},
      {Operation::powmod, kSecret, 1, 320, 4096, "dpf52.cuda.t1",
       "256 bits, 4096 items: 0.45 ms; CPU, 16 threads 0.84 ms (1.9x)"},
      {Operation::powmod, kSecret, 1, 320, 4096, "row32.cuda.t1",
       "256 bits, 32768 items: 1.5 ms; CPU, 16 threads 5.5 ms (3.7x)"},
      {Operation::powmod, kSecret, 321, 640, 2048, "dpf52.cuda.t1",
       "512 bits, 4096 items: 1.4 ms; CPU, 16 threads 2.9 ms (2.1x)"},
      {Operation::powmod, kSecret, 321, 640, 2048, "row32.cuda.t1", "512 bits: 0.88 of dpf52.cuda.t1's rate"},
      {Operation::powmod, kSecret, 641, 1280, 16384, "dpf52.cuda.t1",
       "1024 bits, 32768 items: 17 ms; CPU, 16 threads 155 ms (9.2x)"},
      {Operation::powmod, kSecret, 641, 1280, 1024, "dpf52.cuda.t4",
       "1024 bits, 4096 items: 3.3 ms; CPU, 16 threads 19 ms (5.8x)"},
      {Operation::powmod, kSecret, 641, 1280, 1024, "row32.cuda.t4",
       "1024 bits: 0.9 of dpf52.cuda.t4's rate"},
      {Operation::powmod, kSecret, 1281, 1792, 2048, "dpf52.cuda.t2", "1536 bits, large batches: 0.81 M/s"},
      {Operation::powmod, kSecret, 1281, 1792, 2048, "row32.cuda.t4",
       "1536 bits: 0.9 of dpf52.cuda.t2's rate"},
      {Operation::powmod, kSecret, 1793, 2560, 16384, "dpf52.cuda.t4", "2048 bits, large batches: 0.36 M/s"},
      {Operation::powmod, kSecret, 1793, 2560, 1024, "dpf52.cuda.t8",
       "2048 bits, 4096 items: 15 ms; CPU, 16 threads 137 ms (9.2x)"},
      {Operation::powmod, kSecret, 1793, 2560, 512, "row32.cuda.t32",
       "2048 bits, 512 items: 7.4 ms; CPU, 16 threads 18 ms (2.5x)"},
      {Operation::powmod, kSecret, 2561, 3584, 1024, "row32.cuda.t8", "3072 bits, large batches: 111 k/s"},
      {Operation::powmod, kSecret, 3585, 4096, 1024, "dpf52.cuda.t8",
       "4096 bits, 32768 items: 702 ms; CPU, 16 threads 7.9 s (11x)"},
      {Operation::powmod, kSecret, 4097, 8192, 1024, "dpf52.cuda.t16", "8192 bits: 6.5 k/s in the kernel"},
      {Operation::powmod, kSecret, 3585, 8192, 128, "row32.cuda.t32",
       "4096 bits, 512 items: 27 ms; CPU, 16 threads 134 ms (4.9x)"},
  };
}

}  // namespace manymod
