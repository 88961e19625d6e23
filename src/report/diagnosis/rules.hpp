// Diagnosis rules as data: conditions, finding, action, and the source of the threshold.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string_view>

#include "model/names.hpp"

namespace roofline {

/// A row at or above this fraction of its roof needs no explanation.
inline constexpr double kAtRoof = 0.9;

enum class Relation : std::uint8_t { below, above, is };

/// Compares one quantity with a threshold. False if the quantity is unknown.
struct Condition {
  std::string_view quantity;
  Relation relation = Relation::is;
  double threshold = 0;
};

/// Conditions that must all hold.
class Conditions {
 public:
  constexpr Conditions(std::initializer_list<Condition> list)
      : size_(list.size()) {  // NOLINT(google-explicit-constructor)
    std::copy(list.begin(), list.end(), conditions_.begin());
  }
  constexpr const Condition* begin() const { return conditions_.data(); }
  constexpr const Condition* end() const { return conditions_.data() + size_; }
  constexpr bool empty() const { return size_ == 0; }

 private:
  std::array<Condition, 7> conditions_ = {};
  std::size_t size_;
};

/// Role of a rule in the verdict.
enum class RuleKind : std::uint8_t {
  cause,        ///< what limits the kernel: the first cause decides
  no_action,    ///< a cause that no change of the code removes
  note,         ///< a fact in addition to the cause
  measure,      ///< the time is not known well enough; the rules after it are skipped
  at_roof,      ///< nothing left to save; the rules after it are skipped
  fallback,     ///< a cause that applies only where no other cause was found
  unexplained,  ///< like fallback, but states only what is known
  no_roof,      ///< no roof to compare with; the rules after it are skipped
};

/// Action of rules about the inside a library kernel, which the caller cannot change.
inline constexpr std::string_view kLibraryKernel =
    "Library kernel. Options: shapes that fill its tiles and the GPU, another algorithm, a newer version.";

/// Decides only if using all threads would save more than the other limit costs.
inline constexpr std::string_view kSomeThreads = "some-threads";

/// Fires if all conditions hold. A rule with different texts for CPU and GPU has two entries with the same id.
struct Rule {
  std::string_view id;
  std::optional<DeviceKind> device;  ///< std::nullopt: all devices
  Conditions conditions;
  /// "{occupancy} occupancy, limited by …": names in braces are quantities. Of several rows "{x:most}" is the largest
  /// and "{x:least}" the smallest value, else the range. Text in square brackets is omitted if one of its quantities is
  /// unknown.
  std::string_view finding;
  std::string_view next;    ///< action
  std::string_view source;  ///< source of the threshold
  RuleKind kind = RuleKind::cause;
  /// Action for callers of a library kernel; empty: same as `next`.
  std::string_view for_library = {};
  /// Quantity with the share of the warps' time that the rule explains. Rules that have one are sorted by it.
  std::string_view explains = {};

  /// True if the rules after it are skipped once it fires.
  bool is_last() const { return kind == RuleKind::measure || kind == RuleKind::at_roof || kind == RuleKind::no_roof; }
  /// True if it applies only without another cause.
  bool is_fallback() const { return kind == RuleKind::fallback || kind == RuleKind::unexplained; }
  bool is_for(DeviceKind of) const { return !device || *device == of; }
};

/// All rules in evaluation order: the first match decides.
std::span<const Rule> rules();

}  // namespace roofline
