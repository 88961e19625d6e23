#include "report/python_causes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>

#include "model/find.hpp"
#include "report/function_purpose.hpp"
#include "report/host_cause_text.hpp"
#include "report/purpose_text.hpp"
#include "report/python_work.hpp"
#include "sample/kernel_frame.hpp"
#include "sample/python_files.hpp"
#include "text/format.hpp"
#include "text/parts.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

constexpr double kLeastSent = 0.25;        ///< of CPU time
constexpr double kLeastGil = 0.25;         ///< waits for the interpreter's lock, over the CPU time of these threads
constexpr double kLeastInterpreted = 0.5;  ///< of CPU time, of all of the program's functions
constexpr double kLeastOfFunction = 0.3;   ///< of CPU time
constexpr double kLeastObjects = 0.2;      ///< of CPU time
constexpr double kLeastRecursive = 0.5;    ///< of a function's time
/// Few samples have native frames where the machine is busy: the others of such a line were there, too. Code of the
/// program has calls of small functions in it; a library that has any compiled part is not taken for interpreted.
constexpr double kMostNative = 0.06, kMostNativeOfLibrary = 0.01;
constexpr std::size_t kFewPlaces = 4;  ///< interpreted code of a library is at many lines, native code below at few

/// The known line with the most time.
std::string largest_line(ByLine lines) {
  lines.erase("");
  return key_of_largest(lines);
}

bool is_interpreter(const HostFrame& frame) {
  const std::string_view file = last_path_part(frame.file);
  return !frame.python && (file.starts_with("python3") || file.starts_with("libpython3"));
}

/// The interpreter's own code calls the C library, too.
bool is_compiled_library(const HostFrame& frame) {
  const std::string_view file = last_path_part(frame.file);
  return !frame.python && !is_interpreter(frame) && !file.starts_with("libc.") && !file.starts_with("libc-") &&
         !file.starts_with("libm.") && !file.starts_with("libm-") && !file.empty();
}

/// What an operator of Python calls for objects that NumPy only has pointers to.
bool is_object_operation(const HostFrame& frame) {
  static constexpr auto kOperations = std::to_array<std::string_view>(
      {"PyNumber_Add", "PyNumber_Subtract", "PyNumber_Multiply", "PyNumber_TrueDivide", "PyNumber_FloorDivide",
       "PyNumber_Power", "PyNumber_Negative", "PyNumber_Remainder", "PyObject_RichCompare"});
  return is_interpreter(frame) && starts_with_any(frame.function, kOperations);
}

bool is_numpy(const HostFrame& frame) {
  return !frame.python && frame.file.find("_multiarray_umath") != std::string::npos;
}

/// What NumPy asks for about each single number, or each call: memory and types of Python objects, the state of the
/// FPU.
bool is_of_scalars(const HostFrame& frame) {
  const std::string_view function = frame.function;
  static constexpr auto kBegins =
      std::to_array<std::string_view>({"PyObject_Malloc", "PyObject_Free", "PyObject_Init", "PyType_IsSubtype",
                                       "PyLong_As", "PyFloat_From", "PyFloat_As", "PyIndex_", "PyNumber_AsSsize"});
  if (is_interpreter(frame)) return starts_with_any(function, kBegins);
  return (is_numpy(frame) && function.find("floatstatus") != std::string_view::npos) || function == "fetestexcept" ||
         function == "feclearexcept";
}

bool is_in(const HostFrame& frame, std::initializer_list<std::string_view> files) {
  return frame.python && !frame.own && contains_any(frame.file, files);
}

/// Pickles objects for another process, and sends them.
bool sends_objects(const HostFrame& frame) {
  return is_in(frame,
               {"/multiprocessing/reduction.py", "/multiprocessing/connection.py", "/multiprocessing/queues.py"});
}

/// What a program calls to give processes work, not to start them.
bool gives_work(const HostFrame& frame) {
  return is_in(frame, {"/multiprocessing/pool.py", "/multiprocessing/queues.py", "/multiprocessing/connection.py",
                       "/multiprocessing/managers.py", "/concurrent/futures/"}) &&
         !frame.function.ends_with("__init__");
}

