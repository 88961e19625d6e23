/* Loops whose FLOPs, bytes and cache lines are known. counts_test.py compiles this file with several options and reads the
   counts of each function. Usage: programs NAME [ARGUMENT] */
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __SSE2__
#include <immintrin.h>
#endif

#define KERNEL __attribute__((noipa, aligned(64)))
enum { N = 65536, REPEATS = 5, SIDE = 128, BODIES = 256, POINTS = 4096, BIG = 1 << 19, SMALL = 1 << 15 };

static float x[N] __attribute__((aligned(64))), y[N] __attribute__((aligned(64)));
static double a[BIG] __attribute__((aligned(64))), b[BIG] __attribute__((aligned(64))), c[BIG] __attribute__((aligned(64)));
static int columns[BIG], starts[SIDE + 1];
static long double wide[N];
static volatile double sink;

KERNEL void saxpy(float* restrict out, const float* restrict in, float factor, long n) {
  for (long i = 0; i < n; i++) out[i] += factor * in[i];
}

KERNEL void triad(double* restrict out, const double* restrict p, const double* restrict q, double factor, long n) {
  for (long i = 0; i < n; i++) out[i] = p[i] + factor * q[i];
}

KERNEL double plain_sum(const double* in, long n) {
  double sum = 0;
  for (long i = 0; i < n; i++) sum += in[i];
  return sum;
}

KERNEL double four_sums(const double* in, long n) {
  double s0 = 0, s1 = 0, s2 = 0, s3 = 0;
  for (long i = 0; i < n; i += 4) {
    s0 += in[i];
    s1 += in[i + 1];
    s2 += in[i + 2];
    s3 += in[i + 3];
  }
  return s0 + s1 + s2 + s3;
}

KERNEL double horner(const double* in, double z, long n) {
  double value = 0;
  for (long i = 0; i < n; i++) value = value * z + in[i];
  return value;
}

/* Every element has the number of the next one. */
KERNEL long follow(const long* next, long n) {
  long at = 0;
  for (long i = 0; i < n; i++) at = next[at];
  return at;
}

KERNEL long sum_at(const long* at, const long* in, long n) {
  long sum = 0;
  for (long i = 0; i < n; i++) sum += in[at[i]];
  return sum;
}

KERNEL void stencil(double* restrict out, const double* restrict in, long side) {
  for (long i = 1; i < side - 1; i++)
    for (long j = 1; j < side - 1; j++)
      out[i * side + j] = 0.2 * (in[i * side + j] + in[i * side + j - 1] + in[i * side + j + 1] + in[(i - 1) * side + j] +
                                 in[(i + 1) * side + j]);
}

KERNEL void spmv(double* restrict out, const double* restrict values, const int* restrict column, const int* restrict start,
                 const double* restrict in, int rows) {
  for (int r = 0; r < rows; r++) {
    double sum = 0;
    const int end = start[r + 1];
    for (int k = start[r]; k < end; k++) sum += values[k] * in[column[k]];
    out[r] = sum;
  }
}

KERNEL void bodies(double* restrict force, const double* restrict place, int n) {
  for (int i = 0; i < n; i++) {
    double fx = 0, fy = 0, fz = 0;
    for (int j = 0; j < n; j++) {
      const double dx = place[3 * j] - place[3 * i], dy = place[3 * j + 1] - place[3 * i + 1],
                   dz = place[3 * j + 2] - place[3 * i + 2];
      const double square = dx * dx + dy * dy + dz * dz + 1e-3;
      const double weight = 1.0 / (square * sqrt(square));
      fx += dx * weight;
      fy += dy * weight;
      fz += dz * weight;
    }
    force[3 * i] = fx, force[3 * i + 1] = fy, force[3 * i + 2] = fz;
  }
}

