#include "report/host_causes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "model/find.hpp"
#include "report/busy_waiting.hpp"
#include "report/cpu_findings.hpp"
#include "report/function_purpose.hpp"
#include "report/host_cause_text.hpp"
#include "report/parallel_bodies.hpp"
#include "report/prefix_scans.hpp"
#include "report/profile_findings.hpp"
#include "report/purpose_text.hpp"
#include "report/python_causes.hpp"
#include "report/python_work.hpp"
#include "report/slow_code_causes.hpp"
#include "report/stack_use.hpp"
#include "report/system_call_text.hpp"
#include "text/format.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

constexpr double kLeastMutex = 0.15;       ///< of CPU time and waits for mutexes
constexpr double kLeastAlone = 0.2;        ///< of wall time
constexpr double kLeastKernel = 0.15;      ///< of CPU time
constexpr double kLeastUnnamed = 0.3;      ///< of CPU time: no call seen, may be interrupts
constexpr double kLeastWait = 0.2;         ///< of wall time
constexpr double kLeastUnseen = 0.2;       ///< of CPU time: of processes and threads that end before they are sampled
constexpr double kMostReady = 0.1;         ///< waiting for a CPU, over the time on one
constexpr double kSecondsPerFault = 7e-7;  ///< to map and clear a page of 4 KiB; in virtual machines twice that

constexpr std::string_view kFileOpens = "file-opens";
constexpr std::string_view kGroupCommit = "Call fsync once for many records (group commit), or on another thread.";

/// What one function of the program copies and destroys: CPU time of running threads.
struct OfObjects {
  double copies_s = 0, ends_s = 0;
  ByLine lines;                                ///< of the copies
  std::map<FunctionPurpose, ByLine> purposes;  ///< of both
};

class HostCauses {
 public:
  explicit HostCauses(const HostProfile& host, double peak_bytes = 0)
      : host_(host), peak_bytes_(peak_bytes), cpu_s_(host.times.on_cpu()), python_(python_causes(host)), uses_(host) {
    for (std::size_t i = 0; i < host.stacks.size(); ++i) add(host.stacks[i], python_.claimed[i]);
  }

  std::vector<HostCause> find(bool with_threads) {
    causes_ = python_.causes;
    std::erase_if(causes_, is_of_waits);
    find_short_lived();
    find_kernel();
    find_copies();
    find_sort();
    for (const PurposeText& of : purpose_texts()) {
      const double seconds = sum_of(running_[of.purpose]) * share_in_user_code();
      if (!(cpu_s_ > 0) || !(seconds > 0)) continue;
      const std::string line = line_of_purpose(of.purpose);
      const PurposeText text = more_exact(of, line);
      if (seconds < text.least * cpu_s_) continue;
      put(std::string(text.id), seconds, fmt::format("{} of the CPU time {}", percent(seconds / cpu_s_), text.finding),
          "mostly called at", line, std::string(text.action));
    }
    if (auto scans = prefix_scans(host_, peak_bytes_)) put_prefix_scans(*std::move(scans));
    if (with_threads) find_slow_code();
    share_cpu_time();
    find_dispatch();
    std::ranges::copy_if(python_.causes, std::back_inserter(causes_), is_of_waits);
    if (const auto spin = busy_waiting(host_)) causes_.push_back(*spin);
    find_mutex();
    // The kernel puts threads that wait for a mutex to sleep and wakes them.
    if (has("mutex") && !call_is_known_)
      std::erase_if(causes_, [](const HostCause& cause) { return cause.id == "system-calls"; });
    find_idle();
    // Threads that wait for a mutex leave the one that holds it alone.
    if (with_threads && !has("mutex") && !has("handovers") && !has("loop-dispatch") && !python_.waits_for_gil &&
        !(python_.sent_s > 0))
      find_unequal();
    constexpr double kLeastOfWall = 0.02;  // a large share of little CPU time is little of a program that waits
    std::erase_if(causes_, [&](const HostCause& cause) { return cause.seconds < kLeastOfWall * host_.wall_s; });
    order_causes(causes_);
    return std::move(causes_);
  }

