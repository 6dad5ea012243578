# ruff: noqa: E501 - one form of a case is one line
"""Kinds of calls that paddle2onnx 2.1.0 gets wrong, refuses or dies of, each in many forms."""

from __future__ import annotations

from collections.abc import Iterator

import legacy_further_cases
from legacy_cases import Case, case

_DYNAMIC = "x = x[:, :, : y.shape[0]]\n"  # the third dim is as long as y, whose length varies


def cases() -> list[Case]:
    """All of them, in the order of the table."""
    makers = (
        _recurrent,
        _pools,
        _interpolations,
        _grids,
        _indices,
        _scalars,
        _shapes,
        _layouts,
        _numbers,
        _control,
        _complex,
    )
    computed = [one for one in legacy_further_cases.cases() if one.api == "computed"]
    return [*(one for maker in makers for one in maker()), *computed]


def _recurrent() -> Iterator[Case]:
    for cell in ("LSTM", "GRU", "SimpleRNN"):
        for layers in (1, 2, 3):
            for direction in ("forward", "bidirect"):
                init = f"self.m = nn.{cell}(4, 6, num_layers={layers}, direction='{direction}')"
                form = f"{layers} layers, {direction}"
                states = "(s, s * 0.5)" if cell == "LSTM" else "s"
                count = layers * (2 if direction == "bidirect" else 1)
                start = f"s = paddle.tanh(x[:, 0, :1]).unsqueeze(0).expand([{count}, 2, 6]) * 1.0\n"
                ends = (
                    "y, s = self.m({0})\nreturn (y, s[0], s[1])"
                    if cell == "LSTM"
                    else "y, s = self.m({0})\nreturn (y, s)"
                )
                yield case(cell, form, ends.format("x"), "f32[b2,5,4]@n", init=init)
                yield case(cell, f"{form}, states", start + ends.format(f"x, {states}"), "f32[2,5,4]@n", init=init)
                yield case(
                    cell, f"{form}, lengths", ends.format("x, None, y"), "f32[b3,5,4]@n", "i64[b3]@i(1,6)", init=init
                )
                both = start + ends.format(f"x, {states}, y")
                yield case(cell, f"{form}, states and lengths", both, "f32[2,5,4]@n", "i64[2]@i(1,6)", init=init)
        init = f"self.m = nn.{cell}(4, 6, time_major=True)"
        yield case(cell, "time major", "self.m(x)[0]", "f32[b5,2,4]@n", init=init)
        yield case(cell, "time major, lengths", "self.m(x, None, y)[0]", "f32[5,2,4]@n", "i64[2]@i(1,6)", init=init)

    for cell in ("LSTMCell", "GRUCell", "SimpleRNNCell"):
        yield case("RNN", cell, "self.m(x)[0]", "f32[b2,5,4]@n", init=f"self.m = nn.RNN(nn.{cell}(4, 6))")
        reverse = f"self.m = nn.RNN(nn.{cell}(4, 6), is_reverse=True, time_major=True)"
        yield case("RNN", f"{cell}, reverse", "self.m(x)[0]", "f32[b5,2,4]@n", init=reverse)
        yield case(
            "BiRNN", cell, "self.m(x)[0]", "f32[b2,5,4]@n", init=f"self.m = nn.BiRNN(nn.{cell}(4, 6), nn.{cell}(4, 6))"
        )
    yield case(
        "RNN",
        "final states",
        "y, s = self.m(x)\nreturn (y, s[0], s[1])",
        "f32[b2,5,4]@n",
        init="self.m = nn.RNN(nn.LSTMCell(4, 6))",
    )


