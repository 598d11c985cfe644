#!/usr/bin/env python3
"""The cases of `keops-bench gpu` in PyKeOps, one JSON line a case, in the same format.

    gpu.py [--m M] [--n N] [--runs R] >> pykeops.jsonl

Inputs and results are on the GPU (PyTorch tensors); `seconds` is the median of the GPU's own time, by CUDA events, after a
warm-up call, which compiles. The gradient is autograd's: forward and backward are run, and only the backward pass is timed.
"""
import argparse, json, statistics, sys

CASES = [("gauss", 3, "float32"), ("gauss", 3, "float64"), ("gauss_grad", 3, "float32"), ("gauss_grad", 3, "float64"),
         ("gauss", 10, "float32"), ("gauss", 64, "float32"), ("logsumexp", 3, "float32"), ("argmin", 3, "float32"),
         ("argkmin10", 3, "float32"), ("laplace", 3, "float32"), ("softmaxweight", 3, "float32")]


def run(case, x, y, b, b2, e):
    """What to time, after what is not timed."""
    import torch
    from pykeops.torch import LazyTensor
    xi, yj, bj = LazyTensor(x[:, None, :]), LazyTensor(y[None, :, :]), LazyTensor(b[None, :, :])
    distance = xi.sqdist(yj)
    if case == "gauss_grad":
        total = ((-distance).exp() * bj).sum(1)
        return lambda: torch.autograd.grad(total, x, e, retain_graph=True)
    return {
        "gauss": lambda: ((-distance).exp() * bj).sum(1),
        "logsumexp": lambda: (-distance).logsumexp(1),
        "argmin": lambda: distance.argmin(1),
        "argkmin10": lambda: distance.argKmin(10, 1),
        "laplace": lambda: ((-(distance.sqrt())).exp() * bj).sum(1),
        "softmaxweight": lambda: distance.sumsoftmaxweight(LazyTensor(b2[None, :, :]), 1),
    }[case]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--m", type=int, default=100_000)
    parser.add_argument("--n", type=int, default=100_000)
    parser.add_argument("--runs", type=int, default=5)
    a = parser.parse_args()
    try:
        import torch
        import pykeops.torch  # noqa: F401
    except ImportError as error:
        print(f"pykeops is not measured: {error}", file=sys.stderr)
        return
    if not torch.cuda.is_available():
        print("pykeops is not measured: torch has no CUDA device", file=sys.stderr)
        return
    for case, d, dtype in CASES:
        torch.manual_seed(0)
        make = lambda *shape: torch.rand(*shape, dtype=getattr(torch, dtype), device="cuda")
        points = (lambda k: 2 * torch.randn(k, d, dtype=getattr(torch, dtype), device="cuda")) \
            if case == "softmaxweight" else (lambda k: make(k, d))
        x, y = points(a.m).requires_grad_(case == "gauss_grad"), points(a.n)
        b, b2, e = make(a.n, 1), make(a.n, 2), make(a.m, 1)
        work = run(case, x, y, b, b2, e)
        work()
        torch.cuda.synchronize()
        times = []
        for _ in range(a.runs):
            start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            start.record()
            work()
            end.record()
            torch.cuda.synchronize()
            times.append(start.elapsed_time(end) / 1e3)
        seconds = statistics.median(times)
        print(json.dumps({"system": "pykeops-gpu", "case": case, "dtype": dtype, "M": a.m, "N": a.n, "D": d,
                          "seconds": seconds, "gpairs_per_s": a.m * a.n / seconds / 1e9, "runs": a.runs}), flush=True)


main()