/// "networkx" of ".../site-packages/networkx/algorithms/x.py", "statistics" of "/usr/lib/python3.11/statistics.py".
std::string library_of(const HostFrame& frame) {
  constexpr std::string_view kStandard = "/lib/python3";
  std::string_view path = path_in_packages(frame.file);
  if (const std::size_t at = frame.file.find(kStandard); path.empty() && at != std::string::npos) {
    path = std::string_view(frame.file).substr(at + kStandard.size());
    path.remove_prefix(std::min(path.size(), path.find('/') + 1));
  }
  path = path.substr(0, path.find('/'));
  return std::string(path.substr(0, path.rfind(".py")));
}

/// Of running threads: at a line of the program, or in a function.
struct Part {
  double seconds = 0, native_s = 0, numpy_s = 0, recursive_s = 0;
  double kernel_s = 0;    ///< of seconds: in the kernel
  double counting_s = 0;  ///< at lines that count a loop: for i in range(n)
  double scalars_s = 0;   ///< of numpy_s: what it does about each call or number, not about arrays
  ByLine lines;
  std::set<int> places;  ///< innermost Python frames
  std::vector<std::size_t> stacks;

  void add(const Part& other) {
    seconds += other.seconds;
    native_s += other.native_s;
    for (const auto& [line, of_line] : other.lines) lines[line] += of_line;
    stacks.insert(stacks.end(), other.stacks.begin(), other.stacks.end());
  }
  double user_s() const { return seconds - kernel_s; }
  bool interpreted(double most = kMostNative) const { return native_s <= most * seconds; }
};

/// What a stack does for the program's line.
struct Use {
  std::string line;  ///< of the innermost frame of the program
  int own = -1;      ///< that frame; -1: none
  const PythonWork* work = nullptr;
  bool native = false, numpy = false, scalars = false, imports = false;
  std::string library;  ///< whose Python code runs; empty: the program's
};

class Finder {
 public:
  explicit Finder(const HostProfile& host) : host_(host), cpu_s_(host.times.on_cpu()) {
    for (const HostLineSum& line : host.lines) {
      if (!line.source.empty()) sources_[{line.place.file, line.place.line}] = line.source;
    }
    for (const HostFrame& one : host.frames) purposes_.push_back(one.python ? FunctionPurpose::none : purpose_of(one));
    for (const HostStackSum& stack : host.stacks) {
      if (stack.state == ThreadState::running) called_[called_for(stack)] += stack.seconds;
    }
    found_.claimed.resize(host.stacks.size(), false);
    for (std::size_t i = 0; i < host.stacks.size(); ++i) add(i);
  }

  PythonCauses find() {
    if (!(cpu_s_ > 0)) return std::move(found_);
    find_sent();
    share_pattern_cache();
    for (const auto& [work, part] : works_) put_work(*work, part);
    find_objects();
    find_gil();
    if (!found_.waits_for_gil) find_interpreted();
    find_elements();
    for (const auto& [library, part] : libraries_) put_library(library, part);
    return std::move(found_);
  }

 private:
  const HostFrame& frame(int index) const { return host_.frames[static_cast<std::size_t>(index)]; }

  std::string_view source_of(const HostFrame& place) const {
    const auto found = sources_.find({place.file, place.line});
    return found == sources_.end() ? std::string_view() : std::string_view(found->second);
  }

  Use use_of(const HostStackSum& stack) const {
    Use use;
    bool in_library = false, of_scalars = false;
    auto index = stack.frames.rbegin();
    for (; index != stack.frames.rend(); ++index) {
      const HostFrame& one = frame(*index);
      if (one.own && one.line > 0) break;
      use.native = use.native || is_compiled_library(one);
      of_scalars = of_scalars || is_of_scalars(one);
      use.numpy = use.numpy || is_numpy(one);
      use.scalars = use.scalars || (of_scalars && is_numpy(one));
      if (one.python && !in_library) use.library = library_of(one);
      in_library = in_library || one.python;
      use.imports = use.imports || one.file.starts_with("<frozen importlib");
      // The outermost one, which the program calls.
      const PythonWork* const work = python_work_of(one);
      if (work != nullptr && (use.work == nullptr || !use.work->inner)) use.work = work;
    }
    if (index == stack.frames.rend()) return use;
    use.own = *index;
    use.line = short_place(frame(*index));
    if (!frame(*index).python) return {};
    // Whole arrays are compared in libraries of Python code, too (pandas).
    if (use.work == nullptr && selects_each_group(source_of(frame(*index))))
      use.work = python_work_at(source_of(frame(*index)));
    if (use.work == nullptr && !in_library) use.work = python_work_at(source_of(frame(*index)));
    if (use.work == nullptr) look_for_caller(stack, index, use);
    look_for_log_call(stack, use);
    return use;
  }

