// Imported rows above their roof: each says why, or which of its figures to check.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "import/clean_times.hpp"
#include "report/report.hpp"

namespace roofline {

/// Rows above this fraction of their roof need a reason; roofs and times are known less exactly than to 5 %.
inline constexpr double kAboveRoof = 1.05;

/// Why a row is above its roof.
enum class AboveRoofReason : std::uint8_t {
  shortened,         ///< launches were cut where the next one on their stream starts
  fewer_operations,  ///< Winograd or FFT, by its name: the FLOPs are those of the direct algorithm
  cached,            ///< modelled bytes, of which the L2 cache can hold as many as did not come from main memory
  other_gpu,         ///< the roofs are those of another model
  none               ///< no cause in evidence: the sources of time, work and roof are named, and what to check
};

/// True if the algorithm needs fewer operations than the definition of a convolution, by the kernel's name.
bool needs_fewer_operations(std::string_view kernel);

/// std::nullopt for a row that is not above its roof.
std::optional<AboveRoofReason> reason_above_roof(const Point& point, const Report& report,
                                                 const ShortenedRecords& shortened = {});

/// Adds the reason to the sources of each such row, and to the evidence of copies that are above their roof. Returns a
/// note with the number of rows and the largest ones; empty if there are none.
std::string explain_rows_above_roof(Report& report, const ShortenedRecords& shortened = {});

}  // namespace roofline
