// The rules of the diagnosis, as data: a condition, what it means, what to do next, and where the threshold is from.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "model/names.hpp"

namespace roofline {

enum class Relation : std::uint8_t { below, above, is };

/// One quantity against a threshold. False where the quantity is not known.
struct Condition {
  std::string_view quantity;
  Relation relation;
  double threshold;
};

/// What a rule that fires says of its row.
enum class Tells : std::uint8_t {
  cause,        ///< what holds it: the first of them decides
  note,         ///< something to know beside the cause
  measure,      ///< the row is not known well enough; the rules after it say nothing
  at_roof,      ///< nothing is left to win; the rules after it say nothing
  otherwise,    ///< a cause that is heard only where none has been found before
  unexplained,  ///< heard there too: what is known, and that it explains nothing
  roofless,     ///< there is nothing to hold it against; the rules after it say nothing
};

/// Fires when all of its conditions hold. What is told of either kind of device in words of its own stands twice under
/// one id.
struct Rule {
  std::string_view id;
  std::optional<DeviceKind> device;  ///< whose rule it is; of every device where there is none
  std::span<const Condition> conditions;
  std::string_view finding;  ///< "{occupancy} of the warps …": names in braces are quantities
  std::string_view next;     ///< what to try
  std::string_view source;   ///< of the threshold
  Tells tells = Tells::cause;
  /// What the caller of a library's kernel can do instead of `next`; empty where that is the same.
  std::string_view for_library = {};

  /// When it fires, the rules after it say nothing.
  bool last() const { return tells == Tells::measure || tells == Tells::at_roof || tells == Tells::roofless; }
  /// It speaks only where no cause was found.
  bool is_rest() const { return tells == Tells::otherwise || tells == Tells::unexplained; }
  bool is_for(DeviceKind kind) const { return !device || *device == kind; }
};

/// In the order in which they are told: what decides first comes first.
std::span<const Rule> rules();

}  // namespace roofline
