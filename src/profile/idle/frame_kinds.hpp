// Questions about single frames of a stack.
#pragma once

#include <string_view>

#include "sample/host_samples.hpp"
#include "text/source_place.hpp"
#include "text/text.hpp"

namespace roofline {

/// A function without its class: "get" of "Queue.get", which interpreters from 3.11 on give.
inline std::string_view plain_function(const HostFrame& frame) { return without_class(frame.function); }

/// Code of the program. The injected library lies in a folder of the user, as the program does.
inline bool is_own(const HostFrame& frame) {
  return frame.own && !contains_any(frame.file, {"libroofline_inject", "<shim>"});
}

/// In PyTorch's data loader.
inline bool in_loader(const HostFrame& frame) { return contains_any(frame.file, {"torch/utils/data/"}); }

}  // namespace roofline
