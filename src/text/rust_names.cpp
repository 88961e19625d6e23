#include "text/rust_names.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "text/parts.hpp"

namespace roofline {
namespace {

constexpr int kDeepest = 64;

std::string joined(std::string_view before, std::string_view of, std::string_view after = {}) {
  std::string text(before);
  text += of;
  text += after;
  return text;
}

std::string_view basic_type(char letter) {
  static constexpr std::string_view kLetters = "abcdefhijlmnopstuvxyz";
  static constexpr auto kNames = std::to_array<std::string_view>(
      {"i8",   "bool", "char", "f64", "str", "f32", "u8",  "isize", "usize", "i32", "u32",
       "i128", "u128", "_",    "i16", "u16", "()",  "...", "i64",   "u64",   "!"});
  const std::size_t at = kLetters.find(letter);
  return at == std::string_view::npos ? std::string_view() : kNames[at];
}

/// https://doc.rust-lang.org/rustc/symbol-mangling/v0.html. Generic arguments are read and left out.
class V0Reader {
 public:
  explicit V0Reader(std::string_view symbol) : symbol_(symbol) {}

  std::string path(int depth = 0) {
    if (depth > kDeepest) return fail();
    switch (next()) {
      case 'C':
        return identifier();
      case 'M':
        skip_impl(depth);
        return type(depth + 1);
      case 'X': {
        skip_impl(depth);
        std::string of = type(depth + 1);
        path(depth + 1);
        return of;
      }
      case 'Y': {
        std::string of = type(depth + 1);
        path(depth + 1);
        return of;
      }
      case 'N': {
        const char space = next();
        const std::string outer = path(depth + 1);
        std::string name = identifier();
        if (space == 'C') name = "{closure}";
        return name.empty() ? outer : joined(outer, "::", name);
      }
      case 'I': {
        std::string of = path(depth + 1);
        while (good_ && !take('E')) argument(depth + 1);
        return of;
      }
      case 'B':
        return repeated([&] { return path(depth + 1); });
      default:
        return fail();
    }
  }

  bool good() const { return good_; }

 private:
  std::string fail() {
    good_ = false;
    return {};
  }

  char next() {
    if (at_ < symbol_.size()) return symbol_[at_++];
    good_ = false;
    return '\0';
  }
  char peek() const { return at_ < symbol_.size() ? symbol_[at_] : '\0'; }
  bool take(char letter) {
    if (peek() != letter) return false;
    ++at_;
    return true;
  }

  std::uint64_t base62() {
    if (take('_')) return 0;
    std::uint64_t value = 0;
    constexpr std::uint64_t kBase = 62, kDecimal = 10, kLetters = 26;
    for (char letter = next(); good_ && letter != '_'; letter = next()) {
      const std::uint64_t digit = is_digit(letter) ? static_cast<std::uint64_t>(letter - '0')
                                  : letter >= 'a' && letter <= 'z'
                                      ? kDecimal + static_cast<std::uint64_t>(letter - 'a')
                                      : kDecimal + kLetters + static_cast<std::uint64_t>(letter - 'A');
      value = value * kBase + digit;
    }
    return value + 1;
  }

  std::string identifier() {
    if (take('s')) base62();
    take('u');
    std::size_t length = 0;
    constexpr std::size_t kBase = 10;
    while (is_digit(peek()) && length < symbol_.size())
      length = length * kBase + static_cast<std::size_t>(next() - '0');
    take('_');
    if (length > symbol_.size() - at_) return fail();
    at_ += length;
    return std::string(symbol_.substr(at_ - length, length));
  }

  void skip_impl(int depth) {
    if (take('s')) base62();
    path(depth + 1);
  }

  void skip_lifetime() {
    if (take('L')) base62();
  }

  void skip_binder() {
    if (take('G')) base62();
  }

  template <typename Read>
  std::string repeated(const Read& read) {
    const std::size_t before = at_ - 1;
    const std::uint64_t start = base62();
    if (!good_ || start >= before) return fail();
    const std::size_t after = std::exchange(at_, static_cast<std::size_t>(start));
    std::string of = read();
    at_ = after;
    return of;
  }

  void argument(int depth) {
    if (peek() == 'L') return skip_lifetime();
    if (take('K')) return constant(depth);
    type(depth);
  }

  void constant(int depth) {
    if (depth > kDeepest) {
      fail();
    } else if (take('B')) {
      repeated([&] {
        constant(depth + 1);
        return std::string();
      });
    } else if (!take('p')) {
      type(depth + 1);
      take('n');
      while (good_ && next() != '_') {
      }
    }
  }

