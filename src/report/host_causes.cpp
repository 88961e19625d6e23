#include "report/host_causes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "model/find.hpp"
#include "text/format.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

struct PurposeText {
  FunctionPurpose purpose;
  double least;  ///< share of the CPU time from which on it is named
  std::string_view id, finding, action;
};
constexpr auto kPurposes = std::to_array<PurposeText>(
    {{FunctionPurpose::allocation, 0.1, "allocation", "goes to memory allocation (malloc, free)",
      "Allocate once outside the loop and reuse it: reserve() and clear(), a buffer passed in, or an arena."},
     {FunctionPurpose::copy, 0.25, "copy", "goes to memory copies (memcpy, memset)",
      "Avoid copies (references, views, moves), and copy few large blocks instead of many small ones."},
     {FunctionPurpose::text, 0.2, "text", "goes to conversions between numbers and text",
      "Read and write binary data, or convert with std::from_chars and std::to_chars, in large blocks."},
     {FunctionPurpose::mathematics, 0.3, "mathematics", "goes to math library functions",
      "Use vector versions (-O3 -ffast-math with glibc's libmvec), single precision, or tables."}});

constexpr double kLeastMutex = 0.15;       ///< of CPU time and waits for mutexes
constexpr double kLeastAlone = 0.2;        ///< of wall time
constexpr double kLeastKernel = 0.15;      ///< of CPU time
constexpr double kMostReady = 0.1;         ///< waiting for a CPU, over the time on one
constexpr double kSecondsPerFault = 7e-7;  ///< to map and clear a page of 4 KiB; in virtual machines twice that

/// The name without parameters, of what may be a demangled name.
std::string_view base_of(std::string_view function) {
  const std::string_view base = function.substr(0, function.find('('));
  return base.empty() ? function : base;
}

/// "solver.cpp:7 step".
std::string short_place(HostFrame frame) {
  frame.function = std::string(base_of(frame.function));
  return place_text(frame);
}

bool is_one_of(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::ranges::find(names, name) != names.end();
}

bool begins_with(std::string_view name, std::initializer_list<std::string_view> parts) {
  return std::ranges::any_of(parts, [name](std::string_view part) { return name.starts_with(part); });
}

/// Seconds by the program's line that calls functions of one purpose.
using ByLine = std::map<std::string, double>;

double sum_of(const ByLine& lines) {
  double sum = 0;
  for (const auto& [line, seconds] : lines) sum += seconds;
  return sum;
}

class HostCauses {
 public:
  explicit HostCauses(const HostProfile& host, double peak_bytes = 0)
      : host_(host), peak_bytes_(peak_bytes), cpu_s_(host.times.on_cpu()) {
    for (const HostStackSum& stack : host.stacks) add(stack);
  }

  std::vector<HostCause> find(bool with_threads) {
    for (const PurposeText& text : kPurposes) {
      const ByLine& lines = running_[text.purpose];
      const double seconds = sum_of(lines);
      if (!(cpu_s_ > 0) || seconds < text.least * cpu_s_) continue;
      put(std::string(text.id), seconds, fmt::format("{} of the CPU time {}", percent(seconds / cpu_s_), text.finding),
          "mostly called at", key_of_largest(lines), std::string(text.action));
    }
    find_mutex();
    find_kernel();
    // Threads that wait for a mutex leave the one that holds it alone.
    const bool mutex = std::ranges::find(causes_, "mutex", &HostCause::id) != causes_.end();
    if (with_threads && !mutex) find_alone();
    std::ranges::stable_sort(causes_, std::ranges::greater(), &HostCause::seconds);
    return std::move(causes_);
  }

  bool waits_for_threads() {
    const double joins = sum_of(waiting_[FunctionPurpose::join]);
    return joins > 0 && joins >= host_.times.of(ThreadState::lock) / 2;
  }

