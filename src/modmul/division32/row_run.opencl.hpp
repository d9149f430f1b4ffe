// SPDX-License-Identifier: Apache-2.0
// Some items of a call with arrays of the host on an OpenCL device: copies, and one launch.
#pragma once

#include <cstddef>
#include <span>

#include "engine/engine.hpp"
#include "gpu/engine/workspace.hpp"
#include "modmul/division32/row_job.hpp"

namespace manymod::division32 {

/// A kernel for numbers of `words` words, a work-item for each item.
struct RowShape {
  unsigned words;
  const char* kernel;
};

/// All of them, the narrowest first; the last one has kMaxWords words.
std::span<const RowShape> row_shapes();
/// The limbs of the widest operand or modulus, `modulus_limbs` for moduli.
std::size_t widest_of_item(const manymod::Job& call, std::size_t modulus_limbs);
/// The narrowest shape for numbers of `words` <= kMaxWords words.
const RowShape& row_shape_for(std::size_t words);

/// Timing: constant; depends on widths and on the signs of moduli. In calls of TimingClass::secret all
/// intermediate copies are zeroed.
class RowRun {
 public:
  /// On input: no operand has signs; all moduli have `modulus_limbs` limbs, of which the top one is not 0.
  RowRun(const manymod::Job& call, std::size_t modulus_limbs, Items items, gpu::Workspace& workspace);

  /// Computes and stores the results. @throws DeviceError
  void run();

 private:
  struct Upload {
    const BatchView* view;
    gpu::DeviceOperand* operand;
    std::size_t limbs;
    std::size_t at = 0;

    [[nodiscard]] bool used() const { return limbs > 0; }
  };

  const manymod::Job& call_;
  std::size_t modulus_limbs_;
  Items items_;
  gpu::Workspace& workspace_;
  RowJob job_;
  Upload uploads_[4];
  gpu::BufferLayout upload_layout_, device_layout_;
  std::size_t results_at_ = 0;
  std::byte *upload_ = nullptr, *device_ = nullptr, *download_ = nullptr;

  [[nodiscard]] std::size_t result_bytes() const { return items_.size() * modulus_limbs_ * sizeof(Limb); }
  void lay_out();
  void gather(const Upload& upload) const;
  void launch() const;
};

}  // namespace manymod::division32
