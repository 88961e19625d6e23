// What a library function does for the program that calls it, by its name.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "sample/host_samples.hpp"

namespace roofline {

enum class FunctionPurpose : std::uint8_t {
  none,
  allocation,
  copy,
  text,         ///< conversion between numbers and text
  scan,         ///< sscanf: conversion of text in memory, whose end each call looks for
  stream,       ///< creation and destruction of string streams
  stream_text,  ///< copies of text into string streams
  mathematics,
  exception,   ///< throwing and catching
  pattern,     ///< compilation of regular expressions
  references,  ///< reference counts of shared pointers
  atomics,
  clock,
  calendar,  ///< dates of times: localtime, strftime
  random,
  cast,    ///< dynamic_cast
  length,  ///< of C strings
  append,  ///< to C strings, whose end each call looks for
  string,  ///< search and comparison of C strings
  hash,
  ordered,   ///< ordered maps and sets (trees)
  walk,      ///< algorithms that step through these entry by entry: std::lower_bound of their iterators
  list,      ///< linked lists
  table,     ///< hash tables
  search,    ///< of a list or an array, entry by entry
  position,  ///< of a sequence that has to be walked from its start: Rust's chars().nth(i)
  sort,
  packing,   ///< Fortran's copies of slices that are not contiguous
  dispatch,  ///< of OpenMP: a thread's next iterations
  mutex,
  condition,
  join,
  team,  ///< OpenMP's and TBB's threads that wait for work or at a barrier, also spinning
};
FunctionPurpose purpose_of(const HostFrame& frame);

/// Containers do other work on behalf of the program: an allocation in them is an allocation.
bool is_container(FunctionPurpose purpose);

/// What a function of the C library asks the kernel for: "read", "fsync"; empty where it asks for nothing.
std::string_view system_call_of(const HostFrame& frame);

/// "Offer::Offer(Offer const&)": copies an object.
bool is_copy_constructor(std::string_view demangled);
/// It copies, assigns or destroys an object: compilers write them at the line of the class.
bool copies_or_destroys(std::string_view demangled);

/// Whether it opens a file for a stream, or its buffer: fopen, std::ifstream::open.
bool opens_stream(const HostFrame& frame);
/// Whether it closes the file of a stream, and writes the rest of its buffer.
bool closes_stream(const HostFrame& frame);
/// Whether it raises a number to a power.
bool is_power(const HostFrame& frame);

/// Whether it writes what a stream has buffered: fflush, std::endl.
bool is_flush(const HostFrame& frame);
/// Whether it changes the position of a stream: fseek, std::istream::seekg.
bool is_seek(const HostFrame& frame);
/// Whether it reads to fill the buffer of a stream.
bool fills_buffer(const HostFrame& frame);

/// "std::map::find" of "std::map<int, double>::find(int const&) const": without return type, template arguments,
/// parameters and inline namespaces.
std::string qualified_name(std::string_view demangled);

}  // namespace roofline
