// Text that is made in a child process: a library that crashes there takes only the child with it.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace roofline {

/// Runs `make` in a forked child and returns its result. `make` must not take locks that other threads may hold, and
/// its side effects are lost. Rethrows its Error and bad_alloc. Throws Error if the child crashes or does not end in
/// time; the message starts with `failure` ("the chart can't be drawn").
std::string result_of_child(std::string_view failure, const std::function<std::string()>& make);

}  // namespace roofline