  bool waits_for_threads() {
    const double joins = sum_of(waiting_[FunctionPurpose::join]);
    return joins > 0 && joins >= host_.times.of(ThreadState::lock) / 2;
  }

 private:
  const HostFrame& frame(int index) const { return host_.frames[static_cast<std::size_t>(index)]; }

  /// `claimed`: what the program's line calls Python's libraries for is known.
  void add(const HostStackSum& stack, bool claimed) {
    const StackUse use = uses_.use_of(stack);
    const bool in_kernel = stack.state == ThreadState::running && use.kernel;
    if (in_kernel) note_kernel(use, stack.seconds);
    if (stack.state == ThreadState::running && (use.flush || !use.system_call.empty())) {
      calls_.add(use, stack.seconds);
      // What a stream writes is no conversion.
      if (use.purpose == FunctionPurpose::text) return;
    }
    if (stack.state == ThreadState::child || stack.state == ThreadState::read) children_[use.line] += stack.seconds;
    if (stack.state == ThreadState::disk && use.system_call.ends_with("sync")) syncs_[use.line] += stack.seconds;
    if (claimed || (in_kernel && use.purpose != FunctionPurpose::mutex)) return;
    if (stack.state == ThreadState::running && use.special) note_copies(use, stack.seconds);
    if (use.purpose == FunctionPurpose::none) return;
    if (use.purpose == FunctionPurpose::sort && stack.state == ThreadState::running) note_depth(stack, use.line);
    const bool runs = on_cpu(stack.state);
    if (stack.state == ThreadState::running) {
      running_[use.purpose][use.line] += stack.seconds;
      if (use.power) powers_s_ += stack.seconds;
      if (use.purpose == FunctionPurpose::references && use.copies) pointer_copies_[use.line] += stack.seconds;
    }
    if (!runs) waiting_[use.purpose][use.line] += stack.seconds;
  }

  /// Where the calls, or the text of the line with most of them, say more.
  PurposeText more_exact(const PurposeText& text, const std::string& line) {
    constexpr double kMostly = 0.5, kGoodPart = 1. / 3;
    const ByLine& lines = running_[text.purpose];
    if (text.purpose == FunctionPurpose::mathematics && powers_s_ >= kMostly * sum_of(lines)) return power_text();
    // The interpreter's frames and its calls of the C library are read one after the other: copies of one line are seen
    // at lines around it, too.
    if (text.purpose != FunctionPurpose::copy || has(slice_work().id) || lines.at(line) < kGoodPart * sum_of(lines))
      return text;
    const auto of_slice = [&](const HostLineSum& sum) {
      return sum.place.python && cuts_front(sum.source) && short_place(sum.place) == line;
    };
    if (std::ranges::none_of(host_.lines, of_slice)) return text;
    constexpr double kLeast = 0.1;  // the line's text says what is copied
    return {text.purpose, kLeast, slice_work().id, slice_work().finding, slice_work().action};
  }

  /// Of shared pointers the line that copies them, not the end of the block that destroys the copies.
  std::string line_of_purpose(FunctionPurpose purpose) {
    constexpr double kGoodPart = 0.2;
    const ByLine& lines = running_[purpose];
    const bool copied = purpose == FunctionPurpose::references && sum_of(pointer_copies_) >= kGoodPart * sum_of(lines);
    return key_of_largest(copied ? pointer_copies_ : lines);
  }

  /// The kernel's work has causes of its own.
  void note_kernel(const StackUse& use, double seconds) {
    kernel_s_ += seconds;
    if (use.line.empty()) return;
    if (use.system_call.empty()) faults_[use.line] += seconds;
    if (use.system_call == "munmap" || use.system_call == "madvise" || use.system_call == "brk")
      returned_[use.line] += seconds;
  }

