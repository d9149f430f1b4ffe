# SPDX-License-Identifier: Apache-2.0
message("skipped: the CUDA kernels are not compiled, as nvcc was not found or MANYMOD_CUDA is OFF.")
