"""Defects of engines that the clean checks met: what the engine computes is wrong, so the gate is right to fail it.

By network and engine, the reason; tests/evals/clean/test_known.py proves each with a file of one operator.
"""

from __future__ import annotations

_LENGTHS = "OpenVINO 2026.4 computes GRU, LSTM and RNN of ONNX as if every row were as long as the longest"
_LOG_SOFTMAX = "oneDNN in Paddle 3.3.1 errs 16 times as much as eager in log_softmax, in the root mean square"
_LAYER_NORM = "oneDNN in Paddle 3.3.1 refuses a layer norm over more than the last axis"
_INTERPOLATE = (
    "oneDNN in Paddle 3.3.1 refuses interpolate by a factor: an array of float64 is no attribute that it knows"
)
_LEAKY = "the default predictor of Paddle 3.3.1 dies by SIGSEGV of a convolution and a leaky ReLU (FusedConv2dOp)"
_SECOND_SIZE = (
    "the default predictor of Paddle 3.3.1 refuses split channels at a second batch size: oneDNN with AVX and no AVX2"
)
_KEPT_OFF = "OpenVINO 2026.4 dies of this Transformer by SIGSEGV where ONEDNN_MAX_CPU_ISA keeps it off AVX-512"
#: These end the process, so they are not run beside the others.
FATAL: dict[tuple[str, str], str] = {
    **{(network, "paddle_inference_default"): _LEAKY for network in ("named", "drill_segments")},
    ("drill_text", "openvino"): _KEPT_OFF,
}
_SOFTPLUS = "the soft ReLU of oneDNN, and of OpenVINO, errs by 1e-6 where softplus is 1e-5: 17 times what eager errs"
DEFECTS: dict[tuple[str, str], str] = {
    **{
        (network, "openvino"): _LENGTHS
        for network in ("bigru_lengths", "bilstm_lengths", "gru_lengths", "drill_lengths", "zoo_Lstm", "zoo_Gru")
    },
    **FATAL,
    ("norm_layer", "paddle_inference_default"): _LAYER_NORM,
    ("forecast", "paddle_inference_default"): _SOFTPLUS,
    ("forecast", "openvino"): _SOFTPLUS,
    ("sharper", "paddle_inference_default"): _INTERPOLATE,
    **{(network, "paddle_inference_default"): _SECOND_SIZE for network in ("vision_shufflenet", "empty_score")},
    **{(network, "paddle_inference_default"): _LOG_SOFTMAX for network in ("encoder_tokens", "drill_text")},
}