 private:
  void add(const HostStackSum& stack) {
    // The outermost library function that the program's own code calls says what it is for.
    FunctionPurpose purpose = FunctionPurpose::none;
    std::string line;
    for (auto frame = stack.frames.rbegin(); frame != stack.frames.rend(); ++frame) {
      const HostFrame& place = host_.frames[static_cast<std::size_t>(*frame)];
      if (place.own && place.line > 0) {
        line = short_place(place);
        break;
      }
      if (const FunctionPurpose of = purpose_of(place); of != FunctionPurpose::none) purpose = of;
    }
    if (purpose == FunctionPurpose::none) return;
    const bool runs = stack.state == ThreadState::running || stack.state == ThreadState::runnable;
    if (stack.state == ThreadState::running) running_[purpose][line] += stack.seconds;
    if (!runs) waiting_[purpose][line] += stack.seconds;
  }

  void put(std::string id, double seconds, std::string text, std::string_view where, const std::string& line,
           std::string action) {
    text += line.empty() ? "." : fmt::format(", {} {}.", where, shorten(line, 80));
    causes_.push_back({std::move(id), seconds, std::move(text), std::move(action), line});
  }

  void find_mutex() {
    ByLine lines = waiting_[FunctionPurpose::mutex];
    for (const auto& [line, seconds] : running_[FunctionPurpose::mutex]) lines[line] += seconds;
    const double waits = sum_of(waiting_[FunctionPurpose::mutex]), seconds = sum_of(lines);
    if (host_.thread_count < 2 || !(seconds > 0) || seconds < kLeastMutex * (cpu_s_ + waits)) return;
    const double share = seconds / (cpu_s_ + waits);
    put("mutex", std::min(seconds, share * host_.wall_s),
        fmt::format("{} of the threads' working time goes to a mutex", percent(share)), "mostly at",
        key_of_largest(lines),
        "Give each thread its own data and merge it at the end; else hold the mutex for a shorter time, or use "
        "several.");
  }

  void find_kernel() {
    const ProcessUsage& usage = host_.usage;
    const double used_s = usage.user_s + usage.system_s;
    if (!usage.is_known() || usage.system_s < kLeastKernel * used_s) return;
    const std::string share = percent(usage.system_s / used_s);
    constexpr double kGoodPart = 0.1, kPage = 4096, kAgain = 1.5;
    if (usage.page_faults * kSecondsPerFault < kGoodPart * usage.system_s) {
      put("kernel", usage.system_s,
          fmt::format("{} of the CPU time is in the kernel: system calls, or {} page faults", share,
                      count(static_cast<std::int64_t>(usage.page_faults))),
          "", {}, "`strace -c -f` counts the system calls: make fewer and larger ones (buffers).");
      return;
    }
    const bool again = peak_bytes_ > 0 && usage.page_faults * kPage > kAgain * peak_bytes_;
    put("page-faults", usage.system_s,
        fmt::format("{} of the CPU time is in the kernel: {} page faults, which map and clear {} memory", share,
                    count(static_cast<std::int64_t>(usage.page_faults)), again ? "freed and new" : "new"),
        "most CPU time is at", hottest_line(),
        again ? "Allocate large buffers once and reuse them, or keep freed memory (GLIBC_TUNABLES=glibc.malloc."
                "mmap_threshold=4294967296:glibc.malloc.trim_threshold=4294967296)."
              : "Use huge pages (GLIBC_TUNABLES=glibc.malloc.hugetlb=1): one fault maps 2 MiB. Touch less memory.");
  }

  std::string hottest_line() const {
    const auto hottest =
        std::ranges::max_element(host_.lines, {}, [](const HostLineSum& line) { return line.times.on_cpu(); });
    const bool known = hottest != host_.lines.end() && hottest->place.own && hottest->place.line > 0;
    return known ? short_place(hottest->place) : std::string();
  }

