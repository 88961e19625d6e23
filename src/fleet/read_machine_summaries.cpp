// Reads machine.json and node.json as a stream of events. A table maps members to handlers; audits, sweeps and
// intervals, most of a file, are skipped.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <map>

#include "fleet/json_scan.hpp"
#include "fleet/machine_summary.hpp"
#include "measure/statistics.hpp"
#include "model/error.hpp"
#include "report/json/json.hpp"
#include "report/json/node_json.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

/// A rate of one device in a node: of a link from it, or measured while all devices work.
struct NodeRate {
  int device = -1, peer = -1;
  std::string name, regime;
  CeilingSummary ceiling;
};

/// A node while it is read, without its machines.
struct PartialNode {
  NodeRate rate;
  int from = -1, to = -1;               ///< of the current link
  std::vector<NodeRate> link;           ///< ceilings of the current link
  std::vector<NodeRate> links, shared;  ///< of the node
};

/// A machine while it is read, not yet validated.
struct PartialMachine {
  MachineSummary summary;
  CeilingSummary ceiling;
  std::string name, regime;  ///< of the current ceiling
  Attribute attribute;
  std::string schema;
  bool has_ceilings = false;
  PartialNode node;
};

/// A number, string or boolean, and its path.
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

void put_fact(PartialMachine& partial, AttributeKey key, std::string value) {
  partial.summary.facts.emplace_back(key, std::move(value));
}

using Take = void (*)(PartialMachine&, const Value&);

struct Wanted {
  std::string_view path;
  Take take;
};

/// Handlers of the members that are kept, by path; array elements have the array's path.
const std::vector<Wanted>& members_wanted() {
  static const std::vector<Wanted> kTable = {
      {"schema", [](PartialMachine& d, const Value& v) { d.schema = v.word(); }},
      {"tool_version",
       [](PartialMachine& d, const Value& v) { put_fact(d, AttributeKey::version, std::string(v.word())); }},
      {"measured_at", [](PartialMachine& d, const Value& v) { d.summary.measured_at = clean_line(v.word()); }},
      {"host", [](PartialMachine& d, const Value& v) { put_fact(d, AttributeKey::system, clean_line(v.word())); }},
      {"quick", [](PartialMachine& d, const Value& v) { d.summary.quick = v.yes(); }},
      {"cancelled", [](PartialMachine& d, const Value& v) { d.summary.cancelled = v.yes(); }},
      {"device.kind", [](PartialMachine& d, const Value& v) { d.summary.kind = v.of(parse_device_kind); }},
      {"device.index", [](PartialMachine& d, const Value& v) { d.summary.index = v.whole(); }},
      {"device.name", [](PartialMachine& d, const Value& v) { d.summary.name = clean_line(v.word()); }},
      {"device.identity", [](PartialMachine& d, const Value& v) { d.summary.identity = clean_line(v.word()); }},
      {"device.units", [](PartialMachine& d, const Value& v) { d.summary.units = v.whole(); }},
      {"device.memory_bytes", [](PartialMachine& d, const Value& v) { d.summary.memory_bytes = v.any(); }},
      {"device.isa", [](PartialMachine& d, const Value& v) { d.summary.isa = clean_line(v.word()); }},
      {"device.driver",
       [](PartialMachine& d, const Value& v) { put_fact(d, AttributeKey::driver, clean_line(v.word())); }},
      {"device.max_core_hz",
       [](PartialMachine& d, const Value& v) {
         put_fact(d, AttributeKey::highest_core_clock, fmt::format("{:.0f} MHz", v.any() / 1e6));
       }},
      {"device.memory_hz",
       [](PartialMachine& d, const Value& v) {
         put_fact(d, AttributeKey::memory_clock, fmt::format("{:.0f} MHz", v.any() / 1e6));
       }},
      {"device.attributes.name", [](PartialMachine& d, const Value& v) { d.attribute.name = clean_line(v.word()); }},
      {"device.attributes.value", [](PartialMachine& d, const Value& v) { d.attribute.value = clean_line(v.word()); }},
      {"ceilings.name", [](PartialMachine& d, const Value& v) { d.name = clean_line(v.word()); }},
      {"ceilings.regime", [](PartialMachine& d, const Value& v) { d.regime = to_string(v.of(parse_regime)); }},
      {"ceilings.kind", [](PartialMachine& d, const Value& v) { d.ceiling.kind = v.of(parse_ceiling_kind); }},
      {"ceilings.pipe", [](PartialMachine& d, const Value& v) { d.ceiling.pipe = v.of(parse_pipe); }},
      {"ceilings.role", [](PartialMachine& d, const Value& v) { d.ceiling.role = v.of(parse_role); }},
      {"ceilings.value", [](PartialMachine& d, const Value& v) { d.ceiling.value = v.positive(); }},
      {"ceilings.audit.status", [](PartialMachine& d, const Value& v) { d.ceiling.audit = v.of(parse_check_status); }},
      {"ceilings.clocks.core_hz",
       [](PartialMachine& d, const Value& v) { d.ceiling.core_hz = static_cast<float>(v.any()); }},
      {"ceilings.power.temperature_c",
       [](PartialMachine& d, const Value& v) { d.ceiling.temperature_c = static_cast<float>(v.any()); }},
      {"ceilings.power.limiter",
       [](PartialMachine& d, const Value& v) { d.ceiling.limiter = interned(clean_line(v.word())); }},
      {"together.device", [](PartialMachine& d, const Value& v) { d.node.rate.device = v.whole(); }},
      {"together.name", [](PartialMachine& d, const Value& v) { d.node.rate.name = clean_line(v.word()); }},
      {"together.regime",
       [](PartialMachine& d, const Value& v) { d.node.rate.regime = to_string(v.of(parse_regime)); }},
      {"together.kind", [](PartialMachine& d, const Value& v) { d.node.rate.ceiling.kind = v.of(parse_ceiling_kind); }},
      {"together.together.value", [](PartialMachine& d, const Value& v) { d.node.rate.ceiling.value = v.positive(); }},
      {"together.together.core_hz",
       [](PartialMachine& d, const Value& v) { d.node.rate.ceiling.core_hz = static_cast<float>(v.any()); }},
      {"together.together.temperature_c",
       [](PartialMachine& d, const Value& v) { d.node.rate.ceiling.temperature_c = static_cast<float>(v.any()); }},
      {"together.together.limiter",
       [](PartialMachine& d, const Value& v) { d.node.rate.ceiling.limiter = interned(clean_line(v.word())); }},
      {"links.from", [](PartialMachine& d, const Value& v) { d.node.from = v.whole(); }},
      {"links.to", [](PartialMachine& d, const Value& v) { d.node.to = v.whole(); }},
      {"links.ceilings.name", [](PartialMachine& d, const Value& v) { d.node.rate.name = clean_line(v.word()); }},
      {"links.ceilings.kind",
       [](PartialMachine& d, const Value& v) { d.node.rate.ceiling.kind = v.of(parse_ceiling_kind); }},
      {"links.ceilings.value", [](PartialMachine& d, const Value& v) { d.node.rate.ceiling.value = v.positive(); }},
      {"links.ceilings.audit.status",
       [](PartialMachine& d, const Value& v) { d.node.rate.ceiling.audit = v.of(parse_check_status); }},
      {"ceilings.disturbed.because",
       [](PartialMachine& d, const Value& v) { d.ceiling.contention = interned(clean_line(v.word())); }},
  };
  return kTable;
}

