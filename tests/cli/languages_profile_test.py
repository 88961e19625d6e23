#!/usr/bin/env python3
"""roofline profile on programs in Fortran and Rust and on MPI ranks: function, line, and FLOPs under emulation. Skipped
where a compiler is missing; without roofline_count and Valgrind only functions and lines are compared.

usage: languages_profile_test.py PATH_OF_ROOFLINE [unittest arguments]
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOFLINE = os.path.abspath(sys.argv.pop(1))
ENVIRONMENT = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                   OMPI_MCA_rmaps_base_oversubscribe="1",
                   PRTE_MCA_rmaps_default_mapping_policy=":oversubscribe", OMPI_MCA_hwloc_base_binding_policy="none")
FORTRAN = """\
program waves
  implicit none
  integer, parameter :: n = 20000
  real(8) :: u(n), v(n)
  integer :: k
  u = 1
  v = 0
  do k = 1, 8000
    call diffuse(u, v)
  end do
  print *, sum(v)
contains
  subroutine diffuse(a, b)
    real(8), intent(in) :: a(:)
    real(8), intent(inout) :: b(:)
    integer :: i
    do i = 2, size(a) - 1
      b(i) = b(i) + 0.5d0 * (a(i - 1) + a(i + 1))
    end do
  end subroutine
end program
"""
RUST = """\
#[inline(never)]
fn decay(values: &mut [f64], factor: f64) {
    for value in values.iter_mut() {
        *value = *value * factor + 1.0;
    }
}
fn main() {
    let mut values = vec![1.0; 20000];
    for _ in 0..20000 {
        decay(&mut values, 0.5);
    }
    println!("{}", values.iter().sum::<f64>());
}
"""
RANKS = """\
#include <mpi.h>
#include <stdio.h>
static double a[10000];
__attribute__((noinline)) void grow(double f) {
  for (int i = 0; i < 10000; ++i)
    a[i] = f * a[i] + 1;
}
int main(int count, char** words) {
  MPI_Init(&count, &words);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int k = 0; k < 10000 * (rank + 1); ++k) grow(0.5);
  double sum = 0;
  MPI_Reduce(a, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  if (!rank) printf("%g\\n", sum);
  MPI_Finalize();
  return 0;
}
"""


def rustc():
    beside_cargo = pathlib.Path.home() / ".cargo/bin/rustc"
    return shutil.which("rustc") or (str(beside_cargo) if beside_cargo.exists() else None)


class Languages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.at = pathlib.Path(cls.temporary.name)
        doctor = subprocess.run([ROOFLINE, "doctor", "--json"], capture_output=True, text=True, check=False)
        checks = json.loads(doctor.stdout)["data"]["checks"]
        cls.counts = any(row["name"] == "counts under emulation" and row["health"] == "works" for row in checks)

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def built(self, compiler, name, source, *options):
        if not compiler or not shutil.which(compiler):
            self.skipTest(f"no compiler for {name}")
        (self.at / name).write_text(source, encoding="ascii")
        subprocess.run([compiler, *options, "-g", name, "-o", "program"], cwd=self.at, check=True)
        return "./program"

    def report(self, *command, status=0):
        emulate = ["--emulate"] if self.counts else []
        done = subprocess.run([ROOFLINE, "profile", *emulate, "--device", "cpu", "-o", "out", "--", *command],
                              cwd=self.at, env=dict(ENVIRONMENT, XDG_CACHE_HOME=str(self.at)), capture_output=True,
                              text=True, timeout=900, check=False)
        self.assertEqual(done.returncode, status, done.stderr)
        return json.loads((self.at / "out/report.json").read_text(encoding="utf8"))

    def require_loop(self, report, function, file, line, flops):
        """Most CPU time is in the function; its loop has the line and, where counted, the FLOPs."""
        host = report["profile"]["host"]
        lines = [entry for entry in host["lines"] if entry.get("line")]
        if not lines:
            self.skipTest("no stacks of running threads here")
        self.assertTrue(lines[0]["function"].endswith(function), lines[0])
        self.assertIn(lines[0]["line"], (line, line + 1))
        if not self.counts or report["profile"]["emulated"].get("why_no_times"):
            return
        self.assertTrue(report["profile"]["emulated"]["complete"], report["profile"]["emulated"])
        row = next(row for row in report["results"] if f"{file}:{line} " in row["label"] and "loop" in row["label"])
        self.assertIn(function, row["label"])
        counted = sum(row["work"]["flops"].values())
        self.assertLessEqual(abs(counted - flops), 0.001 * flops)

    def test_fortran(self):
        program = self.built("gfortran", "waves.f90", FORTRAN, "-O2", "-fno-tree-vectorize")
        self.require_loop(self.report(program), "diffuse", "waves.f90", 17, 3 * 19998 * 8000)

    def test_rust(self):
        program = self.built(rustc(), "decay.rs", RUST, "-O")
        self.require_loop(self.report(program), "decay", "decay.rs", 3, 2 * 20000 * 20000)

    def test_mpi(self):
        if not shutil.which("mpirun"):
            self.skipTest("no mpirun")
        program = self.built("mpicc", "ranks.c", RANKS, "-O1")
        report = self.report("mpirun", "-n", "2", program)
        if not self.counts or report["profile"]["emulated"].get("why_no_times"):
            self.skipTest("no counts or no samples here")
        self.assertTrue(report["profile"]["emulated"]["complete"], report["profile"]["emulated"])
        row = next(row for row in report["results"] if "ranks.c:5" in row["label"] or "ranks.c:6" in row["label"])
        known = 2 * 10000 * 10000 * (1 + 2)
        self.assertLessEqual(abs(row["work"]["flops"]["fp64"] - known), 0.001 * known)
        self.assertEqual(row["profiled"]["loop"]["threads"], 2)

    def test_a_second_run_that_fails_is_no_count(self):
        """A program that refuses to run twice, as an MPI rank does that a launcher started."""
        source = """\
#include <stdio.h>
static volatile double a;
int main(void) {
  FILE* mark = fopen("mark", "wx");
  if (!mark) return 3;
  for (long i = 0; i < 300000000; ++i) a = a * 0.5;
  return 0;
}
"""
        program = self.built("cc", "once.c", source, "-O1")
        (self.at / "mark").unlink(missing_ok=True)
        report = self.report(program)
        if self.counts:
            self.assertFalse(report["profile"]["emulated"]["complete"])
            self.assertIn("exit status 3", report["profile"]["emulated"]["ended"])


if __name__ == "__main__":
    unittest.main()