  /// What is called for the arguments of a log call is in none of logging's own functions.
  void look_for_log_call(const HostStackSum& stack, Use& use) const {
    for (auto index = stack.frames.rbegin(); index != stack.frames.rend(); ++index) {
      const HostFrame& one = frame(*index);
      if (is_in(one, {"/logging/"})) return;
      const PythonWork* const work = one.own && one.python ? log_arguments_at(source_of(one)) : nullptr;
      if (work == nullptr) continue;
      use.work = work;
      use.line = short_place(one);
      return;
    }
  }

  /// A library that calls the program's functions back for each row.
  template <typename Index>
  void look_for_caller(const HostStackSum& stack, Index index, Use& use) const {
    const PythonWork* around = nullptr;
    for (; index != stack.frames.rend(); ++index) {
      const HostFrame& one = frame(*index);
      if (const PythonWork* const work = python_work_of(one); work != nullptr && work->calls_back) around = work;
      if (around == nullptr || !one.own || one.line == 0) continue;
      use.work = around;
      use.line = short_place(one);
      return;
    }
  }

  void add(std::size_t number) {
    const HostStackSum& stack = host_.stacks[number];
    if (stack.frames.empty()) return;
    note_work_given(stack);
    if (stack.state == ThreadState::gil) {
      const Use use = use_of(stack);
      if (use.own >= 0) gil_[stack.thread][use.line] += stack.seconds;
    }
    if (stack.state != ThreadState::running) return;
    if (std::ranges::any_of(stack.frames, [&](int index) { return sends_objects(frame(index)); })) {
      sent_.seconds += stack.seconds;
      sent_.stacks.push_back(number);
      return;
    }
    const Use use = use_of(stack);
    if (use.work != nullptr) return count(works_[use.work], number, use);
    if (use.own < 0 || use.imports) return;
    note_objects(stack, use);
    if (!use.library.empty()) return count(libraries_[use.library], number, use);
    if (calls_built_in(source_of(frame(use.own))) || has_own_cause(called_for(stack))) return;
    Part& part = functions_[{frame(use.own).file, frame(use.own).function}];
    count(part, number, use);
    if (calls_itself(stack, use.own)) part.recursive_s += stack.seconds;
  }

  void count(Part& part, std::size_t number, const Use& use) const {
    const HostStackSum& stack = host_.stacks[number];
    part.seconds += stack.seconds;
    part.lines[use.line] += stack.seconds;
    part.stacks.push_back(number);
    if (use.native) part.native_s += stack.seconds;
    if (use.numpy) part.numpy_s += stack.seconds;
    if (is_kernel(frame(stack.frames.back()))) part.kernel_s += stack.seconds;
    if (use.scalars) part.scalars_s += stack.seconds;
    if (use.own >= 0 && !use.native && counts_loop(source_of(frame(use.own)))) part.counting_s += stack.seconds;
    const auto python = std::ranges::find_if(stack.frames.rbegin(), stack.frames.rend(),
                                             [&](int index) { return frame(index).python; });
    if (python != stack.frames.rend()) part.places.insert(*python);
  }

  /// At this moment: the function is on the stack several times.
  bool calls_itself(const HostStackSum& stack, int own) const {
    const HostFrame& one = frame(own);
    return std::ranges::count_if(stack.frames, [&](int index) {
             return frame(index).function == one.function && frame(index).file == one.file;
           }) > 1;
  }

  /// What the interpreter itself calls the C library for: it copies, allocates or computes.
  FunctionPurpose called_for(const HostStackSum& stack) const {
    FunctionPurpose called = FunctionPurpose::none;
    if (stack.frames.empty() || is_kernel(frame(stack.frames.back()))) return called;
    for (auto index = stack.frames.rbegin(); index != stack.frames.rend(); ++index) {
      const HostFrame& one = frame(*index);
      if (one.python || is_compiled_library(one)) return one.python ? called : FunctionPurpose::none;
      const FunctionPurpose of = purposes_[static_cast<std::size_t>(*index)];
      if (of != FunctionPurpose::none) called = of;
    }
    return FunctionPurpose::none;
  }

