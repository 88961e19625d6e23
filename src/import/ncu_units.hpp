// Numbers and units as ncu prints them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace roofline {

/// What a value of that unit is multiplied by for bytes, ns, hertz or per cent: "Mbyte" 1e6, "usecond" 1e3.
/// std::nullopt for a unit that is not known.
std::optional<double> ncu_unit_scale(std::string_view unit);

/// True if ncu scales that metric's unit (ns to ms, byte to Gbyte), so that values without a unit are ambiguous.
bool ncu_metric_needs_unit(std::string_view metric);

/// What the signs of a number can only mean.
enum class NumberSigns : std::uint8_t {
  none,           ///< digits alone, or spaces and apostrophes between thousands
  decimal_point,  ///< "0.25", "1,205.5", "1,205,000"
  decimal_comma,
  point_or_thousands,  ///< "25.120"
  comma_or_thousands,  ///< "25,120"
  not_a_number
};
NumberSigns signs_of(std::string_view text);

/// A cell of a file, for messages.
struct CellPlace {
  std::int64_t line = 0;
  std::uint32_t column = 0;
};

/// How the numbers of a file are written: ncu uses the locale of the user who ran it.
class NcuNumbers {
 public:
  /// Collects the evidence of a cell. `counts`: its metric counts whole things, so that "25,120" has thousands: no file
  /// has decimal commas that are padded with zeros. "25.120" may be a mean that another program wrote.
  void learn(std::string_view text, CellPlace place = {}, bool counts = false);

  enum class Status : std::uint8_t { ok, not_a_number, undecided, contradictory };
  struct Reading {
    double value = 0;
    Status status = Status::ok;
  };
  /// Parses a cell by what all cells showed.
  Reading parse(std::string_view text) const;
  /// The value, if there is one.
  std::optional<double> read(std::string_view text) const;

  /// A cell with a decimal point and one with a decimal comma.
  CellPlace with_point() const { return with_point_.value_or(CellPlace{}); }
  CellPlace with_comma() const { return with_comma_.value_or(CellPlace{}); }

 private:
  std::optional<CellPlace> with_point_, with_comma_;  ///< the first of each
};

/// True if the cell says that there is no value: empty, "n/a", "(!) n/a", "no data", "nan".
bool is_absent(std::string_view text);

}  // namespace roofline
