"""PaddleTS's networks for forecasts, anomalies, classes and representations of series, from a checkout.

`--checkout series=FOLDER` names the folder that holds `paddlets/`; nothing of it is copied here. `import paddlets`
would load every model, of classical statistics too; only the file of each network is imported, its parents without
their `__init__`.
"""

from __future__ import annotations

import importlib
import sys
import types
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from evals.zoo.checkouts import checkout
from evals.zoo.families import series_layers as layers
from evals.zoo.families.paddlex_layers import scale
from evals.zoo.network import BATCH, Network, Tensor, dims_of

_MODELS = "paddlets.models"
_KINDS = ("forecasting", "anomaly", "classify", "representation")
_PARENTS = ("paddlets", _MODELS, *(f"{_MODELS}.{kind}" for kind in _KINDS))

DIMS = {"batch": BATCH, "length": {"min": 8, "typical": 16, "max": 24}}
#: Three series of 24 steps, 6 to come, two covariates that are known and one that is observed.
_PAST = (Tensor(("batch", 24, 3), name="past"),)
_COVERED = (*_PAST, Tensor(("batch", 30, 2), name="known"), Tensor(("batch", 24, 1), name="observed"))
_MARKED = (*_PAST, Tensor(("batch", 30, 4), name="known"))
_OBSERVED = (Tensor(("batch", 24, 3), name="observed"),)
_FEATURES = (Tensor(("batch", "length", 3), name="features"),)
_CHUNKS = {"in_chunk_len": 24, "out_chunk_len": 6}
_SIZES = {"c_in": 3, "seq_len": 24, "pred_len": 6}
_FIT = {
    "target_dim": 3, "known_num_dim": 2, "known_cat_dim": 0, "observed_num_dim": 1, "observed_cat_dim": 0,
    "static_num_dim": 0, "static_cat_dim": 0, "known_cat_size": {}, "observed_cat_size": {}, "static_cat_size": {},
}  # fmt: skip
_STACKS = {
    "target_dim": 3, "known_cov_dim": 2, "observed_cov_dim": 1, "num_stacks": 2, "num_blocks": [1, 2],
    "num_layers": 2, "layer_widths": [16, 16],
}  # fmt: skip
_CODED = {
    "in_chunk_len": 24, "fit_params": {"observed_cat_cols": {}, "observed_num_dim": 3}, "hidden_config": [12, 6],
    "activation": "ReLU", "last_layer_activation": "Identity", "kernel_size": 3, "dropout_rate": 0.1, "use_bn": True,
    "embedding_size": 4, "pooling": False,
}  # fmt: skip


@dataclass(frozen=True)
class Entry:
    """Class `kind` of `paddlets/models/FILE.py`, called by `layer`; names of activations become their classes."""

    name: str
    file: str
    kind: str
    layer: type[Any]
    inputs: tuple[Tensor, ...]
    config: Mapping[str, Any] = field(default_factory=dict, hash=False)


