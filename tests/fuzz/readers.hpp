// Whatever takes bytes from elsewhere, under one interface: libfuzzer.cpp and driver.cpp find the bytes.
#pragma once

#include <span>
#include <string_view>

namespace roofline::fuzz {

struct Reader {
  std::string_view name;           ///< also that of its seeds' folder in corpus/
  void (*take)(std::string_view);  ///< may refuse with an Error, and nothing else
  int mutants;                     ///< of its seeds together, in a test of a second or two
};

std::span<const Reader> readers();

/// Null where there is none of that name.
const Reader* find_reader(std::string_view name);

/// Ends the program where it takes the bytes with anything but success or an Error.
void feed(const Reader& reader, std::string_view bytes);

}  // namespace roofline::fuzz
