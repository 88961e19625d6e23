// machine.json and node.json as a stream of events, of which a table says what becomes of each: most of a file is
// audits, sweeps and intervals, of which nothing is kept and nothing is told.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <map>

#include "fleet/json_scan.hpp"
#include "fleet/sheet.hpp"
#include "measure/statistics.hpp"
#include "model/error.hpp"
#include "report/json/json.hpp"
#include "report/json/node_json.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

/// A rate of a node that is one device's: of a link from it, or what it has left when all work.
struct NodeRate {
  int device = -1, peer = -1;
  std::string name, regime;
  SheetCeiling ceiling;
};

/// What is read of a node beside its machines.
struct NodeDraft {
  NodeRate rate;
  int from = -1, to = -1;               ///< of the link at hand
  std::vector<NodeRate> link;           ///< its ceilings
  std::vector<NodeRate> links, shared;  ///< all of them
};

/// What is read of a machine before it is known to be whole.
struct Draft {
  Sheet sheet;
  SheetCeiling ceiling;
  std::string name, regime;  ///< of the ceiling
  Attribute attribute;
  std::string schema;
  bool has_ceilings = false;
  NodeDraft node;
};

/// A number, a text or a boolean, and where it stands.
struct Value {
  std::string_view path;
  std::optional<double> number = {};
  std::optional<std::string_view> text = {};
  std::optional<bool> truth = {};

  double positive() const {
    if (!number || !std::isfinite(*number) || *number <= 0) fail("expected a positive number");
    return *number;
  }
  double any() const {
    if (!number) fail("expected a number");
    return *number;
  }
  int whole() const {
    if (!number || !(std::abs(*number) <= std::numeric_limits<int>::max())) fail("expected a whole number");
    return static_cast<int>(*number);
  }
  std::string_view word() const {
    if (!text) fail("expected text");
    return *text;
  }
  bool yes() const {
    if (!truth) fail("expected true or false");
    return *truth;
  }
  template <class Parse>
  auto of(Parse parse) const {
    const auto parsed = parse(word());
    if (!parsed) fail(fmt::format("unknown word '{}'", shorten(clean_line(word()), 40)));
    return *parsed;
  }
  [[noreturn]] void fail(const std::string& what) const {
    throw UsageError(fmt::format("{}: {}", shorten(clean_line(path), 60), what));
  }
};

void put_fact(Draft& draft, AttributeKey key, std::string value) {
  draft.sheet.facts.emplace_back(key, std::move(value));
}

using Take = void (*)(Draft&, const Value&);

struct Wanted {
  std::string_view path;
  Take take;
};

