// The whole terminal for a view that is drawn again and again, given back as it was.
#pragma once

#include <memory>
#include <string>

namespace roofline {

class Screen {
 public:
  /// Takes the terminal on stdout, and the keys of one on stdin.
  Screen();
  ~Screen();
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;

  /// Draws over what was there, without a flicker: only what is left of longer lines is cleared.
  void draw(const std::string& text);
  /// Lines that there are.
  static int lines();

 private:
  struct Keys;
  std::unique_ptr<Keys> keys_;
};

/// Waits; true as soon as 'q' is typed on a terminal, or the program is interrupted.
bool wait_for_end(double seconds);

}  // namespace roofline
