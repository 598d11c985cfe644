#!/usr/bin/env python3
"""The benchmark's cases in other libraries, one JSON line a case, in the format of keops-bench.

    peers.py --systems numpy,numba,jax,pykeops,pykeops-tuned,scipy-kdtree --sizes 10000 >> peers.jsonl
    peers.py --systems numpy --external "target/release/keops-bench" --sizes 10000 >> peers.jsonl

Each system needs its package and is skipped with a note where that is missing. With --external, ours is run after the
others for each case, pinned like them, so that all lines come from one core in one go. One thread, pinned to --core.
"pykeops-tuned" is PyKeOps with CXXFLAGS="-march=native -ffast-math" and direct summation, its fastest settings.

`seconds` is the median of min(wall, process CPU time); JAX arrays are made before the clock starts.
"""
import argparse, json, os, subprocess, sys, time

CASES = {"gauss": (3, 10, 64), "gauss_grad": (3,), "logsumexp": (3,), "softmaxweight": (3,), "argmin": (3, 64),
         "argkmin10": (3,), "dist": (3,), "laplace": (3,), "cauchy": (3,)}
SYSTEMS = ("numpy", "numba", "jax", "pykeops", "pykeops-tuned", "scipy-kdtree")


def data(case, dtype, m, n, d):
    import numpy as np
    r = np.random.default_rng(0)
    points = (lambda k: 2 * r.standard_normal((k, d))) if case == "softmaxweight" else (lambda k: r.random((k, d)))
    arrays = points(m), points(n), r.random((n, 2 if case == "softmaxweight" else 1)), r.random((m, 1))
    return [a.astype(dtype) for a in arrays]