/// The members that a fleet wants, by their path; elements of an array have that of the array.
const std::vector<Wanted>& members_wanted() {
  static const std::vector<Wanted> kTable = {
      {"schema", [](Draft& d, const Value& v) { d.schema = v.word(); }},
      {"tool_version", [](Draft& d, const Value& v) { put_fact(d, AttributeKey::version, std::string(v.word())); }},
      {"measured_at", [](Draft& d, const Value& v) { d.sheet.measured_at = clean_line(v.word()); }},
      {"host", [](Draft& d, const Value& v) { put_fact(d, AttributeKey::system, clean_line(v.word())); }},
      {"quick", [](Draft& d, const Value& v) { d.sheet.quick = v.yes(); }},
      {"cancelled", [](Draft& d, const Value& v) { d.sheet.cancelled = v.yes(); }},
      {"device.kind", [](Draft& d, const Value& v) { d.sheet.kind = v.of(parse_device_kind); }},
      {"device.index", [](Draft& d, const Value& v) { d.sheet.index = v.whole(); }},
      {"device.name", [](Draft& d, const Value& v) { d.sheet.name = clean_line(v.word()); }},
      {"device.identity", [](Draft& d, const Value& v) { d.sheet.identity = clean_line(v.word()); }},
      {"device.units", [](Draft& d, const Value& v) { d.sheet.units = v.whole(); }},
      {"device.memory_bytes", [](Draft& d, const Value& v) { d.sheet.memory_bytes = v.any(); }},
      {"device.isa", [](Draft& d, const Value& v) { d.sheet.isa = clean_line(v.word()); }},
      {"device.driver", [](Draft& d, const Value& v) { put_fact(d, AttributeKey::driver, clean_line(v.word())); }},
      {"device.max_core_hz",
       [](Draft& d, const Value& v) {
         put_fact(d, AttributeKey::highest_core_clock, fmt::format("{:.0f} MHz", v.any() / 1e6));
       }},
      {"device.memory_hz",
       [](Draft& d, const Value& v) {
         put_fact(d, AttributeKey::memory_clock, fmt::format("{:.0f} MHz", v.any() / 1e6));
       }},
      {"device.attributes.name", [](Draft& d, const Value& v) { d.attribute.name = clean_line(v.word()); }},
      {"device.attributes.value", [](Draft& d, const Value& v) { d.attribute.value = clean_line(v.word()); }},
      {"ceilings.name", [](Draft& d, const Value& v) { d.name = clean_line(v.word()); }},
      {"ceilings.regime", [](Draft& d, const Value& v) { d.regime = to_string(v.of(parse_regime)); }},
      {"ceilings.kind", [](Draft& d, const Value& v) { d.ceiling.kind = v.of(parse_ceiling_kind); }},
      {"ceilings.role", [](Draft& d, const Value& v) { d.ceiling.role = v.of(parse_role); }},
      {"ceilings.value", [](Draft& d, const Value& v) { d.ceiling.value = v.positive(); }},
      {"ceilings.audit.status", [](Draft& d, const Value& v) { d.ceiling.audit = v.of(parse_check_status); }},
      {"ceilings.clocks.core_hz", [](Draft& d, const Value& v) { d.ceiling.core_hz = static_cast<float>(v.any()); }},
      {"ceilings.power.temperature_c",
       [](Draft& d, const Value& v) { d.ceiling.temperature_c = static_cast<float>(v.any()); }},
      {"ceilings.power.limiter", [](Draft& d, const Value& v) { d.ceiling.limiter = interned(clean_line(v.word())); }},
      {"together.device", [](Draft& d, const Value& v) { d.node.rate.device = v.whole(); }},
      {"together.name", [](Draft& d, const Value& v) { d.node.rate.name = clean_line(v.word()); }},
      {"together.regime", [](Draft& d, const Value& v) { d.node.rate.regime = to_string(v.of(parse_regime)); }},
      {"together.kind", [](Draft& d, const Value& v) { d.node.rate.ceiling.kind = v.of(parse_ceiling_kind); }},
      {"together.together.value", [](Draft& d, const Value& v) { d.node.rate.ceiling.value = v.positive(); }},
      {"together.together.core_hz",
       [](Draft& d, const Value& v) { d.node.rate.ceiling.core_hz = static_cast<float>(v.any()); }},
      {"together.together.temperature_c",
       [](Draft& d, const Value& v) { d.node.rate.ceiling.temperature_c = static_cast<float>(v.any()); }},
      {"together.together.limiter",
       [](Draft& d, const Value& v) { d.node.rate.ceiling.limiter = interned(clean_line(v.word())); }},
      {"links.from", [](Draft& d, const Value& v) { d.node.from = v.whole(); }},
      {"links.to", [](Draft& d, const Value& v) { d.node.to = v.whole(); }},
      {"links.ceilings.name", [](Draft& d, const Value& v) { d.node.rate.name = clean_line(v.word()); }},
      {"links.ceilings.kind", [](Draft& d, const Value& v) { d.node.rate.ceiling.kind = v.of(parse_ceiling_kind); }},
      {"links.ceilings.value", [](Draft& d, const Value& v) { d.node.rate.ceiling.value = v.positive(); }},
      {"links.ceilings.audit.status",
       [](Draft& d, const Value& v) { d.node.rate.ceiling.audit = v.of(parse_check_status); }},
      {"ceilings.disturbed.because",
       [](Draft& d, const Value& v) { d.ceiling.contention = interned(clean_line(v.word())); }},
  };
  return kTable;
}

/// A wanted member, or one that has such inside of it.
struct Member {
  std::string_view name, path;
  Take take = nullptr;
  std::vector<Member> inner = {};

  const Member* find(std::string_view wanted) const {
    for (const Member& member : inner) {
      // Few are as long, and what is asked for is mostly none of them.
      if (member.name.size() == wanted.size() && member.name.back() == wanted.back() && member.name == wanted) {
        return &member;
      }
    }
    return nullptr;
  }
};

