#include "import/json_values.hpp"

#include <cmath>
#include <utility>

#include "text/parse.hpp"

namespace roofline {
namespace {

class ValueReader final : public JsonEvents {
 public:
  using Take = std::function<void(std::size_t path, const nlohmann::json& value, const std::string& name)>;

  ValueReader(const std::vector<JsonPath>& paths, const Take& take) : paths_(paths), take_(take) {}

 private:
  void on_null() override { add(nullptr); }
  void on_number(const JsonNumber& number) override {
    if (number.is_integer) {
      add(number.integer);
    } else {
      add(number.value);
    }
  }
  void on_text(std::string& text) override {
    bytes_ += text.size();
    add(text);
  }
  void on_key(std::string& name) override {
    bytes_ += name.size();
    key_.swap(name);
  }

  void open(bool object) override {
    nlohmann::json value = object ? nlohmann::json::object() : nlohmann::json::array();
    if (part_depth_ == 0) {
      enter();
      path_index_ = wanted();
      if (path_index_ < paths_.size()) {
        part_depth_ = depth();
        part_ = std::move(value);
        part_name_ = name();
        inside_.assign(1, &part_);
        values_ = bytes_ = 0;
      }
    } else {
      inside_.push_back(put(std::move(value)));
    }
    is_object_.push_back(object);
  }

  void close(bool) override {
    is_object_.pop_back();
    if (part_depth_ != 0) {
      inside_.pop_back();
      if (!inside_.empty()) return;
      part_depth_ = 0;
      take_(path_index_, part_, part_name_);
      part_ = nullptr;
    }
    if (!path_.empty()) path_.pop_back();
  }

  void add(nlohmann::json value) {
    if (part_depth_ != 0) {
      put(std::move(value));
      return;
    }
    enter();
    const std::size_t index = wanted();
    if (index < paths_.size()) take_(index, value, name());
    if (!path_.empty()) path_.pop_back();
  }

  nlohmann::json* put(nlohmann::json value) {
    constexpr std::size_t kMostValues = std::size_t{1} << 20, kMostBytes = std::size_t{1} << 26;
    if (++values_ > kMostValues || bytes_ > kMostBytes) source().fail("a part of more than a million values or 64 MB");
    nlohmann::json& around = *inside_.back();
    if (is_object_.back()) return &(around[key_] = std::move(value));
    around.push_back(std::move(value));
    return &around.back();
  }

  /// The root has no place in a path.
  void enter() {
    constexpr std::size_t kLongestKey = 64;  // longer ones are in no path
    if (!is_object_.empty()) path_.push_back(is_object_.back() ? key_.substr(0, kLongestKey) : "*");
  }

  static bool is_at(const std::string& place, std::string_view wanted) {
    return place == wanted || (wanted == kAnyMember && place != "*");
  }

  /// Of the next value, if it is a member.
  std::string name() const { return !is_object_.empty() && is_object_.back() ? key_ : std::string(); }

  std::size_t wanted() const {
    std::size_t index = 0;
    while (index < paths_.size() &&
           !std::equal(path_.begin(), path_.end(), paths_[index].begin(), paths_[index].end(), is_at)) {
      ++index;
    }
    return index;
  }

  const std::vector<JsonPath>& paths_;
  const Take& take_;
  std::vector<std::string> path_;        ///< of the value that is read, outside parts
  std::vector<bool> is_object_;          ///< of all containers around the next value
  std::string key_;                      ///< of the next value
  nlohmann::json part_;                  ///< that is read
  std::string part_name_;                ///< its key; empty in an array
  std::vector<nlohmann::json*> inside_;  ///< its containers around the next value
  int part_depth_ = 0;                   ///< 0: in no part
  std::size_t path_index_ = 0;           ///< of the part
  std::size_t values_ = 0, bytes_ = 0;   ///< of the part
};

}  // namespace

void read_json_values(ByteSource& source, const std::vector<JsonPath>& paths,
                      const std::function<void(std::size_t path, const nlohmann::json& value)>& take,
                      JsonDocuments documents) {
  const ValueReader::Take without_name = [&take](std::size_t path, const nlohmann::json& value, const std::string&) {
    take(path, value);
  };
  ValueReader reader(paths, without_name);
  read_json(source, reader, documents);
}

void read_json_values(
    ByteSource& source, const std::vector<JsonPath>& paths,
    const std::function<void(std::size_t path, const nlohmann::json& value, const std::string& name)>& take) {
  ValueReader reader(paths, take);
  read_json(source, reader, JsonDocuments::one);
}

std::optional<double> number_in(const nlohmann::json& object, std::string_view key) {
  if (!object.is_object()) return std::nullopt;
  const auto found = object.find(key);
  if (found == object.end()) return std::nullopt;
  std::optional<double> value;
  if (found->is_number()) value = found->get<double>();
  if (found->is_string()) value = parsed_number<double>(found->get_ref<const std::string&>());
  return value && std::isfinite(*value) ? value : std::nullopt;
}

std::string text_in(const nlohmann::json& object, std::string_view key) {
  if (!object.is_object()) return {};
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

}  // namespace roofline
