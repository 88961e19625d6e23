#include "inject/spool_writer.hpp"

#include <cstring>
#include <utility>

#include "inject/clock.hpp"
#include "text/block_names.hpp"

namespace roofline::inject {
namespace {

constexpr std::size_t kBuffer = 4 << 20;
/// More names than this are a program that makes them up as it runs.
constexpr std::size_t kMostNames = 1 << 18;
constexpr int kAlikeSiblings = 64;
constexpr std::size_t kLongestText = 4096;

}  // namespace

SpoolWriter::SpoolWriter() {
  buffer_.reserve(kBuffer);
  writing_.reserve(kBuffer);
}

bool SpoolWriter::open(const std::string& path, std::uint64_t limit) {
  const std::lock_guard file_lock(file_mutex_);
  if (!file_.create(path)) return false;
  const std::lock_guard lock(buffer_mutex_);
  limit_ = limit;
  return file_.write(reinterpret_cast<const char*>(&spool::kMagic), sizeof(spool::kMagic));
}

char* SpoolWriter::extend_locked(spool::Type type, std::size_t bytes) {
  if (taken_ + bytes > limit_) full_ = true;
  if (full_ && type != spool::Type::note && type != spool::Type::tally) return nullptr;
  taken_ += bytes;
  const std::size_t begin = buffer_.size();
  buffer_.resize(begin + bytes);
  return buffer_.data() + begin;
}

void SpoolWriter::append(spool::Type type, const void* record, std::size_t size, std::string_view tail) {
  const std::size_t whole = (sizeof(spool::Header) + size + tail.size() + 7) / 8 * 8;
  const spool::Header header = {static_cast<std::uint32_t>(whole), type, 0};
  const std::lock_guard lock(buffer_mutex_);
  char* const place = extend_locked(type, whole);
  if (place == nullptr) return;
  std::memcpy(place, &header, sizeof(header));
  std::memcpy(place + sizeof(header), record, size);
  if (!tail.empty()) std::memcpy(place + sizeof(header) + size, tail.data(), tail.size());
}

void SpoolWriter::append_all(spool::Type type, const void* records, std::size_t size, std::size_t count) {
  const std::size_t whole = sizeof(spool::Header) + size;
  const spool::Header header = {static_cast<std::uint32_t>(whole), type, 0};
  const std::lock_guard lock(buffer_mutex_);
  char* place = extend_locked(type, whole * count);
  if (place == nullptr) return;
  for (std::size_t i = 0; i < count; ++i, place += whole) {
    std::memcpy(place, &header, sizeof(header));
    std::memcpy(place + sizeof(header), static_cast<const char*>(records) + i * size, size);
  }
}

void SpoolWriter::put_first(spool::Type type, const void* record, std::size_t size, std::string_view tail) {
  std::vector<char> rest;
  {
    const std::lock_guard lock(buffer_mutex_);
    rest.swap(buffer_);
  }
  append(type, record, size, tail);
  const std::lock_guard lock(buffer_mutex_);
  buffer_.insert(buffer_.end(), rest.begin(), rest.end());
}

spool::Id SpoolWriter::text_locked(std::string_view text) {
  if (text.empty()) return 0;
  std::string key(text.substr(0, kLongestText));
  if (const auto found = texts_.find(key); found != texts_.end()) return found->second;
  if (texts_.size() >= kMostNames) return 0;
  const spool::Text record = {static_cast<spool::Id>(texts_.size() + 1), static_cast<std::uint32_t>(key.size())};
  write(spool::Type::text, record, key);
  text_of_.push_back(&texts_.emplace(std::move(key), record.id).first->first);
  return record.id;
}

spool::Id SpoolWriter::text(std::string_view text) {
  const std::lock_guard lock(names_mutex_);
  return text_locked(text);
}

spool::Id SpoolWriter::range_locked(spool::Id parent, spool::Id name, spool::Id domain) {
  const auto [found, added] =
      ranges_.try_emplace(std::tuple(parent, name, domain), static_cast<spool::Id>(ranges_.size() + 1));
  if (!added) return found->second;
  write(spool::Type::range, spool::Range{found->second, parent, name, domain});
  const std::string any = name != 0 ? without_numbers(*text_of_[name]) : "";
  range_like_.push_back(
      ranges_alike_.try_emplace(std::tuple(range_like_[parent], any, domain), found->second).first->second);
  return found->second;
}

spool::Id SpoolWriter::range(spool::Id parent, std::string_view name, spool::Id domain) {
  const std::lock_guard lock(names_mutex_);
  const auto known = texts_.find(std::string(name.substr(0, kLongestText)));
  if (known != texts_.end() && ranges_.count({parent, known->second, domain}) != 0) {
    return range_locked(parent, known->second, domain);
  }
  if (ranges_.size() >= kMostNames) return parent;
  const std::string alike = without_numbers(name);
  if (alike == name) return range_locked(parent, text_locked(name), domain);
  const spool::Id pattern = text_locked(alike);
  if (++alike_[{parent, pattern, domain}] > kAlikeSiblings) return range_locked(parent, pattern, domain);
  return range_locked(parent, text_locked(name), domain);
}

spool::Id SpoolWriter::line(std::string_view file, std::string_view function, std::uint32_t number) {
  const std::lock_guard lock(names_mutex_);
  const spool::Id file_id = text_locked(file);
  const spool::Id function_id = text_locked(function);
  if (lines_.size() >= kMostNames) return 0;
  const auto [found, added] =
      lines_.try_emplace(std::tuple(file_id, function_id, number), static_cast<spool::Id>(lines_.size() + 1));
  if (added) write(spool::Type::line, spool::Line{found->second, file_id, function_id, number});
  return found->second;
}

spool::Id SpoolWriter::code_file(std::string_view path, std::string_view build_id) {
  const std::lock_guard lock(names_mutex_);
  const spool::Id path_id = text_locked(path);
  const spool::Id build = text_locked(build_id);
  const auto [found, added] =
      code_files_.try_emplace(std::pair(path_id, build), static_cast<spool::Id>(code_files_.size() + 1));
  if (added) write(spool::Type::code_file, spool::CodeFile{found->second, path_id, build, 0});
  return found->second;
}

spool::Id SpoolWriter::code(spool::Id file, std::uint64_t address) {
  const std::lock_guard lock(names_mutex_);
  if (codes_.size() >= kMostNames) return 0;
  const auto [found, added] = codes_.try_emplace(std::pair(file, address), static_cast<spool::Id>(codes_.size() + 1));
  if (added) write(spool::Type::code, spool::Code{found->second, file, address});
  return found->second;
}

spool::Id SpoolWriter::place(const spool::Place& place) {
  const PlaceKey key(place.range, place.line, place.module, place.backward, place.operation, place.code);
  if (key == PlaceKey()) return 0;
  const std::lock_guard lock(names_mutex_);
  if (const auto found = places_.find(key); found != places_.end()) return found->second;
  if (places_.size() >= kMostNames) return 0;
  spool::Place record = place;
  record.id = static_cast<spool::Id>(places_.size() + 1);
  write(spool::Type::place, record);
  places_.emplace(key, record.id);
  place_like_.push_back(place_like_locked(record));
  return record.id;
}

spool::Id SpoolWriter::place_like_locked(const spool::Place& place) {
  spool::Id module = place.module;
  if (module != 0) module = modules_.try_emplace(any_block(*text_of_[module]), module).first->second;
  const PlaceKey alike(range_like_[place.range], place.line, module, place.backward, place.operation, place.code);
  return places_alike_.try_emplace(alike, place.id).first->second;
}

spool::Id SpoolWriter::place_of_any_block(spool::Id place) {
  const std::lock_guard lock(names_mutex_);
  return place_like_[place];
}

void SpoolWriter::note(spool::NoteCode code, std::string_view text) {
  write(spool::Type::note, spool::Note{now(), code, 0}, text);
}

bool SpoolWriter::flush() {
  const std::lock_guard file_lock(file_mutex_);
  if (!file_.is_open()) return false;
  {
    const std::lock_guard lock(buffer_mutex_);
    writing_.swap(buffer_);
  }
  if (observer_) observer_({writing_.data(), writing_.size()});
  if (!file_.write(writing_.data(), writing_.size())) full_ = true;
  writing_.clear();
  return file_.is_open();
}

}  // namespace roofline::inject