/// All of them, as the document has them.
const Member& document_wanted() {
  static const Member kDocument = [] {
    Member document;
    for (const auto& [path, take] : members_wanted()) {
      Member* member = &document;
      for (std::size_t begin = 0; begin < path.size();) {
        const std::size_t end = std::min(path.find('.', begin), path.size());
        const std::string_view name = path.substr(begin, end - begin);
        if (member->find(name) == nullptr) member->inner.push_back({name, path.substr(0, end)});
        member = const_cast<Member*>(member->find(name));
        begin = end + 1;
      }
      member->take = take;
    }
    return document;
  }();
  return kDocument;
}

/// Of each device and ceiling of links two: what is usual of its links, and the slowest of those to devices that are
/// not slower themselves, so that of a slow pair both ends have it, and a slow device alone has its own.
void put_links(const std::vector<NodeRate>& links, std::vector<Sheet>& sheets) {
  std::map<std::string, std::map<int, std::vector<const NodeRate*>>> by_name;
  for (const NodeRate& rate : links) {
    if (rate.ceiling.audit == CheckStatus::pass) by_name[rate.name][rate.device].push_back(&rate);
  }
  for (const auto& [name, by_device] : by_name) {
    std::map<int, double> usual;
    for (const auto& [device, rates] : by_device) {
      std::vector<double> values;
      for (const NodeRate* rate : rates) values.push_back(rate->ceiling.value);
      usual[device] = median(std::move(values));
    }
    for (Sheet& sheet : sheets) {
      const auto own = by_device.find(sheet.index);
      if (own == by_device.end()) continue;
      constexpr double kAlike = 0.97;
      SheetCeiling ceiling = own->second.front()->ceiling;
      ceiling.label = interned(name);
      ceiling.value = usual.at(sheet.index);
      sheet.ceilings.push_back(ceiling);
      ceiling.label = interned(name + " (slowest)");
      for (const NodeRate* rate : own->second) {
        const auto peer = usual.find(rate->peer);
        const bool slower_itself = peer != usual.end() && peer->second < kAlike * usual.at(sheet.index);
        if (!slower_itself) ceiling.value = std::min(ceiling.value, rate->ceiling.value);
      }
      sheet.ceilings.push_back(ceiling);
    }
  }
}

void put_shared(const std::vector<NodeRate>& shared, std::vector<Sheet>& sheets) {
  for (const NodeRate& rate : shared) {
    const bool burst = rate.regime.empty() || rate.regime == to_string(Regime::burst);
    for (Sheet& sheet : sheets) {
      if (sheet.index != rate.device) continue;
      SheetCeiling& ceiling = sheet.ceilings.emplace_back(rate.ceiling);
      ceiling.label = interned(rate.name + (burst ? " (together)" : " (" + rate.regime + ", together)"));
    }
  }
}

class SheetTaker : public JsonTaker {
 public:
  explicit SheetTaker(std::string file) : file_(std::move(file)) {}

  void number(double value) override { take({.path = here_->path, .number = value}); }
  void text(std::string_view value) override { take({.path = here_->path, .text = value}); }
  void truth(bool value) override { take({.path = here_->path, .truth = value}); }
  bool key(std::string_view name) override {
    // A report has its machine under that key, and a node its machines.
    const bool outermost = around_.size() == 1;
    if (outermost) in_machines_ = in_node_ && name == "machines";
    const bool machine = outermost && (name == "machine" || in_machines_);
    const Member* const member = machine ? &document_ : around_.back()->find(name);
    if (member != nullptr) here_ = member;
    return member != nullptr;
  }
  void open(bool object) override {
    if (object) {
      open_object();
    } else if (around_.empty()) {
      throw UsageError("is no machine file");
    } else if (here_ == ceilings_) {
      draft_.has_ceilings = true;
    }
  }
  void close(bool object) override {
    if (object) close_object();
  }

  std::vector<Sheet> finished() &&;

 private:
  void open_object() {
    if (in_machines_ && around_.size() == 1) {
      NodeDraft node = std::move(draft_.node);
      draft_ = {};
      draft_.node = std::move(node);
    }
    if (here_ == ceilings_) draft_.ceiling = {}, draft_.name.clear(), draft_.regime.clear();
    if (here_ == links_) draft_.node.from = draft_.node.to = -1, draft_.node.link.clear();
    if (here_ == link_ceilings_ || here_ == together_) draft_.node.rate = {};
    around_.push_back(here_);
  }

  void close_object() {
    here_ = around_.back();
    around_.pop_back();
    if (here_ == ceilings_) end_ceiling();
    if (here_ == attributes_) end_attribute();
    if (here_ == link_ceilings_) draft_.node.link.push_back(draft_.node.rate);
    if (here_ == together_) end_together();
    if (here_ == links_) end_link();
    if (in_machines_ && around_.size() == 1) end_machine();
  }

