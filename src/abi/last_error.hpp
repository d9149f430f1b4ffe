// SPDX-License-Identifier: Apache-2.0
// The text of mm_last_error(), and the conversion of exceptions into statuses.
#pragma once

#include <cstddef>
#include <exception>
#include <new>
#include <stdexcept>
#include <string_view>

#include "core/status_error.hpp"
#include "manymod/manymod.h"

namespace manymod {

/// Store `message` as this thread's last error, or an empty one if memory is short. @return `status`.
mm_status fail(mm_status status, std::string_view message) noexcept;

/// Items of a call that have no result, and of them the first one.
struct FailedItems {
  std::size_t count = 0, first = 0;
  mm_status first_status = MM_OK;
};

/// The status of a call on `items` items, with a last error that counts those that failed: MM_ERR_CANCELLED
/// unless it was completed; MM_ERR_ITEMS; MM_OK without either.
mm_status fail_items(bool completed, std::size_t items, const FailedItems& failed);

/// This thread's last error; valid until the next fail() on this thread.
const char* last_error() noexcept;

/// The status that call() returns; an exception becomes a status and a last error, as none may cross the C
/// ABI.
template <class Call>
mm_status guarded(Call&& call) noexcept {
  try {
    return call();
  } catch (const StatusError& error) {
    return fail(error.status(), error.what());
  } catch (const std::bad_alloc&) {
    return fail(MM_ERR_MEMORY, "out of memory");
  } catch (const std::length_error&) {  // containers of more elements than memory can ever have
    return fail(MM_ERR_MEMORY, "out of memory");
  } catch (const std::exception& error) {
    return fail(MM_ERR_INTERNAL, error.what());
  } catch (...) {
    return fail(MM_ERR_INTERNAL, "unknown exception");
  }
}

}  // namespace manymod
