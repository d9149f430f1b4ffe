// SPDX-License-Identifier: Apache-2.0
#include "server/hardening.hpp"

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>

namespace manymod::signd {

void forbid_dumps() noexcept {
  const rlimit none{0, 0};
  setrlimit(RLIMIT_CORE, &none);
  prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

void raise_file_limit() noexcept {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

// With MCL_FUTURE every later allocation counts towards RLIMIT_MEMLOCK, and fails beyond it. So nothing is
// locked unless the limit is infinite.
bool lock_all_memory() noexcept {
  rlimit limit{};
  const bool unlimited = getrlimit(RLIMIT_MEMLOCK, &limit) == 0 && limit.rlim_cur == RLIM_INFINITY;
  return unlimited && mlockall(MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT) == 0;
}

}  // namespace manymod::signd
