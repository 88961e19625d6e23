// The fleet's own reader of JSON beside nlohmann's: what it tells, what it refuses, and from which byte on.
#include "fleet/json_scan.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "host/files.hpp"
#include "model/error.hpp"
#include "tests/fuzz/mutate.hpp"

namespace roofline {
namespace {

namespace fs = std::filesystem;

/// Every third member or so is not wanted.
bool wants(std::string_view key, int every) {
  return every == 0 || std::hash<std::string_view>()(key) % static_cast<unsigned>(every) != 0;
}

struct Told : JsonTaker {
  explicit Told(int unwanted) : every(unwanted) {}
  bool key(std::string_view name) override {
    events += fmt::format("key {}\n", name);
    return wants(name, every);
  }
  void open(bool object) override { events += object ? "{\n" : "[\n"; }
  void close(bool object) override { events += object ? "}\n" : "]\n"; }
  void number(double value) override { events += fmt::format("{:a}\n", value == 0 ? 0 : value); }
  void text(std::string_view value) override { events += fmt::format("text {}\n", value); }
  void truth(bool value) override { events += value ? "true\n" : "false\n"; }

  int every;
  std::string events;
};

/// What nlohmann's parser says to the same.
struct Expected {
  Expected(int unwanted, std::size_t bytes) : told(unwanted), size(bytes) {}
  bool null() { return ended(); }
  bool boolean(bool value) {
    return tell([&] { told.truth(value); });
  }
  bool number_integer(std::int64_t value) { return number_float(static_cast<double>(value), {}); }
  bool number_unsigned(std::uint64_t value) { return number_float(static_cast<double>(value), {}); }
  bool number_float(double value, const std::string&) {
    return tell([&] { told.number(value); });
  }
  bool string(std::string& value) {
    return tell([&] { told.text(value); });
  }
  bool binary(nlohmann::json::binary_t&) { return false; }
  bool key(std::string& name) {
    if (untold < 0 && !told.key(name)) untold = depth;
    return true;
  }
  bool start_object(std::size_t) { return begin(true); }
  bool start_array(std::size_t) { return begin(false); }
  bool end_object() { return end(true); }
  bool end_array() { return end(false); }
  bool parse_error(std::size_t at, const std::string&, const nlohmann::json::exception&) {
    told.events += at >= size ? "is truncated" : fmt::format("is not JSON from byte {} on", at);
    return false;
  }

  template <class Tell>
  bool tell(Tell what) {
    if (untold < 0) what();
    return ended();
  }
  bool ended() {
    if (untold == depth) untold = -1;
    return true;
  }
  bool begin(bool object) {
    if (untold < 0) told.open(object);
    ++depth;
    return true;
  }
  bool end(bool object) {
    --depth;
    if (untold < 0) told.close(object);
    return ended();
  }

