"""paddle.erfinv is 0.2 % off at 0.999999, and infinite below 1

tool: Paddle
shows: wrong
needs: paddlepaddle
cause: paddle/phi/kernels/cpu/erfinv_kernel.cc computes `(x * 0.5 + 0.5).ndtri()`, in which x * 0.5 + 0.5 is rounded
    to float32.

Of values that float32 has, two near 1. The truth is by Newton's method on `math.erfc` in float64, and by Paddle's own
kernel in float64.
"""

import math

import numpy as np
import paddle

x = np.array([0.5, 0.999999, np.nextafter(np.float32(1), np.float32(0))], "float32")


def inverse(value):
    """Return the y whose error function is `value`: Newton's method in float64."""
    y = 1.0
    for _ in range(200):
        y += (math.erfc(y) - (1 - value)) / (2 / math.sqrt(math.pi) * math.exp(-y * y))
    return y


expected = np.array([inverse(float(value)) for value in x])
print("expected by math.erfc in float64:", expected.tolist())
print("expected by Paddle in float64:", paddle.erfinv(paddle.to_tensor(x.astype("float64"))).tolist())
actual = paddle.erfinv(paddle.to_tensor(x)).numpy()
print("actual:", actual.tolist())
assert np.allclose(actual, expected, rtol=1e-5), "the result is wrong"