  /// That has a cause of its own: it is no interpreted code.
  bool has_own_cause(FunctionPurpose purpose) const {
    const auto text = std::ranges::find(purpose_texts(), purpose, &PurposeText::purpose);
    const auto called = called_.find(purpose);
    return text != purpose_texts().end() && called != called_.end() && called->second >= text->least * cpu_s_;
  }

  void share_pattern_cache() {
    const PatternWork patterns = pattern_work();
    const auto cache = works_.find(patterns.cache), compile = works_.find(patterns.compile);
    if (cache == works_.end()) return;
    const bool again = compile != works_.end() && compile->second.seconds >= patterns.compile->least * cpu_s_;
    works_[again ? patterns.compile : patterns.match].add(cache->second);
    works_.erase(cache);
  }

  void note_objects(const HostStackSum& stack, const Use& use) {
    const auto numpy = std::ranges::find_if(stack.frames, [&](int index) { return is_numpy(frame(index)); });
    of_line_[use.line] += stack.seconds;
    if (numpy == stack.frames.end()) return;
    in_numpy_[use.line] += stack.seconds;
    if (std::any_of(numpy, stack.frames.end(), [&](int index) { return is_object_operation(frame(index)); }))
      on_objects_[use.line] += stack.seconds;
  }

  void note_work_given(const HostStackSum& stack) {
    for (std::size_t i = 1; i < stack.frames.size(); ++i) {
      const HostFrame &outer = frame(stack.frames[i - 1]), &inner = frame(stack.frames[i]);
      if (outer.own && outer.line > 0 && gives_work(inner)) given_[short_place(outer)] += stack.seconds;
    }
  }

  template <typename... Parts>
  void put(Parts&&... parts) {
    found_.causes.push_back(host_cause(std::forward<Parts>(parts)...));
  }

  void claim(const Part& part) {
    for (const std::size_t stack : part.stacks) found_.claimed[stack] = true;
  }

  std::string share_of(double seconds) const { return percent(std::min(1.0, seconds / cpu_s_)); }

  void find_sent() {
    if (sent_.seconds < kLeastSent * cpu_s_ || host_.process_count < 2) return;
    found_.sent_s = sent_.seconds;
    put("process-messages", std::min(sent_.seconds, host_.wall_s),
        fmt::format("{} of the CPU time goes to pickling objects and sending them between processes",
                    share_of(sent_.seconds)),
        "given to the processes at", largest_line(given_),
        "Send indices or file names instead of data: let the processes inherit it (a global variable, set before the "
        "Pool), share it (multiprocessing.shared_memory, numpy.memmap), and return small results.");
    claim(sent_);
  }

  void put_work(const PythonWork& work, const Part& part) {
    constexpr double kLeastCompiled = 0.1;
    if (part.seconds < work.least * cpu_s_) return;
    const bool compiled = part.native_s >= kLeastCompiled * part.seconds;
    if ((work.compiled && !compiled) || (work.plain && compiled)) return;
    put(std::string(work.id), part.seconds, fmt::format("{} of the CPU time {}", share_of(part.seconds), work.finding),
        "mostly at", largest_line(part.lines), std::string(work.action));
    claim(part);
  }

  /// Few of the samples have the operator's frame: the functions that it calls have none of their own.
  void find_objects() {
    constexpr double kOften = 0.08, kOftenAtLine = 0.02;
    double objects_s = 0, numpy_s = 0, seconds = 0;
    for (const auto& [line, on_objects] : on_objects_) {
      if (line.empty() || on_objects < kOftenAtLine * in_numpy_[line]) continue;
      objects_s += on_objects;
      numpy_s += in_numpy_[line];
      seconds += of_line_[line];
    }
    if (objects_s < kOften * numpy_s || seconds < kLeastObjects * cpu_s_) return;
    put("object-arrays", seconds,
        fmt::format("{} of the CPU time goes to NumPy arrays of Python objects (dtype=object)", share_of(seconds)),
        "mostly at", largest_line(on_objects_),
        "Convert the arrays to numbers before the loop, with .astype(float), and mark missing values with NaN.");
  }

