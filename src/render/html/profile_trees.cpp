// Trees of a profile: modules and NVTX ranges, with the kernel time of each node.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "render/columns.hpp"
#include "render/html/profile_sections.hpp"
#include "text/format.hpp"

namespace roofline {
namespace {

constexpr std::size_t kMostChildren = 40;
constexpr int kDeepest = 24;

/// A tree's nodes by their parents, costliest first.
class Tree {
 public:
  Tree(const std::vector<TreeSum>& nodes, double all_s, bool has_wall)
      : nodes_(nodes), children_(nodes.size() + 1), all_s_(all_s), has_wall_(has_wall) {
    for (std::size_t i = 0; i < nodes.size(); ++i) children_[slot(nodes[i].parent, i)].push_back(i);
    for (auto& list : children_) {
      std::stable_sort(list.begin(), list.end(),
                       [&](std::size_t a, std::size_t b) { return nodes_[a].total_s > nodes_[b].total_s; });
    }
  }

  std::string html() const { return list(children_.back(), 0); }

 private:
  /// The slot of the parent; the last slot for roots and for invalid parents.
  std::size_t slot(int parent, std::size_t node) const {
    return parent >= 0 && static_cast<std::size_t>(parent) < node ? static_cast<std::size_t>(parent) : nodes_.size();
  }

  std::string list(const std::vector<std::size_t>& children, int depth) const {
    std::string html = "<ul>\n";
    for (std::size_t i = 0; i < std::min(children.size(), kMostChildren); ++i) html += item(children[i], depth);
    if (children.size() > kMostChildren) {
      html += fmt::format("<li class=\"leaf\">and {} more\n", children.size() - kMostChildren);
    }
    return html + "</ul>\n";
  }

  std::string item(std::size_t index, int depth) const {
    const std::vector<std::size_t>& children = children_[index];
    if (children.empty() || depth >= kDeepest) {
      return fmt::format("<li><div class=\"node\">{}</div>{}\n", cells(nodes_[index]),
                         children.empty()
                             ? ""
                             : fmt::format("<ul><li class=\"leaf\">{} deeper nodes not shown\n</ul>", children.size()));
    }
    return fmt::format("<li><details{}><summary class=\"node\">{}</summary>\n{}</details>\n", depth == 0 ? " open" : "",
                       cells(nodes_[index]), list(children, depth + 1));
  }

  std::string cells(const TreeSum& node) const {
    std::string html = fmt::format(
        "<span class=\"what\">{}</span><span class=\"n\">{}</span><span class=\"share\">{}</span>",
        html_name(node.name, 60), duration(node.total_s), html_share(all_s_ > 0 ? node.total_s / all_s_ : 0));
    html += fmt::format("<span class=\"n opt\">{}</span>",
                        has_wall_ ? node.wall_s > 0 ? duration(node.wall_s) : std::string(kAbsent)
                        : node.backward_s > 0 && node.total_s > 0 ? percent(node.backward_s / node.total_s)
                                                                  : kAbsent);
    return html + fmt::format("<span class=\"n opt\">{}</span>", count(node.launches));
  }

  const std::vector<TreeSum>& nodes_;
  std::vector<std::vector<std::size_t>> children_;
  double all_s_;
  bool has_wall_;
};

std::string section(const char* id, const char* title, const char* lead, const Tree& tree, const char* fourth) {
  return fmt::format(
      "<section id=\"{0}\" aria-labelledby=\"{0}-h\">\n<div class=\"row\"><h2 id=\"{0}-h\">{1}</h2><span "
      "class=\"folds\" "
      "hidden><button type=\"button\" data-fold=\"open\">Unfold all</button> <button type=\"button\" "
      "data-fold=\"close\">Fold all</button></span></div>\n<p class=\"lead\">{2}</p>\n<div class=\"tree\"><div "
      "class=\"node "
      "titles\" aria-hidden=\"true\"><span class=\"what\">{3}</span><span class=\"n\">Kernels</span><span "
      "class=\"share\">Share</span><span class=\"n opt\">{4}</span><span class=\"n "
      "opt\">Launches</span></div>\n{5}</div>\n"
      "</section>\n",
      id, title, lead, *id == 'm' ? "Module" : "Range", fourth, tree.html());
}

}  // namespace

std::string html_trees(const Report& report) {
  const Profile& profile = *report.profile;
  std::string html;
  if (!profile.modules.empty()) {
    const std::string lead =
        fmt::format("Kernel time by launching module, forward and backward. A module includes its children.{}",
                    profile.without_module_s > 0
                        ? fmt::format(" {} of kernel time belongs to no module.", duration(profile.without_module_s))
                        : "");
    html += section("modules", "By module", lead.c_str(), Tree(profile.modules, profile.kernel_s, false), "Backward");
  }
  if (!profile.ranges.empty()) {
    html += section("ranges", "By range", "Kernel time by NVTX range of the launch, and host time in the range.",
                    Tree(profile.ranges, profile.kernel_s, true), "Host time");
  }
  return html;
}

}  // namespace roofline
