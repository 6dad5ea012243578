"""ncnn: `model.ncnn.param` and `.bin` by pnnx, for one size of each input, run by ncnn before they are handed over."""

from __future__ import annotations

from exporter.deploy.foreign.runtime import ForeignRuntime
from exporter.deploy.handoff.base import Target


class Ncnn(ForeignRuntime):
    """`model/model.ncnn.param` and `model/model.ncnn.bin`."""

    title = "ncnn"
    requirements = ("ncnn==1.0.20261020", "pnnx==20261020", "numpy")
    precisions = ("fp32", "fp16")
    dynamic = False
    start = """
    ncnn::Net net;
    net.load_param("model/model.ncnn.param");
    net.load_model("model/model.ncnn.bin");
    auto extractor = net.create_extractor();
    extractor.input("in0", image);   // in0, in1, …: the inputs in the order of the table
    extractor.extract("out0", output);

A leading size of 1 is no axis for ncnn. `python run.py` does so on the recorded inputs. It was proven with the options
that `engine.py` sets: in fp32 `use_fp16_packed`, `use_fp16_storage`, `use_fp16_arithmetic`, `use_bf16_storage` and
`use_winograd_convolution` are off; in fp16 the first three are on.

`exporter verify BUNDLE --answers answers --engine "ncnn on WHICH DEVICE"` with `--dim` for each size that the first
lines name judges what a device computed.
"""


plugin: Target = Ncnn()
