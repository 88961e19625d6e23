// Launches that a table of ncu has twice, because a file was appended to itself or to another one without its header.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace roofline {

/// IDs of launches; a key is an ID with its process.
class NcuRepeats {
 public:
  /// False if a row of this key and of the same content was there before.
  bool is_new(const std::string& key, const std::vector<std::string>& fields);
  /// A launch with the ID of another one.
  void add_reused_id() { ++reused_ids_; }
  std::vector<std::string> notes() const;

 private:
  std::map<std::string, std::size_t> contents_;
  std::int64_t repeated_ = 0, reused_ids_ = 0;
};

}  // namespace roofline
