#!/usr/bin/env python3
"""Times PyTorch on whole models, and writes them as ONNX: what docs/performance.md compares `bench model.onnx` with.

usage: torch_models.py FOLDER [NAME...]

Needs PyTorch, torchvision, and a CUDA GPU; dmlconform does not. Writes FOLDER/NAME.onnx with random weights, and prints
a line for each model: medians of 30 executions in eager mode, and of the same execution replayed as one CUDA graph. All
of FP32 is FP32: TF32 is off.
"""
import os
import statistics
import sys

import torch
import torch.nn as nn
import torch.nn.functional as F
import torchvision

torch.manual_seed(20261126)
torch.backends.cuda.matmul.allow_tf32 = False
torch.backends.cudnn.allow_tf32 = False
torch.backends.cudnn.benchmark = True


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value, self.output = (nn.Linear(width, width) for _ in range(4))

    def forward(self, x):
        batch, length, width = x.shape
        query, key, value = (part(x).view(batch, length, self.heads, width // self.heads).transpose(1, 2)
                             for part in (self.query, self.key, self.value))
        scores = query @ key.transpose(2, 3) / (width // self.heads) ** 0.5
        return self.output((scores.softmax(3) @ value).transpose(1, 2).reshape(batch, length, width))


class EncoderLayer(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.attention = Attention(width, heads)
        self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)
        self.wide, self.narrow = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        x = self.first(x + self.attention(x))
        return self.second(x + self.narrow(F.gelu(self.wide(x))))


def encoder():
    """A BERT-base-sized encoder: 12 layers of 768, 12 heads."""
    return nn.Sequential(*(EncoderLayer(768, 12) for _ in range(12)))


def two_convolutions(channels, outputs):
    return nn.Sequential(nn.Conv2d(channels, outputs, 3, padding=1), nn.BatchNorm2d(outputs), nn.ReLU(),
                         nn.Conv2d(outputs, outputs, 3, padding=1), nn.BatchNorm2d(outputs), nn.ReLU())


class UNet(nn.Module):
    """Four levels above the lowest, 64 to 1,024 channels."""

    def __init__(self):
        super().__init__()
        widths = (64, 128, 256, 512, 1024)
        self.down = nn.ModuleList(two_convolutions(a, b) for a, b in zip((3, *widths), widths))
        self.up = nn.ModuleList(nn.ConvTranspose2d(2 * w, w, 2, 2) for w in widths[-2::-1])
        self.join = nn.ModuleList(two_convolutions(2 * w, w) for w in widths[-2::-1])
        self.last = nn.Conv2d(64, 2, 1)

    def forward(self, x):
        kept = []
        for level in self.down[:-1]:
            x = level(x)
            kept.append(x)
            x = F.max_pool2d(x, 2)
        x = self.down[-1](x)
        for up, join in zip(self.up, self.join):
            x = join(torch.cat((kept.pop(), up(x)), 1))
        return self.last(x)


MODELS = {
    "resnet50-n1": (lambda: torchvision.models.resnet50(weights=None), (1, 3, 224, 224)),
    "resnet50-n16": (lambda: torchvision.models.resnet50(weights=None), (16, 3, 224, 224)),
    "encoder-1x128": (encoder, (1, 128, 768)),
    "encoder-16x128": (encoder, (16, 128, 768)),
    "unet-n1": (UNet, (1, 3, 256, 256)),
}


def milliseconds(work):
    for _ in range(10):
        work()
    times = []
    for _ in range(30):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        work()
        end.record()
        torch.cuda.synchronize()
        times.append(begin.elapsed_time(end))
    return statistics.median(times)


def main(folder, names):
    for name in names or MODELS:
        make, sizes = MODELS[name]
        model = make().cuda().eval()
        x = torch.randn(*sizes, device="cuda")
        with torch.no_grad():
            torch.onnx.export(model, (x,), os.path.join(folder, name + ".onnx"), opset_version=17, dynamo=False)
            eager = milliseconds(lambda: model(x))
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                model(x)
            print(f"{name}: {eager:.3f} ms eager, {milliseconds(graph.replay):.3f} ms as one CUDA graph", flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