  template <typename... Parts>
  void put(Parts&&... parts) {
    causes_.push_back(host_cause(std::forward<Parts>(parts)...));
  }

  static bool is_of_waits(const HostCause& cause) { return cause.id == "gil"; }
  bool has(std::string_view id) const { return std::ranges::find(causes_, id, &HostCause::id) != causes_.end(); }

  /// Where samples are taken in user code only, a thread is assumed to be there until the next one: a part of that was
  /// in the kernel.
  double share_in_user_code() const {
    const double rest_s = host_.usage.cpu_s() - kernel_s_;
    return host_.usage.is_known() && rest_s > host_.usage.user_s ? host_.usage.user_s / rest_s : 1;
  }

  /// No two causes claim the same CPU time.
  void share_cpu_time() {
    order_causes(causes_);
    double left = std::max(cpu_s_, host_.usage.cpu_s());
    for (HostCause& cause : causes_) {
      if (cause.id == "file-sync") continue;  // it also waits
      cause.seconds = std::min(cause.seconds, left);
      left -= cause.seconds;
    }
    constexpr double kWorthNaming = 0.05;
    std::erase_if(causes_, [&](const HostCause& cause) { return cause.seconds < kWorthNaming * cpu_s_; });
  }

  /// The functions that such a line calls do the scans.
  void put_prefix_scans(HostCause scans) {
    std::erase_if(causes_, [&](const HostCause& cause) {
      return cause.line == scans.line && (cause.id == "positions" || cause.id == "linear-search");
    });
    causes_.push_back(std::move(scans));
  }

  /// Loops with counts have their own verdict. Where a library's container is known, it says more than waits for
  /// memory.
  void find_slow_code() {
    for (HostCause& cause : slow_code_causes(host_, cpu_s_)) {
      const auto is_container_there = [&](const HostCause& other) {
        return other.line == cause.line && (other.id == "ordered-map" || other.id == "linked-list" ||
                                            other.id == "hash-table" || other.id == "tree-walks");
      };
      if (cause.id == "memory-waits" && std::ranges::any_of(causes_, is_container_there)) continue;
      causes_.push_back(std::move(cause));
    }
  }

  void note_copies(const StackUse& use, double seconds) {
    OfObjects& objects = objects_[std::string(use.function)];
    (use.copies ? objects.copies_s : objects.ends_s) += seconds;
    if (use.copies) objects.lines[use.line] += seconds;
    objects.purposes[use.purpose][use.line] += seconds;
  }

  /// Copies of objects, and the ends of these copies: what their members do is no cause of its own.
  void find_copies() {
    constexpr double kLeastCopies = 0.2;
    double seconds = 0;
    ByLine lines;
    std::erase_if(objects_, [](const auto& of) { return of.second.copies_s < kLeastCopies * of.second.ends_s; });
    for (const auto& [function, objects] : objects_) {
      seconds += (objects.copies_s + objects.ends_s) * share_in_user_code();
      lines.insert(objects.lines.begin(), objects.lines.end());
    }
    if (!(cpu_s_ > 0) || seconds < kLeastCopies * cpu_s_) return;
    put("object-copies", seconds,
        fmt::format("{} of the CPU time goes to copies of objects and their destructors", percent(seconds / cpu_s_)),
        "mostly at", key_of_largest(lines),
        "Take references instead of copies (`const auto&` in loops, `const T&` parameters), or move (std::move).");
    for (const auto& [function, objects] : objects_) {
      for (const auto& [purpose, of_lines] : objects.purposes) {
        for (const auto& [line, part] : of_lines) running_[purpose][line] -= part;
      }
    }
  }

  void note_depth(const HostStackSum& stack, const std::string& line) {
    const auto levels = std::ranges::count_if(stack.frames, [&](int index) {
      const std::string name = qualified_name(frame(index).function);
      return name == "std::__introsort_loop" || name == "msort_with_tmp" || name == "std::__introsort";
    });
    int& depth = sort_depths_[line];
    depth = std::max(depth, static_cast<int>(levels));
  }

