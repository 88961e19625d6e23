#include "sample/proc_text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <set>

namespace roofline {
namespace {

/// Takes words off the front of a text.
class Words {
 public:
  explicit Words(std::string_view text) : text_(text) {}

  std::string_view next() {
    const std::size_t begin = text_.find_first_not_of(" \t\n");
    if (begin == std::string_view::npos) {
      text_ = {};
      return {};
    }
    text_.remove_prefix(begin);
    const std::string_view word = text_.substr(0, text_.find_first_of(" \t\n"));
    text_.remove_prefix(word.size());
    return word;
  }
  std::string_view rest() const { return text_; }

 private:
  std::string_view text_;
};

template <typename Number>
bool read_number(std::string_view word, Number& number, int base = 10) {
  if (base == 16 && word.starts_with("0x")) word.remove_prefix(2);
  const auto [end, failure] = std::from_chars(word.data(), word.data() + word.size(), number, base);
  return failure == std::errc() && end == word.data() + word.size();
}

std::optional<Mapping> parse_mapping(std::string_view line) {
  Words words(line);
  Mapping mapping;
  const std::string_view range = words.next(), rights = words.next(), offset = words.next(), device = words.next(),
                         inode = words.next();
  const std::size_t dash = range.find('-'), colon = device.find(':');
  std::uint64_t major = 0, minor = 0;
  if (dash == std::string_view::npos || colon == std::string_view::npos || rights.size() < 3) return std::nullopt;
  if (!read_number(range.substr(0, dash), mapping.start, 16) || !read_number(range.substr(dash + 1), mapping.end, 16) ||
      !read_number(offset, mapping.offset, 16) || !read_number(device.substr(0, colon), major, 16) ||
      !read_number(device.substr(colon + 1), minor, 16) || !read_number(inode, mapping.inode)) {
    return std::nullopt;
  }
  mapping.executable = rights[2] == 'x';
  constexpr unsigned kMinorBits = 32;
  mapping.device = major << kMinorBits | minor;
  std::string_view path = words.rest();
  path.remove_prefix(std::min(path.size(), path.find_first_not_of(' ')));
  mapping.path = path;
  return mapping;
}

}  // namespace

std::optional<ThreadStat> parse_thread_stat(std::string_view text) {
  // The name is in parentheses and may hold some itself.
  const std::size_t open = text.find('('), close = text.rfind(')');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) return std::nullopt;
  ThreadStat stat;
  stat.name = text.substr(open + 1, close - open - 1);
  Words words(text.substr(close + 1));
  const std::string_view state = words.next();
  if (!read_number(Words(text.substr(0, open)).next(), stat.id) || state.size() != 1) return std::nullopt;
  stat.state = state.front();
  if (!read_number(words.next(), stat.parent)) return std::nullopt;
  constexpr int kBetween = 17;  // from the parent's id to the start time
  for (int i = 0; i < kBetween; ++i) words.next();
  if (!read_number(words.next(), stat.start)) return std::nullopt;
  return stat;
}

std::optional<ThreadTimes> parse_thread_times(std::string_view text) {
  Words words(text);
  ThreadTimes times;
  if (!read_number(words.next(), times.cpu) || !read_number(words.next(), times.waited) ||
      !read_number(words.next(), times.turns)) {
    return std::nullopt;
  }
  return times;
}

std::optional<BlockedCall> parse_blocked_call(std::string_view text) {
  Words words(text);
  BlockedCall call;
  const std::string_view first = words.next();
  if (first == "running") {
    call.running = true;
    return call;
  }
  if (!read_number(first, call.number)) return std::nullopt;
  if (call.number >= 0) {
    for (std::uint64_t& argument : call.arguments) {
      if (!read_number(words.next(), argument, 16)) return std::nullopt;
    }
  }
  if (!read_number(words.next(), call.stack_pointer, 16) || !read_number(words.next(), call.program_counter, 16)) {
    return std::nullopt;
  }
  return call;
}

std::vector<std::int64_t> parse_ids(std::string_view text) {
  std::vector<std::int64_t> ids;
  Words words(text);
  std::int64_t id = 0;
  while (read_number(words.next(), id)) ids.push_back(id);
  return ids;
}

std::vector<int> parse_epoll_targets(std::string_view text) {
  constexpr std::string_view kKey = "tfd:";
  constexpr std::size_t kMost = 1024;
  std::vector<int> targets;
  for (std::size_t at = text.find(kKey); at != std::string_view::npos && targets.size() < kMost;
       at = text.find(kKey, at + 1)) {
    int target = 0;
    if (read_number(Words(text.substr(at + kKey.size())).next(), target)) targets.push_back(target);
  }
  return targets;
}

bool serves_requests(std::string_view table, std::uint64_t inode) {
  constexpr std::string_view kListens = "0A";
  constexpr int kPort = 1, kState = 3, kInode = 9;  // words of a line
  std::set<std::string_view> listening;
  std::optional<std::string_view> own;
  while (!table.empty()) {
    const std::string_view line = table.substr(0, table.find('\n'));
    table.remove_prefix(std::min(table.size(), line.size() + 1));
    Words words(line);
    std::array<std::string_view, kInode + 1> fields = {};
    for (std::string_view& field : fields) field = words.next();
    const std::size_t colon = fields[kPort].rfind(':');
    std::uint64_t number = 0;
    if (colon == std::string_view::npos || !read_number(fields[kInode], number)) continue;
    const std::string_view port = fields[kPort].substr(colon + 1);
    if (fields[kState] == kListens) listening.insert(port);
    if (number == inode) own = port;
  }
  return own && listening.contains(*own);
}

std::vector<Mapping> parse_mappings(std::string_view text) {
  std::vector<Mapping> mappings;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (std::optional<Mapping> mapping = parse_mapping(line)) mappings.push_back(std::move(*mapping));
  }
  return mappings;
}

}  // namespace roofline
