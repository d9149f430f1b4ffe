// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Runs the functions of support/lane_field_calls.hpp, and batched inversion, with poisoned elements, for
/// every special prime on every backend that the processor has; point_lanes.hpp has fields modulo other
/// primes. Returns the number of fields; stops on a wrong result.
int check_special_lanes();
