// SPDX-License-Identifier: Apache-2.0
// Counts the instructions that one call of a function executes, by single steps of a forked child (ptrace):
// exact, and it needs no hardware counters.
#pragma once

#include <cstddef>
#include <optional>

#if defined(__x86_64__) && defined(__linux__)
#include <sys/ptrace.h>
#include <sys/types.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#endif

namespace manymod {

struct ExecutedInstructions {
  std::size_t vector = 0;  ///< EVEX and VEX encoded, on vector registers, without the copies
  std::size_t copies = 0;  ///< EVEX register-to-register vmovdqa32/64, which renaming executes for nothing
  std::size_t mask = 0;    ///< VEX encoded, on mask registers alone or between them and others (kmov)
  std::size_t scalar = 0;  ///< all others, and VEX encoded general-purpose ones (mulx, shrx, ...)
};

#if defined(__x86_64__) && defined(__linux__)

namespace executed_instructions {

/// Adds the instruction at `code` to its class (Intel SDM volume 2, sections 2.3 and 2.7, appendix A).
inline void classify(const std::uint8_t* code, ExecutedInstructions& counts) {
  constexpr std::uint8_t kEvex = 0x62;
  constexpr std::uint8_t kVex2 = 0xc5;
  constexpr std::uint8_t kVex3 = 0xc4;
  if (code[0] == kEvex) {
    constexpr std::uint8_t kMoveAligned = 0x6f;
    constexpr std::uint8_t kRegisterOperand = 0xc0;
    const bool unmasked = (code[3] & 7) == 0;
    const bool copy =
        (code[1] & 7) == 1 && code[4] == kMoveAligned && code[5] >= kRegisterOperand && unmasked;
    ++(copy ? counts.copies : counts.vector);
    return;
  }
  if (code[0] != kVex2 && code[0] != kVex3) {
    ++counts.scalar;
    return;
  }
  const unsigned map = code[0] == kVex2 ? 1 : code[1] & 0x1fU;
  const unsigned opcode = code[0] == kVex2 ? code[2] : code[3];
  const bool mask =
      (map == 1 && ((opcode >= 0x41 && opcode <= 0x4b) || (opcode >= 0x90 && opcode <= 0x99))) ||
      (map == 3 && opcode >= 0x30 && opcode <= 0x33);
  const bool general = (map == 2 && opcode >= 0xf2 && opcode <= 0xf7) || (map == 3 && opcode == 0xf0);
  ++(mask ? counts.mask : general ? counts.scalar : counts.vector);
}

/// Steps the stopped child to the entry of `function` and on to its return.
inline std::optional<ExecutedInstructions> step_through(pid_t child, const void* function) {
  const auto entry = reinterpret_cast<std::uintptr_t>(function);
  constexpr std::size_t kMaxSteps = 50'000'000;
  ExecutedInstructions counts;
  std::uintptr_t stack_at_entry = 0;
  for (std::size_t step = 0; step < kMaxSteps; ++step) {
    user_regs_struct registers{};
    if (ptrace(PTRACE_GETREGS, child, nullptr, &registers) != 0) return std::nullopt;
    if (stack_at_entry == 0 && registers.rip == entry) stack_at_entry = registers.rsp;
    if (stack_at_entry != 0) {
      if (registers.rsp > stack_at_entry) return counts;
      // The child is a copy of this process: the same code lies at the same address here.
      classify(reinterpret_cast<const std::uint8_t*>(registers.rip), counts);
    }
    int status = 0;
    if (ptrace(PTRACE_SINGLESTEP, child, nullptr, nullptr) != 0 || waitpid(child, &status, 0) != child ||
        !WIFSTOPPED(status)) {
      return std::nullopt;
    }
  }
  return std::nullopt;
}

}  // namespace executed_instructions

/// The instructions from the entry of `function`, which call() reaches, to its return; what it calls
/// included. Nothing if the system forbids ptrace.
template <class Call>
std::optional<ExecutedInstructions> count_executed(const void* function, Call call) {
  const pid_t child = fork();
  if (child < 0) return std::nullopt;
  if (child == 0) {
    if (ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) == 0) {
      raise(SIGSTOP);
      call();
    }
    _exit(0);
  }
  int status = 0;
  std::optional<ExecutedInstructions> counts;
  if (waitpid(child, &status, 0) == child && WIFSTOPPED(status)) {
    counts = executed_instructions::step_through(child, function);
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
  }
  return counts;
}

#else

template <class Call>
std::optional<ExecutedInstructions> count_executed(const void* /*function*/, Call /*call*/) {
  return std::nullopt;
}

#endif

}  // namespace manymod
