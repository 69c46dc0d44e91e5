"""Convolutions and norms of images."""

import torch
from torch.nn.functional import conv2d, conv_transpose2d, gelu, relu, silu


def conv_norm(
    x: "bf16[b=32, c=128, h=56, w=56]", k: "bf16[o=128, c, y=3, z=3]", mean: "bf16[o]", var: "bf16[o]", g: "bf16[o]",
    b: "bf16[o]",
):
    """A convolution, a batch norm of known statistics, a relu (ResNet; He and others, 2015)."""
    y = conv2d(x, k, padding=1) - mean[:, None, None]
    return relu(y * torch.rsqrt(var + 1e-5)[:, None, None] * g[:, None, None] + b[:, None, None])


def separable(x: "bf16[b=32, c=256, h=28, w=28]", k: "bf16[c, i=1, y=3, z=3]", p: "bf16[o=256, c, u=1, v=1]"):
    """A convolution of each channel, then one across channels (MobileNets; Howard and others, 2017)."""
    return relu(conv2d(relu(conv2d(x, k, padding=1, groups=x.shape[1])), p))


def transposed(x: "bf16[b=32, c=128, h=28, w=28]", k: "bf16[c, o=64, y=4, z=4]", b: "bf16[o]"):
    """A transposed convolution of stride 2 with bias and GELU (DCGAN; Radford and others, 2015)."""
    return gelu(conv_transpose2d(x, k, b, stride=2, padding=1))


def batch_norm(x: "f32[b=64, c=256, h=56, w=56]", g: "f32[c]", s: "f32[c]"):
    """Statistics of a batch in one pass, and a relu (Ioffe and Szegedy, 2015)."""
    return relu(torch.nn.functional.batch_norm(x, None, None, g, s, True))


def group_norm(x: "f32[b=64, c=256, h=56, w=56]", g: "f32[c]", s: "f32[c]"):
    """Statistics of groups of channels in one pass, and SiLU (Wu and He, 2018)."""
    return silu(torch.nn.functional.group_norm(x, 32, g, s))


def instance_norm(x: "f32[b=64, c=256, h=56, w=56]"):
    """Statistics of each channel of each image in one pass (Ulyanov and others, 2016)."""
    return torch.nn.functional.instance_norm(x)
