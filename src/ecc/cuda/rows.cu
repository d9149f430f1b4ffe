// SPDX-License-Identifier: Apache-2.0
#include "ecc/cuda/buckets.cuda.hpp"
#include "ecc/cuda/kernels.cuh"
#include "ecc/cuda/rows.cuda.hpp"

MM_POINT_KERNEL(ecc_rows_read, 1, ReadJob, read_number(job, item))
MM_POINT_KERNEL(ecc_rows_gather, 1, GatherJob, gather_strings(job, item))
MM_POINT_KERNEL(ecc_rows_tag, 1, TagJob, read_tag(job, item))
MM_POINT_KERNEL(ecc_rows_write, 1, WriteJob, write_strings(job, item))
MM_POINT_KERNEL(ecc_rows_not_zero, 1, NotZeroJob, check_not_zero(job, item))
MM_POINT_KERNEL(ecc_rows_even, 1, EvenJob, make_even(job, item))
MM_POINT_KERNEL(ecc_rows_equal, 1, EqualJob, check_equal(job, item))
MM_POINT_KERNEL(ecc_rows_same, 1, SameJob, check_same(job, item))
MM_POINT_KERNEL(ecc_rows_digits, 1, DigitsJob, sort_digits(job, item))
MM_POINT_KERNEL(ecc_rows_pieces, 1, PiecesJob, cut_group(job, item))
MM_POINT_KERNEL(ecc_rows_bits, 1, BitsJob, refer_bits(job, item))
