// roofline machine --mix: the roofs of main memory for given mixes of reads and writes, as rows are compared with them.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "model/machine.hpp"

namespace roofline {

/// "2:1" reads two bytes for each one written; "1:1:in-place" writes where it reads. Throws UsageError.
Traffic parse_mix(const std::string& text);

/// The document roofline.mixes/1: one entry per mix, in their order.
nlohmann::ordered_json mixes_json(const Machine& machine, const std::vector<std::string>& mixes);

/// The mixes as text lines.
std::string mixes_text(const Machine& machine, const std::vector<std::string>& mixes);

}  // namespace roofline
