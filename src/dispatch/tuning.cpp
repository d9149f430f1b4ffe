// SPDX-License-Identifier: Apache-2.0
#include "dispatch/tuning.hpp"

#include <array>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <system_error>
#include <utility>

#include "dispatch/status_error.hpp"

namespace manymod {
namespace {

constexpr auto kPublic = TimingClass::public_;
constexpr auto kSecret = TimingClass::secret;

// Measured on an NVIDIA H200, end to end, with a modulus for each item and secret exponents as long as the
// moduli; CPU: the variants below on 16 threads of the machine it was in (an Intel Xeon with AVX-512 IFMA).
// Rows of row32 with as many items as the row before serve GPUs that dpf52 does not suit.
void add_gpu_rows(std::vector<TuningRow>& rows, TimingClass timing) {
  const TuningRow measured[] = {
      {Operation::powmod, timing, 1, 320, 4096, "dpf52.cuda.t1",
       "256 bits, 4096 items: 0.45 ms; CPU, 16 threads 0.84 ms (1.9x)"},
      {Operation::powmod, timing, 1, 320, 4096, "row32.cuda.t1",
       "256 bits, 32768 items: 1.5 ms; CPU, 16 threads 5.5 ms (3.7x)"},
      {Operation::powmod, timing, 321, 640, 2048, "dpf52.cuda.t1",
       "512 bits, 4096 items: 1.4 ms; CPU, 16 threads 2.9 ms (2.1x)"},
      {Operation::powmod, timing, 321, 640, 2048, "row32.cuda.t1", "512 bits: 0.88 of dpf52.cuda.t1's rate"},
      {Operation::powmod, timing, 641, 1280, 16384, "dpf52.cuda.t1",
       "1024 bits, 32768 items: 17 ms; CPU, 16 threads 155 ms (9.2x)"},
      {Operation::powmod, timing, 641, 1280, 1024, "dpf52.cuda.t4",
       "1024 bits, 4096 items: 3.3 ms; CPU, 16 threads 19 ms (5.8x)"},
      {Operation::powmod, timing, 641, 1280, 1024, "row32.cuda.t4", "1024 bits: 0.9 of dpf52.cuda.t4's rate"},
      {Operation::powmod, timing, 1281, 1792, 2048, "dpf52.cuda.t2", "1536 bits, large batches: 0.81 M/s"},
      {Operation::powmod, timing, 1281, 1792, 2048, "row32.cuda.t4",
       "1536 bits: 0.9 of dpf52.cuda.t2's rate"},
      {Operation::powmod, timing, 1793, 2560, 16384, "dpf52.cuda.t4", "2048 bits, large batches: 0.36 M/s"},
      {Operation::powmod, timing, 1793, 2560, 1024, "dpf52.cuda.t8",
       "2048 bits, 4096 items: 15 ms; CPU, 16 threads 137 ms (9.2x)"},
      {Operation::powmod, timing, 1793, 2560, 512, "row32.cuda.t32",
       "2048 bits, 512 items: 7.4 ms; CPU, 16 threads 18 ms (2.5x)"},
      {Operation::powmod, timing, 2561, 3584, 1024, "row32.cuda.t8", "3072 bits, large batches: 111 k/s"},
      {Operation::powmod, timing, 3585, 4096, 1024, "dpf52.cuda.t8",
       "4096 bits, 32768 items: 702 ms; CPU, 16 threads 7.9 s (11x)"},
      {Operation::powmod, timing, 4097, 8192, 1024, "dpf52.cuda.t16", "8192 bits: 6.5 k/s in the kernel"},
      {Operation::powmod, timing, 3585, 8192, 128, "row32.cuda.t32",
       "4096 bits, 512 items: 27 ms; CPU, 16 threads 134 ms (4.9x)"},
  };
  rows.insert(rows.end(), std::begin(measured), std::end(measured));
}

// Measured by `manymod tune` on an Intel Xeon (Emerald Rapids), one thread: time of one item and the next
// best variant's. Products have one modulus for all items.
std::vector<TuningRow> cpu_rows() {
  return {
      {Operation::powmod, kPublic, 1, 192, 4, "ifma52.avx512",
       "128 bits, 16 items: 873 ns; radix28.avx512f 1.38 us (1.58x)"},
      {Operation::powmod, kPublic, 193, 320, 3, "ifma52.avx512",
       "256 bits, 16 items: 3.13 us; dpf52.avx512f 6.17 us (1.97x)"},
      {Operation::powmod, kPublic, 321, 448, 3, "ifma52.avx512",
       "384 bits, 16 items: 7.31 us; dpf52.avx512f 16.6 us (2.28x)"},
      {Operation::powmod, kPublic, 321, 448, 1, "ifma52.row",
       "384 bits, 2 items: 23.5 us; scalar64.adx 31.3 us (1.33x)"},
      {Operation::powmod, kPublic, 449, 640, 2, "ifma52.avx512",
       "512 bits, 16 items: 11.8 us; dpf52.avx512f 28.8 us (2.44x)"},
      {Operation::powmod, kPublic, 449, 640, 1, "ifma52.row",
       "512 bits, 1 items: 56.1 us; scalar64.adx 61.8 us (1.10x)"},
      {Operation::powmod, kPublic, 641, 896, 3, "ifma52.avx512",
       "768 bits, 16 items: 37 us; dpf52.avx512f 86.2 us (2.33x)"},
      {Operation::powmod, kPublic, 641, 896, 1, "ifma52.row",
       "768 bits, 2 items: 105 us; ifma52.avx512 148 us (1.41x)"},
      {Operation::powmod, kPublic, 897, 1280, 4, "ifma52.avx512",
       "1024 bits, 16 items: 69.4 us; dpf52.avx512f 167 us (2.41x)"},
      {Operation::powmod, kPublic, 897, 1280, 1, "ifma52.row",
       "1024 bits, 3 items: 177 us; ifma52.avx512 189 us (1.07x)"},
      {Operation::powmod, kPublic, 1281, 1792, 4, "ifma52.avx512",
       "1536 bits, 16 items: 148 us; ifma52.row 357 us (2.41x)"},
      {Operation::powmod, kPublic, 1281, 1792, 1, "ifma52.row",
       "1536 bits, 3 items: 343 us; ifma52.avx512 394 us (1.15x)"},
      {Operation::powmod, kPublic, 1793, 2560, 4, "ifma52.avx512",
       "2048 bits, 16 items: 327 us; ifma52.row 663 us (2.03x)"},
      {Operation::powmod, kPublic, 1793, 2560, 1, "ifma52.row",
       "2048 bits, 3 items: 641 us; ifma52.avx512 844 us (1.32x)"},
      {Operation::powmod, kPublic, 2561, 3584, 4, "ifma52.avx512",
       "3072 bits, 16 items: 656 us; ifma52.row 1.39 ms (2.12x)"},
      {Operation::powmod, kPublic, 2561, 3584, 1, "ifma52.row",
       "3072 bits, 3 items: 1.44 ms; ifma52.avx512 1.8 ms (1.25x)"},
      {Operation::powmod, kPublic, 3585, 6144, 4, "ifma52.avx512",
       "4096 bits, 16 items: 1.17 ms; ifma52.row 2.29 ms (1.95x)"},
      {Operation::powmod, kPublic, 3585, 4157, 1, "ifma52.row",
       "4096 bits, 3 items: 2.29 ms; ifma52.avx512 3.08 ms (1.34x)"},
      {Operation::powmod, kPublic, 6145, kMaxModulusBits, 2, "ifma52.avx512",
       "8192 bits, 16 items: 4.73 ms; dpf52.avx512f 13.2 ms (2.79x)"},
      {Operation::powmod, kSecret, 1, 192, 3, "ifma52.avx512",
       "128 bits, 16 items: 1.45 us; radix28.avx512f 1.84 us (1.27x)"},
      {Operation::powmod, kSecret, 193, 320, 2, "ifma52.avx512",
       "256 bits, 16 items: 2.89 us; radix28.avx512f 5.34 us (1.85x)"},
      {Operation::powmod, kSecret, 321, 448, 3, "ifma52.avx512",
       "384 bits, 16 items: 7.62 us; dpf52.avx512f 17.8 us (2.33x)"},
      {Operation::powmod, kSecret, 321, 448, 1, "ifma52.row",
       "384 bits, 2 items: 26.3 us; ifma52.avx512 31.9 us (1.22x)"},
      {Operation::powmod, kSecret, 449, 640, 2, "ifma52.avx512",
       "512 bits, 16 items: 8.33 us; dpf52.avx512f 25.1 us (3.01x)"},
      {Operation::powmod, kSecret, 641, 896, 3, "ifma52.avx512",
       "768 bits, 16 items: 36.2 us; dpf52.avx512f 86.5 us (2.39x)"},
      {Operation::powmod, kSecret, 641, 896, 1, "ifma52.row",
       "768 bits, 2 items: 106 us; ifma52.avx512 145 us (1.37x)"},
      {Operation::powmod, kSecret, 897, 1280, 4, "ifma52.avx512",
       "1024 bits, 16 items: 79.3 us; dpf52.avx512f 190 us (2.40x)"},
      {Operation::powmod, kSecret, 897, 1280, 1, "ifma52.row",
       "1024 bits, 2 items: 213 us; ifma52.avx512 324 us (1.52x)"},
      {Operation::powmod, kSecret, 1281, 1792, 4, "ifma52.avx512",
       "1536 bits, 16 items: 205 us; ifma52.row 411 us (2.01x)"},
      {Operation::powmod, kSecret, 1281, 1792, 1, "ifma52.row",
       "1536 bits, 4 items: 429 us; ifma52.avx512 456 us (1.06x)"},
      {Operation::powmod, kSecret, 1793, 2560, 4, "ifma52.avx512",
       "2048 bits, 16 items: 334 us; ifma52.row 716 us (2.14x)"},
      {Operation::powmod, kSecret, 1793, 2560, 1, "ifma52.row",
       "2048 bits, 3 items: 726 us; ifma52.avx512 897 us (1.24x)"},
      {Operation::powmod, kSecret, 2561, 3584, 4, "ifma52.avx512",
       "3072 bits, 16 items: 694 us; ifma52.row 1.5 ms (2.16x)"},
      {Operation::powmod, kSecret, 2561, 3584, 1, "ifma52.row",
       "3072 bits, 3 items: 1.52 ms; ifma52.avx512 1.87 ms (1.23x)"},
      {Operation::powmod, kSecret, 3585, 6144, 4, "ifma52.avx512",
       "4096 bits, 16 items: 1.2 ms; ifma52.row 2.49 ms (2.08x)"},
      {Operation::powmod, kSecret, 3585, 4157, 1, "ifma52.row",
       "4096 bits, 3 items: 2.49 ms; ifma52.avx512 3.24 ms (1.30x)"},
      {Operation::powmod, kSecret, 6145, kMaxModulusBits, 2, "ifma52.avx512",
       "8192 bits, 16 items: 5.02 ms; dpf52.avx512f 13 ms (2.58x)"},
      {Operation::mulmod, kPublic, 193, 320, 64, "ifma52.avx512",
       "256 bits, 1024 items: 78 ns; scalar64.adx 92 ns (1.17x)"},
      {Operation::mulmod, kPublic, 321, 448, 16, "ifma52.avx512",
       "384 bits, 1024 items: 125 ns; scalar64.adx 163 ns (1.31x)"},
      {Operation::mulmod, kPublic, 449, 640, 8, "ifma52.avx512",
       "512 bits, 1024 items: 133 ns; dpf52.avx512f 170 ns (1.28x)"},
      {Operation::mulmod, kPublic, 641, 896, 4, "ifma52.avx512",
       "768 bits, 1024 items: 211 ns; dpf52.avx512f 311 ns (1.47x)"},
      {Operation::mulmod, kPublic, 897, 1280, 3, "ifma52.avx512",
       "1024 bits, 1024 items: 293 ns; dpf52.avx512f 452 ns (1.54x)"},
      {Operation::mulmod, kPublic, 1281, 1792, 4, "ifma52.avx512",
       "1536 bits, 1024 items: 305 ns; dpf52.avx512f 560 ns (1.84x)"},
      {Operation::mulmod, kPublic, 1281, 1792, 1, "ifma52.row",
       "1536 bits, 3 items: 1.34 us; scalar64.adx 1.49 us (1.11x)"},
      {Operation::mulmod, kPublic, 1793, 2560, 4, "ifma52.avx512",
       "2048 bits, 1024 items: 480 ns; dpf52.avx512f 938 ns (1.95x)"},
      {Operation::mulmod, kPublic, 1793, 2560, 1, "ifma52.row",
       "2048 bits, 3 items: 1.61 us; ifma52.avx512 1.93 us (1.20x)"},
      {Operation::mulmod, kPublic, 2561, 3584, 4, "ifma52.avx512",
       "3072 bits, 1024 items: 925 ns; dpf52.avx512f 1.88 us (2.03x)"},
      {Operation::mulmod, kPublic, 2561, 3584, 1, "ifma52.row",
       "3072 bits, 3 items: 2.51 us; ifma52.avx512 3.19 us (1.27x)"},
      {Operation::mulmod, kPublic, 3585, 6144, 4, "ifma52.avx512",
       "4096 bits, 1024 items: 2.2 us; ifma52.row 4.48 us (2.04x)"},
      {Operation::mulmod, kPublic, 3585, 4157, 1, "ifma52.row",
       "4096 bits, 3 items: 3.82 us; ifma52.avx512 4.86 us (1.27x)"},
      {Operation::mulmod, kPublic, 6145, kMaxModulusBits, 2, "ifma52.avx512",
       "8192 bits, 1024 items: 5.63 us; dpf52.avx512f 12.6 us (2.24x)"},
      {Operation::sqrmod, kPublic, 193, 320, 64, "ifma52.avx512",
       "256 bits, 1024 items: 82 ns; scalar64.adx 84 ns (1.02x)"},
      {Operation::sqrmod, kPublic, 321, 448, 16, "ifma52.avx512",
       "384 bits, 1024 items: 110 ns; scalar64.adx 143 ns (1.30x)"},
      {Operation::sqrmod, kPublic, 449, 640, 8, "ifma52.avx512",
       "512 bits, 1024 items: 129 ns; dpf52.avx512f 181 ns (1.40x)"},
      {Operation::sqrmod, kPublic, 641, 896, 5, "ifma52.avx512",
       "768 bits, 1024 items: 129 ns; dpf52.avx512f 209 ns (1.62x)"},
      {Operation::sqrmod, kPublic, 897, 1280, 4, "ifma52.avx512",
       "1024 bits, 1024 items: 174 ns; dpf52.avx512f 295 ns (1.70x)"},
      {Operation::sqrmod, kPublic, 1281, 1792, 4, "ifma52.avx512",
       "1536 bits, 1024 items: 306 ns; dpf52.avx512f 563 ns (1.84x)"},
      {Operation::sqrmod, kPublic, 1281, 1792, 1, "ifma52.row",
       "1536 bits, 3 items: 1.33 us; scalar64.adx 1.36 us (1.03x)"},
      {Operation::sqrmod, kPublic, 1793, 2560, 4, "ifma52.avx512",
       "2048 bits, 1024 items: 465 ns; dpf52.avx512f 906 ns (1.95x)"},
      {Operation::sqrmod, kPublic, 1793, 2560, 1, "ifma52.row",
       "2048 bits, 3 items: 1.58 us; scalar64.adx 1.86 us (1.18x)"},
      {Operation::sqrmod, kPublic, 2561, 3584, 4, "ifma52.avx512",
       "3072 bits, 1024 items: 940 ns; dpf52.avx512f 1.91 us (2.04x)"},
      {Operation::sqrmod, kPublic, 2561, 3584, 1, "ifma52.row",
       "3072 bits, 3 items: 2.62 us; ifma52.avx512 3.23 us (1.23x)"},
      {Operation::sqrmod, kPublic, 3585, 6144, 4, "ifma52.avx512",
       "4096 bits, 1024 items: 1.5 us; ifma52.row 2.9 us (1.93x)"},
      {Operation::sqrmod, kPublic, 3585, 4157, 1, "ifma52.row",
       "4096 bits, 3 items: 3.63 us; ifma52.avx512 4.8 us (1.32x)"},
      {Operation::sqrmod, kPublic, 6145, kMaxModulusBits, 2, "ifma52.avx512",
       "8192 bits, 1024 items: 7.49 us; dpf52.avx512f 16.6 us (2.22x)"},
      {Operation::fixed_base_powmod, kPublic, 1, 192, 8, "ifma52.avx512",
       "128 bits, 16 items: 397 ns; scalar64.adx 443 ns (1.12x)"},
      {Operation::fixed_base_powmod, kPublic, 193, 384, 6, "ifma52.avx512",
       "256 bits, 16 items: 700 ns; dpf52.avx512f 941 ns (1.34x)"},
      {Operation::fixed_base_powmod, kPublic, 385, 768, 3, "ifma52.avx512",
       "512 bits, 16 items: 1.95 us; dpf52.avx512f 3.03 us (1.56x)"},
      {Operation::fixed_base_powmod, kPublic, 385, 768, 1, "ifma52.row",
       "512 bits, 1 items: 6.64 us; scalar64.adx 7.31 us (1.10x)"},
      {Operation::fixed_base_powmod, kPublic, 769, 1536, 4, "ifma52.avx512",
       "1024 bits, 16 items: 7.91 us; dpf52.avx512f 15.4 us (1.95x)"},
      {Operation::fixed_base_powmod, kPublic, 769, 1536, 1, "ifma52.row",
       "1024 bits, 3 items: 17.8 us; ifma52.avx512 21.7 us (1.22x)"},
      {Operation::fixed_base_powmod, kPublic, 1537, 3072, 5, "ifma52.avx512",
       "2048 bits, 16 items: 52 us; ifma52.row 82 us (1.58x)"},
      {Operation::fixed_base_powmod, kPublic, 1537, 3072, 1, "ifma52.row",
       "2048 bits, 4 items: 82.9 us; ifma52.avx512 105 us (1.26x)"},
      {Operation::fixed_base_powmod, kPublic, 3073, 6144, 6, "ifma52.avx512",
       "4096 bits, 16 items: 195 us; ifma52.row 316 us (1.62x)"},
      {Operation::fixed_base_powmod, kPublic, 3073, 4157, 1, "ifma52.row",
       "4096 bits, 5 items: 356 us; ifma52.avx512 403 us (1.13x)"},
      {Operation::fixed_base_powmod, kPublic, 6145, kMaxModulusBits, 2, "ifma52.avx512",
       "8192 bits, 16 items: 806 us; dpf52.avx512f 1.91 ms (2.36x)"},
      {Operation::fixed_base_powmod, kSecret, 1, 192, 4, "ifma52.avx512",
       "128 bits, 16 items: 570 ns; radix28.avx512f 818 ns (1.44x)"},
      {Operation::fixed_base_powmod, kSecret, 193, 384, 4, "ifma52.avx512",
       "256 bits, 16 items: 1.52 us; dpf52.avx512f 1.85 us (1.22x)"},
      {Operation::fixed_base_powmod, kSecret, 385, 768, 3, "ifma52.avx512",
       "512 bits, 16 items: 4.42 us; dpf52.avx512f 6.94 us (1.57x)"},
      {Operation::fixed_base_powmod, kSecret, 385, 768, 1, "ifma52.row",
       "512 bits, 2 items: 14 us; scalar64.adx 14.5 us (1.03x)"},
      {Operation::fixed_base_powmod, kSecret, 769, 1536, 4, "ifma52.avx512",
       "1024 bits, 16 items: 20.2 us; dpf52.avx512f 33 us (1.63x)"},
      {Operation::fixed_base_powmod, kSecret, 769, 1536, 1, "ifma52.row",
       "1024 bits, 3 items: 46.6 us; ifma52.avx512 55.2 us (1.18x)"},
      {Operation::fixed_base_powmod, kSecret, 1537, 3072, 5, "ifma52.avx512",
       "2048 bits, 16 items: 127 us; ifma52.row 203 us (1.60x)"},
      {Operation::fixed_base_powmod, kSecret, 1537, 3072, 1, "ifma52.row",
       "2048 bits, 4 items: 208 us; ifma52.avx512 257 us (1.24x)"},
      {Operation::fixed_base_powmod, kSecret, 3073, 6144, 5, "ifma52.avx512",
       "4096 bits, 16 items: 344 us; ifma52.row 580 us (1.68x)"},
      {Operation::fixed_base_powmod, kSecret, 3073, 4157, 1, "ifma52.row",
       "4096 bits, 4 items: 573 us; ifma52.avx512 682 us (1.19x)"},
      {Operation::fixed_base_powmod, kSecret, 6145, kMaxModulusBits, 2, "ifma52.avx512",
       "8192 bits, 16 items: 1.16 ms; dpf52.avx512f 2.31 ms (1.99x)"},
      // Without AVX-512 IFMA.
      {Operation::powmod, kPublic, 193, kMaxModulusBits, 6, "dpf52.avx512f",
       "1024 bits, 16 items: 167 us; dpf52.avx2 1.3 to 1.4 times that, scalar64.adx 1.9 times"},
      {Operation::powmod, kSecret, 193, kMaxModulusBits, 6, "dpf52.avx512f",
       "1024 bits, 16 items: 190 us; dpf52.avx2 1.3 to 1.4 times that, scalar64.adx 1.9 times"},
      {Operation::powmod, kPublic, 449, kMaxModulusBits, 4, "dpf52.avx2",
       "1024 bits, 64 items: 1.3 to 1.5 times scalar64.adx, radix28.avx2 1.1 to 1.3 times"},
      {Operation::powmod, kSecret, 449, kMaxModulusBits, 4, "dpf52.avx2",
       "1024 bits, 64 items: 1.3 to 1.5 times scalar64.adx, radix28.avx2 1.1 to 1.3 times"},
      {Operation::powmod, kPublic, 65, kMaxModulusBits, 1, "scalar64.adx",
       "1.7 to 2.4 times scalar64.generic from 256 to 2048 bits"},
      {Operation::powmod, kSecret, 65, kMaxModulusBits, 1, "scalar64.adx",
       "1.9 to 2.5 times scalar64.generic from 256 to 2048 bits"},
      {Operation::fixed_base_powmod, kPublic, 193, kMaxModulusBits, 6, "dpf52.avx512f",
       "1024 bits, 16 items: 16.3 us; radix28.avx512f 22.9 us (1.40x)"},
      {Operation::fixed_base_powmod, kSecret, 193, kMaxModulusBits, 6, "dpf52.avx512f",
       "1024 bits, 16 items: 33.2 us; radix28.avx512f 47.6 us (1.43x)"},
      {Operation::fixed_base_powmod, kPublic, 385, kMaxModulusBits, 4, "dpf52.avx2",
       "1024 bits, 16 items: 20.5 us; scalar64.adx 30.2 us (1.48x)"},
      {Operation::fixed_base_powmod, kSecret, 385, kMaxModulusBits, 4, "dpf52.avx2",
       "1024 bits, 16 items: 40.5 us; radix28.avx2 59 us (1.45x)"},
      {Operation::fixed_base_powmod, kPublic, 65, kMaxModulusBits, 1, "scalar64.adx",
       "256 bits, 3 items: 1.86 us; scalar64.generic 2.21 us (1.19x)"},
      {Operation::fixed_base_powmod, kSecret, 65, kMaxModulusBits, 1, "scalar64.adx",
       "256 bits, 3 items: 3.62 us; ifma52.avx512 4.45 us (1.23x)"},
  };
}

std::vector<TuningRow> shipped_rows() {
  std::vector<TuningRow> rows;
  add_gpu_rows(rows, kPublic);
  add_gpu_rows(rows, kSecret);
  const std::vector<TuningRow> cpu = cpu_rows();
  rows.insert(rows.end(), cpu.begin(), cpu.end());
  return rows;
}

constexpr std::size_t kMaxFileBytes = std::size_t{1} << 20;

// A table that was once in use is never destroyed: callers of the C ABI hold its strings.
struct Published {
  TuningTable table;
  const Published* before = nullptr;
};

std::atomic<const Published*> newest{nullptr};

void publish(TuningTable table) {
  auto fresh = std::make_unique<Published>();
  fresh->table = std::move(table);
  fresh->before = newest.load(std::memory_order_acquire);
  while (!newest.compare_exchange_weak(fresh->before, fresh.get(), std::memory_order_acq_rel)) continue;
  [[maybe_unused]] const Published* const owned_by_newest = fresh.release();
}

/// Publishes the table unless there is one already: a call of load_tuning meanwhile has the last word.
const TuningTable& publish_first(TuningTable table) {
  auto fresh = std::make_unique<Published>();
  fresh->table = std::move(table);
  const Published* found = nullptr;
  if (newest.compare_exchange_strong(found, fresh.get(), std::memory_order_acq_rel)) {
    return fresh.release()->table;
  }
  return found->table;
}

[[noreturn]] void throw_unreadable(const std::string& path, const std::string& why) {
  throw StatusError(MM_ERR_TUNING, "tuning file '" + path + "': " + why);
}

// Regular files only: a pipe might keep the caller waiting for ever.
std::string file_text(const std::string& path) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status)) {
    throw_unreadable(path, error ? error.message() : "no such file");
  }
  if (!std::filesystem::is_regular_file(status)) throw_unreadable(path, "is not a regular file");
  std::ifstream file(path, std::ios::binary);
  if (!file) throw_unreadable(path, "cannot be opened");
  std::string text(kMaxFileBytes + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (file.bad()) throw_unreadable(path, "cannot be read");
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (text.size() > kMaxFileBytes) {
    throw_unreadable(path, "is longer than " + std::to_string(kMaxFileBytes) + " bytes");
  }
  return text;
}

TuningTable table_of_file(const std::string& path) {
  return parse_tuning(file_text(path), path, registry(), shipped_tuning().rows);
}

}  // namespace

const TuningTable& shipped_tuning() {
  static const TuningTable table{"", "Intel Xeon (AVX-512 IFMA, AMX), NVIDIA H200", "2026-11", "",
                                 shipped_rows()};
  return table;
}

const TuningTable& tuning_table() {
  if (const Published* published = newest.load(std::memory_order_acquire)) return published->table;
  const char* path = std::getenv("MANYMOD_TUNING");
  if (path == nullptr || *path == '\0') return publish_first(shipped_tuning());
  try {
    return publish_first(table_of_file(path));
  } catch (const StatusError& error) {
    throw StatusError(error.status(), std::string(error.what()) + " (MANYMOD_TUNING)");
  }
}

void load_tuning(const char* path) { publish(path == nullptr ? shipped_tuning() : table_of_file(path)); }

}  // namespace manymod
