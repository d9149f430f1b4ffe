// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace fake_cuda {

/// Part of install_kernels.
void install_rns_kernels();

}  // namespace fake_cuda