ENTRIES = (
    Entry("MLP", "forecasting.dl.mlp", "_MLPModule", layers.Past, _PAST,
          {"in_chunk_dim": 24, "out_chunk_dim": 6, "target_dim": 3, "hidden_config": [16, 16], "use_bn": True}),
    Entry("NBEATS", "forecasting.dl.nbeats", "_NBEATSModule", layers.Covered, _COVERED,
          _CHUNKS | _STACKS | {"generic_architecture": True, "expansion_coefficient_dim": 5,
                               "trend_polynomial_degree": 2}),
    Entry("NBEATS_interpretable", "forecasting.dl.nbeats", "_NBEATSModule", layers.Covered, _COVERED,
          _CHUNKS | _STACKS | {"generic_architecture": False, "expansion_coefficient_dim": 5,
                               "trend_polynomial_degree": 2}),
    Entry("NHiTS", "forecasting.dl.nhits", "_NHiTSModule", layers.Covered, _COVERED,
          _CHUNKS | _STACKS | {"num_blocks": 2, "pooling_kernel_sizes": None, "n_freq_downsample": None,
                               "batch_norm": False, "dropout": 0.1, "activation": "ReLU", "MaxPool1d": True}),
    Entry("TCN", "forecasting.dl.tcn", "_TCNModule", layers.Past, _PAST,
          _CHUNKS | {"target_dim": 3, "hidden_config": [8, 8], "kernel_size": 3, "dropout_rate": 0.1}),
    Entry("RNN", "forecasting.dl.rnn", "_RNNBlock", layers.Covered, _COVERED,
          _CHUNKS | {"fit_params": _FIT, "rnn_type": "LSTM", "hidden_dim": 12, "embedding_dim": 4,
                     "num_layers_recurrent": 2, "out_fcn_config": [8]}),
    Entry("LSTNet", "forecasting.dl.lstnet", "_LSTNetModule", layers.Past, _PAST,
          _CHUNKS | {"target_dim": 3, "skip_size": 4, "channels": 8, "kernel_size": 3, "rnn_cell_type": "GRU",
                     "rnn_num_cells": 8, "skip_rnn_cell_type": "GRU", "skip_rnn_num_cells": 5, "dropout_rate": 0.1,
                     "output_activation": None}),
    Entry("Transformer", "forecasting.dl.transformer", "_TransformerModule", layers.Covered, _COVERED,
          _CHUNKS | {"target_dim": 3, "input_dim": 6, "d_model": 16, "nhead": 4, "num_encoder_layers": 1,
                     "num_decoder_layers": 1, "dim_feedforward": 32, "activation": "relu", "dropout_rate": 0.1}),
    Entry("TFT", "forecasting.dl._tft.tft", "TemporalFusionTransformer", layers.Static,
          (*_COVERED, Tensor(("batch", 1, 2), name="kind")),
          _CHUNKS | {"fit_params": _FIT | {"static_num_dim": 2, "known_cat_size": [], "observed_cat_size": [],
                                           "static_cat_size": []}, "hidden_dim": 8}),
    Entry("SCINet", "forecasting.dl.scinet", "_StackedSCINetModule", layers.Covered, _COVERED,
          _CHUNKS | {"in_dim": 6, "num_level": 2, "kernel_size": 3}),
    Entry("DLinear", "forecasting.dl.DLinear", "_DLinearModule", layers.Past, _PAST, _SIZES),
    Entry("NLinear", "forecasting.dl.NLinear", "_NLinearModule", layers.Past, _PAST, _SIZES),
    Entry("NLinear_individual", "forecasting.dl.NLinear", "_NLinearModule", layers.Past, _PAST,
          _SIZES | {"individual": True}),
    Entry("RLinear", "forecasting.dl.RLinear", "_RLinearModule", layers.Past, _PAST, _SIZES),
    Entry("PatchTST", "forecasting.dl.PatchTST", "_PatchTSTModule", layers.Past, _PAST,
          _SIZES | {"n_layers": 2, "n_heads": 2, "d_model": 8, "d_ff": 16, "patch_len": 8, "stride": 4}),
    Entry("TimesNet", "forecasting.dl.TimesNet", "_TimesNet", layers.Marked, _MARKED,
          _CHUNKS | {"e_layers": 1, "c_in": 3, "d_model": 8, "c_out": 3, "d_ff": 8, "top_k": 2, "num_kernels": 2}),
    Entry("Nonstationary", "forecasting.dl.Nonstationary", "Nonstationary_Transformer_Module", layers.Marked, _MARKED,
          _SIZES | {"label_len": 8, "n_heads": 2, "d_model": 16, "d_ff": 32, "p_hidden_dims": [8, 8],
                    "e_layers": 1}),
    Entry("Crossformer", "forecasting.dl.Crossformer", "CrossformerModule", layers.Past, _PAST,
          _SIZES | {"seg_len": 6, "win_size": 2, "factor": 3, "d_model": 16, "d_ff": 32, "n_heads": 2,
                    "e_layers": 2}),
    Entry("Autoencoder", "anomaly.dl.autoencoder", "_AEBlock", layers.Observed, _OBSERVED, _CODED | {"ed_type": "MLP"}),
    Entry("Autoencoder_CNN", "anomaly.dl.autoencoder", "_AEBlock", layers.Observed, _OBSERVED,
          _CODED | {"ed_type": "CNN"}),
    Entry("VAE", "anomaly.dl.vae", "_VAEBlock", layers.Observed, _OBSERVED,
          {"in_chunk_dim": 24, "hidden_config": [12, 6], "feature_dim": 3}),
    Entry("USAD", "anomaly.dl.usad", "_USAModule", layers.Observed, _OBSERVED,
          _CODED | {"ed_type": "MLP", "flatten": True}),
    Entry("AnomalyTransformer", "anomaly.dl.anomaly_transformer", "_Anomaly", layers.Observed, _OBSERVED,
          {"win_size": 24, "enc_in": 3, "c_out": 3, "d_model": 16, "n_heads": 2, "e_layers": 2, "d_ff": 16}),
    Entry("MTAD_GAT", "anomaly.dl.mtad_gat", "_MTADGATBlock", layers.Both, _OBSERVED,
          {"in_chunk_len": 24, "fit_params": {"observed_num_dim": 3}, "target_dims": None, "kernel_size": 3,
           "feat_gat_embed_dim": None, "time_gat_embed_dim": None, "use_gatv2": True, "use_bias": True,
           "gru_n_layers": 1, "gru_hid_size": 12, "forecast_n_layers": 1, "forecast_hid_size": 12,
           "recon_n_layers": 1, "recon_hid_size": 12, "dropout": 0.0, "alpha": 0.2}),
    Entry("InceptionTime", "classify.dl.inception_time", "_InceptionTime", layers.Features, _FEATURES,
          {"channel_in": 3, "channel_out": 4, "kernel_size": 9, "block_out_size": 16, "block_depth": 3}),
    Entry("CNN", "classify.dl.cnn", "_CNNBlock", layers.Features, (Tensor(("batch", 24, 3), name="features"),),
          {"in_chunk_dim": 3, "in_chunk_lens": 24, "n_classes": 4, "kernel_size": 3, "avg_pool_size": 2,
           "use_bn": True}),
    Entry("TS2Vec", "representation.dl.ts2vec", "_TS2VecModule", layers.Represented,
          (Tensor(("batch", "length", 3), name="series"),),
          {"in_channels": 3, "out_channels": 8, "hidden_channels": 8, "num_layers": 2}),
)  # fmt: skip


