// SPDX-License-Identifier: Apache-2.0
// The kernels of points and signatures on the fake driver.
#pragma once

namespace fake_cuda {

void install_ecc_kernels();

}  // namespace fake_cuda
