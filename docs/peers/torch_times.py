#!/usr/bin/env python3
"""Times PyTorch on the shapes of docs/examples/large.json: what docs/performance.md compares with.

usage: torch_times.py

Needs PyTorch and a CUDA GPU; dmlconform does not. Prints a line for each shape: medians of 50 times between two
events, each of one execution or of several short ones. All of FP32 is FP32: TF32 is off.
"""
import statistics

import torch
import torch.nn.functional as F

DEVICE = "cuda"
# Executions that take less (in microseconds) are timed together, as `dmlconform bench` does it.
LEAST_TIMED = 200
MOST_TOGETHER = 32
torch.backends.cuda.matmul.allow_tf32 = False
torch.backends.cudnn.allow_tf32 = False
torch.backends.cudnn.benchmark = True


def tensor(*sizes, dtype=torch.float32):
    if dtype in (torch.int8, torch.uint8):
        return torch.randint(0, 100, sizes, dtype=dtype, device=DEVICE)
    return torch.randn(*sizes, device=DEVICE).to(dtype)


def microseconds(work, seconds=0.15):
    work()
    torch.cuda.synchronize()
    # The clock rate rises while the device is busy.
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    begin.record()
    work()
    end.record()
    torch.cuda.synchronize()
    once = max(begin.elapsed_time(end) * 1e-3, 1e-6)
    for _ in range(min(20000, int(seconds / once))):
        work()
    events = []
    for _ in range(50):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        work()
        end.record()
        events.append((begin, end))
    torch.cuda.synchronize()
    return statistics.median(b.elapsed_time(e) * 1e3 for b, e in events)


def graph_of(work, count):
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(count):
            work()
    return graph


def report(name, work):
    # A graph: without it, launching from Python takes longer than small kernels do.
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for _ in range(3):
            work()
    torch.cuda.synchronize()
    try:
        once = microseconds(graph_of(work, 1).replay)
        together = max(1, min(MOST_TOGETHER, int(LEAST_TIMED / once)))
        time = microseconds(graph_of(work, together).replay) / together
    except RuntimeError:
        torch.cuda.synchronize()
        time = microseconds(work)
    print(f"{name}: {time:.1f} us", flush=True)


def normalisations():
    for dtype in (torch.float32, torch.float16):
        for rows, columns in ((4096, 768), (65536, 1024), (16384, 8192)):
            x = tensor(rows, columns, dtype=dtype)
            scale, bias = tensor(columns, dtype=dtype), tensor(columns, dtype=dtype)
            report(f"layer_norm {rows}x{columns} {dtype}", lambda: F.layer_norm(x, (columns,), scale, bias))
        x, scale, bias = tensor(8, 64, 112, 112, dtype=dtype), tensor(64, dtype=dtype), tensor(64, dtype=dtype)
        report(f"batch_norm 8x64x112x112 {dtype}", lambda: F.batch_norm(x, None, None, scale, bias, training=True))
        report(f"instance_norm 8x64x112x112 {dtype}", lambda: F.instance_norm(x, weight=scale, bias=bias))


def reductions():
    x = tensor(4096, 4096)
    report("sum 4096x4096 over columns", lambda: x.sum(0))
    report("sum 4096x4096 over rows", lambda: x.sum(1))
    report("sum 4096x4096 over both", lambda: x.sum())
    for dtype in (torch.float32, torch.float16):
        y = tensor(65536, 1024, dtype=dtype)
        report(f"softmax 65536x1024 {dtype}", lambda: F.softmax(y, 1))


def movements():
    x = tensor(8, 64, 128, 128)
    report("slice 8x64x126x126", lambda: x[:, :, 1:127, 1:127].contiguous())
    for dtype in (torch.float16, torch.int8):
        y = tensor(64, 64, 256, 256, dtype=dtype)
        report(f"slice 64x64x254x254 {dtype}", lambda: y[:, :, 1:255, 1:255].contiguous())
    z = tensor(4096, 4096)
    report("flip 4096x4096", lambda: z.flip(1))
    report("every second of both 4096x4096", lambda: z[::2, ::2].contiguous())
    report("transpose 4096x4096", lambda: z.t().contiguous())


def winners():
    shapes = ((4096, 1024, 10), (1024, 1024, 512), (64, 65536, 100), (1, 1 << 24, 64), (65536, 1024, 16))
    for rows, columns, k in shapes:
        x = tensor(rows, columns)
        report(f"topk {rows}x{columns} K {k}", lambda: torch.topk(x, k, 1))
    x = tensor(8, 256, 1024)
    report("topk 8x256x1024 axis 1 K 5", lambda: torch.topk(x, 5, 1))
    x = tensor(4096, 1024)
    report("sort 4096x1024", lambda: torch.sort(x, dim=1, stable=True, descending=True))


def products():
    for dtype in (torch.float32, torch.float16):
        a, b = tensor(4096, 4096, dtype=dtype), tensor(4096, 4096, dtype=dtype)
        report(f"matmul 4096 {dtype}", lambda: a @ b)
    for name, source, filters, stride, padding, groups in (
        ("3x3 64->64 56", (1, 64, 56, 56), (64, 64, 3, 3), 1, 1, 1),
        ("1x1 256->64 56", (1, 256, 56, 56), (64, 256, 1, 1), 1, 0, 1),
        ("3x3 512->512 7 n8", (8, 512, 7, 7), (512, 512, 3, 3), 1, 1, 1),
        ("depthwise 96 112", (1, 96, 112, 112), (96, 1, 3, 3), 1, 1, 96),
        ("7x7 stride 2 3->64 224", (1, 3, 224, 224), (64, 3, 7, 7), 2, 3, 1),
        ("3x3 256->256 56 n32", (32, 256, 56, 56), (256, 256, 3, 3), 1, 1, 1),
    ):
        x, w = tensor(*source), tensor(*filters)
        report(f"conv2d {name}", lambda: F.conv2d(x, w, stride=stride, padding=padding, groups=groups))
    for dtype in (torch.float32, torch.float16):
        x = tensor(64, 64, 112, 112, dtype=dtype)
        report(f"max_pool2d 3x3 stride 2 64x64x112x112 {dtype}", lambda: F.max_pool2d(x, 3, 2, 1))


if __name__ == "__main__":
    print(torch.__version__, torch.cuda.get_device_name())
    products()
    reductions()
    normalisations()
    movements()
    winners()
