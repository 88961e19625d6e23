// Nsight Compute: its reports and its CSV.
#pragma once

#include "import/byte_source.hpp"
#include "import/imported.hpp"

namespace roofline {

/// .ncu-rep, and .ncu-repz as the source unpacks it.
ImportedProfile read_ncu_report(ByteSource& source);
bool looks_like_ncu_report(std::string_view beginning);

/// --csv of the pages "raw" (a row a launch) and "details" (a row a metric), in any locale and any units.
ImportedProfile read_ncu_csv(ByteSource& source);

/// True if a file with this beginning may be such CSV, which can follow any other output.
bool looks_like_ncu_csv(std::string_view beginning);

}  // namespace roofline
