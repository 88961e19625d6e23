// The names of roofs. Each stands on its line where it crosses no other line, mark or name; roofs that lie on each
// other share one; what finds no room keeps its title for hovering.
#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "render/chart/chart.hpp"
#include "text/format.hpp"

namespace roofline {
namespace {

constexpr double kNameSize = 11.5;
constexpr double kIdleSize = 10;
constexpr double kRow = 16;       // horizontal ceilings closer than this share a row of names
constexpr double kCoincide = 5;   // slopes closer than this are one for the eye
constexpr double kAboveLine = 5;  // from a line up to the baseline of its name

bool is_free(const Chart& chart, const Text& text, bool over_limits = false) {
  const Quad box = text.box();
  return chart.plot.inflated(-2).contains(box.bounds()) && !overlaps_any(box, chart.space.solid) &&
         !overlaps_any(box, chart.space.lines) && (over_limits || !overlaps_any(box, chart.space.limits)) &&
         !overlaps_any(box, chart.space.markers);
}

/// What has one name: roofs of one look, by their places in Roofs::memory or Roofs::compute.
using Shared = std::vector<std::size_t>;

class RoofNames {
 public:
  RoofNames(Chart& chart, std::vector<Group>& slopes, std::vector<Group>& flats)
      : chart_(chart), slopes_(slopes), flats_(flats) {}

  void write() {
    const std::vector<Shared> rows = rows_of(chart_.roofs.compute, kRow);
    const std::vector<Shared> slopes = rows_of(chart_.roofs.memory, kCoincide);
    for (const Shared& row : rows) name_row(row, true);
    for (const Shared& row : slopes) name_slopes(row, true);
    for (const Shared& row : slopes) name_slopes(row, false);
    for (const Shared& row : rows) name_row(row, false);
  }

 private:
  /// The visible roofs, highest first, cut where one lies more than `height` below the first of its row.
  std::vector<Shared> rows_of(const std::vector<Roof>& roofs, double height) const {
    std::vector<Shared> rows;
    double top = 0;
    for (std::size_t i = 0; i < roofs.size(); ++i) {
      const RoofSpan span = roof_span(chart_, roofs[i], roofs[i].ceiling->value);
      if (!span.visible) continue;
      const double y = chart_.y.pixel(roofs[i].ceiling->value);
      if (rows.empty() || y - top >= height) rows.emplace_back(), top = y;
      rows.back().push_back(i);
    }
    return rows;
  }

  /// Those of a row that look alike.
  template <typename Predicate>
  static Shared those(const std::vector<Roof>& roofs, const Shared& row, Predicate predicate) {
    Shared out;
    for (const std::size_t i : row)
      if (predicate(roofs[i])) out.push_back(i);
    return out;
  }

  static std::vector<const Roof*> pointers(const std::vector<Roof>& roofs, const Shared& shared) {
    std::vector<const Roof*> out;
    for (const std::size_t i : shared) out.push_back(&roofs[i]);
    return out;
  }

  Text text_of(const Roof& roof, std::string words) const {
    Color color = roof.main ? chart_.colors->ink : chart_.colors->muted;
    if (roof.ceiling->suspect()) color = chart_.colors->suspect;
    const FontWeight weight = roof.used ? FontWeight::semibold : FontWeight::regular;
    Text text{{}, std::move(words), roof.used ? kNameSize : kIdleSize, weight, color};
    text.halo = chart_.colors->background;
    text.classes = "ceiling-name";
    return text;
  }

  /// The next name keeps its distance along the line.
  void keep(Text text, Group& group) {
    Text wider = text;
    wider.text += "\u2013";
    chart_.space.solid.push_back(wider.box());
    group.items.push_back(std::move(text));
  }

  /// Names the roofs of a row that are in use, or those that recede.
  void name_row(const Shared& row, bool used) {
    const std::vector<Roof>& roofs = chart_.roofs.compute;
    for (const bool suspect : {false, true}) {
      const auto of = [&](Regime regime) {
        return those(roofs, row, [&](const Roof& r) {
          return r.used == used && r.ceiling->regime == regime && r.ceiling->suspect() == suspect;
        });
      };
      const Shared burst = of(Regime::burst), sustained = of(Regime::sustained);
      if (burst.empty()) {
        name_each(sustained, row);
        continue;
      }
      const auto place = name_flat(burst, row, shared_label(pointers(roofs, burst)));
      if (!place) name_each(burst, row);
      if (place && !sustained.empty() && !suspect) name_beside(*place, sustained);
    }
  }