def _pools() -> Iterator[Case]:
    for out in (1, 2, 3, 5, 7, 14):
        for kind in ("avg", "max"):
            call = f"F.adaptive_{kind}_pool2d(x, {out})"
            yield case(f"adaptive_{kind}_pool2d", f"to {out}", call, "f32[b2,3,13,7]@n")
            yield case(f"adaptive_{kind}_pool2d", f"to {out}, dynamic", _DYNAMIC + call, "f32[b2,3,13,7]@n", "f32[b11]")
    yield case("adaptive_avg_pool2d", "enlarges", "F.adaptive_avg_pool2d(x, 7)", "f32[b2,3,2,2]@n")
    yield case("adaptive_avg_pool2d", "one size kept", "F.adaptive_avg_pool2d(x, (None, 3))", "f32[b2,3,5,7]@n")
    yield case(
        "adaptive_avg_pool2d", "channels last", "F.adaptive_avg_pool2d(x, 3, data_format='NHWC')", "f32[b2,7,5,3]@n"
    )
    for kind in ("avg", "max"):
        yield case(f"adaptive_{kind}_pool1d", "to 3", f"F.adaptive_{kind}_pool1d(x, 3)", "f32[b2,3,7]@n")
        yield case(f"adaptive_{kind}_pool3d", "to 3", f"F.adaptive_{kind}_pool3d(x, 3)", "f32[b2,3,7,5,4]@n")
    for call in (
        "max_pool2d(x, 2, 2",
        "max_pool2d(x, 3, 2, 1",
        "max_pool2d(x, 3, 2, 1, ceil_mode=True",
        "adaptive_max_pool2d(x, 3",
    ):
        yield case("max_pool2d", f"places, {call[10:]}", f"F.{call}, return_mask=True)", "f32[b2,3,8,7]@n")
    yield case("max_unpool2d", "", "F.max_unpool2d(*F.max_pool2d(x, 2, 2, return_mask=True), 2, 2)", "f32[2,3,8,6]@n")
    for more in ("3, 2, 1, ceil_mode=True", "3, 2, 1, exclusive=False", "2, 2, divisor_override=3", "3, 2, 'SAME'"):
        yield case("avg_pool2d", more, f"F.avg_pool2d(x, {more})", "f32[b2,3,8,7]@n")


def _interpolations() -> Iterator[Case]:
    for mode in ("nearest", "bilinear", "bicubic"):
        for size in ("scale_factor=2", "scale_factor=1.7", "scale_factor=[0.5, 1.5]", "size=[11, 9]"):
            for corners in ("", ", align_corners=True", ", align_mode=1")[
                : {"nearest": 1, "bilinear": 3, "bicubic": 2}[mode]
            ]:
                call = f"F.interpolate(x, mode='{mode}', {size}{corners})"
                yield case("interpolate", f"{mode}, {size}{corners}", call, "f32[b2,3,6,10]@n")
    dynamic = "F.interpolate(F.max_pool2d(x, 2, 2), size=paddle.shape(x)[2:], mode='bilinear')"
    yield case("interpolate", "to the size of another", _DYNAMIC + dynamic, "f32[b2,3,7,9]@n", "f32[b6]")
    yield case(
        "interpolate",
        "channels last",
        "F.interpolate(x, scale_factor=2, mode='bilinear', data_format='NHWC')",
        "f32[b2,7,9,3]@n",
    )
    yield case("interpolate", "area", "F.interpolate(x, size=[3, 5], mode='area')", "f32[b2,3,7,9]@n")


def _grids() -> Iterator[Case]:
    for mode in ("bilinear", "nearest"):
        for padding in ("zeros", "border", "reflection"):
            for corners in (True, False):
                call = f"F.grid_sample(x, y, '{mode}', '{padding}', {corners})"
                yield case(
                    "grid_sample", f"{mode} {padding} {corners}", call, "f32[b2,3,6,5]@n", "f32[b2,4,5,2]@u(-1.3,1.3)"
                )
    yield case("affine_grid", "", "F.affine_grid(x, [2, 3, 4, 5], False)", "f32[2,2,3]@n")
    yield case(
        "deform_conv2d",
        "no mask",
        "paddle.vision.ops.deform_conv2d(x, y, self.w, padding=1)",
        "f32[b2,3,6,6]@n",
        "f32[b2,18,6,6]@n",
        init="self.w = self.create_parameter([4, 3, 3, 3])",
    )
    yield case("fold", "", "F.fold(F.unfold(x, 3, 2, 1), [7, 7], 3, 2, 1)", "f32[2,3,7,7]@n")


