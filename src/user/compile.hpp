// From a kernel's source to something that can be loaded, kept in a private folder of the cache by its content.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "host/files.hpp"
#include "user/kernel_spec.hpp"

namespace roofline {

inline constexpr FileLimit kSourceLimit{std::uint64_t{64} << 20, "source text"};

/// What is compiled: the same for two configurations whose difference the compiler doesn't see.
struct CompileRequest {
  std::filesystem::path source;
  std::string name = {};  ///< of the source in messages, as the suite writes it; empty: its path
  SourceKind kind = SourceKind::c;
  CudaCompiler compiler = CudaCompiler::automatic;
  /// CUDA: "sm_90". Otherwise an instruction set, as DeviceInfo::isa names it; empty: that of this CPU.
  std::string architecture;
  std::vector<std::string> options;
  std::vector<std::filesystem::path> include;
  std::vector<std::pair<std::string, std::string>> defines;
  std::vector<std::string> entries;  ///< of CUDA C++: names that templates are instantiated for
  std::string prologue;              ///< C or C++ before the source
  std::string epilogue;              ///< C or C++ that follows the source
  /// C or C++: with the loads that fail to be forwarded replaced (forwarded_loads.hpp); an Error if there are none.
  bool without_failed_forwards = false;
  double limit_s = 300;  ///< time limit; the compiler may be blocked on a pipe without a writer
};

/// The loadable file: a shared library, a cubin, or the given file if it needs no compilation. Throws Error with the
/// compiler's message. Compiles only what is not in the cache.
std::filesystem::path compiled(const CompileRequest& request);

/// What GCC or Clang says of vectorised and other loops when it compiles C or C++; empty if it says nothing.
std::string vectorizer_remarks(const CompileRequest& request);

/// Compiles all requests, several at a time, each in its own process. A failed request fails again, at once, in
/// compiled().
void compile_ahead(const std::vector<CompileRequest>& requests, const std::function<void(std::size_t done)>& progress);

/// The names of `compiled` entries as the machine code has them: beside a cubin, one a line.
std::vector<std::string> entry_names(const CompileRequest& request, const std::filesystem::path& compiled);

}  // namespace roofline
