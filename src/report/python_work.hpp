// What a line of a Python program spends its time for, by the library's Python functions that it calls, and by its own
// text where these are written in C: pickle.dumps(), open(), list.insert().
#pragma once

#include <string_view>
#include <vector>

#include "sample/host_samples.hpp"

namespace roofline {

struct PythonWork {
  std::string_view id, finding, action;
  double least;             ///< share of the CPU time from which on it is named
  bool calls_back = false;  ///< the library calls functions of the program: their time is the library's, too
  bool inner = false;       ///< it says more than the call of the same library around it
  bool compiled = false;    ///< only where a part of the time is in a compiled library, such as NumPy
  bool plain = false;       ///< only where none of it is: of lists, not of arrays
};

/// Between a line's text and the header of the loop that it is in.
inline constexpr std::string_view kInLoop = "  # in: ";

/// The values that a line compares an array with to select elements: "b" of "x[label == b]", "i" of "x[a == ids[i]]".
std::vector<std::string_view> selecting_values(std::string_view source);

/// "def solve(a):", "class Solver:".
bool begins_definition(std::string_view source);
/// "for b in ids:", not a comprehension.
bool begins_loop(std::string_view source);

/// "for b in range(count):" or a comprehension with that; false if it is a loop over a few constants.
bool loops_over(std::string_view source, std::string_view name);

/// A selection by an array's comparison with the variable of a loop, which is in the line or behind kInLoop.
bool selects_each_group(std::string_view source);

/// Of a library's frame, which the program's line calls; null: nothing in particular.
const PythonWork* python_work_of(const HostFrame& frame);

/// Of a line's text; null: nothing in particular.
const PythonWork* python_work_at(std::string_view source);

/// What a log call's line computes before logging itself runs; null: it is no log call.
const PythonWork* log_arguments_at(std::string_view source);

/// The cache of patterns of the re module: its time belongs to compilation, where that is a cause, else to matching.
struct PatternWork {
  const PythonWork *compile, *match, *cache;
};
PatternWork pattern_work();

/// "x = x[n:]", "del x[:n]": of bytes, a text or a list, it copies the rest.
bool cuts_front(std::string_view source);
const PythonWork& slice_work();

/// True if the line's time is in a function that the interpreter has in C, as sorted() and str.join().
bool calls_built_in(std::string_view source);

/// "for x in range(width):".
bool counts_loop(std::string_view source);

}  // namespace roofline
