// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Runs the functions of field/special_lane_calls.hpp, and batched inversion, with poisoned elements, for
/// every prime on every backend that the processor has. Returns the number of fields; stops on a wrong
/// result.
int check_special_lanes();
