// Formatting of numbers: SI prefixes, intervals, percentages. Locale-independent; an absent value (NaN) is an en
// dash, never a zero. Programs read the JSON instead.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "model/ceiling.hpp"
#include "model/listed.hpp"
#include "model/names.hpp"

namespace roofline {

/// The text for an absent value: "–".
inline constexpr const char* kAbsent = "\u2013";

/// `value` rounded to `digits` significant digits, without trailing zeros: "682.7". Exponent form only from 1e15
/// on, and below 1e-6.
std::string number(double value, int digits = 4);

/// With an SI prefix from pico to exa: si(4.671e12, "byte/s") = "4.67 Tbyte/s".
std::string si(double value, std::string_view unit, int digits = 3);

/// A rate in the unit of its kind: "4.67 TB/s", "798 TFLOP/s", "526 k launches/s".
std::string rate(double value, CeilingKind kind, int digits = 3);

/// "OP/s" for pipes whose operations are not FLOPs (integers, special functions), otherwise "FLOP/s".
std::string_view unit_of(Pipe pipe);

/// The value of a ceiling: a rate, or for launches and latencies the time of one.
std::string ceiling_value(const Ceiling& ceiling);
/// `pipe`: of a compute ceiling, whose operations may be no FLOPs.
std::string ceiling_value(double value, CeilingKind kind, std::optional<Pipe> pipe);

/// Name of the ceiling, with its regime unless that is burst: "tensor.bf16 (sustained)". Unique within a machine.
std::string ceiling_label(std::string_view name, Regime regime);
std::string ceiling_label(const Ceiling& ceiling);

/// The energy per operation, byte or launch of a ceiling: "0.81 pJ/FLOP". Empty if it was not read.
std::string energy(const Ceiling& ceiling);

/// A duration: "1.9 µs", "24.1 ms", "1 min 12 s".
std::string duration(double seconds);
/// Absent unless positive.
std::string duration_or_absent(double seconds);

/// Bytes with a binary prefix: "60 MiB".
std::string binary_bytes(double bytes);

/// FLOP/byte without the unit. One decimal from 100 on, as in 682.7 and 1365.3.
std::string intensity(double flop_per_byte);

/// A fraction as a percentage: percent(0.865) = "86.5 %".
std::string percent(double fraction);

/// Half the width of the interval relative to `value`: "±0.3 %"; "<±0.1 %" when it rounds to nothing.
std::string plus_minus(double value, const Interval& interval);

/// A factor: "1.9×".
std::string factor(double value);

/// An exact count with its thousands grouped: "1,048,576".
std::string count(std::int64_t value);
/// "1 copy", "1,200 copies".
std::string counted_noun(std::int64_t n, std::string_view one, std::string_view many);

}  // namespace roofline
