// What to say about the system call in which a program spends its kernel time.
#pragma once

#include <string_view>

namespace roofline {

/// A system call, or what it is made for.
struct SystemCallText {
  std::string_view name;  ///< "system calls, mostly" this
  std::string_view action;
};

/// Of a call as StackUse names it, "flush" or "localtime". The name may refer to `call`.
SystemCallText system_call_text(std::string_view call);

}  // namespace roofline
