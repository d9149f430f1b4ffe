// SPDX-License-Identifier: Apache-2.0
// Several GPUs that share work: which of them gets a piece, and which gets it if that one fails.
#pragma once

#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <vector>

#include "exec/gpu_load.hpp"

namespace manymod {

/// A GPU of a group.
struct GpuMember {
  unsigned size = 1;        ///< multiprocessors
  GpuLoad* load = nullptr;  ///< must outlive the group
};

/// Each piece of work goes to the GPU that would finish it first. If a GPU fails (a StatusError whose
/// FailureClass is not `call`), the work fails over to another GPU. A GPU that failed gets no more work while
/// other work is in flight, since the cause, such as a lack of memory, may be temporary. One that is lost for
/// this process gets no more work at all. Either is still tried if no other GPU is left.
class GpuGroup {
 public:
  explicit GpuGroup(std::vector<GpuMember> members);
  GpuGroup(GpuGroup&&) noexcept;
  GpuGroup& operator=(GpuGroup&&) noexcept;
  ~GpuGroup();

  [[nodiscard]] std::size_t size() const { return members_.size(); }
  /// The first GPU that works, else the first one. On input: size() > 0.
  [[nodiscard]] std::size_t first_working() const;

  /// Run attempt(gpu) for the GPU that work of `cost_ns` goes to, and if it fails, for the next one. An
  /// attempt must not compute again what a failed one before it has computed.
  /// @return null once an attempt succeeds; the exception of the first attempt if all GPUs fail; null if
  /// there is no GPU
  /// @throws what an attempt threw, if it is not the failure of a GPU
  [[nodiscard]] std::exception_ptr run(double cost_ns, const std::function<void(std::size_t)>& attempt) const;

 private:
  class Health;  // of the GPUs

  std::vector<GpuMember> members_;
  std::unique_ptr<Health> health_;
};

}  // namespace manymod
