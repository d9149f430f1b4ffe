// SPDX-License-Identifier: Apache-2.0
// The sanitizer's interface, declared here because only its own compiler has sanitizer/msan_interface.h.
#pragma once

#include <cstddef>
#include <cstdint>

void poison(const volatile void* data, std::size_t size) __asm__("__msan_poison");
void unpoison(const volatile void* data, std::size_t size) __asm__("__msan_unpoison");
/// The offset of the first poisoned byte, or -1.
std::intptr_t first_poisoned(const volatile void* data, std::size_t size) __asm__("__msan_test_shadow");
