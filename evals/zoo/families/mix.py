"""The networks of PaddleMIX: diffusion (U-Nets, autoencoders, transformers), CLIP, SAM, BLIP-2's Q-Former and more.

`--checkout mix=FOLDER` names its checkout, the folder that holds `ppdiffusers/` and `paddlemix/`; nothing of it is
copied here. `ppdiffusers` is imported as it is, so what it replaces in Paddle (`paddle.max`, `Tensor.softmax`,
`Layer.eval`) is replaced here too. Of `paddlemix` only the modules of the models are imported, their parents without
their `__init__`.
"""

from __future__ import annotations

import importlib
import sys
import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from evals.zoo.checkouts import checkout
from evals.zoo.families import nlp
from evals.zoo.network import BATCH, Network, Tensor, dims_of

#: Sizes of the named dims: latents of a picture, pictures that are eight times as wide, tokens, frames.
DIMS = {
    "batch": BATCH,
    "height": {"min": 8, "typical": 12, "max": 16, "multiple_of": 4},
    "width": {"min": 8, "typical": 8, "max": 20, "multiple_of": 4},
    "high": {"min": 32, "typical": 48, "max": 64, "multiple_of": 16},
    "wide": {"min": 32, "typical": 32, "max": 80, "multiple_of": 16},
    "tall": {"min": 64, "typical": 96, "max": 128, "multiple_of": 32},
    "broad": {"min": 64, "typical": 64, "max": 160, "multiple_of": 32},
    "length": {"min": 2, "typical": 5, "max": 9},
    "texts": {"min": 1, "typical": 3, "max": 4},
    "pixels": {"min": 16, "typical": 16, "max": 40, "multiple_of": 8},
    "points": {"min": 1, "typical": 2, "max": 4},
    "frames": {"min": 2, "typical": 3, "max": 5},
}
_UNET = {
    "sample_size": 16,
    "block_out_channels": (16, 32, 32),
    "layers_per_block": 1,
    "norm_num_groups": 8,
    "cross_attention_dim": 24,
    "attention_head_dim": 4,
}
#: Three levels, as Stable Diffusion has four: two that attend to the text, and one that does not.
_STABLE = _UNET | {
    "down_block_types": ("CrossAttnDownBlock2D", "CrossAttnDownBlock2D", "DownBlock2D"),
    "up_block_types": ("UpBlock2D", "CrossAttnUpBlock2D", "CrossAttnUpBlock2D"),
}
_LARGE = _UNET | {
    "down_block_types": ("DownBlock2D", "CrossAttnDownBlock2D", "CrossAttnDownBlock2D"),
    "up_block_types": ("CrossAttnUpBlock2D", "CrossAttnUpBlock2D", "UpBlock2D"),
    "transformer_layers_per_block": (1, 2, 2),
    "use_linear_projection": True,
    "addition_embed_type": "text_time",
    "addition_time_embed_dim": 8,
    "projection_class_embeddings_input_dim": 8 * 6 + 24,
}
_CONTROL = {name: value for name, value in _STABLE.items() if name not in ("sample_size", "up_block_types")}
_PICTURES = {
    "block_out_channels": (16, 32, 32),
    "layers_per_block": 1,
    "norm_num_groups": 8,
    "down_block_types": ("DownEncoderBlock2D",) * 3,
    "up_block_types": ("UpDecoderBlock2D",) * 3,
}
_HEADS = {"num_attention_heads": 4, "attention_head_dim": 8, "num_layers": 2}
_CLIP = {
    "hidden_size": 32,
    "intermediate_size": 64,
    "projection_dim": 24,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
}
_CLIP_TEXT = _CLIP | {"vocab_size": 100, "max_position_embeddings": 16, "eos_token_id": 99}
_CLIP_PICTURE = _CLIP | {"image_size": 64, "patch_size": 16}
_SAM = {
    "prompt_embed_dim": 32,
    "image_size": 256,
    "encoder_embed_dim": 32,
    "encoder_depth": 2,
    "encoder_num_heads": 4,
    "encoder_global_attn_indexes": [1],
    "input_type": "points",
}


@dataclass(frozen=True)
class Entry:
    """A class (`module:name`) built by `build` with `config`, called by `layer` of `mix_layers` with `inputs`."""

    name: str
    kind: str
    layer: str
    inputs: tuple[Tensor, ...]
    config: Mapping[str, Any] = field(default_factory=dict, hash=False)
    build: Callable[[Entry], Any] = field(default=lambda entry: found(entry.kind)(**entry.config), hash=False)

    @property
    def dims(self) -> dict[str, Mapping[str, int]]:
        return dims_of(self.inputs, DIMS)


