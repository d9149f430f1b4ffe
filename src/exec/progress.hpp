// SPDX-License-Identifier: Apache-2.0
// How far a call has come, as its caller's progress callback sees it, and the callback's request to stop.
#pragma once

#include <algorithm>
#include <cstddef>

#include "manymod/manymod.h"

namespace manymod {

struct Progress {
  mm_progress_fn callback = nullptr;  ///< NULL: the call has no progress callback
  void* user = nullptr;

  [[nodiscard]] bool observed() const { return callback != nullptr; }

  /// Report `done` of `total` items to the callback, which must not be NULL.
  /// @return whether it requests a stop. An exception that it throws (it may be C++) counts as a request to
  /// stop, since nothing may unwind through the C ABI.
  [[nodiscard]] bool wants_stop(std::size_t done, std::size_t total) const;
};

/// One part of a call: of the call's `total` items, `before` are done when the part begins and
/// `before + share` when it ends.
struct ProgressPart {
  Progress caller;
  std::size_t total = 0;
  double before = 0;
  double share = 0;

  /// The part that begins when the fraction `from` of this part is done and makes up the fraction `size` of
  /// it.
  [[nodiscard]] ProgressPart part(double from, double size) const {
    return {caller, total, before + share * from, share * size};
  }

  [[nodiscard]] bool observed() const { return caller.observed(); }

  /// Report that the fraction `done` of this part is done. The caller observes the call.
  [[nodiscard]] bool wants_stop(double done) const {
    return caller.wants_stop(static_cast<std::size_t>(before + share * done), total);
  }

  /// The part as the progress of a nested call; this object must outlive it.
  [[nodiscard]] Progress nested() const {
    if (!observed()) return {};
    return {&report, const_cast<ProgressPart*>(this)};
  }

 private:
  static int report(std::size_t done, std::size_t nested_total, void* user) {
    const auto& part = *static_cast<const ProgressPart*>(user);
    const auto all = static_cast<double>(std::max<std::size_t>(1, nested_total));
    return part.wants_stop(static_cast<double>(done) / all) ? 1 : 0;
  }
};

}  // namespace manymod
