// SVG text. Literal colours (var() is not honoured outside browsers), text as text, no style element.
#pragma once

#include "render/chart/canvas.hpp"

namespace roofline {

class SvgCanvas : public Canvas {
 public:
  /// A page has use for hidden groups, a picture has none.
  explicit SvgCanvas(bool for_page = false) : for_page_(for_page) {}

  void begin(const Scene& scene) override;
  bool keeps_hidden() const override { return for_page_; }
  void begin_layer(const Layer& layer) override;
  void begin_group(const Group& group) override;
  void draw(const Line& line) override;
  void draw(const Circle& circle) override;
  void draw(const Text& text) override;
  void end_group() override;
  void end_layer() override;
  std::string finish() override;

 private:
  void end_path();

  bool for_page_;
  std::string out_;
  std::string group_paint_;  ///< of all shapes of the open group; empty where each has its own
  std::string open_paint_;   ///< of a path that further lines may still join; empty when there is none
  std::string open_path_;
};

}  // namespace roofline