def found(kind: str) -> Any:
    """The class `module:name`."""
    module, _, name = kind.partition(":")
    return getattr(importlib.import_module(module), name)


def configured(entry: Entry) -> Any:
    """A network that takes a configuration: of the class that it names, or of `config_class` here."""
    kind = found(entry.kind)
    config = dict(entry.config)
    settings = config.pop("config_class", None)
    return kind((found(settings) if settings else kind.config_class)(**config))


def _controlled(entry: Entry) -> Any:
    control = found("ppdiffusers:ControlNetModel")(**_CONTROL, conditioning_embedding_out_channels=(8, 16))
    return _layers().Controlled(found(entry.kind)(**entry.config), control)


def _clip(entry: Entry) -> Any:
    return found(entry.kind)(found("ppdiffusers.transformers:CLIPConfig")(**entry.config))


def _seeded(entry: Entry) -> Any:
    """A network that draws its dropout from a state which PaddleMIX's own scripts add by this name."""
    from paddle.distributed.fleet.meta_parallel import get_rng_state_tracker

    tracker = get_rng_state_tracker()
    if "global_seed" not in tracker.states_:
        tracker.add("global_seed", 2048)
    return configured(entry)


def _queries(entry: Entry) -> Any:
    """Every second layer looks at the picture, which is 24 wide; as in BLIP-2, no word is embedded."""
    settings = found("paddlenlp.transformers:BertConfig")(**entry.config)
    return found(entry.kind)(settings)


#: The U-Net of Stable Diffusion asks whether its sizes are multiples of 4: Paddle traces it with known sizes only.
_FIXED = Tensor(("batch", 4, 16, 16))
_LATENTS = Tensor(("batch", 4, "height", "width"))
_TIME = Tensor(("batch",), "int64", "integers(0,1000)")
_MOMENT = Tensor((1,), "int64", "integers(0,1000)")
_STATES = Tensor(("batch", "length", 24))
_HINT = Tensor(("batch", 3, "high", "wide"))
_TOKENS = (Tensor(("batch", "length"), "int64", "integers(3,99)"),)
_SQUARE = (Tensor(("batch", 3, 64, 64)),)
_DIFFUSERS, _TRANSFORMERS, _MODELS = "ppdiffusers", "ppdiffusers.transformers", "paddlemix.models"

