// The program and the libraries that are loaded in this process: their code, their unwind tables, their functions.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "inject/spool.hpp"
#include "sample/code_image.hpp"
#include "sample/function_roles.hpp"

struct dl_phdr_info;

namespace roofline::inject {

/// A function: `size` bytes of code from `address` on, as linked.
struct LoadedFunction {
  std::uint64_t address = 0;
  std::uint64_t wrapper = 0;  ///< wrapper_identity() of its symbol
  std::uint32_t size = 0;
  FunctionRole role = FunctionRole::program;
};

/// Reads the process's own memory. Only for code that the calling thread is in, because that can't be unloaded
/// meanwhile.
class LoadedModule final : public CodeImage {
 public:
  explicit LoadedModule(const dl_phdr_info& info);

  bool read_address(std::uint64_t address, void* to, std::size_t size) const override;
  std::optional<std::uint64_t> unwind_table() const override { return unwind_table_; }

  bool holds(std::uint64_t address) const;  ///< an address in memory, of code
  std::uint64_t linked(std::uint64_t address) const { return address - base_; }
  bool same_as(const LoadedModule& other) const { return base_ == other.base_ && path_ == other.path_; }
  const std::string& path() const { return path_; }
  const std::string& build_id() const { return build_id_; }

  /// Reads its file on first use.
  bool is_program();      ///< the user's code, by its path
  bool is_interpreter();  ///< of Python
  bool has_lines();       ///< a table of source lines
  /// The function with a name that holds a linked address; nullptr: none.
  const LoadedFunction* function_at(std::uint64_t address);

  spool::Id file = 0;  ///< its record, where there is one

 private:
  struct Segment {
    std::uint64_t address, size;
    bool code;
  };
  void read_file();

  std::string path_, build_id_;
  std::uint64_t base_ = 0;
  std::vector<Segment> segments_;
  std::optional<std::uint64_t> unwind_table_;
  std::vector<LoadedFunction> functions_;  ///< by address
  bool own_ = false, read_ = false, interpreter_ = false, lines_ = false;
};

class LoadedModules {
 public:
  /// Updates the list of modules if it has changed. Unloaded modules are freed.
  void refresh();
  /// nullptr: it is in no file, as code that was compiled at run time.
  LoadedModule* find(std::uint64_t address);

 private:
  std::vector<std::unique_ptr<LoadedModule>> modules_;
  std::uint64_t loaded_ = 0, unloaded_ = 0;  ///< so far, as the dynamic loader counts
};

}  // namespace roofline::inject
