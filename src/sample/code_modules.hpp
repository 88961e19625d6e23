// The files that hold the code of the sampled processes, and where each process maps them.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "sample/elf_file.hpp"
#include "sample/proc_text.hpp"
#include "sample/unwind_rows.hpp"

namespace roofline {

/// Linked addresses of CPython's symbols; 0 for missing ones.
struct PythonSymbols {
  std::uint64_t runtime = 0, version = 0, code_type = 0;
};

struct CodeModule {
  std::string path;  ///< empty: memory of no file, such as code that was compiled at run time
  std::optional<ElfFile> elf;
  UnwindRows rows;
  std::optional<PythonSymbols> python;  ///< std::nullopt: not looked for
  bool has_interpreter() const { return python && python->runtime != 0; }
};

/// Each file once, however many processes map it.
class CodeModules {
 public:
  /// The module of a mapping of a process.
  int find(const Mapping& mapping, pid_t pid);
  /// The module of a file as this process sees it.
  int find(const std::string& path);
  CodeModule& operator[](int index) { return *modules_[static_cast<std::size_t>(index)]; }
  const CodeModule& operator[](int index) const { return *modules_[static_cast<std::size_t>(index)]; }
  int size() const { return static_cast<int>(modules_.size()); }

 private:
  std::vector<std::unique_ptr<CodeModule>> modules_;
  std::map<std::tuple<std::uint64_t, std::uint64_t, std::string>, int> known_;
};

/// A place in code that is the same in all processes: an address as it is linked in the module's file.
struct CodePlace {
  int module = 0;
  std::uint64_t address = 0;
  auto operator<=>(const CodePlace&) const = default;
};

/// The code of one process. Its mappings are read again if an address is in none of them, but not at every such
/// address.
class ProcessCode {
 public:
  ProcessCode(pid_t pid, CodeModules& modules) : pid_(pid), modules_(&modules) {}

  void reload();
  std::optional<CodePlace> locate(std::uint64_t address);
  /// Of an address that was executed: if no mapping has it, the program has loaded a library since they were read.
  std::optional<CodePlace> locate_code(std::uint64_t address);
  const std::vector<Mapping>& mappings() const { return mappings_; }
  CodeModules& modules() { return *modules_; }

 private:
  const Mapping* find(std::uint64_t address) const;

  pid_t pid_;
  CodeModules* modules_;
  std::vector<Mapping> mappings_;
  std::vector<int> module_of_;  ///< of each mapping; -1: not looked up
  int misses_ = 0;
};

}  // namespace roofline