  void take(const Value& value) {
    if (around_.empty()) throw UsageError("is no machine file");
    // Of the run, not of its machine; of the node, not of one of its machines.
    if ((in_report_ || in_node_) && around_.size() == 1) return;
    if (here_->take == nullptr) return;
    here_->take(draft_, value);
    if (here_ != schema_) return;
    in_report_ = in_report_ || draft_.schema == kReportSchema;
    in_node_ = in_node_ || draft_.schema == kNodeSchema;
    const bool known = draft_.schema == kMachineSchema || (around_.size() == 1 && (in_report_ || in_node_));
    // Other programs' files are left at once.
    if (!known) value.fail(fmt::format("is {}, no calibration", shorten(clean_line(draft_.schema), 40)));
  }

  void end_attribute() {
    Attribute& attribute = draft_.attribute;
    if (attribute.is(AttributeKey::uuid)) {
      draft_.sheet.uuid = attribute.value;
    } else if (attribute.is(AttributeKey::host_name)) {
      draft_.sheet.host = attribute.value;
    } else if (!attribute.is(AttributeKey::pci_address)) {
      draft_.sheet.facts.push_back(attribute);
    }
  }

  void end_ceiling() {
    if (draft_.name.empty() || draft_.ceiling.value <= 0) throw UsageError("a ceiling without name or value");
    const bool burst = draft_.regime.empty() || draft_.regime == to_string(Regime::burst);
    draft_.ceiling.label = interned(burst ? draft_.name : draft_.name + " (" + draft_.regime + ")");
    draft_.sheet.ceilings.push_back(draft_.ceiling);
  }

  void end_together() {
    NodeRate& rate = draft_.node.rate;
    if (rate.name.empty() || rate.ceiling.value <= 0) throw UsageError("a rate without name or value");
    rate.ceiling.audit = CheckStatus::pass;
    draft_.node.shared.push_back(rate);
  }

  /// Which devices its ceilings are of is known when all of it is.
  void end_link() {
    NodeDraft& node = draft_.node;
    for (NodeRate& rate : node.link) {
      if (rate.name.empty() || rate.ceiling.value <= 0) throw UsageError("a link without name or value");
      rate.device = node.from;
      rate.peer = node.to;
      if (rate.ceiling.kind == CeilingKind::latency) rate.ceiling.role = Role::reference;
      node.links.push_back(std::move(rate));
    }
    node.link.clear();
  }

  void end_machine();

  std::string file_;
  Draft draft_;
  std::vector<Sheet> sheets_;
  bool in_report_ = false, in_node_ = false;
  bool in_machines_ = false;
  const Member& document_ = document_wanted();
  const Member* const schema_ = document_.find("schema");
  const Member* const ceilings_ = document_.find("ceilings");
  const Member* const attributes_ = document_.find("device")->find("attributes");
  const Member* const together_ = document_.find("together");
  const Member* const links_ = document_.find("links");
  const Member* const link_ceilings_ = links_->find("ceilings");
  const Member* here_ = &document_;    ///< what the next value is
  std::vector<const Member*> around_;  ///< the objects that are open
};

void SheetTaker::end_machine() {
  Sheet& sheet = draft_.sheet;
  if (draft_.schema.empty()) throw UsageError("is no machine file");
  if (sheet.name.empty() || sheet.measured_at.empty() || !draft_.has_ceilings) {
    throw UsageError("names no device, no time or no ceilings");
  }
  sheet.file = file_;
  sheet.host_recorded = !sheet.host.empty();
  if (!sheet.host_recorded) sheet.host = clean_line(std::filesystem::path(sheet.file).stem().string());
  sheets_.push_back(std::move(sheet));
}

std::vector<Sheet> SheetTaker::finished() && {
  if (!in_node_) end_machine();
  if (sheets_.empty()) throw UsageError("has no machine");
  put_shared(draft_.node.shared, sheets_);
  put_links(draft_.node.links, sheets_);
  return std::move(sheets_);
}

}  // namespace

std::vector<Sheet> read_sheets(const std::string& text, const std::string& file) {
  if (text.empty()) throw UsageError("is empty");
  SheetTaker taker(file);
  scan_json(text, taker);
  return std::move(taker).finished();
}

}  // namespace roofline
