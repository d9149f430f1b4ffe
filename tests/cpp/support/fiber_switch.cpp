// SPDX-License-Identifier: Apache-2.0
#include "support/fiber_switch.hpp"

#include <cstdint>

#include "support/address_sanitizer.hpp"

#if defined(__x86_64__)

// What the System V ABI lets a callee keep: six registers, and the control words of both floating-point
// units.
asm(R"(
  .pushsection .text
  .p2align 4
  .type manymod_switch_stacks, @function
manymod_switch_stacks:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  subq $8, %rsp
  stmxcsr (%rsp)
  fnstcw 4(%rsp)
  movq %rsp, (%rdi)
  movq (%rsi), %rsp
  ldmxcsr (%rsp)
  fldcw 4(%rsp)
  addq $8, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
  .size manymod_switch_stacks, . - manymod_switch_stacks

  .p2align 4
  .type manymod_enter_fiber, @function
manymod_enter_fiber:
  .cfi_startproc
  .cfi_undefined rip
  movl %r12d, %edi
  callq *%rbx
  ud2
  .cfi_endproc
  .size manymod_enter_fiber, . - manymod_enter_fiber
  .popsection
)");

extern "C" void manymod_switch_stacks(void** from, void* const* to);
extern "C" void manymod_enter_fiber();

namespace manymod::test {

void FiberContext::prepare(void* bottom, std::size_t size, void (*entry)(unsigned), unsigned argument) {
  // As manymod_switch_stacks leaves a stack, with what manymod_enter_fiber reads in rbx and r12, which it
  // enters with a stack pointer that is a multiple of 16. The frame pointer is 0: walks over the stack end
  // here.
  std::uint32_t mxcsr = 0;
  std::uint16_t control = 0;
  asm volatile("stmxcsr %0\n\tfnstcw %1" : "=m"(mxcsr), "=m"(control));
  enum : std::size_t { controls, r15, r14, r13, r12, rbx, rbp, return_address, words };
  static_assert(words % 2 == 0);
  auto* const top = reinterpret_cast<std::uint64_t*>(static_cast<std::byte*>(bottom) + size) - words;
  for (std::size_t i = 0; i < words; ++i) top[i] = 0;
  top[controls] = std::uint64_t{control} << 32 | mxcsr;
  top[r12] = argument;
  top[rbx] = reinterpret_cast<std::uintptr_t>(entry);
  top[return_address] = reinterpret_cast<std::uintptr_t>(&manymod_enter_fiber);
  stack_pointer_ = top;
}

void FiberContext::switch_between(FiberContext& from, FiberContext& to) {
  manymod_switch_stacks(&from.stack_pointer_, &to.stack_pointer_);
}

}  // namespace manymod::test

#else

namespace manymod::test {

void FiberContext::prepare(void* bottom, std::size_t size, void (*entry)(unsigned), unsigned argument) {
  getcontext(&context_);
  context_.uc_stack.ss_sp = bottom;
  context_.uc_stack.ss_size = size;
  context_.uc_link = nullptr;
  makecontext(&context_, reinterpret_cast<void (*)()>(entry), 1, argument);
#if defined(MM_ADDRESS_SANITIZER)
  // Its swapcontext would clear the shadow at every switch, of as many bytes as the context states for its
  // stack.
  context_.uc_stack.ss_size = 0;
#endif
}

void FiberContext::switch_between(FiberContext& from, FiberContext& to) {
  swapcontext(&from.context_, &to.context_);
}

}  // namespace manymod::test

#endif
