"""PaddleRec's networks for ranking, several tasks, matching and recall, from a checkout: no wheel holds them.

`--checkout recommend=FOLDER` names the folder that holds `models/`; nothing of it is copied here. Each network is a
class of one file `models/KIND/NAME/net.py`, with tables of hundreds instead of millions of ids.
"""

from __future__ import annotations

import importlib.util
import sys
import types
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from evals.zoo.checkouts import checkout
from evals.zoo.families import recommend_layers as layers
from evals.zoo.families.paddlex_layers import scale
from evals.zoo.network import BATCH, Network, Tensor, dims_of

#: Words, history and candidates are as many as somebody has looked at.
DIMS = {"batch": BATCH, "length": {"min": 2, "typical": 5, "max": 9}}
#: Click-through rates: columns of ids, and numbers.
_SPARSE = {"sparse_feature_number": 200, "sparse_feature_dim": 4}
_FIELDS = _SPARSE | {"dense_feature_dim": 3, "sparse_num_field": 5}
_SLOTS = _SPARSE | {"dense_feature_dim": 3, "num_field": 5}
_IDS = Tensor(("batch", 5), "int64", "integers(0,200)", "sparse")
_CLICKS = (_IDS, Tensor(("batch", 3), name="dense"))
_TASKS = (Tensor(("batch", 24), name="input_data"),)
_EXPERTS = {"feature_size": 24, "expert_num": 3, "expert_size": 8, "tower_size": 6, "gate_num": 2}
_BAGS = (Tensor(("batch", 4, 3), "int64", "integers(0,200)", "sparse"),)
_SHOP = {
    "item_emb_size": 8,
    "cat_emb_size": 8,
    "is_sparse": False,
    "use_DataLoader": True,
    "item_count": 100,
    "cat_count": 20,
    "act": "sigmoid",
}


def _ids(name: str, *shape: int | str, count: int = 100) -> Tensor:
    return Tensor(("batch", *shape), "int64", f"integers(1,{count})", name)


_LOOKED_AT = (
    _ids("items", "length"),
    _ids("categories", "length", count=20),
    _ids("item"),
    _ids("category", count=20),
    Tensor(("batch", "length", 1), name="mask"),
    _ids("item_again", "length"),
    _ids("category_again", "length", count=20),
)
_NOT_LOOKED_AT = (_ids("items_not", "length"), _ids("categories_not", "length", count=20))
_DMR = {
    "user_size": 100, "cms_segid_size": 10, "cms_group_id_size": 5, "final_gender_code_size": 5, "age_level_size": 7,
    "pvalue_level_size": 5, "shopping_level_size": 5, "occupation_size": 5, "new_user_class_level_size": 5,
    "adgroup_id_size": 100, "cate_size": 50, "campaign_id_size": 50, "customer_size": 50, "brand_size": 50,
    "btag_size": 5, "pid_size": 5, "main_embedding_size": 8, "other_embedding_size": 4,
}  # fmt: skip
_NEWS = {
    "article_content_size": 12, "article_title_size": 6, "browse_size": 4, "neg_condidate_sample_size": 2,
    "word_dimension": 8, "category_size": 4, "sub_category_size": 10, "cate_dimension": 8, "word_dict_size": 101,
}  # fmt: skip
_ARTICLES = (
    _ids("category", 3, count=4), _ids("read", 4, count=4), _ids("part", 3, count=10), _ids("parts_read", 4, count=10),
    _ids("title", 3, 6), _ids("titles_read", 4, 6), _ids("text", 3, 12), _ids("texts_read", 4, 12),
)  # fmt: skip
_BERT = {
    "_emb_size": 16, "_n_layer": 2, "_n_head": 2, "_voc_size": 100, "_max_position_seq_len": 20, "_sent_types": 2,
    "hidden_act": "gelu", "_dropout": 0.1, "_attention_dropout": 0.1, "initializer_range": 0.02,
}  # fmt: skip