def networks() -> list[Network]:
    """PaddleTS, where a checkout is named."""
    root = checkout("series", "paddlets/models")
    if root is None:
        return []
    listed = []
    for entry in ENTRIES:
        dims = dims_of(entry.inputs, DIMS)
        listed.append(Network("series", f"Series_{entry.name}", partial(_build, entry, root), entry.inputs, dims, True))
    return listed


def modules() -> None:
    """Import the file of every network, where a checkout is named."""
    root = checkout("series", "paddlets/models")
    if root is not None:
        for entry in ENTRIES:
            _module(entry.file, root)


def _build(entry: Entry, root: Path) -> Any:
    import paddle

    kind = getattr(_module(entry.file, root), entry.kind)
    config = dict(entry.config)
    for name in ("activation", "last_layer_activation"):
        if config.get(name) in ("ReLU", "Identity") and "nhits" not in entry.file:
            config[name] = getattr(paddle.nn, config[name])
    network = kind(**config)
    scale(network, np.random.default_rng(5))
    return entry.layer(network)


def _module(name: str, root: Path) -> types.ModuleType:
    """The module of a network; the packages around it get what its imports ask them for."""
    if "paddlets" not in sys.modules:
        for parent in _PARENTS:
            package = types.ModuleType(parent)
            package.__path__ = [str(root.joinpath(*parent.split(".")))]
            sys.modules[parent] = package
        sets = importlib.import_module("paddlets.datasets")
        vars(sys.modules["paddlets"]).update(TSDataset=sets.TSDataset, TimeSeries=sets.TimeSeries)
        vars(sys.modules[_MODELS]).update(BaseModel=importlib.import_module(f"{_MODELS}.base").BaseModel)
    return importlib.import_module(f"{_MODELS}.{name}")
