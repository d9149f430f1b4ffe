# SPDX-License-Identifier: Apache-2.0
message("skipped: the CUDA kernels are not compiled for sm_90a, as nvcc was not found, MANYMOD_CUDA is OFF or "
        "MANYMOD_CUDA_ARCHITECTURES does not name it.")