@dataclass(frozen=True)
class Entry:
    """Class `kind` of `models/FILE/net.py`, called by `layer` or by itself.

    `spread`: how wide the values of embeddings are. Products of all pairs of fields are summed before a sigmoid, and
    with wide values each score would be 0 or 1. `several`: a `squeeze` in it also removes a batch of one.
    """

    name: str
    file: str
    kind: str
    inputs: tuple[Tensor, ...]
    layer: type[Any] | None = None
    config: Mapping[str, Any] = field(default_factory=dict, hash=False)
    spread: float = 0.3
    several: bool = False


ENTRIES = (
    Entry("LogisticRegression", "rank/logistic_regression", "LRLayer",
          (_ids("input_idx", 5), Tensor(("batch", 5), name="input_weights")), None,
          {"sparse_feature_number": 200, "init_value": 0.1, "reg": 0.0, "num_field": 5}),
    Entry("DNN", "rank/dnn", "DNNLayer", _CLICKS, layers.Fields, _SLOTS | {"layer_sizes": [16, 8]}),
    Entry("WideDeep", "rank/wide_deep", "WideDeepLayer", _CLICKS, layers.Fields, _SLOTS | {"layer_sizes": [16, 8]}),
    Entry("FM", "rank/fm", "FMLayer", _CLICKS, layers.Fields, _FIELDS),
    Entry("FFM", "rank/ffm", "FFMLayer", _CLICKS, layers.Fields,
          _SPARSE | {"dense_feature_dim": 3, "sparse_num_field": 8}),
    Entry("DeepFM", "rank/deepfm", "DeepFMLayer", _CLICKS, layers.Fields, _FIELDS | {"layer_sizes": [16, 8]}),
    Entry("xDeepFM", "rank/xdeepfm", "xDeepFMLayer", _CLICKS, layers.Fields,
          _FIELDS | {"layer_sizes_cin": [8, 6], "layer_sizes_dnn": [16, 8]}),
    Entry("DCN", "rank/dcn", "DeepCroLayer", _CLICKS, layers.FirstOfFields,
          _FIELDS | {"layer_sizes": [16, 8], "cross_num": 2, "clip_by_norm": 100.0, "l2_reg_cross": 0.00005,
                     "is_sparse": False}),
    Entry("DCN_V2", "rank/dcn_v2", "DCN_V2Layer", _CLICKS, layers.Fields,
          _FIELDS | {"layer_sizes": [16, 8], "cross_num": 2, "is_Stacked": False, "use_low_rank_mixture": False,
                     "low_rank": 8, "num_experts": 2}),
    Entry("DCN_V2_mixture", "rank/dcn_v2", "DCN_V2Layer", _CLICKS, layers.Fields,
          _FIELDS | {"layer_sizes": [16, 8], "cross_num": 2, "is_Stacked": True, "use_low_rank_mixture": True,
                     "low_rank": 8, "num_experts": 2}, several=True),
    Entry("DLRM", "rank/dlrm", "DLRMLayer", _CLICKS, layers.Fields,
          {"dense_feature_dim": 3, "bot_layer_sizes": [8, 4], "sparse_feature_number": 200, "sparse_feature_dim": 4,
           "top_layer_sizes": [8, 2], "num_field": 5}),
    Entry("AutoInt", "rank/autoint", "AutoInt", (_ids("feat_index", 5), Tensor(("batch", 5), name="feat_value")), None,
          {"feature_number": 200, "embedding_dim": 8, "fc_sizes": [16], "use_residual": True, "scaling": True,
           "use_wide": True, "use_sparse": False, "head_num": 2, "num_field": 5, "attn_layer_sizes": [8, 8]}, 1.0),
    Entry("GateNet", "rank/gatenet", "GateDNNLayer", _CLICKS, layers.Fields,
          _SLOTS | {"layer_sizes": [16, 8], "use_embedding_gate": True, "use_hidden_gate": True}, 1.0),
    Entry("DIFM", "rank/difm", "DIFM", _CLICKS, layers.Fields,
          {"sparse_field_num": 5, "sparse_feature_num": 200, "sparse_feature_dim": 4, "dense_feature_dim": 3,
           "fen_layers_size": [16, 6], "dense_layers_size": [16, 4], "att_factor_dim": 8, "att_head_num": 2}),
    Entry("FAT_DeepFFM", "rank/fat_deepffm", "FAT_DeepFFMLayer", _CLICKS, layers.Fields,
          _FIELDS | {"layer_sizes": [16, 8]}),
    Entry("FLEN", "rank/flen", "FLENLayer", (Tensor(("batch", 23), "int64", "integers(0,200)", "sparse"),),
          layers.Columns,
          _SPARSE | {"sparse_inputs_slots": 22, "sparse_num_field": 3, "layer_sizes_dnn": [16, 4]}, 1.0),
    Entry("FGCNN", "rank/fgcnn", "FGCNN", (_ids("inputs", 12),), None,
          {"sparse_num_field": 9, "sparse_feature_size": 200, "feature_name": [f"C{at}" for at in range(12)],
           "feature_dim": 5, "dense_num_field": 3, "conv_kernel_width": [3, 3], "conv_filters": [4, 6],
           "new_maps": [3, 3], "pooling_width": [2, 2], "stride": [1, 1], "dnn_hidden_units": [8, 8],
           "dnn_dropout": 0.0}, 1.0),
    Entry("AutoFIS", "rank/autofis", "AutoDeepFMLayer", (_ids("inputs", 6),), None,
          {"num_inputs": 6, "input_size": 200, "embedding_size": 8, "width": 16, "depth": 2, "pairs": 15, "stage": 0}),
    Entry("DeepRec", "rank/deeprec", "DeepRecLayer", (Tensor(("batch", 40), name="x"),), None,
          {"layer_sizes": [40, 16, 8], "dp_drop_prob": 0.0}),
    Entry("DIN", "rank/din", "DINLayer", _LOOKED_AT, layers.History, _SHOP, 1.0),
    Entry("DIEN", "rank/dien", "DIENLayer", (*_LOOKED_AT, *_NOT_LOOKED_AT), layers.Evolution,
          _SHOP, 1.0),
    Entry("DPIN", "rank/dpin", "DPINLayer",
          (_ids("hist_item", 3, 10), _ids("hist_cat", 3, 10, count=20), _ids("target_item"),
           _ids("target_cat", count=20), Tensor(("batch", 3), "int64", "integers(0,3)", "position")), None,
          {"K": 3, "emb_dim": 8, "max_item": 100, "max_context": 20, "d_model": 64, "h": 2, "is_sparse": False}, 1.0),
    Entry("DMR", "rank/dmr", "DMRLayer",
          (Tensor(("batch", 266), "int64", "integers(0,2)", "ids"), Tensor(("batch", 1), name="price")),
          layers.Ranking, _DMR),
    Entry("NAML", "rank/naml", "NAMLLayer", _ARTICLES, layers.News, _NEWS, 1.0),
    Entry("BERT4Rec", "rank/bert4rec", "BertModel",
          (_ids("ids", "length"), Tensor(("batch", "length"), "int64", "integers(0,20)", "places"),
           Tensor(("batch", "length"), "int64", "integers(0,2)", "kinds"),
           Tensor(("batch", "length", 1), "int64", "integers(0,2)", "mask"),
           Tensor((3,), "int64", "integers(0,2)", "marked")), layers.Beginning, _BERT, 1.0),
    Entry("MMoE", "multitask/mmoe", "MMoELayer", _TASKS, None, _EXPERTS),
    Entry("PLE", "multitask/ple", "PLELayer", _TASKS, None,
          {"feature_size": 24, "task_num": 2, "exp_per_task": 2, "shared_num": 2, "expert_size": 8, "tower_size": 6,
           "level_number": 2}),
    Entry("ShareBottom", "multitask/share_bottom", "ShareBottomLayer", _TASKS, None,
          {"feature_size": 24, "task_num": 2, "bottom_size": 16, "tower_size": 6}),
    Entry("ESMM", "multitask/esmm", "ESMMLayer", _BAGS, layers.Bags,
          _SPARSE | {"num_field": 4, "ctr_layer_sizes": [16, 8], "cvr_layer_sizes": [16, 8]}, 1.0),
    Entry("ESCM2", "multitask/escm2", "ESCMLayer", _BAGS, layers.Bags,
          _SPARSE | {"num_field": 4, "ctr_layer_sizes": [16, 8], "cvr_layer_sizes": [16, 8], "expert_num": 3,
                     "expert_size": 8, "tower_size": 6, "counterfact_mode": "DR", "feature_size": 16}, 1.0),
    Entry("AITM", "multitask/aitm", "AITM", (_ids("sparse", 4, count=20),), layers.Cells,
          {"feature_vocabulary": {"101": 20, "121": 20, "122": 20, "124": 20}, "embedding_size": 5,
           "tower_dims": [16, 12, 32], "drop_prob": [0.1, 0.3, 0.3]}, 1.0),
    Entry("DSelectK", "multitask/dselect_k", "MoELayer", (Tensor(("batch", 1, 36, 36), name="input_data"),), None,
          {"feature_size": 1296, "expert_num": 4, "expert_size": 50, "tower_size": 8, "gate_num": 2, "topk": 2}),
    Entry("MAML", "multitask/maml", "MAMLLayer", (Tensor(("batch", 1, 28, 28), name="x"),), None,
          {"conv_stride": 1, "conv_padding": 1, "conv_kernal": [3, 3], "bn_channel": 64}),
    Entry("DSSM", "match/dssm", "DSSMLayer",
          (Tensor(("batch", 40), name="query"), Tensor(("batch", 40), name="document")), layers.Match,
          {"trigram_d": 40, "neg_num": 1, "slice_end": 8, "hidden_layers": [16, 16, 8], "hidden_acts": ["relu"] * 3}),
    Entry("MultiviewSimnet", "match/multiview-simnet", "MultiviewSimnetLayer",
          (_ids("query", 7), _ids("title", 9)), layers.Views,
          {"query_encoder": "gru", "title_encoder": "gru", "query_encode_dim": 8, "title_encode_dim": 8,
           "emb_size": 100, "emb_dim": 8, "hidden_size": 8, "margin": 0.1, "query_len": 7, "pos_len": 9,
           "neg_len": 9}, 1.0),
    Entry("NCF_NeuMF", "recall/ncf", "NCF_NeuMF_Layer", (_ids("user", 1), _ids("item", 1)), layers.Pair,
          {"num_users": 100, "num_items": 100, "mf_dim": 4, "layers": [32, 16, 8, 4]}, 1.0),
    Entry("NCF_GMF", "recall/ncf", "NCF_GMF_Layer", (_ids("user", 1), _ids("item", 1)), layers.Pair,
          {"num_users": 100, "num_items": 100, "mf_dim": 4, "layers": [32, 16, 8, 4]}, 1.0),
    Entry("NCF_MLP", "recall/ncf", "NCF_MLP_Layer", (_ids("user", 1), _ids("item", 1)), layers.Pair,
          {"num_users": 100, "num_items": 100, "mf_dim": 4, "layers": [32, 16, 8, 4]}, 1.0),
    Entry("MIND", "recall/mind", "MindLayer", (_ids("items", 8), _ids("length", 1, count=9)), layers.Interests,
          {"item_count": 100, "embedding_dim": 8, "hidden_size": 8, "neg_samples": 10, "maxlen": 8}, 1.0),
    Entry("TiSAS", "recall/tisas", "TiSASRecLayer",
          (_ids("items", "length"), Tensor(("batch", "length", "length"), "int64", "integers(0,16)", "times"),
           _ids("offered", 6)), layers.Timed,
          {"user_num": 50, "item_num": 100, "hidden_units": 16, "maxlen": 12, "time_span": 16, "num_blocks": 2,
           "num_heads": 2}, 1.0),
    Entry("ENSFM", "recall/ensfm", "ENSFMLayer",
          (_ids("user", 3), Tensor((9, 2), "int64", "integers(0,100)", "items")), layers.Every,
          {"user_field_M": 100, "item_field_M": 100, "embedding_size": 8}, 1.0),
    Entry("Word2Vec", "recall/word2vec", "Word2VecLayer",
          (_ids("left", 1), _ids("middle", 1), _ids("right", 4)), layers.Three,
          {"sparse_feature_number": 100, "emb_dim": 8, "neg_num": 4, "emb_name": "emb", "emb_w_name": "emb_w",
           "emb_b_name": "emb_b"}, 1.0),
    Entry("TextCNN", "contentunderstanding/textcnn", "TextCNNLayer", (_ids("inputs", "length"),), None,
          {"dict_dim": 100, "emb_dim": 8, "class_dim": 3, "cnn_dim": 8, "filter_sizes": [1, 2], "hidden_size": 8}, 1.0),
    Entry("TagSpace", "contentunderstanding/tagspace", "TagspaceLayer",
          (_ids("left", 12), _ids("middle", 1, count=8), _ids("right", 3, count=8)), layers.Three,
          {"vocab_text_size": 75378, "vocab_tag_size": 8, "emb_dim": 6, "hid_dim": 12, "win_size": 5, "margin": 0.1,
           "neg_size": 3, "text_len": 12}, 1.0),
)  # fmt: skip


