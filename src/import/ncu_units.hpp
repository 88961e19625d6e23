// Numbers and units as ncu prints them.
#pragma once

#include <optional>
#include <string_view>

namespace roofline {

/// What a value of that unit is multiplied by for bytes, ns, hertz or per cent: "Mbyte" 1e6, "usecond" 1e3. Nothing for
/// a unit that is not known.
std::optional<double> ncu_unit_scale(std::string_view unit);

/// How the numbers of a file are written. ncu uses the locale of the user who ran it.
class NcuNumbers {
 public:
  /// Looks at a cell: some can only be meant one way ("1.205,5", "0,25").
  void learn(std::string_view text);
  /// With what was learned from all cells; of a file that leaves it open the decimal point is a point.
  std::optional<double> read(std::string_view text) const;

 private:
  int point_ = 0, comma_ = 0;  ///< cells in which it can only be the decimal sign
};

}  // namespace roofline
