// SPDX-License-Identifier: Apache-2.0
// MANYMOD_MEMORY_SANITIZER is 1 in builds under MemorySanitizer, which supports neither assembly nor all
// intrinsics.
#pragma once

#if defined(__has_feature)
#if __has_feature(memory_sanitizer)
#define MANYMOD_MEMORY_SANITIZER 1
#endif
#endif
#ifndef MANYMOD_MEMORY_SANITIZER
#define MANYMOD_MEMORY_SANITIZER 0
#endif
