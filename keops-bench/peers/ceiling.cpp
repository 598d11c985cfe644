// What one core can do: hand-written loops for the Gaussian sum in three dimensions, as a ceiling for keops-bench's `gauss`.
//
//     g++ -O3 -o ceiling keops-bench/peers/ceiling.cpp
//     keops-bench/peers/peers.py --cases gauss --dims 3 --external ./ceiling --external target/release/keops-bench
//
// The protocol is keops-bench's: --case gauss --dtype float32|float64 --m M --n N --d 3 --runs R prints one JSON line for each
// loop that the machine can run; other cases print nothing. `seconds` is the median of min(wall, process CPU time).
//
// The loops do less than a library: rows are packed and scaled by sqrt(log2 e) outside of the clock, M is a multiple of the
// lanes, there is one right-hand side, nothing is rounded twice, and results below the normal numbers may be slow.
#include <immintrin.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <random>
#include <string>
#include <vector>

#define AVX512 __attribute__((target("avx512f,avx512dq,avx512vl,avx512bw,fma")))
#define AVX2 __attribute__((target("avx2,fma")))

// Inner rows that are summed before they are added to the total, as keops does.
constexpr int BLOCK = 256;

// 2^t for t <= 0: t = n + f, a polynomial of f (Taylor's series in ln 2, fitted to |f| <= 1/2), scaled by 2^n.
AVX512 static inline __m512 power_poly(__m512 t) {
  __m512 n = _mm512_roundscale_ps(t, 0), f = _mm512_sub_ps(t, n);
  const float c[] = {1.3275094e-3f, 9.6717635e-3f, 5.5506993e-2f, 0.24022238f, 0.693147f, 1.0f};
  __m512 p = _mm512_set1_ps(c[0]);
  for (int k = 1; k < 6; k++) p = _mm512_fmadd_ps(p, f, _mm512_set1_ps(c[k]));
  return _mm512_scalef_ps(p, n);
}

// The same with 2^(k/16) from a register, and f within 1/32.
AVX512 static inline __m512 power_table(__m512 t, __m512 roots) {
  __m512 magic = _mm512_set1_ps(786432.0f), m = _mm512_add_ps(t, magic);
  __m512 n = _mm512_sub_ps(m, magic), f = _mm512_sub_ps(t, n);
  __m512 root = _mm512_permutexvar_ps(_mm512_castps_si512(m), roots);
  __m512 p = _mm512_fmadd_ps(_mm512_set1_ps(0.24022f), f, _mm512_set1_ps(0.693147f));
  return _mm512_scalef_ps(_mm512_fmadd_ps(_mm512_mul_ps(root, f), p, root), n);
}

AVX512 static inline __m512d power_double(__m512d t) {
  __m512d n = _mm512_roundscale_pd(t, 0), f = _mm512_sub_pd(t, n);
  const double c[] = {4.435283378920851e-10, 7.074105416184545e-9, 1.0178198017350943e-7, 1.3215433090755886e-6,
                      1.5252733489997292e-5, 1.5403530462512603e-4, 1.3333558146789916e-3, 9.618129107588335e-3,
                      5.5504108664819925e-2, 0.24022650695910155, 0.6931471805599453, 1.0};
  __m512d p = _mm512_set1_pd(c[0]);
  for (int k = 1; k < 12; k++) p = _mm512_fmadd_pd(p, f, _mm512_set1_pd(c[k]));
  return _mm512_scalef_pd(p, n);
}

AVX2 static inline __m256 power_avx2(__m256 t) {
  t = _mm256_max_ps(t, _mm256_set1_ps(-126.0f));
  __m256 magic = _mm256_set1_ps(12582912.0f), m = _mm256_add_ps(t, magic), f = _mm256_sub_ps(t, _mm256_sub_ps(m, magic));
  const float c[] = {1.3275094e-3f, 9.6717635e-3f, 5.5506993e-2f, 0.24022238f, 0.693147f, 1.0f};
  __m256 p = _mm256_set1_ps(c[0]);
  for (int k = 1; k < 6; k++) p = _mm256_fmadd_ps(p, f, _mm256_set1_ps(c[k]));
  return _mm256_castsi256_ps(_mm256_add_epi32(_mm256_castps_si256(p), _mm256_slli_epi32(_mm256_castps_si256(m), 23)));
}

// One loop for each: `x` has three rows of M numbers, `y` rows of y0, y1, y2, b.
#define LOOP(name, ATTRIBUTE, T, V, lanes, load, store, set1, zero, add, sub, fmadd, fnmadd, power)               \
  ATTRIBUTE static void name(int m, int n, const T* x, const T* y, T* out) {                                      \
    for (int i = 0; i < m; i += lanes) {                                                                          \
      V x0 = load(x + i), x1 = load(x + m + i), x2 = load(x + 2 * m + i), total = zero();                         \
      for (int from = 0; from < n; from += BLOCK) {                                                               \
        V sum = zero();                                                                                           \
        for (int j = from; j < std::min(n, from + BLOCK); j++) {                                                  \
          const T* r = y + 4 * j;                                                                                 \
          V d0 = sub(x0, set1(r[0])), d1 = sub(x1, set1(r[1])), d2 = sub(x2, set1(r[2]));                         \
          V t = fnmadd(d2, d2, fnmadd(d1, d1, fnmadd(d0, d0, zero())));                                           \
          sum = fmadd(power, set1(r[3]), sum);                                                                    \
        }                                                                                                         \
        total = add(total, sum);                                                                                  \
      }                                                                                                           \
      store(out + i, total);                                                                                      \
    }                                                                                                             \
  }