def _indices() -> Iterator[Case]:
    for index in (
        "[0, 2], [1, 0]",
        "paddle.to_tensor([0, 2])",
        ":, [0, 2]",
        "paddle.to_tensor([True, False, True])",
        "::-1",
        ":, ::-2",
        "x[:, 0, 0] > 0.5",
    ):
        yield case("getitem", index, f"x[{index}]", "f32[3,4,5]")
    for index, value in (
        (":, 0", "1.5"),
        (":, 1:3, 2", "x[:, :2, 0]"),
        (":, -1", "x[:, 0] * 2"),
        (":, :, ::2", "0.25"),
        ("0", "x[1]"),
        (":, paddle.to_tensor([0, 2])", "x[:, 1:3]"),
        ("x > 0.5", "0.0"),
    ):
        yield case("setitem", f"{index} = {value}", f"z = x * 1\nz[{index}] = {value}\nreturn z", "f32[3,4,5]")
    yield case(
        "flip", "dynamic", "(paddle.flip(x, [0]), paddle.flip(x, [1, 2]), x.flip(-1), x.flip([-2, 0]))", "f32[b3,4,5]"
    )
    for call in ("paddle.roll(x, 1, 0)", "paddle.roll(x, [-2, 1], [1, 2])", "paddle.roll(x, 3)"):
        yield case("roll", call, call, "f32[b3,4,5]")
    yield case("broadcast_tensors", "", "paddle.broadcast_tensors([x, y])", "f32[b2,3]", "f32[3]")
    yield case("repeat_interleave", "", "paddle.repeat_interleave(x, 2, axis=1)", "f32[b2,3]")


def _scalars() -> Iterator[Case]:
    for call in (
        "sum()",
        "mean()",
        "max()",
        "min()",
        "prod()",
        "std()",
        "var()",
        "norm()",
        "numel()",
        "argmax()",
        "all()",
        "any()",
    ):
        body = f"(x > 0).{call}" if call in ("all()", "any()") else f"x.{call}"
        yield case(call[:-2], "to a scalar", body, "f32[b3,4]@n")
    for call in (
        "x.sum() / 3",
        "x.mean() * 2 + 1",
        "3 - x.max()",
        "x.sum() * x.min()",
        "paddle.full_like(x.sum(), 2.5) + x.sum()",
    ):
        yield case("scalar", call, call, "f32[b3,4]@n")
    for call in (
        "x.std(1)",
        "x.var([0, 1])",
        "x.norm(1, [1, 2])",
        "paddle.logsumexp(x, 1)",
        "(x > 0).sum(1)",
        "(x > 0).astype('int64').max(1)",
        "paddle.median(x, 1)",
    ):
        yield case("reduction", call, call, "f32[b3,4,5]@n")


def _shapes() -> Iterator[Case]:
    for call in (
        "x.reshape([x.shape[0], -1])", "x.expand([2, x.shape[0], 4, 5])", "paddle.tile(x, [2, 1, 1])", "x.flatten(1)",
        "paddle.concat([x, paddle.zeros([x.shape[0], 1, 5])], 1)", "x.unsqueeze(0).expand([x.shape[0], -1, -1, -1])",
        "x + paddle.arange(x.shape[0]).astype('float32').reshape([-1, 1, 1])", "paddle.einsum('bij,bkj->bik', x, x)",
        "paddle.einsum('bij,bjk,k->bi', x, x.transpose([0, 2, 1]), x[0, :, 0])", "paddle.cumsum(x, 0)", "paddle.cumsum(x)",
        "paddle.split(x, [1, -1, 1], 1)", "paddle.topk(x, 2, 1, largest=False)[0]", "paddle.argsort(x, 1, descending=True)",
        "F.pixel_unshuffle(x.reshape([-1, 1, 4, 5])[:, :, :, :4], 2)", "F.channel_shuffle(x.unsqueeze(-1), 2)",
    ):  # fmt: skip
        yield case("shape", call, call, "f32[b3,4,5]")