def networks() -> list[Network]:
    """PaddleRec, where a checkout is named."""
    root = checkout("recommend", "models/rank")
    if root is None:
        return []
    listed = []
    for entry in ENTRIES:
        dims = dims_of(entry.inputs, DIMS)
        if entry.several:
            dims["batch"] = {**BATCH, "min": 2}
        listed.append(Network("recommend", f"Rec_{entry.name}", partial(_build, entry, root), entry.inputs, dims, True))
    return listed


def modules() -> None:
    """Import the file of every network, where a checkout is named."""
    root = checkout("recommend", "models/rank")
    if root is not None:
        for entry in ENTRIES:
            _module(root / "models" / entry.file / "net.py")


def _build(entry: Entry, root: Path) -> Any:
    import paddle

    network = getattr(_module(root / "models" / entry.file / "net.py"), entry.kind)(**entry.config)
    draw = np.random.default_rng(5)
    scale(network, draw)
    for layer in network.sublayers(include_self=True):
        for name, parameter in layer._parameters.items():
            if isinstance(layer, paddle.nn.Embedding):
                parameter.set_value(parameter * entry.spread)
            elif name != "weight" and parameter is not None and len(parameter.shape) > 1:  # a matrix of its own
                value = draw.standard_normal(parameter.shape) * parameter.shape[-2] ** -0.5
                parameter.set_value(value.astype("float32"))
    return entry.layer(network) if entry.layer else network


def _module(path: Path) -> types.ModuleType:
    """The module of a file: all are called `net.py`, so each gets a name of its own."""
    name = f"paddlerec_{path.parent.name.replace('-', '_')}"
    if name not in sys.modules:
        described = importlib.util.spec_from_file_location(name, path)
        assert described is not None and described.loader is not None
        module = importlib.util.module_from_spec(described)
        sys.modules[name] = module
        sys.path.insert(0, str(path.parent))  # some import a file beside them by its bare name
        try:
            described.loader.exec_module(module)
        finally:
            sys.path.remove(str(path.parent))
    return sys.modules[name]
