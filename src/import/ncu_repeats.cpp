#include "import/ncu_repeats.hpp"

#include <fmt/format.h>

#include <functional>

#include "text/format.hpp"

namespace roofline {

bool NcuRepeats::is_new(const std::string& key, const std::vector<std::string>& fields) {
  const std::size_t content = std::hash<std::string>{}(fmt::format("{}", fmt::join(fields, "\x1f")));
  const auto [found, is_new] = contents_.try_emplace(key, content);
  if (is_new) return true;
  const bool repeats = found->second == content;
  ++(repeats ? repeated_ : reused_ids_);
  return !repeats;
}

std::vector<std::string> NcuRepeats::notes() const {
  std::vector<std::string> notes;
  if (repeated_ > 0) {
    notes.push_back(counted_noun(repeated_, "row repeats another launch and was left out",
                                 "rows repeat other launches and were left out"));
  }
  if (reused_ids_ > 0) {
    notes.push_back(counted_noun(reused_ids_, "launch has the ID of another one with other values, and was added to it",
                                 "launches have the IDs of others with other values, and were added to them"));
  }
  return notes;
}

}  // namespace roofline