/// A member that is kept, or that contains one.
struct Member {
  std::string_view name, path;
  Take take = nullptr;
  std::vector<Member> inner = {};

  const Member* find(std::string_view wanted) const {
    for (const Member& member : inner) {
      // Most lookups fail: length and last character reject them early.
      if (member.name.size() == wanted.size() && member.name.back() == wanted.back() && member.name == wanted) {
        return &member;
      }
    }
    return nullptr;
  }
};

/// The tree of all members that are kept.
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

/// Two ceilings per device and kind of link: the median of its links, and the slowest link to a peer that is not slow
/// itself. A slow pair thus shows at both ends, and a slow device only at itself.
void put_links(const std::vector<NodeRate>& links, std::vector<MachineSummary>& summaries) {
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
    for (MachineSummary& summary : summaries) {
      const auto own = by_device.find(summary.index);
      if (own == by_device.end()) continue;
      constexpr double kAlike = 0.97;
      CeilingSummary ceiling = own->second.front()->ceiling;
      ceiling.label = interned(name);
      ceiling.value = usual.at(summary.index);
      summary.ceilings.push_back(ceiling);
      ceiling.label = interned(name + " (slowest)");
      for (const NodeRate* rate : own->second) {
        const auto peer = usual.find(rate->peer);
        const bool slower_itself = peer != usual.end() && peer->second < kAlike * usual.at(summary.index);
        if (!slower_itself) ceiling.value = std::min(ceiling.value, rate->ceiling.value);
      }
      summary.ceilings.push_back(ceiling);
    }
  }
}

void put_shared(const std::vector<NodeRate>& shared, std::vector<MachineSummary>& summaries) {
  for (const NodeRate& rate : shared) {
    const bool burst = rate.regime.empty() || rate.regime == to_string(Regime::burst);
    for (MachineSummary& summary : summaries) {
      if (summary.index != rate.device) continue;
      CeilingSummary& ceiling = summary.ceilings.emplace_back(rate.ceiling);
      ceiling.label = interned(rate.name + (burst ? " (together)" : " (" + rate.regime + ", together)"));
    }
  }
}

class SummaryTaker : public JsonTaker {
 public:
  explicit SummaryTaker(std::string file) : file_(std::move(file)) {}

