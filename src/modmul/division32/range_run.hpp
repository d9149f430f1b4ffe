// SPDX-License-Identifier: Apache-2.0
// Some items of a call on a device: uploads of what is in host memory, a launch, or some for items with many
// terms, downloads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/modulus_class.hpp"
#include "engine/engine.hpp"
#include "gpu/engine/workspace.hpp"
#include "modmul/division32/job.hpp"
#include "modmul/division32/launches.hpp"
#include "repr/limbs.hpp"

namespace manymod::division32 {

/// A modulus that all items share.
class PreparedDivisor final : public PreparedModulus {
 public:
  /// `words`: of the kernels for which the divisor is kept.
  PreparedDivisor(std::span<const Limb> modulus, unsigned words);

  [[nodiscard]] std::size_t limbs() const { return modulus_.size(); }
  /// The divisor in `words` >= 2 limbs() words.
  [[nodiscard]] SharedDivisor in_words(unsigned words) const;
  /// Writes the modulus as an integer of that many limbs.
  void write(std::span<std::uint32_t> words) const;

 private:
  limbs::Buffer modulus_;
  unsigned words_;
  SharedDivisor divisor_;
};

/// The kernels' operation for a call's.
RowOperation row_operation(Operation op);

/// The limbs of the widest operand or modulus, `modulus_limbs` for moduli.
std::size_t widest(const manymod::Job& job, std::size_t modulus_limbs);

/// The integers of an item in x and in y.
std::size_t terms_of(const manymod::Job& job);

/// A launch on terms leaves `parts` residues of each item, which are the terms of the next one.
struct Stage {
  std::size_t terms = 1;
  std::size_t parts = 1;
};
/// The launches for `items` items of so many terms, each by `threads` threads. The last has one part.
std::vector<Stage> stages_of(std::size_t items, std::size_t terms, unsigned threads);

/// Where and how a call is computed.
struct Range {
  const manymod::Job& call;
  const PreparedDivisor* shared;  ///< null: items have their own moduli
  std::size_t modulus_limbs;      ///< of each modulus, leading zeros included
  std::size_t modulus_bits;       ///< longer moduli have no result
};

/// Computes `items`: a run of consecutive ones if any array of the call is on the device.
class RangeRun {
 public:
  RangeRun(const Range& range, Items items, gpu::Workspace& workspace, const gpu::Stream& stream);

  void start();
  /// Waits, and stores the results of a call with results in host memory. @return as ResidentRows::run_call,
  /// for these items
  [[nodiscard]] std::vector<ModulusClass> finish();

 private:
  struct Upload {
    const BatchView* view = nullptr;  // null: none
    std::size_t limbs = 0;
    std::size_t first = 0, count = 0;  // integers of the view; those of items that do not follow each other
    std::size_t terms = 1;             // are `terms` for each
    std::size_t at = 0;
  };

  const Range& range_;
  const manymod::Job& call_;
  Items items_;
  gpu::Workspace& workspace_;
  const gpu::Stream& stream_;
  const Shape& shape_;
  Job job_;
  gpu::BufferLayout upload_layout_, device_layout_, download_layout_;
  std::vector<Stage> stages_;
  Upload uploads_[4];
  std::size_t kinds_at_ = 0, results_at_ = 0, results_on_host_at_ = 0;
  std::size_t partial_at_[2] = {};
  std::byte *upload_ = nullptr, *device_ = nullptr, *download_ = nullptr;

  [[nodiscard]] Rows rows_of(const BatchView& view, std::size_t limbs, unsigned place, std::size_t terms);
  void lay_out();
  void add_partials();
  void launch_stage(std::size_t stage) const;
  [[nodiscard]] Rows partials(std::size_t stage) const;
  void place_results();
  void gather(const Upload& upload) const;
  void wait() const;
  [[nodiscard]] std::vector<ModulusClass> wait_for_kinds() const;
  [[nodiscard]] std::size_t result_limbs() const;
};

}  // namespace manymod::division32
