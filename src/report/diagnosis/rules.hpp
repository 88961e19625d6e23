// The rules of the diagnosis, as data: a condition, what it means, what to do next, and where the threshold is from.
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

/// A row from this fraction of its roof on has nothing left to explain.
inline constexpr double kAtRoof = 0.9;

enum class Relation : std::uint8_t { below, above, is };

/// One quantity against a threshold. False where the quantity is not known.
struct Condition {
  std::string_view quantity;
  Relation relation = Relation::is;
  double threshold = 0;
};

/// A few conditions, all of which must hold.
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

/// What a rule that fires says about its row.
enum class RuleKind : std::uint8_t {
  cause,        ///< what limits the kernel: the first cause decides
  no_action,    ///< a cause that no change of the code removes
  note,         ///< a fact beside the cause
  measure,      ///< the time is not known well enough; the rules after it are skipped
  at_roof,      ///< nothing is left to save; the rules after it are skipped
  fallback,     ///< a cause that applies only where no other cause was found
  unexplained,  ///< applies only there, too: what is known, without an explanation
  no_roof,      ///< no roof to compare with; the rules after it are skipped
};

/// For rules about the inside of a kernel that its caller can't change: nothing to begin with.
inline constexpr std::string_view kLibraryKernel =
    "Library kernel. Options: shapes that fill its tiles and all SMs, another algorithm, a newer version.";

/// Decides only where the other threads would save more than what else limits the row.
inline constexpr std::string_view kSomeThreads = "some-threads";

/// Fires when all of its conditions hold. A rule with different texts for CPU and GPU has two entries with one id.
struct Rule {
  std::string_view id;
  std::optional<DeviceKind> device;  ///< whose rule it is; of every device where there is none
  Conditions conditions;
  /// "{occupancy} occupancy, limited by …": names in braces are quantities. What is in square brackets is left out
  /// where a quantity in it is not known.
  std::string_view finding;
  std::string_view next;    ///< what to try
  std::string_view source;  ///< of the threshold
  RuleKind kind = RuleKind::cause;
  /// What the caller of a library's kernel can do instead of `next`; empty where that is the same.
  std::string_view for_library = {};
  /// The quantity that says which share of the time of its warps it explains. Rules that have one are sorted by it.
  std::string_view explains = {};

  /// When it fires, the rules after it are skipped.
  bool is_last() const { return kind == RuleKind::measure || kind == RuleKind::at_roof || kind == RuleKind::no_roof; }
  /// It applies only where no cause was found.
  bool is_fallback() const { return kind == RuleKind::fallback || kind == RuleKind::unexplained; }
  bool is_for(DeviceKind of) const { return !device || *device == of; }
};

/// In the order in which they are evaluated: what decides first comes first.
std::span<const Rule> rules();

}  // namespace roofline
