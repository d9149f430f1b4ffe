// SPDX-License-Identifier: Apache-2.0
// Words on a 64-byte boundary, as the vector kernels require.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <new>
#include <vector>

#include "repr/canonical.hpp"

namespace manymod::test {

class AlignedWords {
 public:
  explicit AlignedWords(const std::vector<Limb>& from)
      : size_(from.size()), words_(new(kAlignment) Limb[from.size()]) {
    std::copy(from.begin(), from.end(), words_.get());
  }
  [[nodiscard]] Limb* data() const { return words_.get(); }
  [[nodiscard]] std::vector<Limb> limbs() const { return {words_.get(), words_.get() + size_}; }

 private:
  static constexpr std::align_val_t kAlignment{64};
  struct Free {
    void operator()(Limb* words) const { operator delete[](words, kAlignment); }
  };
  std::size_t size_;
  std::unique_ptr<Limb[], Free> words_;
};

}  // namespace manymod::test
