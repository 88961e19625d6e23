// Rust's symbols: the v0 scheme, "_RNvNtCs1234_7mycrate3foo3bar", and what is left of the older one.
#pragma once

#include <string>
#include <string_view>

namespace roofline {

/// "mycrate::foo::bar", without generic arguments; empty if the symbol is not of the v0 scheme or can't be read.
std::string demangled_rust(std::string_view symbol);

/// The first crate of a symbol of either scheme: "core" of "_RNvNtCs1234_4core3fmt5write"; empty if there is none, or
/// if its name has more than nine letters.
std::string_view rust_crate(std::string_view symbol);

/// "<std::io::Adapter<T> as core::fmt::Write>::write_str" of
/// "_$LT$std..io..Adapter$LT$T$GT$$u20$as$u20$core..fmt..Write$GT$::write_str".
std::string without_rust_escapes(std::string_view name);

}  // namespace roofline