  void find_alone() {
    const HostAlone& alone = host_.alone;
    // Beside other programs, or with more threads than CPUs, who still works and who waits is the scheduler's choice.
    if (host_.times.of(ThreadState::runnable) > kMostReady * host_.times.of(ThreadState::running)) return;
    if (alone.at_once < 2 || alone.seconds < kLeastAlone * host_.wall_s) return;
    const double saved = alone.seconds * (1 - 1 / static_cast<double>(alone.at_once));
    const HostFrame* const place =
        alone.line < 0 ? nullptr : &host_.lines.at(static_cast<std::size_t>(alone.line)).place;
    const std::string line = place == nullptr ? std::string() : short_place(*place);
    const std::string share = percent(alone.seconds / host_.wall_s);
    if (alone.others_s > 0.5 * alone.line_s) {
      put("unequal-work", saved,
          fmt::format("For {} of the time only one of {} threads is still busy", share, alone.at_once), "mostly at",
          line, "Give threads equal work: smaller chunks, scheduled dynamically (schedule(dynamic, n)).");
      return;
    }
    put("serial-part", saved,
        fmt::format("For {} of the time only one thread is busy, of up to {}", share, alone.at_once), "mostly at", line,
        "Divide this part over the threads (#pragma omp parallel for), or overlap it with other work.");
  }

  const HostProfile& host_;
  double peak_bytes_, cpu_s_;
  std::map<FunctionPurpose, ByLine> running_, waiting_;
  std::vector<HostCause> causes_;
};

}  // namespace

FunctionPurpose purpose_of(const HostFrame& frame) {
  if (frame.python) return FunctionPurpose::none;
  const std::string_view name = base_of(frame.function), file = last_path_part(frame.file);
  if (is_one_of(name,
                {"malloc", "free", "cfree", "calloc", "realloc", "posix_memalign", "aligned_alloc", "memalign"}) ||
      begins_with(name,
                  {"_int_malloc", "_int_free", "malloc_consolidate", "operator new", "operator delete", "__rust_alloc",
                   "__rust_dealloc", "__rust_realloc", "__rdl_alloc", "__rdl_dealloc", "_gfortran_internal_malloc"})) {
    return FunctionPurpose::allocation;
  }
  if (begins_with(name, {"memcpy", "memmove", "memset", "__memcpy", "__memmove", "__memset", "_gfortran_internal_pack",
                         "_gfortran_internal_unpack"})) {
    return FunctionPurpose::copy;
  }
  if (begins_with(name, {"printf",
                         "fprintf",
                         "sprintf",
                         "snprintf",
                         "vfprintf",
                         "vsnprintf",
                         "__vfprintf",
                         "scanf",
                         "fscanf",
                         "sscanf",
                         "strtod",
                         "strtol",
                         "atof",
                         "std::ostream",
                         "std::istream",
                         "std::basic_ostream",
                         "std::basic_istream",
                         "std::num_get",
                         "std::num_put",
                         "std::to_string",
                         "_gfortran_st_read",
                         "_gfortran_st_write",
                         "_gfortran_transfer"})) {
    return FunctionPurpose::text;
  }
  if (begins_with(name, {"pthread_mutex_", "__pthread_mutex_", "pthread_spin_", "__lll_lock_", "pthread_rwlock_",
                         "__lll_mutex_"})) {
    return FunctionPurpose::mutex;
  }
  if (begins_with(name,
                  {"pthread_cond_", "__pthread_cond_", "sem_wait", "__new_sem_wait", "GOMP_", "gomp_", "__kmpc_"})) {
    return FunctionPurpose::condition;
  }
  if (begins_with(name, {"pthread_join", "__pthread_clockjoin", "pthread_timedjoin", "std::thread::join"})) {
    return FunctionPurpose::join;
  }
  if (file.starts_with("libm.") || file.starts_with("libm-")) return FunctionPurpose::mathematics;
  return FunctionPurpose::none;
}

std::vector<HostCause> host_causes(const HostProfile& host, bool with_threads, double peak_bytes) {
  return HostCauses(host, peak_bytes).find(with_threads);
}

bool waits_for_threads(const HostProfile& host) { return HostCauses(host).waits_for_threads(); }

}  // namespace roofline
