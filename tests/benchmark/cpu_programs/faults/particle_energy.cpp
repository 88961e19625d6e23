// The kinetic energy of particles that carry many other fields.
#include <cstdio>
#include <cstdlib>
#include <vector>
struct Particle {
  double position[3], force[3];
  double speed;
  double mass, charge, radius, spin[4];
  long id, cell;
};
struct Cloud {
#ifdef FIXED
  std::vector<double> speed;
#else
  std::vector<Particle> particles;
#endif
};
double energy(const Cloud& cloud, std::size_t n) {
  double s0 = 0, s1 = 0;
  for (std::size_t i = 0; i + 1 < n; i += 2) {
#ifdef FIXED
    s0 += cloud.speed[i] * cloud.speed[i];
    s1 += cloud.speed[i + 1] * cloud.speed[i + 1];
#else
    s0 += cloud.particles[i].speed * cloud.particles[i].speed;          // FAULT
    s1 += cloud.particles[i + 1].speed * cloud.particles[i + 1].speed;  // FAULT
#endif
  }
  return s0 + s1;
}
int main(int argc, char** argv) {
  const int passes = argc > 1 ? std::atoi(argv[1]) : 300;
  const std::size_t n = 1500000;
  Cloud cloud;
#ifdef FIXED
  cloud.speed.assign(n, 1.5);
#else
  cloud.particles.assign(n, Particle{.speed = 1.5});
#endif
  double sum = 0;
  for (int p = 0; p < passes; ++p) sum += energy(cloud, n);
  std::printf("%g\n", sum);
}
