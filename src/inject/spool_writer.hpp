// The process's spool: records gathered in memory, handed to the system by the thread that calls flush().
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "inject/spool.hpp"
#include "inject/spool_file.hpp"

namespace roofline::inject {

class SpoolWriter {
 public:
  SpoolWriter();

  /// False: the file can't be made. What was written before is kept for it.
  bool open(const std::string& path, std::uint64_t limit);

  template <typename Record>
  void write(spool::Type type, const Record& record, std::string_view tail = {}) {
    static_assert(sizeof(Record) % 8 == 0);
    append(type, &record, sizeof(Record), tail);
  }

  /// Before all that was written until now.
  template <typename Record>
  void write_first(spool::Type type, const Record& record, std::string_view tail) {
    static_assert(sizeof(Record) % 8 == 0);
    put_first(type, &record, sizeof(Record), tail);
  }

  /// Ids of texts and other named records, which are written before their ids are returned. An empty text is 0.
  spool::Id text(std::string_view text);
  /// Siblings that differ only in their digits ("step 17"): the first 64 are kept separate.
  spool::Id range(spool::Id parent, std::string_view name, spool::Id domain);
  spool::Id line(std::string_view file, std::string_view function, std::uint32_t number);
  spool::Id code_file(std::string_view path, std::string_view build_id);
  spool::Id code(spool::Id file, std::uint64_t address);
  /// place.id is ignored.
  spool::Id place(const spool::Place& place);
  /// The first place that differs from this one in nothing but numbers: of another layer, or another step's range.
  spool::Id place_of_any_block(spool::Id place);

  void note(spool::NoteCode code, std::string_view text);

  /// Gives the system all that was written so far. False: it takes no more.
  bool flush();
  /// `observer` is called with all records that flush() writes, in the thread that calls it. Before the first flush().
  void observe(std::function<void(std::string_view records)> observer) { observer_ = std::move(observer); }

  /// Several records of one type, under one lock: a vector or a span.
  template <typename Records>
  void write_all(spool::Type type, const Records& records) {
    constexpr std::size_t kSize = sizeof(typename Records::value_type);
    static_assert(kSize % 8 == 0);
    append_all(type, records.data(), kSize, records.size());
  }

  /// Called in a child of fork(), which must not keep the parent's recording open. Takes no lock.
  void abandon() { file_.close(); }

  /// True if the file has reached its limit or the system's, or its descriptor was reused: from then on only notes and
  /// tallies are written.
  bool full() const { return full_; }

 private:
  /// That many zeros at the end of the buffer, for records of one type; nullptr: full.
  char* extend_locked(spool::Type type, std::size_t bytes);
  void append(spool::Type type, const void* record, std::size_t size, std::string_view tail);
  void append_all(spool::Type type, const void* records, std::size_t size, std::size_t count);
  void put_first(spool::Type type, const void* record, std::size_t size, std::string_view tail);
  spool::Id text_locked(std::string_view text);
  spool::Id range_locked(spool::Id parent, spool::Id name, spool::Id domain);
  spool::Id place_like_locked(const spool::Place& place);

  std::mutex names_mutex_;  // before buffer_mutex_
  std::unordered_map<std::string, spool::Id> texts_;
  std::map<std::tuple<spool::Id, spool::Id, spool::Id>, spool::Id> ranges_;
  std::map<std::tuple<spool::Id, spool::Id, spool::Id>, int> alike_;
  std::map<std::tuple<spool::Id, spool::Id, std::uint32_t>, spool::Id> lines_;
  std::map<std::pair<spool::Id, spool::Id>, spool::Id> code_files_;
  std::map<std::pair<spool::Id, std::uint64_t>, spool::Id> codes_;
  using PlaceKey = std::tuple<spool::Id, spool::Id, spool::Id, std::uint32_t, spool::Id, spool::Id>;
  std::map<PlaceKey, spool::Id> places_;
  // By their ids, from 1 on: texts; the first range and the first place that differ in numbers only.
  std::vector<const std::string*> text_of_ = {nullptr};
  std::vector<spool::Id> range_like_ = {0}, place_like_ = {0};
  std::map<std::string, spool::Id> modules_;  ///< the first one of those with blocks of other numbers
  std::map<std::tuple<spool::Id, std::string, spool::Id>, spool::Id> ranges_alike_;
  std::map<PlaceKey, spool::Id> places_alike_;

  std::mutex buffer_mutex_;
  std::vector<char> buffer_;
  std::uint64_t taken_ = 0;  // bytes, the buffer's included
  std::uint64_t limit_ = UINT64_MAX;
  std::atomic<bool> full_ = false;

  std::mutex file_mutex_;  // before buffer_mutex_
  std::function<void(std::string_view)> observer_;
  std::vector<char> writing_;
  SpoolFile file_;
};

}  // namespace roofline::inject