  /// A sort that takes far longer than one of all memory would, or one that never recurses deeply, is one of many.
  void find_sort() {
    constexpr double kLeastSort = 0.3, kOften = 8, kElement = 8, kSecondsPerStep = 50e-9, kSamples = 50;
    constexpr int kShallow = 6;  // levels of quicksort that are inside each other: half of all
    const ByLine& lines = running_[FunctionPurpose::sort];
    if (lines.empty() || !(cpu_s_ > 0)) return;
    const std::string line = key_of_largest(lines);
    const double seconds = lines.at(line) * share_in_user_code();
    if (seconds < kLeastSort * cpu_s_) return;
    const double elements = std::max(2.0, peak_bytes_ / kElement);
    const bool long_for_memory = peak_bytes_ > 0 && seconds > kOften * elements * std::log2(elements) * kSecondsPerStep;
    const int depth = sort_depths_[line];
    const bool shallow = depth > 0 && depth <= kShallow && lines.at(line) * host_.rate_hz >= kSamples;
    if (!long_for_memory && !shallow) return;
    put("repeated-sort", seconds,
        fmt::format("{} of the CPU time is sorting small arrays again and again", percent(seconds / cpu_s_)),
        "mostly at", line,
        "Sort once and keep the order (insert with std::lower_bound, a std::multiset or a heap), or select instead "
        "(std::nth_element for a median, std::partial_sort for the first ones).");
  }