/* Radix 2 without bit reversal: n / 2 log2(n) butterflies of 10 FLOPs. */
KERNEL void transform(double* restrict re, double* restrict im, const double* restrict twiddles, long n) {
  for (long half = n / 2; half; half /= 2)
    for (long first = 0; first < n; first += 2 * half)
      for (long k = 0; k < half; k++) {
        const double ur = re[first + k], ui = im[first + k], vr = re[first + k + half], vi = im[first + k + half];
        const double wr = twiddles[2 * k], wi = twiddles[2 * k + 1], dr = ur - vr, di = ui - vi;
        re[first + k] = ur + vr;
        im[first + k] = ui + vi;
        re[first + k + half] = dr * wr - di * wi;
        im[first + k + half] = dr * wi + di * wr;
      }
}

KERNEL long double wide_sum(const long double* in, long n) {
  long double sum = 0;
  for (long i = 0; i < n; i++) sum += in[i];
  return sum;
}

KERNEL void divide(long* out, long n, long by) {
  for (long i = 0; i < n; i++) out[i] = (i + 1000) / by;
}

/* Streams and cached loops: reads, writes, both, with steps of a line. */
KERNEL double read_all(const double* in, long n) {
  double sum = 0;
  for (long i = 0; i < n; i++) sum += in[i];
  return sum;
}
KERNEL double read_lines(const double* in, long n) {
  double sum = 0;
  for (long i = 0; i < n; i += 8) sum += in[i];
  return sum;
}
KERNEL void write_all(double* out, long n) {
  for (long i = 0; i < n; i++) ((volatile double*)out)[i] = 1;
}
KERNEL void write_lines(double* out, long n) {
  for (long i = 0; i < n; i += 8) ((volatile double*)out)[i] = 1;
}
KERNEL void scale_in_place(double* out, long n) {
  for (long i = 0; i < n; i++) out[i] *= 2;
}
KERNEL void copy_all(double* restrict out, const double* restrict in, long n) {
  for (long i = 0; i < n; i++) ((volatile double*)out)[i] = in[i];
}

#ifdef __AVX2__
KERNEL void non_temporal(float* out, long n) {
  for (long i = 0; i < n; i += 8) _mm256_stream_ps(out + i, _mm256_set1_ps(1));
  _mm_sfence();
}
KERNEL double gathered(const double* in, const int* index, long n) {
  __m256d sum = _mm256_setzero_pd();
  for (long i = 0; i < n; i += 4)
    sum = _mm256_add_pd(sum, _mm256_i32gather_pd(in, _mm_loadu_si128((const __m128i*)(index + i)), 8));
  return _mm256_cvtsd_f64(sum);
}
#endif

/* The library's code, for two callers of its own. */
static void* (*volatile copy_bytes)(void*, const void*, size_t) = memcpy;
static long shared_sum;

KERNEL void atomic_sums(long n) {
  for (long i = 0; i < n; i++) __atomic_fetch_add(&shared_sum, i & 3, __ATOMIC_SEQ_CST);
}

/* Two conversions: to double precision and back. */
KERNEL void mixed_precision(float* restrict out, const float* restrict in, long n) {
  for (long i = 0; i < n; i++) out[i] = in[i] * 0.3;
}

/* Branches that half of all coin flips take, that every seventh iteration takes, and jumps by a pointer. */
KERNEL long branches_at_random(const int* coins, long n) {
  long heads = 0;
  for (long i = 0; i < n; i++) {
    if (coins[i]) heads += i;
    else heads ^= i;
    __asm__ volatile("" : "+r"(heads));
  }
  return heads;
}
KERNEL long branches_in_turn(const int* coins, long n) {
  long heads = 0;
  for (long i = 0; i < n; i++) {
    if (coins[i]) heads += i;
    else heads ^= i;
    __asm__ volatile("" : "+r"(heads));
  }
  return heads;
}
KERNEL long add_one(long value) { return value + 1; }
KERNEL long take_one(long value) { return value - 1; }
static long (*const steps[2])(long) = {add_one, take_one};
KERNEL long jumps_at_random(const int* coins, long n) {
  long value = 0;
  for (long i = 0; i < n; i++) value = steps[coins[i]](value);
  return value;
}
KERNEL long jumps_in_turn(const int* coins, long n) {
  long value = 0;
  for (long i = 0; i < n; i++) value = steps[coins[i]](value);
  return value;
}