ENTRIES = (
    Entry("UNet2D", f"{_DIFFUSERS}:UNet2DModel", "Denoise", (Tensor(("batch", 3, "height", "width")), _TIME), {
        "sample_size": 16, "block_out_channels": (16, 32, 32), "layers_per_block": 1, "norm_num_groups": 8,
        "attention_head_dim": 4, "down_block_types": ("DownBlock2D", "AttnDownBlock2D", "AttnDownBlock2D"),
        "up_block_types": ("AttnUpBlock2D", "AttnUpBlock2D", "UpBlock2D")}),
    Entry("UNet2D_skip", f"{_DIFFUSERS}:UNet2DModel", "Denoise",
          (Tensor(("batch", 3, "height", "width")), Tensor(("batch",), values="uniform(0.5,2)")), {
        "sample_size": 16, "block_out_channels": (32, 32), "layers_per_block": 1, "norm_num_groups": 8,
        "attention_head_dim": 4, "time_embedding_type": "fourier",
        "down_block_types": ("SkipDownBlock2D", "AttnSkipDownBlock2D"),
        "up_block_types": ("AttnSkipUpBlock2D", "SkipUpBlock2D")}),
    Entry("StableDiffusion_unet", f"{_DIFFUSERS}:UNet2DConditionModel", "Conditioned", (_FIXED, _MOMENT, _STATES),
          _STABLE),
    Entry("StableDiffusion_unet_sizes", f"{_DIFFUSERS}:UNet2DConditionModel", "Conditioned",
          (_LATENTS, _TIME, _STATES), _STABLE),
    Entry("StableDiffusionXL_unet", f"{_DIFFUSERS}:UNet2DConditionModel", "WithSizes",
          (_FIXED, _MOMENT, _STATES, Tensor(("batch", 24)), Tensor(("batch", 6), values="uniform(0,100)")), _LARGE),
    Entry("ControlNet", f"{_DIFFUSERS}:ControlNetModel", "Control", (_FIXED, _TIME, _STATES,
          Tensor(("batch", 3, 32, 32))), _CONTROL | {"conditioning_embedding_out_channels": (8, 16)}),
    Entry("StableDiffusion_controlled", f"{_DIFFUSERS}:UNet2DConditionModel", "",
          (_FIXED, _TIME, _STATES, Tensor(("batch", 3, 32, 32))), _STABLE, _controlled),
    Entry("AutoencoderKL_encoder", f"{_DIFFUSERS}:AutoencoderKL", "Encode", (_HINT,), _PICTURES),
    Entry("AutoencoderKL_decoder", f"{_DIFFUSERS}:AutoencoderKL", "Decode", (_LATENTS,), _PICTURES),
    Entry("AutoencoderTiny_decoder", f"{_DIFFUSERS}:AutoencoderTiny", "Decode", (_LATENTS,),
          {"encoder_block_out_channels": (16, 16, 16), "decoder_block_out_channels": (16, 16, 16),
           "num_encoder_blocks": (1, 1, 1), "num_decoder_blocks": (1, 1, 1)}),
    Entry("VQModel", f"{_DIFFUSERS}:VQModel", "Answer", (_HINT,), _PICTURES | {"num_vq_embeddings": 16}),
    Entry("DiT", f"{_DIFFUSERS}:Transformer2DModel", "Labelled",
          (Tensor(("batch", 4, 16, 16)), _TIME, Tensor(("batch",), "int64", "integers(0,9)")),
          _HEADS | {"in_channels": 4, "out_channels": 8, "sample_size": 16, "patch_size": 2, "attention_bias": True,
                    "num_embeds_ada_norm": 10, "norm_type": "ada_norm_zero", "activation_fn": "gelu-approximate",
                    "norm_elementwise_affine": False}),
    Entry("UViT", f"{_DIFFUSERS}:UViTT2IModel", "Conditioned", (Tensor(("batch", 4, 16, 16)), _TIME,
          Tensor(("batch", 7, 24))), _HEADS | {"sample_size": 16, "in_channels": 4, "out_channels": 4, "num_layers": 4,
                                               "clip_dim": 24, "num_text_tokens": 7}),
    Entry("T2IAdapter", f"{_DIFFUSERS}:T2IAdapter", "Plain", (_HINT,),
          {"channels": [16, 32, 32], "downscale_factor": 4, "num_res_blocks": 1}),
    Entry("StableVideo_unet", f"{_DIFFUSERS}:UNetSpatioTemporalConditionModel", "Frames",
          (Tensor(("batch", "frames", 8, 8, "width")), _MOMENT, Tensor(("batch", 1, 24)), Tensor(("batch", 3))),
          {"block_out_channels": (32, 64), "layers_per_block": 1, "cross_attention_dim": 24,
           "num_attention_heads": (2, 4), "addition_time_embed_dim": 8, "projection_class_embeddings_input_dim": 24,
           "down_block_types": ("CrossAttnDownBlockSpatioTemporal", "DownBlockSpatioTemporal"),
           "up_block_types": ("UpBlockSpatioTemporal", "CrossAttnUpBlockSpatioTemporal")}),
    Entry("Prior", f"{_DIFFUSERS}:PriorTransformer", "Prior",
          (Tensor(("batch", 24)), _TIME, Tensor(("batch", 24)), Tensor(("batch", 7, 24))),
          _HEADS | {"embedding_dim": 24, "num_embeddings": 7}),
    Entry("CLIP_text", f"{_TRANSFORMERS}:CLIPTextModel", "Text", _TOKENS, _CLIP_TEXT, configured),
    Entry("CLIP_text_projection", f"{_TRANSFORMERS}:CLIPTextModelWithProjection", "Text", _TOKENS, _CLIP_TEXT,
          configured),
    Entry("CLIP_vision", f"{_TRANSFORMERS}:CLIPVisionModelWithProjection", "Picture", _SQUARE, _CLIP_PICTURE,
          configured),
    Entry("CLIP", f"{_TRANSFORMERS}:CLIPModel", "Both", (Tensor(("texts", "length"), "int64", "integers(3,99)"),
          *_SQUARE), {"text_config": _CLIP_TEXT, "vision_config": _CLIP_PICTURE, "projection_dim": 24}, _clip),
    Entry("T5_encoder", f"{_TRANSFORMERS}:T5EncoderModel", "Words", _TOKENS,
          {"vocab_size": 100, "d_model": 32, "d_kv": 8, "d_ff": 64, "num_layers": 2, "num_heads": 4,
           "feed_forward_proj": "gated-gelu", "use_cache": False}, configured),
    Entry("EVA-CLIP_vision", f"{_MODELS}.clip.vit_model:EVAVisionTransformer", "Plain", _SQUARE,
          {"config_class": f"{_MODELS}.clip.vit_model:EVAVisionTransformerConfig", "image_size": 64, "patch_size": 16,
           "embed_dim": 24, "width": 32, "layers": 2, "head_width": 8, "rope": True, "naiveswiglu": True, "subln": True,
           "pt_hw_seq_len": 4, "mlp_ratio": 2.0}, _seeded),
    Entry("EVA-CLIP_text", f"{_MODELS}.clip.text_model:TextTransformer", "Plain",
          (Tensor(("batch", 16), "int64", "integers(3,99)"),),
          {"config_class": f"{_MODELS}.clip.text_model:TextTransformerConfig", "context_length": 16, "vocab_size": 100,
           "width": 32, "heads": 4, "layers": 2, "embed_dim": 24}, configured),
    Entry("EVA-02", f"{_MODELS}.eva02.modeling_finetune:EVA02VisionTransformer", "Plain", _SQUARE,
          {"config_class": f"{_MODELS}.eva02.modeling_finetune:EVA02VisionTransformerConfig", "image_size": 64,
           "patch_size": 16, "num_classes": 10, "embed_dim": 32, "layers": 2, "num_heads": 4, "swiglu": True,
           "pt_hw_seq_len": 4}, _seeded),
    Entry("SigLIP_vision", f"{_MODELS}.llava.siglip_encoder:SigLipVisionModel", "Answer", _SQUARE,
          {"config_class": f"{_MODELS}.llava.siglip_encoder:SigLipVisionConfig", "hidden_size": 32,
           "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "image_size": 64,
           "patch_size": 16}, configured),
    Entry("BLIP-2_QFormer", f"{_MODELS}.blip2.Qformer:BertModel", "Queries", (_STATES,),
          {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4,
           "vocab_size": 100, "tokenizer_name": None, "use_fusedlinear": False, "gradient_checkpointing": False,
           "encoder_width": 24, "add_cross_attention": True, "cross_attention_freq": 2,
           "query_length": 6}, _queries),
    Entry("SAM_encoder", f"{_MODELS}.sam.modeling:SamModel", "Seen", (Tensor(("batch", 3, 256, 256)),), _SAM,
          configured),
    Entry("SAM_masks", f"{_MODELS}.sam.modeling:SamModel", "Masks",
          (Tensor((1, 32, 16, 16)), Tensor(("batch", "points", 2), values="uniform(0,256)"),
           Tensor(("batch", "points"), "int64", "integers(0,2)")), _SAM, configured),
)  # fmt: skip


