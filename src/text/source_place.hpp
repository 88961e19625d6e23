// Parts of a place in a program's source, as reports write it: "train.py:31 Loader.next".
#pragma once

#include <string>
#include <string_view>

namespace roofline {

/// "train.py:31".
std::string_view line_of_place(std::string_view place);

/// "next" of "Loader.next".
std::string_view without_class(std::string_view function);

/// "train.py next": file and function without the class, which samples have and recorded calls do not.
std::string function_of_place(std::string_view place);

}  // namespace roofline
