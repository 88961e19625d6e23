// Text that is made in a child process: a library that crashes there takes only the child with it.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace roofline {

/// What `make` returns, run in a forked child: it must take no lock that another thread may hold, and what it changes
/// is lost. Its Error and bad_alloc are thrown here. Throws Error where the child crashes or does not end in time;
/// `failure` begins the message ("the chart can't be drawn").
std::string result_of_child(std::string_view failure, const std::function<std::string()>& make);

}  // namespace roofline
