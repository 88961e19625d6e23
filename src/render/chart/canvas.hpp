// The interface that a scene is drawn on. A canvas has shapes and text only.
#pragma once

#include "render/chart/scene.hpp"

namespace roofline {

class Canvas {
 public:
  virtual ~Canvas() = default;
  virtual void begin(const Scene& scene) = 0;
  /// True if the output keeps hidden groups, for a page's script.
  virtual bool keeps_hidden() const { return false; }
  virtual void begin_layer(const Layer& layer) = 0;
  virtual void begin_group(const Group& group) = 0;
  virtual void draw(const Line& line) = 0;
  virtual void draw(const Circle& circle) = 0;
  virtual void draw(const Text& text) = 0;
  virtual void end_group() = 0;
  virtual void end_layer() = 0;
  /// The finished file. The canvas is spent then.
  virtual std::string finish() = 0;
};

/// Draws everything, in order, and returns the file.
std::string draw_scene(const Scene& scene, Canvas& canvas);

}  // namespace roofline
