"""PaddleNLP's transformers, tiny by configuration: random weights, nothing is downloaded.

`import paddlenlp` of 2.8.1 also imports clients of model hubs, of data sets and of web servers, none of which a model
uses; one of them (`aistudio_sdk`) has since dropped a name that 2.8.1 imports. Empty modules stand for them.
"""

from __future__ import annotations

import contextlib
import importlib.abc
import importlib.machinery
import inspect
import re
import sys
import types
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from evals.zoo.network import BATCH, TIME, Network, Tensor

#: What `import paddlenlp` loads and no model calls.
_CLIENTS = frozenset({"aistudio_sdk", "datasets", "fastapi", "huggingface_hub", "paddlefsl", "uvicorn", "visualdl"})

#: Every spelling of a size in PaddleNLP's configurations; a configuration gets those that its constructor takes.
_SIZES = {
    100: "vocab_size",
    32: "hidden_size d_model dim n_embd emb_dim d_embed embedding_size input_embedding_size output_embedding_size",
    2: "num_hidden_layers num_layers n_layer n_layers encoder_layers decoder_layers num_encoder_layers "
    "num_decoder_layers type_vocab_size layers_depth num_encoder_attention_layers",
    4: "num_attention_heads n_head n_heads num_heads encoder_attention_heads decoder_attention_heads "
    "num_encoder_attention_heads num_decoder_attention_heads num_key_value_heads rotary_dim",
    64: "intermediate_size encoder_ffn_dim decoder_ffn_dim d_ff d_inner hidden_dim dff ffn_dim seq_length "
    "max_position_embeddings n_positions n_ctx max_sequence_length max_encoder_length max_decoder_length "
    "ffn_hidden_size n_inner",
    8: "d_kv d_head kv_channels",
}


_ENCODERS = """BertForMaskedLM ErnieForTokenClassification ErnieForQuestionAnswering ElectraModel
ElectraForSequenceClassification RobertaModel AlbertModel TinyBertModel MobileBertModel MegatronBertModel ConvBertModel
SqueezeBertModel DebertaModel DebertaV2Model MPNetModel NystromformerModel FNetModel RoFormerModel RoFormerv2Model
ErnieGramModel ErnieMModel ErnieCtmModel SkepModel GAUAlphaModel XLNetModel XLMModel CTRLModel LayoutLMModel"""
_DECODERS = """GPTModel GPTLMHeadModel LlamaModel LlamaForCausalLM BloomModel BloomForCausalLM RWModel QWenModel
ChatGLMv2Model ArtistModel T5EncoderModel NeZhaModel OPTModel OPTForCausalLM"""
_FIXED = "LlamaModel LlamaForCausalLM BloomForCausalLM OPTForCausalLM RWModel QWenModel"
_PAIRS = """BartModel MBartModel MBartForConditionalGeneration T5Model MT5Model BlenderbotModel BlenderbotSmallModel
PegasusModel ProphetNetModel ErnieCodeModel DalleBartModel"""
_MORE: dict[str, dict[str, Any]] = {
    "QWenModel": {"seq_length": 64},
    "NeZhaModel": {"use_relative_position": True},
    "OPTModel": {"word_embed_proj_dim": 32},
    "OPTForCausalLM": {"word_embed_proj_dim": 32},
}


@dataclass(frozen=True)
class Transformer:
    """`model` of `paddlenlp.transformers`, with what its configuration needs beside the sizes.

    `fixed`: Paddle traces it with sizes that are numbers only, since its Python compares them.
    """

    name: str
    model: str
    config: str
    more: tuple[tuple[str, Any], ...] = ()
    inputs: tuple[str, ...] = ("input_ids",)
    fixed: bool = False

    def build(self) -> Any:
        """The layer; a model with a decoder takes both inputs and gives its first output."""
        return _build(self)


class Empty(types.ModuleType):
    """Has every name, each an empty class; a constant is an empty string."""

    __path__: Sequence[str] = ()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if name.isupper() or name == "hf_cache_home":
            return ""
        return type(name, (Exception,) if name.endswith("Error") else (), {})


class _Clients(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def __init__(self, names: frozenset[str]) -> None:
        self._names = names

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        if name.partition(".")[0] not in self._names:
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType:
        return Empty(spec.name)

    def exec_module(self, module: types.ModuleType) -> None:
        pass


@contextlib.contextmanager
def clients(names: frozenset[str] = _CLIENTS) -> Iterator[None]:
    """Within it, empty modules stand for packages that are imported, and that no model calls."""
    finder = _Clients(names)
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
        for name in [name for name in sys.modules if name.partition(".")[0] in names]:
            del sys.modules[name]


def transformers() -> Any:
    """The module `paddlenlp.transformers`."""
    with clients():
        import paddlenlp.transformers
    return paddlenlp.transformers


def _build(network: Transformer) -> Any:
    module = transformers()
    kind = getattr(module, network.config)
    taken = set(inspect.signature(kind.__init__).parameters)
    sizes = {name: size for size, names in _SIZES.items() for name in names.split() if name in taken}
    if "use_cache" in taken:
        sizes["use_cache"] = False  # else the keys and values come out beside the states
    layer = getattr(module, network.model)(kind(**(sizes | dict(network.more))))
    return _of_two(layer) if len(network.inputs) == 2 and "decoder" in network.inputs[1] else layer


def _of_two(layer: Any) -> Any:
    """Encoder and decoder: two masks and caches stand between their inputs, and None between their outputs."""
    import paddle

    class Translation(paddle.nn.Layer):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.model = layer

        def forward(self, input_ids, decoder_input_ids):  # type: ignore[no-untyped-def]
            result = self.model(input_ids, decoder_input_ids=decoder_input_ids)
            return result[0] if isinstance(result, (list, tuple)) else result

    return Translation()


def _fixed(model: str) -> Transformer:
    plain = _transformer(model)
    return replace(plain, name=f"{plain.name}_fixed", fixed=True)


def _transformer(model: str, inputs: str = "input_ids") -> Transformer:
    config = re.sub(r"(For[A-Z]\w+|LMHeadModel|EncoderModel|Model)$", "", model) + "Config"
    return Transformer(f"NLP_{model}", model, config, tuple(_MORE.get(model, {}).items()), tuple(inputs.split()))


TRANSFORMERS = (
    _transformer("BertModel", "input_ids token_type_ids"),
    _transformer("BertForSequenceClassification", "input_ids token_type_ids"),
    _transformer("ErnieModel", "input_ids token_type_ids"),
    *(_transformer(model) for model in (_ENCODERS + " " + _DECODERS).split()),
    *(_fixed(model) for model in _FIXED.split()),
    *(_transformer(model, "input_ids decoder_input_ids") for model in _PAIRS.split()),
)


def networks() -> list[Network]:
    """PaddleNLP 2.8.1: transformers of two layers."""

    def of(transformer: Transformer) -> Network:
        shape: tuple[int | str, ...] = (2, 6) if transformer.fixed else ("batch", "time")
        inputs = tuple(
            Tensor(shape, "int64", "integers(0,2)" if "type" in name else "integers(3,100)", name)
            for name in transformer.inputs
        )
        dims = {} if transformer.fixed else {"batch": BATCH, "time": TIME}
        return Network("nlp", transformer.name, transformer.build, inputs, dims)

    return [of(transformer) for transformer in TRANSFORMERS]