  void number(double value) override { take({.path = here_->path, .number = value}); }
  void text(std::string_view value) override { take({.path = here_->path, .text = value}); }
  void truth(bool value) override { take({.path = here_->path, .truth = value}); }
  bool key(std::string_view name) override {
    // The machine of a report, the machines of a node.
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
      throw UsageError("is not a machine file");
    } else if (here_ == ceilings_) {
      partial_.has_ceilings = true;
    }
  }
  void close(bool object) override {
    if (object) close_object();
  }

  std::vector<MachineSummary> finished() &&;

 private:
  void open_object() {
    if (in_machines_ && around_.size() == 1) {
      PartialNode node = std::move(partial_.node);
      partial_ = {};
      partial_.node = std::move(node);
    }
    if (here_ == ceilings_) partial_.ceiling = {}, partial_.name.clear(), partial_.regime.clear();
    if (here_ == links_) partial_.node.from = partial_.node.to = -1, partial_.node.link.clear();
    if (here_ == link_ceilings_ || here_ == together_) partial_.node.rate = {};
    around_.push_back(here_);
  }

  void close_object() {
    here_ = around_.back();
    around_.pop_back();
    if (here_ == ceilings_) end_ceiling();
    if (here_ == attributes_) end_attribute();
    if (here_ == link_ceilings_) partial_.node.link.push_back(partial_.node.rate);
    if (here_ == together_) end_together();
    if (here_ == links_) end_link();
    if (in_machines_ && around_.size() == 1) end_machine();
  }

  void take(const Value& value) {
    if (around_.empty()) throw UsageError("is not a machine file");
    // A member of the report or node itself, not of its machine.
    if ((in_report_ || in_node_) && around_.size() == 1) return;
    if (here_->take == nullptr) return;
    here_->take(partial_, value);
    if (here_ != schema_) return;
    in_report_ = in_report_ || partial_.schema == kReportSchema;
    in_node_ = in_node_ || partial_.schema == kNodeSchema;
    const bool known = partial_.schema == kMachineSchema || (around_.size() == 1 && (in_report_ || in_node_));
    // Stop reading files of other programs immediately.
    if (!known) value.fail(fmt::format("is {}, not a calibration", shorten(clean_line(partial_.schema), 40)));
  }

  void end_attribute() {
    Attribute& attribute = partial_.attribute;
    if (attribute.is(AttributeKey::uuid)) {
      partial_.summary.uuid = attribute.value;
    } else if (attribute.is(AttributeKey::host_name)) {
      partial_.summary.host = attribute.value;
    } else if (!attribute.is(AttributeKey::pci_address)) {
      partial_.summary.facts.push_back(attribute);
    }
  }

  void end_ceiling() {
    if (partial_.name.empty() || partial_.ceiling.value <= 0) throw UsageError("a ceiling without name or value");
    const bool burst = partial_.regime.empty() || partial_.regime == to_string(Regime::burst);
    partial_.ceiling.label = interned(burst ? partial_.name : partial_.name + " (" + partial_.regime + ")");
    partial_.summary.ceilings.push_back(partial_.ceiling);
  }

  void end_together() {
    NodeRate& rate = partial_.node.rate;
    if (rate.name.empty() || rate.ceiling.value <= 0) throw UsageError("a rate without name or value");
    rate.ceiling.audit = CheckStatus::pass;
    partial_.node.shared.push_back(rate);
  }

  /// The devices of a link are known only when the link is complete.
  void end_link() {
    PartialNode& node = partial_.node;
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
  PartialMachine partial_;
  std::vector<MachineSummary> summaries_;
  bool in_report_ = false, in_node_ = false;
  bool in_machines_ = false;
  const Member& document_ = document_wanted();
  const Member* const schema_ = document_.find("schema");
  const Member* const ceilings_ = document_.find("ceilings");
  const Member* const attributes_ = document_.find("device")->find("attributes");
  const Member* const together_ = document_.find("together");
  const Member* const links_ = document_.find("links");
  const Member* const link_ceilings_ = links_->find("ceilings");
  const Member* here_ = &document_;    ///< the member of the next value
  std::vector<const Member*> around_;  ///< the open objects
};

void SummaryTaker::end_machine() {
  MachineSummary& summary = partial_.summary;
  if (partial_.schema.empty()) throw UsageError("is not a machine file");
  if (summary.name.empty() || summary.measured_at.empty() || !partial_.has_ceilings) {
    throw UsageError("names no device, no time or no ceilings");
  }
  summary.file = file_;
  summary.host_recorded = !summary.host.empty();
  if (!summary.host_recorded) summary.host = clean_line(std::filesystem::path(summary.file).stem().string());
  summaries_.push_back(std::move(summary));
}

std::vector<MachineSummary> SummaryTaker::finished() && {
  if (!in_node_) end_machine();
  if (summaries_.empty()) throw UsageError("has no machine");
  put_shared(partial_.node.shared, summaries_);
  put_links(partial_.node.links, summaries_);
  return std::move(summaries_);
}

}  // namespace

std::vector<MachineSummary> read_machine_summaries(const std::string& text, const std::string& file) {
  if (text.empty()) throw UsageError("is empty");
  SummaryTaker taker(file);
  scan_json(text, taker);
  return std::move(taker).finished();
}

}  // namespace roofline
