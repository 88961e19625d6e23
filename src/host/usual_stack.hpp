// Room on the stack under any limit.
#pragma once

#include <functional>

namespace roofline {

/// Runs `work` on 8 MiB of stack where the limit is lower (ulimit -s 64), and gives threads as much; -1 if there is no
/// memory for it.
int with_usual_stack(const std::function<int()>& work);

}  // namespace roofline
