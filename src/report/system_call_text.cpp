#include "report/system_call_text.hpp"

#include <algorithm>
#include <array>

#include "model/find.hpp"
#include "text/parts.hpp"

namespace roofline {
namespace {

/// What a system call is made for, if that decides what to do about it; else the call.
std::string call_of(const StackUse& use) {
  if (use.flush) return "flush";
  if (use.seek) return "seek";
  if (use.fill) return "fill";
  return use.purpose == FunctionPurpose::calendar ? "localtime" : std::string(use.system_call);
}

}  // namespace

void SystemCalls::add(const StackUse& use, double seconds) {
  calls_[call_of(use)][use.line] += seconds;
  if (use.opens || use.system_call == "open" || use.system_call == "openat")
    opens_[use.line] += seconds;
  else if (use.closes || use.system_call == "close")
    closes_[use.line] += seconds;
  if (use.seek && use.system_call != "lseek") seek_reads_s_ += seconds;
}

double SystemCalls::seconds() const {
  double sum = 0;
  for (const auto& [call, lines] : calls_) sum += sum_of(lines);
  return sum;
}

/// Each piece has both: a file that is opened once takes no time.
std::optional<SystemCalls::Opens> SystemCalls::opens() const {
  constexpr double kMostly = 0.5, kBoth = 0.1;
  const double opens_s = sum_of(opens_), closes_s = sum_of(closes_), both_s = opens_s + closes_s;
  if (both_s < kMostly * seconds() || std::min(opens_s, closes_s) < kBoth * both_s || both_s == 0) return std::nullopt;
  return Opens{both_s / seconds(), key_of_largest(opens_)};
}

/// Reads that fill the buffers of streams belong to the seeks that discarded them, where there are nearly as many
/// seeks: a read of a buffer takes about ten times as long.
SystemCalls::Most SystemCalls::most() const {
  constexpr double kOften = 0.08;
  std::map<std::string, ByLine> calls = calls_;
  const double seeks_s = sum_of(calls["seek"]), fills_s = sum_of(calls["fill"]);
  if (seeks_s > 0 && seeks_s >= kOften * fills_s) {
    const std::string line = key_of_largest(calls["seek"]);
    const bool discard = fills_s + seek_reads_s_ >= seeks_s - seek_reads_s_;
    calls.erase("seek");
    calls.erase("fill");
    calls[discard ? "discard" : "seek"][line] = seeks_s + fills_s;
  }
  const auto most = std::ranges::max_element(calls, {}, [](const auto& entry) { return sum_of(entry.second); });
  return {system_call_text(most->first), key_of_largest(most->second)};
}

SystemCallText system_call_text(std::string_view call) {
  static constexpr auto kReads = std::to_array<std::string_view>({"read", "pread", "recv"});
  static constexpr auto kWrites = std::to_array<std::string_view>({"write", "pwrite", "send"});
  if (call == "flush") {
    return {"write, for streams that are flushed",
            "Flush once at the end: write '\\n' instead of std::endl, and do not call flush() in a loop."};
  }
  if (call == "localtime") {
    return {"of localtime, which looks for the time zone's file each time",
            "Set TZ (export TZ=:/etc/localtime), or convert once per second and keep the text."};
  }
  if (call == "fill") {
    return {"read, which fills the buffers of streams",
            "Give streams larger buffers (setvbuf, pubsetbuf, open(…, buffering=1 << 20)), or map the file (mmap)."};
  }
  if (call == "seek" || call == "discard") {
    return {call == "seek" ? "lseek, for seeks of streams" : "for seeks, each of which discards a stream's buffer",
            "Seek only where the position changes (keep it in a variable), or read the whole range at once (pread, "
            "mmap)."};
  }
  if (starts_with_any(call, kReads)) {
    return {std::string(call),
            "Read 64 KiB or more at a time into a buffer (fread, std::ifstream, BufReader), or map the file."};
  }
  if (starts_with_any(call, kWrites)) {
    return {std::string(call),
            "Collect output in a buffer of 64 KiB or more (setvbuf, std::ofstream, BufWriter) and write it at once."};
  }
  return {std::string(call), "Make fewer and larger calls; `strace -c -f` counts them."};
}

}  // namespace roofline
