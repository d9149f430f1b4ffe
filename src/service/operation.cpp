// SPDX-License-Identifier: Apache-2.0
#include "service/operation.hpp"

#include "abi/last_error.hpp"
#include "core/status_error.hpp"

namespace manymod::service {

void BatchArrays::begin(std::size_t count, std::size_t output_bytes) {
  output_bytes_ = 0;  // until there is room for everything
  if (output_.size() < count * output_bytes) output_.resize(count * output_bytes);
  keys.resize(count);
  inputs.resize(count);
  signatures.resize(count);
  statuses.resize(count);
  valid.assign(count, 0);  // only verifications write it
  sizes.resize(count);
  output_bytes_ = output_bytes;
}

void require_ok(mm_status status) {
  if (status != MM_OK) throw StatusError(status, last_error());
}

void require_callable(const Operation& operation) {
  BatchArrays batch;
  batch.begin(1, operation.output_bytes());
  batch.keys[0] = UINT32_MAX;
  const mm_status status = operation.run(batch);
  if (status != MM_ERR_ITEMS) require_ok(status);
}

}  // namespace manymod::service
