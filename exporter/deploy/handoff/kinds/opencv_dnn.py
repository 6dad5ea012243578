"""OpenCV's DNN module: the ONNX as it is, run by OpenCV's own engine."""

from __future__ import annotations

from exporter.deploy.foreign.runtime import ForeignRuntime
from exporter.deploy.handoff.base import Target


class OpenCvDnn(ForeignRuntime):
    """`model/model.onnx`, which OpenCV reads itself."""

    title = "OpenCV DNN"
    requirements = ("opencv-python-headless==5.*", "numpy")
    start = """
    import cv2

    net = cv2.dnn.readNetFromONNX("model/model.onnx", cv2.dnn.ENGINE_NEW)
    net.enableWinograd(False)
    net.setInput(value, "NAME OF THE INPUT")
    outputs = net.forward(["NAME OF THE OUTPUT"])

`python run.py` does so on the recorded inputs. Without `ENGINE_NEW` OpenCV 5 takes another engine where its own cannot.

`exporter verify BUNDLE --answers answers --engine "OpenCV on WHICH DEVICE"` judges what a device computed.
"""


plugin: Target = OpenCvDnn()
