// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Runs the kernels of ecc/lanes/point_lane_calls.hpp for P-256 and P-521 with poisoned scalars and points,
/// on every instruction set that the processor has. Returns the number of functions; stops on a result that
/// differs from that of plain operands.
int check_point_lanes();
