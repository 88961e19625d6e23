// Visits the nodes of a scene by copies of their shared pointers.
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <thread>
#include <vector>
struct Node {
  double width = 1, height = 2;
};
#ifdef FIXED
using Handle = const std::shared_ptr<Node>&;
#else
using Handle = std::shared_ptr<Node>;
#endif
__attribute__((noinline)) double area(Handle node) {  // FAULT
  return node->width * node->height;
}
double visit(const std::vector<std::shared_ptr<Node>>& nodes) {
  double sum = 0;
  for (Handle node : nodes) sum += area(node);  // FAULT
  return sum;
}
int main(int argc, char** argv) {
  const int passes = argc > 1 ? std::atoi(argv[1]) : 12000;
  std::vector<std::shared_ptr<Node>> nodes;
  for (int i = 0; i < 10000; ++i) nodes.push_back(std::make_shared<Node>());
  double sum = 0;
  std::thread thread([&] {
    for (int p = 0; p < passes; ++p) sum += visit(nodes);
  });
  thread.join();
  std::printf("%g\n", sum);
}
