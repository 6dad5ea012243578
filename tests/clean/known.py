"""Defects of engines that the clean checks met: what the engine computes is wrong, so the gate is right to fail it.

By network and engine, the reason; tests/clean/test_known.py proves each with a file of one operator.
"""

from __future__ import annotations

_LENGTHS = "OpenVINO 2026.4 computes GRU, LSTM and RNN of ONNX as if every row were as long as the longest"
_LOG_SOFTMAX = "oneDNN in Paddle 3.3.1 errs 16 times as much as eager in log_softmax, in the root mean square"
DEFECTS: dict[tuple[str, str], str] = {
    **{
        (network, "openvino"): _LENGTHS
        for network in ("bigru_lengths", "bilstm_lengths", "gru_lengths", "drill_lengths", "zoo_Lstm", "zoo_Gru")
    },
    **{(network, "paddle_inference_default"): _LOG_SOFTMAX for network in ("encoder_tokens", "drill_text")},
}
