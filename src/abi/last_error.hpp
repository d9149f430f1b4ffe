// SPDX-License-Identifier: Apache-2.0
// The calling thread's last failure, for mm_last_error().
#pragma once

#include <exception>
#include <new>
#include <string_view>

#include "core/status_error.hpp"
#include "manymod/manymod.h"

namespace manymod {

/// Remember `message` for this thread; where memory is short, remember nothing. Returns `status`.
mm_status fail(mm_status status, std::string_view message) noexcept;

const char* last_error() noexcept;

/// Run `call` and turn exceptions into a status and a message: none may leave the C ABI.
template <class Call>
mm_status guarded(Call&& call) noexcept {
  try {
    return call();
  } catch (const StatusError& error) {
    return fail(error.status(), error.what());
  } catch (const std::bad_alloc&) {
    return fail(MM_ERR_MEMORY, "out of memory");
  } catch (const std::exception& error) {
    return fail(MM_ERR_INTERNAL, error.what());
  } catch (...) {
    return fail(MM_ERR_INTERNAL, "unknown exception");
  }
}

}  // namespace manymod