def _layouts() -> Iterator[Case]:
    for layer in (
        "Conv2D(3, 4, 3, padding=1, data_format='NHWC')",
        "Conv2D(3, 3, 3, groups=3, data_format='NHWC')",
        "BatchNorm2D(3, data_format='NHWC')",
        "BatchNorm2D(3, data_format='NHWC', use_global_stats=False)",
        "MaxPool2D(2, 2, data_format='NHWC')",
        "Conv2DTranspose(3, 4, 3, 2, data_format='NHWC')",
        "GroupNorm(3, 3, data_format='NHWC')",
    ):
        yield case("channels last", layer, "self.m(x)", "f32[b2,6,5,3]@n", init=f"self.m = nn.{layer}")
    for call in (
        "x.transpose([0, -1, 1])", "paddle.repeat_interleave(x, 2, -1)", "paddle.concat([x, x * 2], axis=np.int64(-1))",
        "paddle.repeat_interleave(x, paddle.to_tensor([1, 2, 0, 1]), -2)", "x.flip((-1, -2))",
    ):  # fmt: skip
        yield case("negative axis", call, call, "f32[b3,4,5]@n")
    for size in ("[16, 16]", "[15, 16]", "paddle.shape(x)[2:] * 2", "[x.shape[2] * 2, 16]"):
        yield case(
            "Conv2DTranspose",
            f"output_size {size}",
            f"self.m(x, output_size={size})",
            "f32[b2,3,8,8]@n",
            init="self.m = nn.Conv2DTranspose(3, 4, 3, 2, 1)",
        )
    yield case("GroupNorm", "three dims", "self.m(x)", "f32[b4,6,5]@n", init="self.m = nn.GroupNorm(3, 6)")
    yield case("LayerNorm", "several axes", "self.m(x)", "f32[b4,6,5]@n", init="self.m = nn.LayerNorm([6, 5])")
    yield case("LayerNorm", "several axes, plain", "F.layer_norm(x, [6, 5])", "f32[b4,6,5]@n")


def _numbers() -> Iterator[Case]:
    """Attributes that Paddle 3.3 declares as float64, numbers that float32 does not hold, small ones."""
    for call in (
        "F.leaky_relu(x, 0.3)", "F.pad(x, [1, 2, 0, 1], value=0.5)", "F.group_norm(x, 3, 0.01)", "F.softplus(x, 2.0, 10.0)",
        "F.celu(x, 0.7)", "x / (x.abs() + 1e-7)", "(x * 0 + 1e-9) * 1e9", "F.gelu(x, True)", "paddle.round(x, decimals=1)",
    ):  # fmt: skip
        yield case("number", call, call, "f32[b2,3,4,5]@n")
    for call in (
        "F.softmax(x.masked_fill(x > 0.5, float('-inf')), -1)",
        "F.softmax(x + paddle.triu(paddle.full([5, 5], float('-inf')), 1)[:4], -1)",
        "paddle.maximum(x, paddle.to_tensor([float('-inf'), 0.0, 1.0, 0.2, float('-inf')]))",
        "x.clip(0.2, float('inf'))",
    ):
        yield case("number", f"infinity, {call[:20]}", call, "f32[b2,3,4,5]@n")
    for call in ("x + 16777217", "x * 16777217", "x * 1.5", "x / 3", "paddle.full([3], 16777217, 'int64') + x"):
        yield case("number", call, call, "i64[b2,3]")
    for call in ("x * 1.1", "x + 0.1", "paddle.clip(x, 0.1, 0.7)"):
        yield case("number", f"{call} float64", call, "f64[b2,3]")


