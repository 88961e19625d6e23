"""Networks of the PyTorch programs, and the capture of a step as a CUDA graph. They are built from PyTorch's own
modules, so that the innermost line of user code is that of the program which calls them."""
import torch
from torch import nn

torch.set_float32_matmul_precision("high")  # products in fp32 use the tensor cores; no_tf32.py does without


def mlp(width, depth, classes=10, inputs=None):
    """`inputs`: features of a first layer that widens them to `width`; None: there is no such layer."""
    layers = [nn.Linear(inputs, width), nn.ReLU()] if inputs else []
    layers += [layer for _ in range(depth) for layer in (nn.Linear(width, width), nn.ReLU())]
    return nn.Sequential(*layers, nn.Linear(width, classes)).cuda()


def transformer(width, depth, heads=8):
    """Encoder blocks in bf16, with PyTorch's fused attention."""
    blocks = [nn.TransformerEncoderLayer(width, heads, 4 * width, dropout=0.0, activation="gelu", batch_first=True,
                                         norm_first=True) for _ in range(depth)]
    return nn.Sequential(*blocks).cuda().to(torch.bfloat16)


def conv_net(width, depth, classes=10):
    """Convolutions over 3-channel images, in bf16 and channels-last."""
    layers = [nn.Conv2d(3, width, 7, stride=4, padding=3, bias=False), nn.BatchNorm2d(width), nn.ReLU(inplace=True)]
    for _ in range(depth):
        layers += [nn.Conv2d(width, width, 3, padding=1, bias=False), nn.BatchNorm2d(width), nn.ReLU(inplace=True)]
    layers += [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(width, classes)]
    return nn.Sequential(*layers).cuda().to(torch.bfloat16, memory_format=torch.channels_last)


def captured(step):
    """A CUDA graph of `step`, which is called three times before its capture."""
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            step()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()
    return graph
