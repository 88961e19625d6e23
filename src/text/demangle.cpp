#include "text/demangle.hpp"

#include <cxxabi.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <memory>

#include "text/rust_names.hpp"

namespace roofline {
namespace {

/// Without the hash that ends each of Rust's names: "solver::step::h7623918cf515a330".
std::string without_hash(std::string name) {
  constexpr std::string_view kBefore = "::h";
  constexpr std::size_t kDigits = 16;
  if (name.size() <= kBefore.size() + kDigits) return name;
  const std::size_t at = name.size() - kDigits - kBefore.size();
  const bool is_hash = std::string_view(name).substr(at, kBefore.size()) == kBefore &&
                       std::all_of(name.end() - kDigits, name.end(), [](unsigned char c) { return std::isxdigit(c); });
  return is_hash ? without_rust_escapes(name.substr(0, at)) : name;
}

}  // namespace

std::string demangled(std::string_view symbol) {
  if (std::string rust = demangled_rust(symbol); !rust.empty()) return rust;
  if (!symbol.starts_with("_Z")) return std::string(symbol);
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> name(
      abi::__cxa_demangle(std::string(symbol).c_str(), nullptr, nullptr, &status), std::free);
  return status == 0 && name ? without_hash(name.get()) : std::string(symbol);
}

}  // namespace roofline