  Told told;
  std::size_t size;
  int depth = 0, untold = -1;
};

/// Whether it was refused.
bool compare(const std::string& document, int every, const std::string& what) {
  Expected expected(every, document.size());
  const bool whole = nlohmann::json::sax_parse(document, &expected);
  Told told(every);
  try {
    scan_json(document, told);
  } catch (const UsageError& error) {
    told.events += error.what();
  }
  EXPECT_TRUE(told.events == expected.told.events)
      << what << ", " << told.events.substr(told.events.size() - std::min<std::size_t>(told.events.size(), 200))
      << "\nexpected "
      << expected.told.events.substr(expected.told.events.size() -
                                     std::min<std::size_t>(expected.told.events.size(), 200));
  return !whole;
}

TEST(JsonScan, TellsAndRefusesWhatNlohmannDoes) {
  const std::vector<std::string> documents = {
      "null", " true ", "[]", "{}", "[[],{},[{}]]", R"({"a": 1, "b": [1, 2, {"c": null}], "d": {"e": {}}})", "\"\"",
      // Numbers
      "0", "-0", "-0.0", "1.5e3", "1E-3", "1e400", "-1e400", "1e-400", "01", "1.", ".5", "+1", "-", "1e", "1e+", "--1",
      "18446744073709551616", "9007199254740993", "0.1", "123456789012345678901234567890", "5e-324", "1e308",
      std::string(400, '9'), std::string(300, '9'), "[1e400]", "[1 2]", "[1,]", "[,1]", "1.0.0", "0x10", "NaN",
      "Infinity",
      // Texts
      R"("\"\\\/\b\f\n\r\t")", R"("\u0041\u00e9\u20ac\ud83d\ude00")", R"("\ud83d")", R"("\ude00")", R"("\ud83dx")",
      R"("\ud83d\n")", R"("\ud83dA")", R"("\u12g4")", R"("\u12")", R"("\x")", "\"\\", "\"abc", "\"a\nb\"", "\"\x7f\"",
      std::string("\"a\0b\"", 5), "\"long enough for more than one step, and é then\"", "\"é\"", "\"€\"", "\"😀\"",
      "\"\xc3\"", "\"\xc0\x80\"", "\"\xe0\x80\x80\"", "\"\xed\xa0\x80\"", "\"\xf0\x80\x80\x80\"",
      "\"\xf4\x90\x80\x80\"", "\"\xf5\"", "\"\xff\"", "\"\xe2\x82\"", "\"0123456789abcde\\u00e9f0123456789abcdef\"",
      R"({"\u0061": "\u0062", "\u0063": 1})",
      // Words, and what stands where it must not
      "tru", "trux", "nul", "falsey", "nulls", "{", "}", "[", "]", ":", ",", "", " ", "{\"a\"}", "{\"a\":}",
      "{\"a\" 1}", "{\"a\":1,}", "{a:1}", "{1:2}", "{\"a\":1 \"b\":2}", "{\"a\":1]", "[1}", "[1]]", "{} {}", "{}x",
      "{}\x01", "[\"a\" \"b\"]", "{\"a\":1 1e400}", "[true false]", "\x01{}", "/* */ {}",
      // A mark before it, zeros behind it
      "\xef\xbb\xbf{}", "\xef\xbb{}", "\xef", std::string("{}\0\0", 4), std::string("{\0}", 3), std::string("\0", 1),
      // Blanks of every length around the width of a step
      "[1,\n" + std::string(15, ' ') + "2,\r\n" + std::string(16, ' ') + "3,\t" + std::string(40, ' ') + "4\n]\n",
      "[1,\v2]",
      "[1,\xc2\xa0"
      "2]"};
  for (const std::string& document : documents) {
    for (const int every : {0, 1}) compare(document, every, document);
  }
}

TEST(JsonScan, IsNotTroubledByDepth) {
  constexpr std::size_t kDepth = 1'000'000;
  EXPECT_FALSE(compare(std::string(kDepth, '[') + std::string(kDepth, ']'), 0, "deep"));
  EXPECT_TRUE(compare(std::string(kDepth, '['), 0, "deep and open"));
}

TEST(JsonScan, ReadsFilesOfAllVersionsAndTheirMutantsAsNlohmannDoes) {
  int whole = 0, refused = 0;
  std::mt19937 random(3);
  for (const auto& entry : fs::directory_iterator(fs::path(ROOFLINE_SOURCE_DIR) / "tests" / "corpus")) {
    if (entry.path().extension() != ".json") continue;
    const std::string document = read_file(entry.path());
    const std::string name = entry.path().filename().string();
    for (const int every : {0, 1, 3}) compare(document, every, name);
    for (int i = 0; i < 40; ++i) {
      const std::string mutant = fuzz::mutated(document, random);
      (compare(mutant, i % 4, fmt::format("mutant {} of {}", i, name)) ? refused : whole) += 1;
    }
  }
  EXPECT_GT(whole, 20);
  EXPECT_GT(refused, 100);
}

}  // namespace
}  // namespace roofline