/* The products of n elements, each subnormal or none. */
KERNEL void tiny_doubles(double* restrict out, const double* restrict in, double factor, long n) {
  for (long i = 0; i < n; i++) out[i] = factor * in[i];
}
KERNEL void tiny_floats(float* restrict out, const float* restrict in, float factor, long n) {
  for (long i = 0; i < n; i++) out[i] = factor * in[i];
}
KERNEL void normal_floats(float* restrict out, const float* restrict in, float factor, long n) {
  for (long i = 0; i < n; i++) out[i] = factor * in[i];
}
KERNEL void tiny_sums(float* restrict out, const float* restrict in, float factor, long n) {
  for (long i = 0; i < n; i++) out[i] = factor * in[i] + in[i];
}

static void run_branches(void) {
  static int coins[2][N];
  unsigned state = 1;
  for (int i = 0; i < N; i++) {
    coins[0][i] = (state = state * 1664525 + 1013904223) >> 31;
    coins[1][i] = i % 7 == 0;
  }
  sink = branches_at_random(coins[0], N) + branches_in_turn(coins[1], N);
  sink = jumps_at_random(coins[0], N) + jumps_in_turn(coins[1], N);
}

static void run_subnormals(void) {
  for (int i = 0; i < N; i++) a[i] = 1 + i % 3, x[i] = i % 2 ? -1.5f : 1.25f;
  tiny_doubles(b, a, 1e-310, N);
  tiny_floats(y, x, 1e-39f, N);
  normal_floats(y, x, 1e-37f, N);
  for (int i = 0; i < N; i++) x[i] = 1e-40f;
  tiny_sums(y, x, 2, N);
  for (int i = 0; i < N; i++) x[i] = 0;
  normal_floats(y, x, 1e-37f, N);
}

KERNEL void small_copies(void) {
  for (int i = 0; i < 100; i++) copy_bytes(b, a, 1 << 14);
}
KERNEL void large_copies(void) {
  for (int i = 0; i < 300; i++) copy_bytes(b, a, 1 << 14);
}

/* One load of each page. */
KERNEL double touch_pages(const double* in, long pages) {
  double sum = 0;
  for (long i = 0; i < pages; i++) sum += in[512 * i];
  return sum;
}
KERNEL double touch_few_pages(const double* in, long pages) {
  double sum = 0;
  for (long i = 0; i < pages; i++) sum += in[512 * i];
  return sum;
}

static void run_pages(void) {
  const double* memory = calloc(4096, 4096);
  for (int r = 0; r < 4; r++) sink += touch_pages(memory, 4096);
  for (int r = 0; r < 16; r++) sink += touch_few_pages(memory, 1024);
}

static void* work(void* unused) {
  static float own[4][N / 4];
  static int next = 0;
  float* out = own[__atomic_fetch_add(&next, 1, __ATOMIC_RELAXED)];
  for (int r = 0; r < REPEATS; r++) saxpy(out, x, 2, N / 4);
  return unused;
}

static void run_kernels(void) {
  for (int i = 0; i < BIG; i++) columns[i] = (i * 7) % N, a[i] = i % 13 + 1;
  for (int i = 0; i <= SIDE; i++) starts[i] = i * 100;
  for (int r = 0; r < REPEATS; r++) saxpy(y, x, 2, N);
  for (int r = 0; r < REPEATS; r++) triad(a, b, c, 2, N);
  static long order[N];
  for (long i = 0; i < N; i++) order[i] = (i + 4097) % N;
  for (int r = 0; r < REPEATS; r++) sink += follow(order, N) + sum_at(order, order, N);
  for (int r = 0; r < REPEATS; r++) sink = plain_sum(a, N) + four_sums(a, N) + horner(a, 0.5, N);
  for (int r = 0; r < REPEATS; r++) stencil(b, a, SIDE);
  for (int r = 0; r < REPEATS; r++) spmv(c, a, columns, starts, b, SIDE);
  bodies(b, a, BODIES);
  transform(a, b, c, POINTS);
  sink = wide_sum(wide, N);
  divide((long*)a, N, 3 + (long)sink);
#ifdef __AVX2__
  non_temporal(x, N);
  sink = gathered(b, columns, N);
#endif
  small_copies();
  atomic_sums(N);
  mixed_precision(y, x, N);
  large_copies();
}

