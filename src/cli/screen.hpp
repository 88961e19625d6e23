// Full-screen view that is redrawn in place; restores the terminal afterwards.
#pragma once

#include <memory>
#include <string>

namespace roofline {

class Screen {
 public:
  /// Switches stdout to the alternate screen and stdin to unbuffered input, if they are terminals.
  Screen();
  ~Screen();
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;

  /// Overwrites the previous frame without clearing it first, which avoids flicker.
  void draw(const std::string& text);
  /// Height of the terminal.
  static int lines();

 private:
  struct Keys;
  std::unique_ptr<Keys> keys_;
};

/// Waits. Returns true as soon as 'q' is typed or the program is interrupted.
bool wait_for_end(double seconds);

}  // namespace roofline
