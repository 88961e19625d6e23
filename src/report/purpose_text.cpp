#include "report/purpose_text.hpp"

#include <array>

namespace roofline {
namespace {

constexpr auto kPurposes = std::to_array<PurposeText>(
    {{FunctionPurpose::allocation, 0.1, "allocation", "goes to memory allocation (malloc, free)",
      "Allocate once outside the loop and reuse it: reserve() and clear(), a buffer passed in, or an arena."},
     {FunctionPurpose::copy, 0.25, "copy", "goes to memory copies (memcpy, memset)",
      "Avoid copies (references, views, moves, appending in place), and copy few large blocks instead of many "
      "small ones."},
     {FunctionPurpose::text, 0.2, "text", "goes to conversions between numbers and text",
      "Read and write binary data, or convert with std::from_chars and std::to_chars, in large blocks."},
     {FunctionPurpose::scan, 0.15, "text-scans", "goes to sscanf looking for the end of its text",
      "Each call walks the whole rest of the text: convert with strtof, strtol or std::from_chars and their end "
      "pointers, or copy one line at a time and scan that."},
     {FunctionPurpose::stream_text, 0.15, "stream-text", "goes to copying text into string streams",
      "Make one stream of the whole text and read on from it, or convert in place (std::from_chars, strtod)."},
     {FunctionPurpose::stream, 0.15, "string-streams", "goes to creating and destroying string streams",
      "Convert with std::from_chars and std::to_chars (or std::stoi), or reuse one stream (str(), clear()): each new "
      "one "
      "copies a locale."},
     {FunctionPurpose::mathematics, 0.3, "mathematics", "goes to math library functions",
      "Use vector versions (-O3 -ffast-math with glibc's libmvec), single precision, or tables. Write small powers "
      "as products."},
     {FunctionPurpose::exception, 0.1, "exceptions", "goes to throwing and catching exceptions",
      "Return expected failures as values (std::optional, error codes, std::from_chars) and throw for rare ones."},
     {FunctionPurpose::pattern, 0.1, "pattern-compilation", "goes to compiling regular expressions",
      "Compile each pattern once, outside the loop (static const std::regex, re.compile), and reuse it."},
     {FunctionPurpose::references, 0.15, "reference-counts", "goes to the reference counts of shared pointers",
      "Pass and return shared pointers by reference, or plain references if the callee keeps none; std::unique_ptr if "
      "there is one owner."},
     {FunctionPurpose::atomics, 0.15, "atomics", "goes to atomic operations",
      "Count in a local variable per thread and add it once; else spread the counters over cache lines."},
     {FunctionPurpose::clock, 0.1, "clock", "goes to reading the clock",
      "Read the clock once per batch instead of once per item."},
     {FunctionPurpose::calendar, 0.15, "calendar", "goes to converting times to dates (localtime, strftime)",
      "Convert once per second and keep the text. Set TZ (export TZ=:/etc/localtime): without it, glibc checks "
      "that file in each call."},
     {FunctionPurpose::random, 0.15, "random-numbers", "goes to random numbers of the C library, which take a lock",
      "Use one generator per thread (std::minstd_rand, xoshiro), and draw many numbers at a time."},
     {FunctionPurpose::cast, 0.1, "dynamic-cast", "goes to dynamic_cast",
      "Use a virtual function or a stored kind (enum) instead of dynamic_cast."},
     {FunctionPurpose::append, 0.2, "string-appends", "goes to strcat and strncat looking for the end of strings",
      "Keep a pointer to the end and append there (stpcpy returns it, memcpy with known lengths), or use a "
      "std::string."},
     {FunctionPurpose::length, 0.25, "string-lengths", "goes to lengths of C strings (strlen)",
      "Compute each length once, before the loop, and keep it (size_t, std::string_view): each call walks the whole "
      "string."},
     {FunctionPurpose::string, 0.25, "strings", "goes to searches and comparisons of C strings",
      "Compare numbers instead of names, and keep what was found."},
     {FunctionPurpose::hash, 0.2, "hashing", "goes to hashing keys",
      "Use a faster hash function (FxHash, ahash, XXH3) or smaller keys, and look each key up once."},
     {FunctionPurpose::ordered, 0.25, "ordered-map", "goes to walking ordered maps or sets",
      "Use a hash map (std::unordered_map) or a sorted array with binary search: each step down a tree waits for "
      "memory."},
     {FunctionPurpose::walk, 0.15, "tree-walks", "goes to algorithms that step through maps or sets entry by entry",
      "Call the member function, which descends the tree: s.lower_bound(x), s.find(x), s.count(x). For positions "
      "(std::distance, std::advance), keep a sorted std::vector."},
     {FunctionPurpose::list, 0.25, "linked-list", "goes to walking linked lists",
      "Use a std::vector: each step along a list waits for the previous one."},
     {FunctionPurpose::table, 0.5, "hash-table", "goes to walking the entries of hash tables",
      "Check the hash function: if many keys share a bucket, mix all of their bits (load_factor(), bucket_size()). "
      "Else reserve(), look each key up once, or use a flat table with open addressing."},
     {FunctionPurpose::search, 0.3, "linear-search", "goes to searches that compare entry by entry",
      "Look entries up in a hash set or map (std::unordered_set, HashSet), or keep the array sorted and use binary "
      "search (std::lower_bound, binary_search)."},
     {FunctionPurpose::position, 0.25, "positions", "goes to walking sequences from their start to a position (nth)",
      "Index instead: the bytes of a text (s.as_bytes()[i]) or a Vec<char> made once; or keep the iterator and go on "
      "from where it is."},
     {FunctionPurpose::packing, 0.15, "array-temporaries", "goes to temporary copies of array slices",
      "Pass contiguous slices (swap the dimensions), or declare the dummy argument x(:) instead of x(n); "
      "-Warray-temporaries lists the lines."}});

constexpr PurposeText kPowers = {
    FunctionPurpose::mathematics, 0.3, "mathematics", "goes to pow and other math library functions",
    "Write powers with constant exponents as products and roots: x * sqrt(x) for x**1.5, x * x * x for x**3 "
    "(-ffast-math "
    "does so). Else use vector versions (-O3 -ffast-math with glibc's libmvec), or tables."};

}  // namespace

std::span<const PurposeText> purpose_texts() { return kPurposes; }

const PurposeText& power_text() { return kPowers; }

}  // namespace roofline
