"""Names that somebody may ask for and that no file here makes: the reason, measured, instead of 'unknown'."""

from __future__ import annotations

#: What was tried on Paddle 3.3.1, paddleslim 2.6.0, paddle2onnx 2.1.0 and ONNX Runtime 1.31.1, on a CPU.
REFUSED = {
    "int8_dynamic": "with convolutions ONNX Runtime computes it 6 to 10 times slower than fp32; "
    "use int8, which is calibrated",
    "int8_weight_only": "Paddle's kernels for weight-only int8 are not registered on the CPU (3.3.1); use int8",
    "int4": "Paddle's kernels for weight-only int4 are not registered on the CPU (3.3.1), and no engine here has "
    "others",
    "bf16": "bfloat16 is how an engine computes, not how a file is stored: the engine openvino_default computes the "
    "fp32 file in it on a CPU that can, and an ONNX file that holds bfloat16 finds no kernels in ONNX Runtime on a CPU",
    "qat": "it is a way to train, and what comes of it is int8: give int8 `ranges: trained`. What Paddle's own leaves "
    "cannot be exported: paddle.quantization.QAT.convert() raises on every Paddle 3.x, and paddle2onnx 2.1.0 aborts on "
    "its fake quantisers ('Only support e4m3 or e5m2 now.')",
    "fp8": "no engine here computes in it on a CPU, and paddle2onnx 2.1.0 aborts on other quantised programs",
    "prune": "pruning changes the layer, not its numbers: prune the layer first, then export it as any other",
}