/* Every loop goes over memory that is read or written completely by the one before. */
static void run_caches(long n, int repeats) {
  for (int r = 0; r < repeats; r++) sink += read_all(a, n);
  for (int r = 0; r < repeats; r++) sink += read_lines(a, n);
  for (int r = 0; r < repeats; r++) write_all(a, n);
  for (int r = 0; r < repeats; r++) write_lines(a, n);
  for (int r = 0; r < repeats; r++) scale_in_place(a, n);
  for (int r = 0; r < repeats; r++) copy_all(b, a, n);
}

static struct {
  volatile double sum;
  double rest[7];
} apart[2] __attribute__((aligned(64)));
static volatile double beside[8] __attribute__((aligned(64)));

KERNEL void add_beside(long thread, const double* in, long n) {
  for (long i = 0; i < n; i++) beside[thread] += in[i];
}

KERNEL void add_apart(long thread, const double* in, long n) {
  for (long i = 0; i < n; i++) apart[thread].sum += in[i];
}

/* Written between the loops of the threads, as by a serial part. */
static double shared[N] __attribute__((aligned(64)));

KERNEL double read_shared(long n) {
  double sum = 0;
  for (long i = 0; i < n; i++) sum += shared[i];
  return sum;
}

static pthread_barrier_t both;
static void* add(void* thread) {
  for (int r = 0; r < 40; r++) add_beside((long)thread, a, N), add_apart((long)thread, a, N);
  for (int r = 0; r < 40; r++) {
    if (!thread) saxpy((float*)shared, (float*)shared, 1, 16);
    pthread_barrier_wait(&both);
    sink += read_shared(16);
    pthread_barrier_wait(&both);
  }
  return NULL;
}

static void run_sums(void) {
  pthread_t threads[2];
  pthread_barrier_init(&both, NULL, 2);
  for (long i = 0; i < 2; i++) pthread_create(&threads[i], NULL, add, (void*)i);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
}

static void run_threads(void) {
  pthread_t threads[4];
  for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, work, NULL);
  for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
}

int main(int count, char** arguments) {
  const char* what = count > 1 ? arguments[1] : "";
  if (!strcmp(what, "kernels")) run_kernels();
  if (!strcmp(what, "streams")) run_caches(BIG, 2);
  if (!strcmp(what, "cached")) run_caches(SMALL, 20);
  if (!strcmp(what, "pages")) run_pages();
  if (!strcmp(what, "branches")) run_branches();
  if (!strcmp(what, "subnormals")) run_subnormals();
  if (!strcmp(what, "threads")) run_threads();
  if (!strcmp(what, "sums")) run_sums();
  if (!strcmp(what, "fork")) {
    saxpy(y, x, 2, N);
    const pid_t child = fork();
    if (child == 0) {
      for (int r = 0; r < 3; r++) saxpy(y, x, 2, N);
      exit(0);
    }
    waitpid(child, NULL, 0);
  }
  if (!strcmp(what, "exec")) {
    for (int r = 0; r < 20; r++) saxpy(y, x, 2, N);
    execl("/nonexistent/program", "program", NULL);
    execl(arguments[0], arguments[0], "threads", NULL);
  }
  if (!strcmp(what, "crash")) saxpy(y, x, 2, N), *(volatile int*)8 = 1;
  if (!strcmp(what, "killed")) saxpy(y, x, 2, N), kill(getpid(), SIGTERM), pause();
  if (!strcmp(what, "endless"))
    for (;;) saxpy(y, x, 2, N);
#ifdef __x86_64__
  if (!strcmp(what, "avx512")) __asm__ volatile("vaddps %zmm0, %zmm1, %zmm2");
#endif
  printf("the end\n");
  return 7;
}
