// SPDX-License-Identifier: Apache-2.0
// The kernel mm_copy_rows (gpu/kernels/rows.cuda.hpp).
#include "gpu/opencl/kernels/job.clh"

__kernel void MM_KERNEL(MM_PARAMETERS(mm_rows_job)) {
  const uint element = (uint)get_global_id(0);
  if (element >= job->count) return;
  const ulong row = job->first_row + element / job->to_width;
  const uint limb = element % job->to_width;
  if (job->left_out != 0 && MM_AT(const uchar, job->left_out)[row] != 0) return;
  const ulong item = row / job->terms, term = row % job->terms;
  ulong value = 0;
  if (limb < job->from_width && job->from.limbs != 0) {
    const ulong at = job->from.items == 0 ? row : MM_AT(const ulong, job->from.items)[item] * job->terms + term;
    value = MM_AT(const ulong, job->from.limbs)[at * job->from.stride + limb];
  }
  const ulong at = job->to.items == 0 ? row : MM_AT(const ulong, job->to.items)[item] * job->terms + term;
  MM_AT(ulong, job->to.limbs)[at * job->to.stride + limb] = value;
}
