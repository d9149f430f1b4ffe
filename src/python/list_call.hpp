// SPDX-License-Identifier: Apache-2.0
// Calls on lists of ints and mpz, a block of items at a time: converted, computed and converted back while
// their limbs are in the caches.
#pragma once

#include <nanobind/nanobind.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "core/limb.hpp"
#include "manymod/manymod.h"
#include "python/buffer.hpp"
#include "python/call.hpp"
#include "python/convert.hpp"
#include "python/list_sums.hpp"
#include "python/watch.hpp"

namespace manymod::python {

/// An operand of a ListCall: a sequence whose elements are converted in blocks, or limbs of one integer for
/// all items.
class ListOperand {
 public:
  /// `description`: (values, width, signed) of a scanned sequence none of whose elements is wider, or (None,
  /// limbs, signs).
  ListOperand(const nb::tuple& description, std::size_t block);

  [[nodiscard]] std::size_t width() const { return width_; }
  /// The items [first, first + count).
  [[nodiscard]] mm_view load(std::size_t first, std::size_t count);

 private:
  std::optional<ElementReader> reader_;
  std::optional<LimbArray> single_;
  std::optional<ByteVector> single_sign_;
  std::size_t block_;
  std::size_t width_ = 0;
  std::vector<Limb> limbs_;  // made by the first load(), as a call may need none
  std::vector<std::uint8_t> signs_;
};

class ListCall {
 public:
  /// `sums`: computes the items that it can, where the results are mpz.
  ListCall(std::size_t count, std::size_t block, const nb::tuple& operands, const nb::tuple& modulus,
           bool signed_result, bool mpz, nb::handle status, std::optional<ListSums> sums);

  /// Calls run_call for each block with the GIL released. @return the results, and MM_OK or MM_ERR_ITEMS; any
  /// other status throws
  template <class Run>
  nb::tuple run(nb::handle progress, Run&& run_call) {
    int outcome = MM_OK;
    for (std::size_t first = sum(0, progress); first < count_; first = sum(first + call_.count, progress)) {
      load(first);
      Watch watch{progress.is_none() ? nullptr : progress.ptr(), first, count_, nullptr};
      call_.progress = on_progress;
      call_.progress_user = &watch;
      const mm_status status = run_watched(watch, [&] { return run_call(&call_); });
      if (status != MM_OK && status != MM_ERR_ITEMS) throw_call_error(status);
      if (status != MM_OK) outcome = status;
      store();
    }
    return nb::make_tuple(results_.finish(), outcome);
  }

 private:
  std::size_t count_, block_;
  std::deque<ListOperand> operands_;  // whose buffers do not move
  ListOperand modulus_;
  std::vector<Limb> result_;
  std::vector<std::uint8_t> signs_;
  ByteVector status_;
  ElementWriter results_;
  mm_call call_{};
  std::optional<ListSums> sums_;
  std::chrono::steady_clock::time_point reported_;  // long ago

  /// Compute items from `first` on without rows, while that is possible. @return the item that is next
  std::size_t sum(std::size_t first, nb::handle progress);
  /// Let other threads run, handle signals, and report progress from time to time.
  void pause(std::size_t done, nb::handle progress);
  void load(std::size_t first);
  void store();
};

}  // namespace manymod::python
