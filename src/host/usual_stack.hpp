// Room on the stack under any limit.
#pragma once

#include <functional>

namespace roofline {

/// Runs `work` on 8 MiB of stack if the limit is lower (ulimit -s 64), and gives threads the same; -1 if memory is
/// insufficient.
int with_usual_stack(const std::function<int()>& work);

}  // namespace roofline
