// SPDX-License-Identifier: Apache-2.0
// The JSON values of reports: objects keep the order in which their members were added.
#pragma once

#include <nlohmann/json.hpp>

namespace manymod::bench {

using Json = nlohmann::ordered_json;

}  // namespace manymod::bench
