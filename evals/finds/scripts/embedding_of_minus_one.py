"""F.embedding of the id -1 reads the memory in front of the table

tool: Paddle
shows: wrong
needs: paddlepaddle
cause: paddle/phi/kernels/cpu/embedding_kernel.cc checks each id that differs from `padding_idx`, which is -1 where
    none was given (kNoPadding): so -1 is not checked, and no padding either.

-1, which data often has for `no token`, is the one id out of range that is not refused. It copies what lies in front
of the table in memory. Other negative ids and too large ones raise ValueError.
"""

import paddle

table = paddle.arange(12, dtype="float32").reshape([6, 2]) + 100
for refused in (-2, 6):
    try:
        paddle.nn.functional.embedding(paddle.to_tensor([refused]), table)
    except ValueError as error:
        print(f"expected by Paddle of the id {refused}: ValueError", str(error).strip().splitlines()[-1].strip()[:150])
try:
    actual = paddle.nn.functional.embedding(paddle.to_tensor([-1]), table)
except ValueError:
    actual = None
print("actual:", actual if actual is None else actual.tolist())
assert actual is None, "what was read is no row of the table: wrong"
