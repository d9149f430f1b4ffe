// SPDX-License-Identifier: Apache-2.0
#include "arch/instruction_rates.hpp"

#include <time.h>

#include <cmath>

namespace manymod {
namespace {

#if MANYMOD_X86_64

// The loops are assembler text: a compiler can neither add an instruction nor remove one, and the file needs
// no instruction-set flags. Only vector registers 0 to 15 are named, which baseline x86-64 knows as xmm.
//
// Registers 14 and 15 are sources and 0 to 13 destinations: more independent chains than 2 ports x 4 cycles
// of latency need. Operands are neither zero nor special: some processors lower their frequency with the
// number of bits that toggle.
#define MANYMOD_EACH(OPERATION, WIDTH) \
  ".irp k, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13\n" OPERATION " %%" WIDTH "\\k\n.endr\n"

/// A loop over twice 14 instructions, first FIRST, then SECOND. A and B are the two sources in every lane.
// clang-format off
#define MANYMOD_VECTOR_LOOP(FUNCTION, WIDTH, FIRST, SECOND, A, B)                                   \
  void FUNCTION(std::uint64_t rounds) {                                                             \
    asm volatile(                                                                                   \
        "vmovq %[b], %%xmm14\n"                                                                     \
        "vpbroadcastq %%xmm14, %%" WIDTH "15\n"                                                     \
        "vmovq %[a], %%xmm14\n"                                                                     \
        MANYMOD_EACH("vpbroadcastq %%xmm14,", WIDTH)                                                \
        "vpbroadcastq %%xmm14, %%" WIDTH "14\n"                                                     \
        ".p2align 5\n"                                                                              \
        "1:\n"                                                                                      \
        MANYMOD_EACH(FIRST " %%" WIDTH "14, %%" WIDTH "15,", WIDTH)                                 \
        MANYMOD_EACH(SECOND " %%" WIDTH "14, %%" WIDTH "15,", WIDTH)                                \
        "dec %[rounds]\n"                                                                           \
        "jnz 1b\n"                                                                                  \
        "vzeroupper\n"                                                                              \
        : [rounds] "+r"(rounds)                                                                     \
        : [a] "r"(std::uint64_t{A}), [b] "r"(std::uint64_t{B})                                      \
        : "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9",     \
          "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15");                                    \
  }
// clang-format on

// Instructions that are counted in a round of each loop.
constexpr unsigned kVectorLoop = 28;
constexpr std::uint64_t kFactorA = 0x9'e377'9b97'f4a7, kFactorB = 0x6'a09e'667f'3bcc;
// 1 + 2^-20 and 1 + 2^-30: the sums grow by about 1 per round and stay far from overflow and from subnormals.
constexpr std::uint64_t kDoubleA = 0x3ff0'0001'0000'0000, kDoubleB = 0x3ff0'0000'0040'0000;

MANYMOD_VECTOR_LOOP(madd52_zmm, "zmm", "vpmadd52luq", "vpmadd52huq", kFactorA, kFactorB)
MANYMOD_VECTOR_LOOP(muludq_zmm, "zmm", "vpmuludq", "vpmuludq", kFactorA, kFactorB)
MANYMOD_VECTOR_LOOP(muludq_ymm, "ymm", "vpmuludq", "vpmuludq", kFactorA, kFactorB)
MANYMOD_VECTOR_LOOP(fma_zmm, "zmm", "vfmadd231pd", "vfmadd231pd", kDoubleA, kDoubleB)
MANYMOD_VECTOR_LOOP(fma_ymm, "ymm", "vfmadd231pd", "vfmadd231pd", kDoubleA, kDoubleB)

constexpr unsigned kMulxLoop = 24;
void mulx(std::uint64_t rounds) {
  asm volatile(
      "1:\n"
      ".rept 6\n"
      "mulx %[a], %%r8, %%r9\n"
      "mulx %[a], %%r10, %%r11\n"
      "mulx %[a], %%rcx, %%rsi\n"
      "mulx %[a], %%rax, %%rdi\n"
      ".endr\n"
      "dec %[rounds]\n"
      "jnz 1b\n"
      : [rounds] "+r"(rounds)
      : [a] "r"(std::uint64_t{kFactorA}), "d"(std::uint64_t{kFactorB})
      : "cc", "rax", "rcx", "rsi", "rdi", "r8", "r9", "r10", "r11");
}

// With register operands: some processors execute additions of a small constant while renaming, several per
// cycle.
constexpr unsigned kAddLoop = 32;
void add_chain(std::uint64_t rounds) {
  std::uint64_t sum = kFactorA;
  asm volatile(
      "1:\n"
      ".rept 32\n"
      "add %[a], %[sum]\n"
      ".endr\n"
      "dec %[rounds]\n"
      "jnz 1b\n"
      : [rounds] "+r"(rounds), [sum] "+r"(sum)
      : [a] "r"(std::uint64_t{kFactorB})
      : "cc");
}

// As many instructions per cycle as the processor issues: additions for the ports that execute integer
// instructions and, where it is wider than those, instructions that occupy no port. Any program on the other
// hardware thread of the same core slows this loop down.
constexpr unsigned kIssueLoop = 96;
void fill_issue_width(std::uint64_t rounds) {
  asm volatile(
      "1:\n"
      ".rept 8\n"
      "add %[a], %%rax\n add %[a], %%rcx\n nop\n"
      "add %[a], %%rdx\n add %[a], %%rsi\n nop\n"
      "add %[a], %%rdi\n add %[a], %%r8\n nop\n"
      "add %[a], %%r9\n add %[a], %%r10\n nop\n"
      ".endr\n"
      "dec %[rounds]\n"
      "jnz 1b\n"
      : [rounds] "+r"(rounds)
      : [a] "r"(std::uint64_t{kFactorB})
      : "cc", "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10");
}

#undef MANYMOD_EACH
#undef MANYMOD_VECTOR_LOOP

constexpr CpuFeatures one(CpuFeature feature) { return static_cast<CpuFeatures>(feature); }

constexpr InstructionLoop kLoops[] = {
    {"vpmadd52_zmm", CpuFeature::avx512f | CpuFeature::avx512ifma, kVectorLoop, madd52_zmm},
    {"vpmuludq_zmm", one(CpuFeature::avx512f), kVectorLoop, muludq_zmm},
    {"vpmuludq_ymm", one(CpuFeature::avx2), kVectorLoop, muludq_ymm},
    {"vfmadd231pd_zmm", one(CpuFeature::avx512f), kVectorLoop, fma_zmm},
    {"vfmadd231pd_ymm", CpuFeature::avx2 | CpuFeature::fma, kVectorLoop, fma_ymm},
    {"mulx", one(CpuFeature::bmi2), kMulxLoop, mulx},
    {"add_chain", 0, kAddLoop, add_chain},
    {"issue_width", 0, kIssueLoop, fill_issue_width},
};

#endif

/// Processor time of this thread in seconds; time that other processes take does not count.
double processor_time() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// Processor time in seconds that `rounds` rounds take.
double timed(const InstructionLoop& loop, std::uint64_t rounds) {
  const double start = processor_time();
  loop.run(rounds);
  return processor_time() - start;
}

}  // namespace

std::span<const InstructionLoop> instruction_loops() {
#if MANYMOD_X86_64
  return kLoops;
#else
  return {};
#endif
}

double instruction_rate(const InstructionLoop& loop, double seconds) {
  std::uint64_t rounds = 1000;
  double elapsed = timed(loop, rounds);
  // The first measurement is unreliable: double the rounds until one takes long enough and the core is warm.
  for (double warm = elapsed; warm < seconds / 4 || elapsed < seconds / 16; warm += elapsed) {
    if (elapsed < seconds / 16) rounds *= 2;
    elapsed = timed(loop, rounds);
  }
  const double per_round = elapsed / static_cast<double>(rounds);
  if (per_round > 0) rounds = static_cast<std::uint64_t>(std::ceil(seconds / per_round));
  return static_cast<double>(rounds) * loop.per_round / timed(loop, rounds);
}

}  // namespace manymod
