// SPDX-License-Identifier: Apache-2.0
#include "rsa/items.hpp"

#include <functional>
#include <string>

#include "core/status_error.hpp"

namespace manymod::rsa {
namespace {

void check_offsets(const mm_bytes_view& view, const std::string& name) {
  for (std::size_t i = 0; i < view.count; ++i) {
    if (view.offsets[i] < 0 || view.offsets[i + 1] < view.offsets[i]) {
      throw StatusError(MM_ERR_ARGUMENT,
                        name + ".offsets descend or are negative at item " + std::to_string(i));
    }
  }
  if (view.data == nullptr && view.offsets[view.count] > view.offsets[0]) {
    throw StatusError(MM_ERR_NULL, name + ".data is NULL");
  }
}

void check_pointers(const mm_bytes_view& view, const std::string& name) {
  for (std::size_t i = 0; i < view.count; ++i) {
    if (view.items[i].data == nullptr && view.items[i].size != 0) {
      throw StatusError(MM_ERR_NULL, name + ".items[" + std::to_string(i) + "].data is NULL");
    }
  }
}

void check_array(const mm_bytes_view& view, const std::string& name) {
  if (view.stride != 0 && view.stride < view.size) {
    throw StatusError(MM_ERR_ARGUMENT, name + ".stride is " + std::to_string(view.stride) +
                                           ", less than its size " + std::to_string(view.size));
  }
  if (view.data == nullptr && view.size != 0) throw StatusError(MM_ERR_NULL, name + ".data is NULL");
}

}  // namespace

ItemsIn::ItemsIn(const mm_bytes_view& view, std::size_t count, const char* what) : view_(view) {
  const std::string name(what);
  if (view.count != count && view.count != 1) {
    throw StatusError(MM_ERR_ARGUMENT, name + ".count is " + std::to_string(view.count) + ", expected " +
                                           std::to_string(count) + " or 1");
  }
  if (view.items != nullptr) {
    check_pointers(view, name);
  } else if (view.offsets != nullptr) {
    check_offsets(view, name);
  } else {
    check_array(view, name);
    if (view.stride == 0) view_.stride = view.size;
  }
}

bool ItemsIn::overlap(ByteSpan bytes) const {
  // Pointers into different arrays are ordered by std::less only.
  const std::less<> before;
  for (std::size_t i = 0; i < view_.count; ++i) {
    const ByteSpan item = (*this)[i];
    if (!item.empty() && !bytes.empty() && before(item.data(), bytes.data() + bytes.size()) &&
        before(bytes.data(), item.data() + item.size())) {
      return true;
    }
  }
  return false;
}

}  // namespace manymod::rsa
