// Counts how often each cell of a grid is visited by random walkers.
#include <cstdint>
#include <cstdio>
#include <random>
#include <unordered_map>

struct Cell {
  int x, y;
  bool operator==(const Cell& other) const { return x == other.x && y == other.y; }
};

struct CellHash {
  std::size_t operator()(const Cell& cell) const {
#ifdef FIXED
    std::uint64_t key = (std::uint64_t(std::uint32_t(cell.x)) << 32) | std::uint32_t(cell.y);
    key ^= key >> 29;
    key *= 0xbf58476d1ce4e5b9ULL;
    return key ^ (key >> 32);
#else
    return std::hash<int>()(cell.x) ^ std::hash<int>()(cell.y);
#endif
  }
};

int main() {
  std::unordered_map<Cell, int, CellHash> visits;
  std::mt19937 random(7);
  const int walkers = 4500, steps = 1300;
  for (int w = 0; w < walkers; ++w) {
    Cell cell{int(random() % 300), int(random() % 300)};
    for (int s = 0; s < steps; ++s) {
      switch (random() & 3) {
        case 0:
          ++cell.x;
          break;
        case 1:
          --cell.x;
          break;
        case 2:
          ++cell.y;
          break;
        default:
          --cell.y;
      }
      ++visits[cell];
    }
  }
  int most = 0;
  for (const auto& entry : visits)
    if (entry.second > most) most = entry.second;
  std::printf("%zu cells, at most %d visits\n", visits.size(), most);
}
