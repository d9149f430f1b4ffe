// SPDX-License-Identifier: Apache-2.0
// Options of the sanitizers, which look these functions up by their names.

extern "C" {
[[gnu::visibility("default")]] const char* __asan_default_options();       // NOLINT
[[gnu::visibility("default")]] const char* __lsan_default_suppressions();  // NOLINT
}

// To find thread-local variables of libraries that were loaded later, the runtime of GCC 12 guesses that a
// block 16 bytes behind the start of a page has a header of glibc 2.19. In about one process of ten the leak
// sanitizer then reads from an arbitrary address and ends the program.
const char* __asan_default_options() { return "intercept_tls_get_addr=0"; }  // NOLINT

// PoCL keeps what its compiler allocates, and whether it compiles depends on the caches of earlier runs.
const char* __lsan_default_suppressions() { return "leak:libpocl\nleak:libLLVM\n"; }  // NOLINT
