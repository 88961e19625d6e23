// Library search path of the loader: never the working folder.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace roofline {

/// LD_LIBRARY_PATH without the entries that mean the working folder or one below it: "", ".", "lib". std::nullopt if
/// there is none of them.
std::optional<std::string> without_relative_folders(std::string_view library_path);

/// Restarts this program with the same arguments where LD_LIBRARY_PATH has such entries: the loader has read it
/// before main. Returns where it has none. Programs that are started later get what the user had set
/// (user_library_path).
void leave_relative_library_folders(char** argv);

/// The original LD_LIBRARY_PATH; std::nullopt if it was not changed.
std::optional<std::string> user_library_path();

}  // namespace roofline