  void name_each(const Shared& shared, const Shared& row) {
    for (const std::size_t i : shared) name_flat({i}, row, chart_.roofs.compute[i].label());
  }

  /// The rightmost free place above the lines of the row, else below them. Returns where the name went.
  std::optional<Text> name_flat(const Shared& shared, const Shared& row, const std::string& words) {
    const std::vector<Roof>& roofs = chart_.roofs.compute;
    Text text = text_of(roofs[shared.front()], words);
    text.anchor = Anchor::end;
    const double above = chart_.y.pixel(roofs[row.front()].ceiling->value) - kAboveLine;
    const double below = chart_.y.pixel(roofs[row.back()].ceiling->value) + Font::kAscent * text.size + 3;
    const Roof& first = roofs[shared.front()];
    const double left = roof_span(chart_, first, first.ceiling->value).a.x + text.width();
    for (const auto& [y, over_limits] : {std::pair{above, false}, {below, false}, {above, true}}) {
      for (double x = chart_.plot.right() - 8; x > left; x -= 6) {
        text.at = {x, y};
        if (!is_free(chart_, text, over_limits)) continue;
        keep(text, flats_[shared.front()]);
        return text;
      }
    }
    return std::nullopt;
  }

  /// The values of sustained roofs stand left of their burst ones' name, or nowhere.
  void name_beside(const Text& burst, const Shared& sustained) {
    Text text =
        text_of(chart_.roofs.compute[sustained.front()], sustained_label(pointers(chart_.roofs.compute, sustained)));
    text.weight = FontWeight::regular;
    text.anchor = Anchor::end;
    text.at = {burst.box().bounds().x - 12, burst.at.y};
    if (is_free(chart_, text)) keep(text, flats_[sustained.front()]);
  }

  void name_slopes(const Shared& row, bool used) {
    const std::vector<Roof>& roofs = chart_.roofs.memory;
    for (const bool suspect : {false, true}) {
      const Shared shared =
          those(roofs, row, [&](const Roof& r) { return r.used == used && r.ceiling->suspect() == suspect; });
      if (!shared.empty()) name_slope(shared, shared_label(pointers(roofs, shared)));
    }
  }

  /// Along the slope, as near to two fifths of it as there is room.
  void name_slope(const Shared& shared, const std::string& words) {
    const Roof& roof = chart_.roofs.memory[shared.front()];
    const RoofSpan s = roof_span(chart_, roof, roof.ceiling->value);
    const Vec along = (s.b - s.a) * (1 / std::max(length(s.b - s.a), 1e-9));
    const Vec up = {along.y, -along.x};
    Text text = text_of(roof, words);
    text.anchor = Anchor::middle;
    text.rotation = std::atan2(along.y, along.x) * 180 / 3.14159265358979323846;
    constexpr double kBest = 0.42;
    for (const bool over_limits : {false, true}) {
      for (int step = 0; step <= 110; ++step) {
        const double away = 0.01 * ((step + 1) / 2);  // NOLINT(bugprone-integer-division)
        const double t = step % 2 == 0 ? kBest + away : kBest - away;
        text.at = s.a + (s.b - s.a) * t + up * kAboveLine;
        if (t < 0 || t > 1 || !is_free(chart_, text, over_limits)) continue;
        keep(text, slopes_[shared.front()]);
        return;
      }
    }
  }

  Chart& chart_;
  std::vector<Group>& slopes_;
  std::vector<Group>& flats_;
};

/// At the foot of the ridge line, beside it.
void name_ridge(Chart& chart, Group& drop) {
  if (drop.items.empty()) return;
  const double x = chart.x.pixel(*chart.roofs.ridge());
  Text text{{},
            "ridge " + number(*chart.roofs.ridge(), 3) + " FLOP/byte",
            kNameSize,
            FontWeight::regular,
            chart.colors->muted};
  text.halo = chart.colors->background;
  text.classes = "ridge-name";
  for (double up = 10; up < chart.plot.height * 0.7; up += 10) {
    for (const Anchor side : {Anchor::start, Anchor::end}) {
      text.anchor = side;
      text.at = {side == Anchor::start ? x + 7 : x - 7, chart.plot.bottom() - up};
      if (!is_free(chart, text)) continue;
      chart.space.solid.push_back(text.box());
      drop.items.push_back(text);
      return;
    }
  }
}

}  // namespace

void name_roofs(Chart& chart, std::vector<Group>& slopes, std::vector<Group>& flats, Group& ridge) {
  RoofNames(chart, slopes, flats).write();
  name_ridge(chart, ridge);
}

}  // namespace roofline