def _control() -> Iterator[Case]:
    loop = "i = paddle.zeros([], 'int64')\ns = x * 0\nwhile i < 4:\n    s = s + x * i.astype('float32')\n    i = i + 1\nreturn s"
    yield case("while", "a counter and a sum", loop, "f32[b3,4]")
    yield case("if", "", "if x.sum() > 0:\n    y = x * 2\nelse:\n    y = x - 1\nreturn y", "f32[b3,4]")
    yield case(
        "while",
        "ends early",
        "i = paddle.to_tensor(0)\nwhile i < 5:\n    if x.sum() > 20:\n        break\n    x = x * 2\n    i += 1\nreturn x * 1",
        "f32[b3,4]",
    )


def _complex() -> Iterator[Case]:
    """Complex numbers as pairs of real tensors, and what a spectrum is made of."""
    yield case("fftn", "dynamic", "paddle.fft.fftn(x, axes=(0, 2)).real()", "f32[b5,2,8]")
    yield case("fft", "dynamic, ortho", "paddle.as_real(paddle.fft.fft(x, axis=0, norm='ortho'))", "f32[b5,2,8]")
    yield case("rfft", "dynamic, forward", "paddle.as_real(paddle.fft.rfft(x, axis=0, norm='forward'))", "f32[b5,2,8]")
    yield case("ifft", "dynamic", "paddle.fft.ifft(x, axis=0).imag()", "f32[b5,2,8]")
    weights = "self.w = self.create_parameter([6, 5, 3, 2])"
    spectrum = "z = paddle.fft.rfft2(x, axes=(1, 2), norm='ortho') * paddle.as_complex(self.w)\n"
    back = "return paddle.fft.irfft2(z, s=(6, 8), axes=(1, 2), norm='ortho')"
    yield case("irfft2", "a filter", spectrum + back, "f32[b2,6,8,3]", init=weights)
    yield case("irfft", "odd", "paddle.fft.irfft(paddle.fft.rfft(x), n=7)", "f32[b2,7]")
    weights = "self.w = self.create_parameter([5, 4, 2])"
    turned = "z = paddle.as_complex(x.reshape([0, 0, 4, 2])) * paddle.as_complex(self.w)\n"
    yield case("as_complex", "positions", turned + "return paddle.as_real(z).flatten(2)", "f32[b2,5,8]", init=weights)
    joined = "z = paddle.fft.fft(x)\nreturn paddle.as_real(paddle.concat([z, z.conj()], axis=1)).sum(axis=-1)"
    yield case("concat", "of complex", joined, "f32[b2,3,8]")
    yield case("divide", "of complex", "paddle.as_real(paddle.fft.fft(x) / paddle.fft.fft(x + 2))", "f32[b2,8]")
    yield case("abs", "of complex", "paddle.abs(paddle.fft.rfft(x)) ** 2", "f32[b2,8]")
    yield case("frame", "last", "paddle.signal.frame(x, 4, 3)", "f32[b2,3,11]")
    yield case("frame", "first, dynamic", "paddle.signal.frame(x, 4, 3, axis=0)", "f32[b11,3,2]")
    yield case("frame", "first", "paddle.signal.frame(x, 4, 2, axis=0)", "f32[8,3]")
    constant = "paddle.as_real(paddle.signal.stft(x, 8, 4, pad_mode='constant', onesided=False))"
    yield case("stft", "constant", constant, "f32[b2,40]")
    yield case(
        "stft", "spectrogram", "paddle.abs(paddle.signal.stft(x, 8, center=False, normalized=True))", "f32[b2,40]"
    )
    yield case(
        "linspace",
        "integers",
        "paddle.linspace(1, paddle.shape(x)[0], paddle.shape(x)[0], 'int64') + x[:, 0].astype('int64')",
        "f32[b5,2]",
    )
    yield case("linspace", "floats", "paddle.linspace(0.5, 3, paddle.shape(x)[0]) + x[:, 0]", "f32[b5,2]")
    yield case("linspace", "one place", "paddle.linspace(2, 7, paddle.shape(x)[0] - 4) + x[0, 0]", "f32[5,2]")