  /// Threads that compute in Python take turns.
  void find_gil() {
    double waits_s = 0, busy_s = 0;
    std::size_t count = 0;
    ByLine lines;
    for (const auto& [index, of_thread] : gil_) {
      const HostTimes& times = host_.threads[static_cast<std::size_t>(index)].times;
      const double seconds = sum_of(of_thread);
      constexpr double kWorks = 0.1;
      if (times.on_cpu() < kWorks * times.total()) continue;
      ++count;
      waits_s += seconds;
      busy_s += times.on_cpu();
      for (const auto& [line, part] : of_thread) lines[line] += part;
    }
    if (count < 2 || waits_s < kLeastGil * busy_s) return;
    found_.waits_for_gil = true;
    put("gil", std::min(waits_s / static_cast<double>(count), host_.wall_s),
        fmt::format("{} threads wait for the GIL for {} in all: one at a time runs Python code", count,
                    duration(waits_s)),
        "mostly at", largest_line(lines),
        "Use processes (concurrent.futures.ProcessPoolExecutor), or code that releases the GIL (NumPy, Numba with "
        "nogil=True).");
  }

  void find_interpreted() {
    const Part* largest = nullptr;
    double all_s = 0;
    for (const auto& [function, part] : functions_) {
      if (!part.interpreted()) continue;
      all_s += part.user_s();
      if (largest == nullptr || part.user_s() > largest->user_s()) largest = &part;
    }
    if (largest == nullptr || all_s < kLeastInterpreted * cpu_s_ || largest->user_s() < kLeastOfFunction * cpu_s_)
      return;
    const std::string line = largest_line(largest->lines);
    if (std::ranges::find(found_.causes, line, &HostCause::line) != found_.causes.end()) return;
    const bool recursive = largest->recursive_s >= kLeastRecursive * largest->seconds;
    put("interpreted", largest->user_s(),
        fmt::format("{} of the CPU time is one function's Python code{}", share_of(largest->user_s()),
                    recursive ? ", which calls itself" : ""),
        "mostly at", line,
        recursive ? "If it is called with the same arguments again, keep its results (functools.lru_cache); else "
                    "compile it (Numba, Cython)."
                  : "Vectorise this loop (NumPy), compile it (Numba, Cython), or divide it among processes.");
  }

  /// In a loop that calls NumPy for whole arrays, neither the loop's own line nor what NumPy does once per call takes
  /// time.
  bool is_of_elements(const Part& part) const {
    constexpr double kLeastCounting = 0.03, kLeastScalars = 0.2, kLeastSamples = 5;
    if (part.counting_s >= kLeastCounting * part.seconds) return true;
    return part.scalars_s * host_.rate_hz >= kLeastSamples && part.scalars_s >= kLeastScalars * part.numpy_s;
  }

  /// A loop that calls NumPy for each element.
  void find_elements() {
    for (const auto& [function, part] : functions_) {
      if (part.seconds < kLeastInterpreted * cpu_s_ || !is_of_elements(part)) continue;
      const std::string line = largest_line(part.lines);
      if (std::ranges::find(found_.causes, line, &HostCause::line) != found_.causes.end()) continue;
      if (part.interpreted() || 2 * part.numpy_s < part.native_s) continue;
      put("array-elements", part.seconds,
          fmt::format("{} of the CPU time is a Python loop that calls NumPy for single elements",
                      share_of(part.seconds)),
          "mostly at", line,
          "Compute with whole arrays or slices (np.where, np.clip, sums along an axis), or compile the loop with Numba "
          "(@njit).");
    }
  }

  void put_library(const std::string& library, const Part& part) {
    if (part.seconds < kLeastInterpreted * cpu_s_ || part.places.size() < kFewPlaces) return;
    if (!part.interpreted(kMostNativeOfLibrary)) return;
    put("python-library", part.seconds,
        fmt::format("{} of the CPU time is Python code of the library {}", share_of(part.seconds), clean_line(library)),
        "mostly called at", largest_line(part.lines),
        "Call it less often (once for many values), keep its results (functools.lru_cache), or use a library that is "
        "compiled.");
  }

  const HostProfile& host_;
  double cpu_s_;
  std::map<std::pair<std::string_view, int>, std::string_view> sources_;
  std::map<const PythonWork*, Part> works_;
  std::map<std::pair<std::string_view, std::string_view>, Part> functions_;
  std::map<std::string, Part> libraries_;
  Part sent_;
  ByLine given_, of_line_, in_numpy_, on_objects_;
  std::map<int, ByLine> gil_;
  std::vector<FunctionPurpose> purposes_;     ///< by frame
  std::map<FunctionPurpose, double> called_;  ///< of running threads, by the interpreter itself
  PythonCauses found_;
};

}  // namespace

PythonCauses python_causes(const HostProfile& host) { return Finder(host).find(); }

}  // namespace roofline
