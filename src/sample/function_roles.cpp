#include "sample/function_roles.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>

#include "text/parts.hpp"
#include "text/rust_names.hpp"

namespace roofline {
namespace {

constexpr std::string_view kStubPrefix = "__device_stub_";

bool is_capital(char letter) { return letter >= 'A' && letter <= 'Z'; }
/// Removes an identifier with its length in front of it; empty if there is none.
std::string_view take_identifier(std::string_view& mangled) {
  std::size_t length = 0, digits = 0;
  constexpr std::size_t kMostDigits = 6, kBase = 10;
  for (; digits < mangled.size() && digits < kMostDigits && is_digit(mangled[digits]); ++digits) {
    length = length * kBase + static_cast<std::size_t>(mangled[digits] - '0');
  }
  if (length == 0 || length > mangled.size() - digits) return {};
  const std::string_view identifier = mangled.substr(digits, length);
  mangled.remove_prefix(digits + length);
  return identifier;
}

/// The first and the last part of a mangled name, without template arguments: "thrust" and "for_each".
struct NameParts {
  std::string_view first, last;
  bool qualified = false, standard = false;
  bool header = false;  ///< an instance of a template, or local to its translation unit
};

NameParts parts_of(std::string_view symbol) {
  NameParts parts;
  if (!symbol.starts_with("_Z")) {
    parts.first = parts.last = symbol;
    return parts;
  }
  symbol.remove_prefix(2);
  while (!symbol.empty() && std::string_view("ZNKVrROL").find(symbol.front()) != std::string_view::npos) {
    parts.qualified |= symbol.front() == 'N';
    parts.header |= symbol.front() == 'L';
    symbol.remove_prefix(1);
  }
  parts.standard = symbol.starts_with("St") || symbol.starts_with("Sa") || symbol.starts_with("Ss");
  for (std::string_view part = take_identifier(symbol); !part.empty(); part = take_identifier(symbol)) {
    if (parts.first.empty()) parts.first = part;
    parts.last = part;
    if (!parts.qualified) break;
  }
  parts.header |= symbol.starts_with('I');
  return parts;
}

/// A name of one of CUDA's libraries for C: "cudaMalloc", "cuMemAlloc_v2", "cublasSgemm_v2".
bool is_cuda_call(std::string_view name) {
  static constexpr auto kLibraries =
      std::to_array<std::string_view>({"cuda", "cu", "cublas", "cublasLt", "cudnn", "cufft", "cusolver", "cusparse",
                                       "curand", "cutensor", "nccl", "nvrtc", "nvJitLink", "nvml"});
  return std::ranges::any_of(kLibraries, [name](std::string_view library) {
    return name.starts_with(library) && name.size() > library.size() && is_capital(name[library.size()]);
  });
}

bool is_rust_library(std::string_view symbol) {
  const std::string_view crate = rust_crate(symbol);
  return crate == "std" || crate == "core" || crate == "alloc";
}

}  // namespace

FunctionRole function_role(std::string_view symbol) {
  static constexpr auto kNamespaces =
      std::to_array<std::string_view>({"thrust", "cub", "cutlass", "cute", "cudart", "cooperative_groups", "__gnu_cxx",
                                       "__cxxabiv1", "__cuda_runtime"});
  const NameParts name = parts_of(symbol);
  if (name.first.starts_with(kStubPrefix)) return FunctionRole::stub;
  const bool plain = !symbol.starts_with("_Z");
  if (name.standard || (name.qualified && std::ranges::find(kNamespaces, name.first) != kNamespaces.end()) ||
      ((plain || (!name.qualified && name.header)) && is_cuda_call(name.first)) || name.first.starts_with("__cuda") ||
      is_rust_library(symbol) || (symbol.starts_with("lib") && symbol.find("_static_") != std::string_view::npos) ||
      symbol == "_start") {
    return FunctionRole::runtime;
  }
  return FunctionRole::program;
}

bool is_special_member(std::string_view symbol) {
  if (!symbol.starts_with("_ZN")) return false;
  static constexpr auto kEnds = std::to_array<std::string_view>({"D0Ev", "D1Ev", "D2Ev", "D4Ev"});
  if (std::ranges::any_of(kEnds, [symbol](std::string_view end) { return symbol.ends_with(end); })) return true;
  // The parameter repeats the class: "S_" or "S1_".
  if (!symbol.ends_with('_')) return false;
  const std::size_t parameter = symbol.rfind('S', symbol.size() - 2);
  if (parameter == std::string_view::npos || symbol.size() - parameter > 4) return false;
  static constexpr auto kBegins =
      std::to_array<std::string_view>({"C1ERK", "C2ERK", "C4ERK", "C1EO", "C2EO", "C4EO", "aSERK", "aSEO"});
  const std::string_view before = symbol.substr(0, parameter);
  return std::ranges::any_of(kBegins, [before](std::string_view part) { return before.ends_with(part); });
}

std::uint64_t wrapper_identity(std::string_view symbol) {
  if (const NameParts name = parts_of(symbol); name.first.starts_with(kStubPrefix))
    symbol = name.first.substr(kStubPrefix.size());
  const std::hash<std::string_view> hash;
  // The device's name of a kernel in an anonymous namespace has the name of its file in it.
  for (const std::string_view anonymous : {"_GLOBAL__N_", "_INTERNAL_"}) {
    if (symbol.find(anonymous) != std::string_view::npos) return ~hash(parts_of(symbol).last);
  }
  const std::string_view local = "_ZL";
  return hash(symbol.substr(symbol.starts_with(local) ? local.size() : std::min<std::size_t>(2, symbol.size())));
}

}  // namespace roofline
