// What the stacks of a program do for its own lines, by the names of the library functions in them.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "report/function_purpose.hpp"
#include "report/host_profile.hpp"

namespace roofline {

/// What a stack does for the line of the program that is its innermost.
struct StackUse {
  bool special = false, copies = false;  ///< it copies, assigns or destroys objects; it copies them, or shared pointers
  FunctionPurpose purpose = FunctionPurpose::none;
  std::string_view function;     ///< of that line
  std::string_view system_call;  ///< innermost; empty: none
  bool flush = false;
  bool seek = false, fill = false;     ///< of a stream: its position changes; it reads to fill its buffer
  bool opens = false, closes = false;  ///< a stream's file
  bool power = false;                  ///< it raises numbers to powers
  bool kernel = false;                 ///< the thread ran in the kernel
  std::string line;
};

/// Refers to the profile.
class StackUses {
 public:
  explicit StackUses(const HostProfile& host);

  StackUse use_of(const HostStackSum& stack) const;

 private:
  /// By its name: each is in many stacks.
  struct FrameUse {
    bool special = false, copies = false;  ///< members that compilers write
    FunctionPurpose purpose = FunctionPurpose::none;
    std::string_view system_call;  ///< empty: none
    bool flush = false, seek = false, fill = false, opens = false, closes = false, power = false;
    bool positions = false;  ///< it counts the steps between entries of a map or set, or makes them
  };
  using Outward = std::vector<int>::const_reverse_iterator;  ///< of a stack's frames

  const HostFrame& frame(int index) const { return host_.frames[static_cast<std::size_t>(index)]; }
  void read_sources();
  void find_caller(const HostStackSum& stack, Outward index, StackUse& use) const;
  bool copies_slice(const HostStackSum& stack) const;
  bool dispatches(const HostStackSum& stack) const;
  void note_python_stream(const HostFrame& own, StackUse& use) const;

  const HostProfile& host_;
  std::vector<FrameUse> frames_;                                          ///< by frame
  std::set<std::pair<std::string, int>> slice_calls_;                     ///< Fortran's, by file and line
  std::set<std::string, std::less<>> dynamic_loops_;                      ///< bodies of OpenMP loops
  std::map<std::pair<std::string, int>, std::string_view> python_lines_;  ///< text, by file and line
};

}  // namespace roofline
