// The system calls in which a program spends its kernel time, and what to say about those with most of it.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "report/host_cause_text.hpp"
#include "report/stack_use.hpp"

namespace roofline {

/// A system call, or what it is made for.
struct SystemCallText {
  std::string name;  ///< "system calls, mostly" this
  std::string action;
};

class SystemCalls {
 public:
  /// A running thread that makes a system call, or flushes a stream.
  void add(const StackUse& use, double seconds);

  /// Of all calls that samples show.
  double seconds() const;

  /// Of the calls with most time; there are some.
  struct Most {
    SystemCallText text;
    std::string line;
  };
  Most most() const;

  /// Opening and closing files, with what streams do for each file.
  struct Opens {
    double share = 0;  ///< of all calls that samples show
    std::string line;  ///< that opens most
  };
  /// std::nullopt where the other calls take more time.
  std::optional<Opens> opens() const;

 private:
  std::map<std::string, ByLine> calls_;  ///< by call, or what it is made for
  ByLine opens_, closes_;
  double seek_reads_s_ = 0;  ///< seeks that read or write themselves
};

/// Of a call, "flush", "localtime", "fill" (of a stream's buffer), "seek" (of a stream) or "discard" (by such a seek).
SystemCallText system_call_text(std::string_view call);

}  // namespace roofline