def _layers() -> Any:
    from evals.zoo.families import mix_layers

    return mix_layers


def builders() -> dict[Entry, partial[Any]]:
    """A factory for each network; empty where no checkout is named."""
    root = checkout("mix", "ppdiffusers/ppdiffusers")
    if root is None:
        return {}
    if str(root / "ppdiffusers") not in sys.path:
        sys.path.insert(0, str(root / "ppdiffusers"))
    kinds = [entry.kind.partition(":")[0] for entry in ENTRIES]
    packages = {kind.rpartition(".")[0] for kind in kinds if kind.startswith("paddlemix.")}
    for name in ("paddlemix", _MODELS, *sorted(packages)):
        if name not in sys.modules:
            package = types.ModuleType(name)
            package.__path__ = [str(root.joinpath(*name.split(".")))]
            sys.modules[name] = package
    return {entry: partial(_build, entry) for entry in ENTRIES}


def packages() -> None:
    """Import what the networks share, with empty stand-ins for the clients of model hubs."""
    if not builders():
        return
    nlp.transformers()
    with nlp.clients():
        for entry in ENTRIES:
            found(entry.kind)


def _build(entry: Entry) -> Any:
    from evals.zoo.families import paddlex_layers

    packages()
    network = entry.build(entry)
    layers = _layers()
    if entry.layer == "Queries":
        network = layers.Queries(network, entry.config["query_length"])
    elif entry.layer:
        network = getattr(layers, entry.layer)(network)
    paddlex_layers.scale(network, np.random.default_rng(5))
    return network


def networks() -> list[Network]:
    """PaddleMIX, where its checkout is named."""
    return [
        Network("mix", entry.name, build, entry.inputs, entry.dims, calibrated=True)
        for entry, build in builders().items()
    ]
