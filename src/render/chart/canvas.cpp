// The one walk over a scene that all canvases share.
#include "render/chart/canvas.hpp"

namespace roofline {

std::string draw_scene(const Scene& scene, Canvas& canvas) {
  canvas.begin(scene);
  for (const Layer& layer : scene.layers) {
    canvas.begin_layer(layer);
    for (const Group& group : layer.groups) {
      if (group.hidden && !canvas.keeps_hidden()) continue;
      canvas.begin_group(group);
      for (const Item& item : group.items) std::visit([&canvas](const auto& shape) { canvas.draw(shape); }, item);
      canvas.end_group();
    }
    canvas.end_layer();
  }
  return canvas.finish();
}

}  // namespace roofline
