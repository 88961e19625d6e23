// ANSI escape sequences: alternate screen, cursor home, clear to end of line.
#include "cli/screen.hpp"

#include <poll.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <optional>

#include "cli/console.hpp"
#include "host/host.hpp"
#include "host/interrupt.hpp"

namespace roofline {

struct Screen::Keys {
  std::optional<termios> before;
};

Screen::Screen() : keys_(std::make_unique<Keys>()) {
  termios now{};
  if (::isatty(STDIN_FILENO) == 1 && ::tcgetattr(STDIN_FILENO, &now) == 0) {
    keys_->before = now;
    now.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
    now.c_cc[VSUSP] = _POSIX_VDISABLE;  // a stopped process would not restore the terminal
    ::tcsetattr(STDIN_FILENO, TCSANOW, &now);
  }
  write_stdout("\x1b[?1049h\x1b[?25l\x1b[2J");
}

Screen::~Screen() {
  static_cast<void>(std::fputs("\x1b[?25h\x1b[?1049l", stdout));
  static_cast<void>(std::fflush(stdout));
  if (keys_->before) ::tcsetattr(STDIN_FILENO, TCSANOW, &*keys_->before);
}

void Screen::draw(const std::string& text) {
  std::string frame = "\x1b[H";
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    if (begin > 0) frame += "\r\n";
    frame.append(text, begin, end - begin);
    frame += "\x1b[K";
    begin = end + 1;
  }
  write_stdout(frame + "\x1b[J");
}

int Screen::lines() {
  winsize size{};
  constexpr int kUsual = 24;
  return ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0 ? size.ws_row : kUsual;
}

bool wait_for_end(double seconds) {
  const double until_s = wall_seconds() + seconds;
  // A background process must not read the terminal: SIGTTIN would stop it.
  bool keys = ::isatty(STDIN_FILENO) == 1 && ::tcgetpgrp(STDIN_FILENO) == ::getpgrp();
  while (!interrupted()) {
    const double left_s = until_s - wall_seconds();
    if (left_s <= 0) return false;
    pollfd typed{STDIN_FILENO, POLLIN, 0};
    const int ready = ::poll(&typed, keys ? 1 : 0, static_cast<int>(left_s * 1000) + 1);
    if (ready <= 0) continue;
    char key = 0;
    if (::read(STDIN_FILENO, &key, 1) != 1) keys = false;
    if (key == 'q' || key == 'Q') return true;
  }
  return true;
}

}  // namespace roofline
