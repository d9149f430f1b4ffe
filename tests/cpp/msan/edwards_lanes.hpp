// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Runs the constant-time functions of ecc/lanes/edwards_lane_calls.hpp with poisoned scalars, points and
/// tables of points on every backend that the processor has. Returns the number of functions; stops on a
/// result that differs from that of plain operands.
int check_edwards_lanes();
