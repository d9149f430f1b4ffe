// SPDX-License-Identifier: Apache-2.0
#include "gpu/engine/workspace.hpp"

#include <algorithm>
#include <exception>
#include <utility>

namespace manymod::gpu {

Workspaces::Lease::Lease(Workspaces& from) : from_(from), exceptions_(std::uncaught_exceptions()) {
  from_.take_place();
  freed_before_ = from_.freed_.load();
  try {
    workspace_ = from_.idle_->take_or_make(from_.device_);
  } catch (...) {
    from_.free_place();
    throw;
  }
}

Workspaces::Lease::~Lease() {
  if (std::uncaught_exceptions() > exceptions_) workspace_.reset();
  if (workspace_ != nullptr) from_.idle_->give(std::move(workspace_));
  from_.free_place();
}

bool Workspaces::Lease::make_room() {
  workspace_.reset();
  const bool freed = from_.device_.idle_memories().free_all();
  const std::lock_guard lock(from_.mutex_);
  const std::size_t others = from_.in_use_ - 1;
  if (others == 0) return freed || from_.freed_.load() != freed_before_;
  from_.places_ = std::min(from_.places_, others);
  from_.uses_ = 0;
  return true;
}

void Workspaces::take_place() {
  for (;;) {
    const std::uint32_t freed = freed_.load();
    {
      const std::lock_guard lock(mutex_);
      if (in_use_ < places_) {
        ++in_use_;
        return;
      }
    }
    freed_.wait(freed);
  }
}

void Workspaces::free_place() {
  {
    const std::lock_guard lock(mutex_);
    --in_use_;
    if (places_ < most_ && ++uses_ == kUsesPerPlace) {
      ++places_;
      uses_ = 0;
    }
    freed_.fetch_add(1);
  }
  freed_.notify_all();  // there may be two places now
}

}  // namespace manymod::gpu
