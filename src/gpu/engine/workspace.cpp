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
    workspace_ = from_.take();
  } catch (...) {
    from_.free_place();
    throw;
  }
}

Workspaces::Lease::~Lease() {
  if (std::uncaught_exceptions() > exceptions_) workspace_.reset();
  if (workspace_ != nullptr) from_.give_back(std::move(workspace_));
  from_.free_place();
}

bool Workspaces::Lease::make_room() {
  workspace_.reset();
  std::vector<std::unique_ptr<Workspace>> freed;
  freed.reserve(from_.most_);  // is swapped into idle_, where give_back must not allocate
  const std::lock_guard lock(from_.mutex_);
  freed.swap(from_.idle_);
  const std::size_t others = from_.in_use_ - 1;
  if (others == 0) return !freed.empty() || from_.freed_.load() != freed_before_;
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

std::unique_ptr<Workspace> Workspaces::take() {
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      std::unique_ptr<Workspace> workspace = std::move(idle_.back());
      idle_.pop_back();
      return workspace;
    }
  }
  return std::make_unique<Workspace>(device_);
}

void Workspaces::give_back(std::unique_ptr<Workspace> workspace) {
  const std::lock_guard lock(mutex_);
  idle_.push_back(std::move(workspace));
}

}  // namespace manymod::gpu