  std::string type(int depth) {
    if (depth > kDeepest) return fail();
    if (const std::string_view basic = basic_type(peek()); !basic.empty()) {
      ++at_;
      return std::string(basic);
    }
    switch (peek()) {
      case 'A': {
        ++at_;
        std::string of = joined("[", type(depth + 1), "]");
        constant(depth + 1);
        return of;
      }
      case 'S':
        ++at_;
        return joined("[", type(depth + 1), "]");
      case 'R':
      case 'Q':
        ++at_;
        skip_lifetime();
        return joined("&", type(depth + 1));
      case 'P':
      case 'O':
        ++at_;
        return joined("*", type(depth + 1));
      case 'T': {
        ++at_;
        while (good_ && !take('E')) type(depth + 1);
        return "(..)";
      }
      case 'F':
        return function(depth);
      case 'D':
        return trait_object(depth);
      case 'B':
        ++at_;
        return repeated([&] { return type(depth + 1); });
      default:
        return path(depth + 1);
    }
  }

  std::string function(int depth) {
    ++at_;
    skip_binder();
    take('U');
    if (take('K') && !take('C')) identifier();
    while (good_ && !take('E')) type(depth + 1);
    type(depth + 1);
    return "fn";
  }

  std::string trait_object(int depth) {
    ++at_;
    skip_binder();
    std::string of = "dyn";
    while (good_ && !take('E')) {
      of = joined("dyn ", path(depth + 1));
      while (take('p')) {
        identifier();
        type(depth + 1);
      }
    }
    skip_lifetime();
    return of;
  }

  std::string_view symbol_;
  std::size_t at_ = 0;
  bool good_ = true;
};

}  // namespace

std::string demangled_rust(std::string_view symbol) {
  constexpr std::string_view kBegins = "_R";
  if (!symbol.starts_with(kBegins)) return {};
  V0Reader reader(symbol.substr(kBegins.size()));
  std::string name = reader.path();
  return reader.good() ? name : std::string();
}

std::string without_rust_escapes(std::string_view name) {
  static constexpr auto kEscapes = std::to_array<std::pair<std::string_view, std::string_view>>({{"_$LT$", "<"},
                                                                                                 {"$LT$", "<"},
                                                                                                 {"$GT$", ">"},
                                                                                                 {"$RF$", "&"},
                                                                                                 {"$BP$", "*"},
                                                                                                 {"$LP$", "("},
                                                                                                 {"$RP$", ")"},
                                                                                                 {"$C$", ","},
                                                                                                 {"$u20$", " "},
                                                                                                 {"$u7b$", "{"},
                                                                                                 {"$u7d$", "}"},
                                                                                                 {"$u27$", "'"},
                                                                                                 {"$u5b$", "["},
                                                                                                 {"$u5d$", "]"},
                                                                                                 {"$u3b$", ";"},
                                                                                                 {"$u2b$", "+"},
                                                                                                 {"..", "::"}});
  std::string text;
  while (!name.empty()) {
    const auto escape = std::ranges::find_if(kEscapes, [&](const auto& of) { return name.starts_with(of.first); });
    text += escape == kEscapes.end() ? name.substr(0, 1) : escape->second;
    name.remove_prefix(escape == kEscapes.end() ? 1 : escape->first.size());
  }
  return text;
}

std::string_view rust_crate(std::string_view symbol) {
  if (symbol.starts_with("_R")) {
    // The first crate of the path: "Cs" with a number and "_", and its length and name.
    const std::size_t root = symbol.find("Cs");
    const std::size_t end = root == std::string_view::npos ? root : symbol.find('_', root);
    if (end == std::string_view::npos || end + 2 > symbol.size() || !is_digit(symbol[end + 1])) return {};
    if (end + 2 < symbol.size() && is_digit(symbol[end + 2])) return {};
    return symbol.substr(end + 2, static_cast<std::size_t>(symbol[end + 1] - '0'));
  }
  constexpr std::string_view kBegins = "_ZN", kHash = "17h";
  constexpr std::size_t kHashEnd = 20;  // "17h", 16 digits and "E"
  if (!symbol.starts_with(kBegins) || symbol.size() < kHashEnd + kBegins.size() + 2) return {};
  if (symbol.substr(symbol.size() - kHashEnd, kHash.size()) != kHash || !is_digit(symbol[kBegins.size()])) return {};
  return symbol.substr(kBegins.size() + 1, static_cast<std::size_t>(symbol[kBegins.size()] - '0'));
}

}  // namespace roofline