  void find_dispatch() {
    constexpr double kLeastDispatch = 0.2;
    const ByLine& lines = running_[FunctionPurpose::dispatch];
    const double seconds = sum_of(lines);
    if (!(cpu_s_ > 0) || seconds < kLeastDispatch * cpu_s_) return;
    const double share = seconds / cpu_s_;
    put("loop-dispatch", std::min(seconds, share * host_.wall_s),
        fmt::format("{} of the CPU time is OpenMP's dispatch of loop iterations", percent(share)), "mostly at",
        key_of_largest(lines),
        "Give each thread more iterations at a time: schedule(dynamic, 1000), or schedule(static) if they take equal "
        "time.");
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

  /// Processes and threads that end before they are sampled: their CPU time is in the sum of the program only.
  void find_short_lived() {
    const double used_s = host_.usage.cpu_s(), unseen_s = used_s - cpu_s_;
    if (!host_.usage.is_known() || unseen_s < kLeastUnseen * used_s) return;
    constexpr double kMostOfOne = 1.5;
    const double children_s = sum_of(children_), joins_s = sum_of(waiting_[FunctionPurpose::join]);
    if (children_s >= kLeastWait * host_.wall_s && children_s >= joins_s &&
        children_s > kMostOfOne * longest_child_s(host_)) {
      put("process-starts", std::min(children_s, host_.wall_s),
          fmt::format("{} of the time is waiting for processes, most of which end within milliseconds",
                      percent(std::min(1.0, children_s / host_.wall_s))),
          "most of it at", key_of_largest(children_),
          "Call a library instead of a program, give one process many inputs, or start several at a time.");
    }
  }

  void find_kernel() {
    const ProcessUsage& usage = host_.usage;
    const double used_s = usage.cpu_s();
    if (!usage.is_known() || usage.system_s < kLeastKernel * used_s || has("process-starts")) return;
    if (python_.sent_s >= usage.system_s) return;  // most of the kernel's work is for what processes send each other
    const std::string share = percent(usage.system_s / used_s);
    constexpr double kGoodPart = 0.1, kPage = 4096, kAgain = 1.5;
    const double joins_s = sum_of(waiting_[FunctionPurpose::join]);
    if (joins_s >= kLeastWait * host_.wall_s && short_lived_threads()) {
      put("thread-starts", usage.system_s,
          fmt::format("{} of the CPU time is in the kernel: it starts and ends threads that last milliseconds", share),
          "they are awaited at", key_of_largest(waiting_[FunctionPurpose::join]),
          "Start threads once and hand them work (a thread pool, one #pragma omp parallel around the loop), in larger "
          "pieces.");
      return;
    }
    if (sleeps_often()) return put_handovers(share);
    if (usage.page_faults * kSecondsPerFault < kGoodPart * usage.system_s) return put_system_calls(share);
    const bool again = peak_bytes_ > 0 && usage.page_faults * kPage > kAgain * peak_bytes_;
    put("page-faults", usage.system_s,
        fmt::format("{} of the CPU time is in the kernel, for {} page faults that map and clear {}", share,
                    count(static_cast<std::int64_t>(usage.page_faults)),
                    !again              ? "new memory"
                    : returned_.empty() ? "freed and new memory"
                                        : "memory again that was freed at " + key_of_largest(returned_)),
        faults_.empty() ? "and most CPU time is at" : "mostly at",
        faults_.empty() ? hottest_line() : key_of_largest(faults_),
        again ? "Allocate large buffers once and reuse them, or keep freed memory (GLIBC_TUNABLES=glibc.malloc."
                "mmap_threshold=4294967296:glibc.malloc.trim_threshold=4294967296)."
              : "Use huge pages (GLIBC_TUNABLES=glibc.malloc.hugetlb=1): one fault maps 2 MiB. Touch less memory.");
  }

  /// True if threads wait for each other thousands of times per second.
  bool sleeps_often() {
    constexpr double kOften = 5000;  // per second
    const double waits_s = sum_of(waiting_[FunctionPurpose::condition]);
    return host_.thread_count > 1 && !python_.waits_for_gil && waits_s >= kLeastWait * host_.wall_s &&
           host_.usage.sleeps >= kOften * host_.wall_s;
  }

  void put_handovers(const std::string& share) {
    put("handovers", std::min(host_.usage.system_s, host_.wall_s),
        fmt::format("{} of the CPU time is in the kernel: threads sleep and wake each other {} times per second", share,
                    count(std::llround(host_.usage.sleeps / host_.wall_s))),
        "mostly at", key_of_largest(waiting_[FunctionPurpose::condition]),
        "Hand over several items at a time (a longer queue, batches that are taken under one lock), or let one thread "
        "do both parts where each is short.");
  }

  void put_system_calls(const std::string& share) {
    const double seconds = host_.usage.system_s;
    const double sampled_s = calls_.seconds();
    constexpr double kKnown = 0.05;  // the sampler sees a system call only where it begins and ends
    if (const double syncs_s = sum_of(syncs_); syncs_s > kKnown * seconds && syncs_s > sampled_s)
      return put_syncs(syncs_s);
    if (sampled_s == 0 || sampled_s < kKnown * seconds) {
      if (seconds < kLeastUnnamed * host_.usage.cpu_s()) return;
      put("system-calls", seconds, fmt::format("{} of the CPU time is in the kernel, in system calls", share),
          "and most CPU time is at", hottest_line(),
          "`strace -c -f` counts the system calls: make fewer and larger ones (buffers).");
      return;
    }
    call_is_known_ = true;
    if (const auto opens = calls_.opens()) return put_opens(*opens);
    const auto& [text, line] = calls_.most();
    const auto opens_known = std::ranges::find(causes_, kFileOpens, &HostCause::id);
    if (opens_known != causes_.end() && opens_known->line == line) return;
    put("system-calls", seconds,
        fmt::format("{} of the CPU time is in the kernel: system calls, mostly {}", share, text.name),
        "most of them called at", line, text.action);
  }

  /// Of Python, a line that opens files may have a cause already.
  void put_opens(const SystemCalls::Opens& opens) {
    const double seconds = opens.share * host_.usage.system_s, share = seconds / host_.usage.cpu_s();
    if (share < kLeastKernel) return;
    const auto known = std::ranges::find(causes_, kFileOpens, &HostCause::id);
    if (known != causes_.end()) {
      known->seconds = std::max(known->seconds, seconds);
      return;
    }
    put(std::string(kFileOpens), seconds,
        fmt::format("{} of the CPU time is in the kernel, which opens and closes files", percent(share)),
        "mostly opened at", opens.line,
        "Open each file once, before the loop, and keep it open; or collect what belongs to one file and write it at "
        "once. If all are different files, store the data in fewer ones.");
  }

  void put_syncs(double waits_s) {
    const double seconds = std::min(host_.wall_s, host_.usage.system_s + waits_s);
    put("file-sync", seconds,
        fmt::format("{} of the time goes to fsync: the kernel's work and waits for the disk",
                    percent(seconds / host_.wall_s)),
        "mostly at", key_of_largest(syncs_), std::string(kGroupCommit));
  }

  /// Threads that the sampler saw for a moment, or never: a thread that it saw began or ended between two samples.
  bool short_lived_threads() const {
    constexpr double kMoment = 2.5;  // samples of a thread
    double named_s = 0, main_s = 0;
    for (const HostThreadSum& thread : host_.threads)
      main_s += thread.thread.main ? thread.times.of(ThreadState::running) : 0;
    const double others_s = host_.times.of(ThreadState::running) - main_s;
    const auto others = static_cast<double>(host_.thread_count - host_.process_count);
    if (others_s * host_.rate_hz > kMoment * others) return false;
    for (const HostStackSum& stack : host_.stacks) {
      if (stack.state == ThreadState::running && !stack.frames.empty()) named_s += stack.seconds;
    }
    const double used_s = host_.usage.cpu_s();
    return used_s - named_s >= 0.5 * used_s;
  }

  /// Nothing of the program runs: what the thread that ran next waited for.
  void find_idle() {
    const HostIdle& idle = host_.idle;
    if (idle.state_s < kLeastWait * host_.wall_s) return;
    const std::string line = text_of_line(idle.line);
    const std::string share = percent(idle.state_s / host_.wall_s);
    constexpr double kWorks = 0.01;  // a program that only sleeps waits for its time
    if (idle.state == ThreadState::sleep && cpu_s_ > kWorks * host_.wall_s) {
      put("sleep", idle.state_s, fmt::format("For {} of the time no thread works: one sleeps", share), "mostly at",
          line,
          "If it waits for another thread or process, wait for the event itself: a condition variable, a future, "
          "poll().");
    }
    if (idle.state == ThreadState::network) {
      put("network", idle.state_s, fmt::format("For {} of the time no thread works: one waits for the network", share),
          "mostly at", line, "Send requests ahead, or several at a time (threads, asyncio).");
    }
    if (idle.state != ThreadState::disk || has("file-sync")) return;
    const double syncs_s = sum_of(syncs_);
    const bool syncs = syncs_s >= 0.5 * host_.times.of(ThreadState::disk);
    put(syncs ? "file-sync" : "disk", idle.state_s,
        fmt::format("For {} of the time no thread works: one waits for the disk{}", share, syncs ? " (fsync)" : ""),
        "mostly at", syncs ? key_of_largest(syncs_) : line,
        syncs ? std::string(kGroupCommit) : "Read ahead or write behind on another thread, in larger pieces.");
  }

  const HostLineSum& line_of(int index) const { return host_.lines.at(static_cast<std::size_t>(index)); }

  /// `index`: into the lines; empty if negative.
  std::string text_of_line(int index) const { return index < 0 ? std::string() : short_place(line_of(index).place); }

  std::string hottest_line() const {
    const auto hottest =
        std::ranges::max_element(host_.lines, {}, [](const HostLineSum& line) { return line.times.on_cpu(); });
    const bool known = hottest != host_.lines.end() && hottest->place.own && hottest->place.line > 0;
    return known ? short_place(hottest->place) : std::string();
  }

  void find_unequal() {
    if (const auto of_region = unequal_parallel_work(host_)) {
      causes_.push_back(*of_region);
    } else {
      find_alone();
    }
  }

  void find_alone() {
    const HostAlone& alone = host_.alone;
    if (alone.at_once < 2 || alone.seconds < kLeastAlone * host_.wall_s) return;
    const double saved = alone.seconds * (1 - 1 / static_cast<double>(alone.at_once));
    const std::string line = text_of_line(alone.line);
    const std::string share = percent(alone.seconds / host_.wall_s);
    const bool python = alone.line >= 0 && line_of(alone.line).place.python;
    constexpr double kAlsoRuns = 0.01;  // a body of a parallel region that the other threads run, too
    const bool parallel = alone.line >= 0 && is_parallel_body(line_of(alone.line).place.function);
    const bool shared = alone.line < 0 || alone.others_s > (parallel ? kAlsoRuns : 0.5) * alone.line_s;
    // Beside other programs, or with more threads than CPUs, who still works and who waits is the scheduler's choice;
    // not where no other thread ever works.
    if (shared && host_.times.of(ThreadState::runnable) > kMostReady * host_.times.of(ThreadState::running)) return;
    if (shared) {
      put("unequal-work", saved,
          fmt::format("For {} of the time only one of {} threads is still busy", share, alone.at_once), "mostly at",
          line, "Give threads equal work: smaller chunks, scheduled dynamically (schedule(dynamic, n)).");
      return;
    }
    put("serial-part", saved,
        fmt::format("For {} of the time only one thread is busy, of up to {}", share, alone.at_once), "mostly at", line,
        python ? "Divide this part among processes (multiprocessing), or overlap it with other work."
               : "Divide this part over the threads (#pragma omp parallel for), or overlap it with other work.");
  }

  const HostProfile& host_;
  double peak_bytes_, cpu_s_;
  PythonCauses python_;
  StackUses uses_;
  std::map<FunctionPurpose, ByLine> running_, waiting_;
  SystemCalls calls_;                         ///< of running threads
  std::map<std::string, OfObjects> objects_;  ///< by function of the program
  ByLine children_, syncs_;
  ByLine pointer_copies_;  ///< of running threads that copy shared pointers
  ByLine faults_;          ///< of threads in the kernel, in no known system call
  ByLine returned_;        ///< of threads that give memory back to the kernel
  double powers_s_ = 0;    ///< of running threads that raise numbers to powers
  double kernel_s_ = 0;    ///< of threads seen in the kernel
  std::map<std::string, int> sort_depths_;
  bool call_is_known_ = false;  ///< true if samples name the system call with most of the kernel time
  std::vector<HostCause> causes_;
};

/// A loop with counts has a verdict of its own.
bool has_uneven_loop(const Report& report) {
  constexpr double kUneven = 1.1;
  return std::ranges::any_of(report.points, [](const Point& point) {
    return point.profiled && point.profiled->loop && point.profiled->loop->busiest > kUneven &&
           point.profiled->loop->together > kUneven;
  });
}

}  // namespace

std::vector<HostCause> host_causes(const HostProfile& host, bool with_threads, double peak_bytes) {
  return HostCauses(host, peak_bytes).find(with_threads);
}

std::vector<HostCause> host_causes(const Report& report) {
  if (!report.profile || !report.profile->host || (!is_of_cpu(report) && !is_of_host(report))) return {};
  const std::vector<HostMemory>& memory = report.profile->memory.host;
  std::vector<HostCause> causes =
      host_causes(*report.profile->host, is_of_host(report), memory.empty() ? 0 : memory.front().peak);
  if (is_of_host(report) || has_uneven_loop(report)) return causes;
  // Where one thread has nearly all the work, samples of the loop don't show that two threads run it.
  if (auto unequal = unequal_parallel_work(*report.profile->host)) {
    causes.push_back(*std::move(unequal));
    order_causes(causes);
  }
  return causes;
}

bool waits_for_threads(const HostProfile& host) { return HostCauses(host).waits_for_threads(); }

}  // namespace roofline