def numpy_case(case, dtype, d):
    """Tiles of |x - y|^2 from one matrix product of augmented points, then ufuncs in place."""
    import numpy as np

    def run(x, y, b, e):
        m, n = len(x), len(y)
        one = np.ones_like
        left = np.concatenate([-2 * x, (x * x).sum(1, keepdims=True), one(x[:, :1])], 1)
        right = np.ascontiguousarray(np.concatenate([y, one(y[:, :1]), (y * y).sum(1, keepdims=True)], 1).T)
        whole_rows = case in ("argkmin10", "softmaxweight")
        ti = max(8, (1 << 21) // (n * x.itemsize)) if whole_rows else 256
        tj = n if whole_rows else (1 << 19) // (256 * x.itemsize)
        out = []
        for i in range(0, m, ti):
            total, best = 0, None
            for j in range(0, n, tj):
                t = left[i:i + ti] @ right[:, j:j + tj]
                if case == "argmin":
                    k = t.argmin(1)
                    v = np.take_along_axis(t, k[:, None], 1)[:, 0]
                    if best is None:
                        best, total = v, k
                    else:
                        total = np.where(v < best, k + j, total)
                        best = np.minimum(v, best)
                    continue
                if case == "argkmin10":
                    k = np.argpartition(t, 10, 1)[:, :10]
                    total = np.take_along_axis(k, np.take_along_axis(t, k, 1).argsort(1), 1)
                    continue
                if case == "logsumexp":
                    np.negative(t, out=t)
                    top = t.max(1, keepdims=True)
                    top = top if best is None else np.maximum(top, best)
                    s = np.exp(np.subtract(t, top, out=t), out=t).sum(1, keepdims=True)
                    total = s if best is None else total * np.exp(best - top) + s
                    best = top
                    continue
                if case == "softmaxweight":
                    np.exp(np.subtract(t, t.max(1, keepdims=True), out=t), out=t)
                    total = (t @ b) / t.sum(1, keepdims=True)
                    continue
                if case in ("dist", "laplace"):
                    np.sqrt(np.maximum(t, 0, out=t), out=t)
                if case in ("gauss", "gauss_grad", "laplace"):
                    np.exp(np.negative(t, out=t), out=t)
                elif case == "cauchy":
                    np.reciprocal(np.add(t, 1, out=t), out=t)
                weights = np.concatenate([b * y, b], 1)[j:j + tj] if case == "gauss_grad" else b[j:j + tj]
                total = total + t @ weights
            if case == "logsumexp":
                total = best + np.log(total)
            if case == "gauss_grad":
                total = -2 * e[i:i + ti] * (x[i:i + ti] * total[:, -1:] - total[:, :-1])
            out.append(total)
        return np.concatenate(out)
    return run


def numba_case(case, dtype, d):
    import numba
    import numpy as np
    from math import exp, sqrt
    if case not in ("gauss", "dist", "laplace", "cauchy", "argmin"):
        return None
    of = {"gauss": lambda s: exp(-s), "dist": lambda s: sqrt(s), "laplace": lambda s: exp(-sqrt(s)),
          "cauchy": lambda s: 1 / (1 + s), "argmin": lambda s: s}[case]
    of, zero, least = numba.njit(of, fastmath=True), np.dtype(dtype).type(0), case == "argmin"

    @numba.njit(fastmath=True)
    def sums(x, y, b, e):
        out = np.empty(x.shape[0], x.dtype)
        for i in range(x.shape[0]):
            total = zero
            for j in range(y.shape[0]):
                s = zero
                for k in range(d):
                    s += (x[i, k] - y[j, k]) ** 2
                total += of(s) * b[j, 0]
            out[i] = total
        return out

    @numba.njit(fastmath=True)
    def nearest(x, y, b, e):
        out = np.empty(x.shape[0], np.int64)
        for i in range(x.shape[0]):
            best, at = x.dtype.type(1e30), 0
            for j in range(y.shape[0]):
                s = zero
                for k in range(d):
                    s += (x[i, k] - y[j, k]) ** 2
                if s < best:
                    best, at = s, j
            out[i] = at
        return out
    return nearest if least else sums


def jax_case(case, dtype, d):
    import jax
    import jax.numpy as jnp
    jax.config.update("jax_enable_x64", True)

    def block(x, y, b, e):
        s = sum((x[:, None, k] - y[None, :, k]) ** 2 for k in range(d)) if d < 16 else ((x[:, None] - y[None]) ** 2).sum(-1)
        if case == "gauss_grad":
            f = lambda z: ((jnp.exp(-sum((z[:, None, k] - y[None, :, k]) ** 2 for k in range(d))) @ b) * e).sum()
            return jax.grad(f)(x)
        return {"gauss": lambda: jnp.exp(-s) @ b, "logsumexp": lambda: jax.nn.logsumexp(-s, axis=1, keepdims=True),
                "softmaxweight": lambda: jax.nn.softmax(s, axis=1) @ b, "argmin": lambda: jnp.argmin(s, axis=1)[:, None],
                "argkmin10": lambda: jax.lax.top_k(-s, 10)[1], "dist": lambda: jnp.sqrt(s) @ b,
                "laplace": lambda: jnp.exp(-jnp.sqrt(s)) @ b, "cauchy": lambda: (1 / (1 + s)) @ b}[case]()

    @jax.jit
    def all_rows(x, y, b, e):
        m, c = x.shape[0], 16
        rows = -(-m // c)
        pad = lambda a: jnp.concatenate([a, jnp.zeros((rows * c - m, a.shape[1]), a.dtype)]).reshape(rows, c, -1)
        r = jax.lax.map(lambda t: block(t[0], y, b, t[1]), (pad(x), pad(e)))
        return r.reshape(rows * c, -1)[:m]
    kept = {}

    def run(x, y, b, e):
        if kept.get("of") is not x:
            kept.update(of=x, arrays=[jnp.asarray(a) for a in (x, y, b, e)])
        return all_rows(*kept["arrays"]).block_until_ready()
    return run


def pykeops_case(case, dtype, d):
    from pykeops.numpy import Genred
    tuned = os.environ.get("KEOPS_BENCH_TUNED") == "1"
    formula, reduction, columns = {
        "gauss": ("Exp(-SqDist(x,y))*b", "Sum", 1), "dist": ("Sqrt(SqDist(x,y))*b", "Sum", 1),
        "laplace": ("Exp(-Sqrt(SqDist(x,y)))*b", "Sum", 1), "cauchy": ("Inv(IntCst(1)+SqDist(x,y))*b", "Sum", 1),
        "gauss_grad": ("Grad(Exp(-SqDist(x,y))*b,x,e)", "Sum", 1), "logsumexp": ("-SqDist(x,y)", "LogSumExp", 1),
        "softmaxweight": ("SqDist(x,y)", "SumSoftMaxWeight", 2), "argmin": ("SqDist(x,y)", "ArgMin", 1),
        "argkmin10": ("SqDist(x,y)", "ArgKMin", 1)}[case]
    names = [f"x=Vi({d})", f"y=Vj({d})"]
    options = {"formula2": "b"} if reduction == "SumSoftMaxWeight" else {"opt_arg": 10} if reduction == "ArgKMin" else {}
    with_b = "b" in formula or options.get("formula2")
    names += [f"b=Vj({columns})"] if with_b else []
    names += ["e=Vi(1)"] if case == "gauss_grad" else []
    scheme = {"sum_scheme": "direct_sum"} if tuned and reduction == "Sum" else {}
    g = Genred(formula, names, reduction_op=reduction, axis=1, **options, **scheme)
    return lambda x, y, b, e: g(x, y, *([b] if with_b else []), *([e] if case == "gauss_grad" else []), backend="CPU")


def kdtree_case(case, dtype, d):
    """The tree is built in every call."""
    from scipy.spatial import cKDTree
    k = {"argmin": 1, "argkmin10": 10}.get(case)
    return k and (lambda x, y, b, e: cKDTree(y).query(x, k=k)[1])


MAKERS = {"numpy": numpy_case, "numba": numba_case, "jax": jax_case, "pykeops": pykeops_case, "pykeops-tuned": pykeops_case,
          "scipy-kdtree": kdtree_case}


def worker(system, case, dtype, m, n, d, runs):
    run = MAKERS[system](case, dtype, d)
    if run is None:
        return
    arrays = data(case, dtype, m, n, d)
    run(*data(case, dtype, 64, 64, d))  # compiles
    run(*arrays)
    times = []
    for _ in range(runs):
        wall, cpu = time.perf_counter(), time.process_time()
        run(*arrays)
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        times.append((min(wall, cpu), wall))
    times.sort()
    seconds = times[runs // 2][0]
    print(json.dumps({"system": system, "case": case, "dtype": dtype, "M": m, "N": n, "D": d, "seconds": float(f"{seconds:.6g}"),
                      "gpairs_per_s": float(f"{m * n / seconds / 1e9:.5g}"), "wall_seconds": sorted(t[1] for t in times)[runs // 2],
                      "min_seconds": times[0][0], "runs": runs, "threads": 1}), flush=True)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--systems", default=",".join(SYSTEMS))
    p.add_argument("--cases", default=",".join(CASES))
    p.add_argument("--dtypes", default="float32,float64")
    p.add_argument("--dims", default="", help="only these D; other D than the case's are allowed")
    p.add_argument("--sizes", default="10000", help="M = N")
    p.add_argument("--runs", type=int, default=7)
    p.add_argument("--core", type=int, default=0)
    p.add_argument("--external", action="append", default=[], help="a program of the same protocol")
    p.add_argument("--worker", nargs=7, help=argparse.SUPPRESS)
    a = p.parse_args()
    if a.worker:
        system, case, dtype, *numbers = a.worker
        return worker(system, case, dtype, *map(int, numbers))
    for case in a.cases.split(","):
        for d in [int(d) for d in a.dims.split(",")] if a.dims else CASES[case]:
            for dtype in a.dtypes.split(","):
                for size in [int(float(s)) for s in a.sizes.split(",")]:
                    numbers = [str(v) for v in (size, size, d, a.runs)]
                    commands = [[sys.executable, os.path.abspath(__file__), "--worker", s, case, dtype, *numbers]
                                for s in a.systems.split(",") if s]
                    commands += [[*e.split(), "--case", case, "--dtype", dtype, "--m", numbers[0], "--n", numbers[1],
                                  "--d", numbers[2], "--runs", numbers[3]] for e in a.external]
                    for command in commands:
                        env = dict(os.environ, OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1", NUMBA_NUM_THREADS="1",
                                   RAYON_NUM_THREADS="1", JAX_PLATFORMS="cpu", KEOPS_VERBOSE="0",
                                   XLA_FLAGS="--xla_cpu_multi_thread_eigen=false")
                        if "pykeops-tuned" in command:
                            env.update(KEOPS_BENCH_TUNED="1", CXXFLAGS="-march=native -ffast-math",
                                       KEOPS_CACHE_FOLDER=os.path.expanduser("~/.cache/keops_tuned"))
                        done = subprocess.run(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                              preexec_fn=lambda: os.sched_setaffinity(0, {a.core}))
                        print(done.stdout, end="", flush=True)
                        if done.returncode:
                            last = (done.stderr.strip().splitlines() or ["failed"])[-1]
                            print(f"# {command[3] if '--worker' in command else command[0]} {case}: {last}", file=sys.stderr)


if __name__ == "__main__":
    main()