LOOP(poly, AVX512, float, __m512, 16, _mm512_loadu_ps, _mm512_storeu_ps, _mm512_set1_ps, _mm512_setzero_ps, _mm512_add_ps,
     _mm512_sub_ps, _mm512_fmadd_ps, _mm512_fnmadd_ps, power_poly(t))
// 2^(k/16).
alignas(64) static float ROOTS[16];
LOOP(table, AVX512, float, __m512, 16, _mm512_loadu_ps, _mm512_storeu_ps, _mm512_set1_ps, _mm512_setzero_ps, _mm512_add_ps,
     _mm512_sub_ps, _mm512_fmadd_ps, _mm512_fnmadd_ps, power_table(t, _mm512_load_ps(ROOTS)))
LOOP(doubles, AVX512, double, __m512d, 8, _mm512_loadu_pd, _mm512_storeu_pd, _mm512_set1_pd, _mm512_setzero_pd,
     _mm512_add_pd, _mm512_sub_pd, _mm512_fmadd_pd, _mm512_fnmadd_pd, power_double(t))
LOOP(narrow, AVX2, float, __m256, 8, _mm256_loadu_ps, _mm256_storeu_ps, _mm256_set1_ps, _mm256_setzero_ps, _mm256_add_ps,
     _mm256_sub_ps, _mm256_fmadd_ps, _mm256_fnmadd_ps, power_avx2(t))

static double cpu_time() {
  timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return t.tv_sec + 1e-9 * t.tv_nsec;
}

template <class T>
static void measure(const char* system, const char* dtype, void (*loop)(int, int, const T*, const T*, T*), int m, int n, int runs) {
  std::mt19937 random(0);
  std::uniform_real_distribution<double> uniform(0, 1);
  const double scale = std::sqrt(1.4426950408889634);
  int padded = (m + 15) / 16 * 16;
  std::vector<T> x(3 * padded), y(4 * n), out(padded);
  for (T& v : x) v = static_cast<T>(scale * uniform(random));
  for (int k = 0; k < 4 * n; k++) y[k] = static_cast<T>((k % 4 == 3 ? 1 : scale) * uniform(random));
  std::vector<double> times;
  for (int run = 0; run <= runs; run++) {
    auto wall = std::chrono::steady_clock::now();
    double cpu = cpu_time();
    loop(padded, n, x.data(), y.data(), out.data());
    double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - wall).count();
    if (run > 0) times.push_back(std::min(seconds, cpu_time() - cpu));
  }
  double exact = 0, found = 0;
  for (int i = 0; i < std::min(padded, 64); i++) {
    double sum = 0;
    for (int j = 0; j < n; j++) {
      double d0 = x[i] - y[4 * j], d1 = x[padded + i] - y[4 * j + 1], d2 = x[2 * padded + i] - y[4 * j + 2];
      sum += std::exp2(-(d0 * d0 + d1 * d1 + d2 * d2)) * y[4 * j + 3];
    }
    exact += sum * sum;
    found += (out[i] - sum) * (out[i] - sum);
  }
  std::sort(times.begin(), times.end());
  double seconds = times[times.size() / 2];
  std::printf("{\"system\": \"roofline-%s\", \"case\": \"gauss\", \"dtype\": \"%s\", \"M\": %d, \"N\": %d, \"D\": 3, "
              "\"seconds\": %.6g, \"gpairs_per_s\": %.4f, \"min_seconds\": %.6g, \"runs\": %d, \"threads\": 1, "
              "\"rel_err\": %.2g}\n",
              system, dtype, m, n, seconds, 1e-9 * m * n / seconds, times[0], runs, std::sqrt(found / exact));
  std::fflush(stdout);
}

int main(int count, char** words) {
  std::string kernel, dtype;
  int m = 10000, n = 10000, d = 3, runs = 7;
  for (int k = 1; k + 1 < count; k += 2) {
    std::string option = words[k], value = words[k + 1];
    if (option == "--case") kernel = value;
    if (option == "--dtype") dtype = value;
    if (option == "--m") m = std::atoi(value.c_str());
    if (option == "--n") n = std::atoi(value.c_str());
    if (option == "--d") d = std::atoi(value.c_str());
    if (option == "--runs") runs = std::max(1, std::atoi(value.c_str()));
  }
  if (kernel != "gauss" || d != 3 || m < 1 || n < 1) return 0;
  for (int k = 0; k < 16; k++) ROOTS[k] = static_cast<float>(std::exp2(k / 16.0));
  bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq");
  if (avx512 && dtype == "float32") {
    measure<float>("avx512-poly", "float32", poly, m, n, runs);
    measure<float>("avx512-table", "float32", table, m, n, runs);
  }
  if (avx512 && dtype == "float64") measure<double>("avx512", "float64", doubles, m, n, runs);
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && dtype == "float32")
    measure<float>("avx2", "float32", narrow, m, n, runs);
}
