// Boxes of text, and the walk over a scene's texts.
#include "render/chart/scene.hpp"

namespace roofline {

Quad Text::box() const {
  const double w = width();
  const double left = anchor == Anchor::start ? at.x : anchor == Anchor::middle ? at.x - w / 2 : at.x - w;
  const Rect upright = {left, at.y - Font::kAscent * size, w, (Font::kAscent + Font::kDescent) * size};
  return Quad::from(upright).rotated(rotation, at);
}

std::vector<const Text*> Scene::texts() const {
  std::vector<const Text*> out;
  for (const Layer& layer : layers)
    for (const Group& group : layer.groups)
      for (const Item& item : group.items)
        if (const Text* text = std::get_if<Text>(&item)) out.push_back(text);
  return out;
}

}  // namespace roofline
