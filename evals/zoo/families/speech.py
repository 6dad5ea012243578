"""The networks of PaddleSpeech: recognition, synthesis, vocoders, classification, punctuation.

`--checkout speech=FOLDER` names a checkout, the folder that holds `paddlespeech/`; nothing of it is copied here.
"""

from __future__ import annotations

import copy
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from evals.zoo.checkouts import checkout
from evals.zoo.families import nlp
from evals.zoo.families.speech_code import module_of
from evals.zoo.network import Network, Tensor, dims_of

#: Sizes of the named dims: frames of a sound or of a chunk, frames and tokens so far, tokens, samples of a wave form.
DIMS = {
    "batch": {"min": 1, "typical": 2, "max": 3},
    "time": {"min": 15, "typical": 35, "max": 63},
    "past": {"min": 4, "typical": 8, "max": 20},
    "before": {"min": 1, "typical": 4, "max": 8},
    "length": {"min": 3, "typical": 6, "max": 11},
    "frames": {"min": 6, "typical": 10, "max": 17},
    "long": {"min": 32, "typical": 48, "max": 96, "multiple_of": 16},
    "wave": {"min": 800, "typical": 1600, "max": 2600},
}
_WORDS = 60
_BANDS = 20

_FRAMES = Tensor(("batch", "time", _BANDS))
_LENGTHS = Tensor(("batch",), "int64", "integers(8,16)")
_TEXT = Tensor(("batch", "length"), "int64", f"integers(1,{_WORDS})")
_TEXT_LENGTHS = Tensor(("batch",), "int64", "integers(2,4)")
_SENTENCE = Tensor(("length",), "int64", f"integers(1,{_WORDS})")
_MELS = Tensor(("frames", _BANDS))
_COLUMNS = Tensor(("batch", _BANDS, "frames"))


@dataclass(frozen=True)
class Entry:
    """A network of the checkout that `build` gives, called by `layer` with `inputs`, whose words are dims.

    `gain`: how much smaller the matrices of the layers of that name are, where an exponential stands behind them.
    """

    name: str
    layer: str
    inputs: tuple[Tensor, ...]
    build: Callable[[], Any]
    gain: Mapping[str, float] = field(default_factory=dict, hash=False)

    @property
    def dims(self) -> dict[str, Mapping[str, int]]:
        return dims_of(self.inputs, DIMS)


def _class(file: str, name: str, *positional: Any, **config: Any) -> Callable[[], Any]:
    """What calls class `name` of `paddlespeech.FILE` with these arguments."""
    return partial(_called, file, name, positional, config)


def _called(file: str, name: str, positional: tuple[Any, ...], config: Mapping[str, Any]) -> Any:
    # some networks add to the lists that they are given
    return getattr(module_of(file), name)(*positional, **copy.deepcopy(dict(config)))


_ENCODER = {
    "output_size": 32,
    "attention_heads": 4,
    "linear_units": 48,
    "num_blocks": 2,
    "input_layer": "conv2d",
    "normalize_before": True,
}
_CONFORMER = _ENCODER | {
    "max_len": 200,
    "cnn_module_kernel": 7,
    "use_cnn_module": True,
    "activation_type": "swish",
    "pos_enc_layer_type": "rel_pos",
    "selfattention_layer_type": "rel_selfattn",
}
_STREAM = {"causal": True, "use_dynamic_chunk": True, "cnn_module_norm": "layer_norm"}
_SQUEEZED = {
    "encoder_dim": 32,
    "output_size": 32,
    "attention_heads": 4,
    "num_blocks": 4,
    "reduce_idx": 1,
    "recover_idx": 3,
    "feed_forward_expansion_factor": 2,
    "cnn_module_kernel": 7,
    "cnn_norm_type": "layer_norm",
}


def _u2(kind: str, encoder: Mapping[str, Any], both: bool = False) -> Callable[[], Any]:
    """A U2 model: encoder, CTC and an attention decoder, or one from each side."""
    decoder = {"attention_heads": 4, "linear_units": 48, "num_blocks": 2, "max_len": 60}
    return partial(
        _u2_model,
        {
            "input_dim": _BANDS,
            "output_dim": _WORDS,
            "encoder": kind,
            "encoder_conf": dict(encoder),
            "decoder": "bitransformer" if both else "transformer",
            "decoder_conf": decoder | ({"r_num_blocks": 1} if both else {}),
            "model_conf": {"ctc_weight": 0.3, "lsm_weight": 0.1, "reverse_weight": 0.3}
            if both
            else {"ctc_weight": 0.3},
        },
    )


def _u2_model(configuration: Mapping[str, Any]) -> Any:
    return module_of("s2t.models.u2.u2").U2Model(
        {name: dict(value) if isinstance(value, dict) else value for name, value in configuration.items()}
    )


def _deepspeech(direction: str, use_gru: bool = False) -> Callable[[], Any]:
    return _class(
        "s2t.models.ds2.deepspeech2",
        "DeepSpeech2InferModel",
        feat_size=_BANDS,
        dict_size=_WORDS,
        num_rnn_layers=2,
        rnn_size=24,
        rnn_direction=direction,
        num_fc_layers=1,
        fc_layers_size_list=[32],
        use_gru=use_gru,
    )


def _wav2vec2() -> Any:
    modeling = module_of("s2t.models.wav2vec2.modules.modeling_wav2vec2")
    settings = {
        "hidden_size": 32, "feat_extract_norm": "group", "feat_extract_activation": "gelu", "conv_dim": [16, 16, 16],
        "conv_stride": [5, 4, 4], "conv_kernel": [10, 8, 4], "conv_bias": False, "num_conv_pos_embeddings": 16,
        "num_conv_pos_embedding_groups": 4, "num_hidden_layers": 2, "intermediate_size": 48, "hidden_act": "gelu",
        "num_attention_heads": 4, "hidden_dropout": 0.1, "attention_dropout": 0.1, "activation_dropout": 0.1,
        "feat_proj_dropout": 0.0, "final_dropout": 0.1, "layerdrop": 0.1, "layer_norm_eps": 1e-5,
        "initializer_range": 0.02, "do_stable_layer_norm": False, "use_weighted_layer_sum": False,
        "apply_spec_augment": False, "mask_time_prob": 0.05, "mask_time_length": 10, "mask_time_min_masks": 2,
        "mask_feature_prob": 0.0, "mask_feature_length": 10, "mask_feature_min_masks": 0,
        "num_codevectors_per_group": 8, "num_codevector_groups": 2, "contrastive_logits_temperature": 0.1,
        "feat_quantizer_dropout": 0.0, "num_negatives": 10, "codevector_dim": 16, "proj_codevector_dim": 16,
        "diversity_loss_weight": 0.1, "add_adapter": False, "adapter_kernel_size": 3, "adapter_stride": 2,
        "num_adapter_layers": 1, "output_hidden_size": None,
    }  # fmt: skip
    return modeling.Wav2Vec2Model(modeling.Wav2Vec2ConfigPure(SimpleNamespace(**settings)))


_LISTENER = {
    "encoder_layers": 2,
    "encoder_embed_dim": 32,
    "encoder_ffn_embed_dim": 48,
    "encoder_attention_heads": 4,
    "conv_feature_layers": "[(16,10,5)] + [(16,8,4)] + [(16,4,4)]",
    "conv_pos": 16,
    "conv_pos_groups": 4,
}


def _hubert() -> Any:
    modeling = module_of("s2t.models.hubert.modules.hubert_model")
    settings = modeling.HubertConfig(label_rate=50.0, **_LISTENER)
    task = modeling.HubertPretrainingConfig()
    return modeling.HubertModel(settings, task, [None])


def _wavlm() -> Any:
    modeling = module_of("s2t.models.wavlm.wavlm_paddle")
    return modeling.WavLM(modeling.WavLMConfig(_LISTENER | {"num_buckets": 16, "max_distance": 40}))


def _whisper() -> Any:
    nlp.transformers()  # the tokenizer's file imports PaddleNLP's
    modeling = module_of("s2t.models.whisper.whipser")
    return modeling.Whisper(modeling.ModelDimensions(_BANDS, 24, 32, 4, 2, _WORDS, 24, 32, 4, 2))


_TALKER = {
    "adim": 32,
    "aheads": 2,
    "elayers": 2,
    "eunits": 48,
    "dlayers": 2,
    "dunits": 48,
    "postnet_layers": 2,
    "postnet_chans": 24,
    "duration_predictor_chans": 24,
    "energy_predictor_chans": 24,
    "pitch_predictor_chans": 24,
    "positionwise_layer_type": "conv1d",
    "positionwise_conv_kernel_size": 3,
}
_CONFORMERS = {"encoder_type": "conformer", "decoder_type": "conformer", "conformer_dec_kernel_size": 7}
_BY_CHUNKS = {
    "decoder_type": "cnndecoder",
    "cnn_decoder_embedding_dim": 24,
    "cnn_postnet_resblock_kernel_sizes": [24, 24],
    "postnet_layers": 0,
}


def _fastspeech(**config: Any) -> Callable[[], Any]:
    return _class("t2s.models.fastspeech2.fastspeech2", "FastSpeech2", _WORDS, _BANDS, **(_TALKER | config))


def _speedyspeech() -> Any:
    modeling = module_of("t2s.models.speedyspeech.speedyspeech")
    return modeling.SpeedySpeech(
        _WORDS,
        encoder_hidden_size=24,
        encoder_dilations=[1, 3],
        duration_predictor_hidden_size=24,
        decoder_hidden_size=24,
        decoder_output_size=_BANDS,
        decoder_dilations=[1, 3],
        tone_size=6,
    )


_tacotron = _class(
    "t2s.models.tacotron2.tacotron2", "Tacotron2", _WORDS, _BANDS, embed_dim=24, eunits=32, econv_layers=2,
    econv_chans=24, adim=24, aconv_chans=8, aconv_filts=7, dunits=32, prenet_units=16, postnet_layers=2,
    postnet_chans=24,
)  # fmt: skip
_transformer_tts = _class(
    "t2s.models.transformer_tts.transformer_tts", "TransformerTTS", _WORDS, _BANDS, embed_dim=24,
    eprenet_conv_layers=1, eprenet_conv_chans=24, eprenet_conv_filts=3, dprenet_layers=0, adim=32, aheads=4, elayers=2,
    eunits=48, dlayers=2, dunits=48, postnet_layers=2, postnet_chans=24, postnet_filts=3,
)  # fmt: skip
_vits = _class(
    "t2s.models.vits.generator", "VITSGenerator", _WORDS, aux_channels=33, hidden_channels=24,
    text_encoder_blocks=2, text_encoder_conformer_kernel_size=7, decoder_channels=32, decoder_upsample_scales=[4, 2],
    decoder_upsample_kernel_sizes=[8, 4], decoder_resblock_kernel_sizes=[3], decoder_resblock_dilations=[[1, 3]],
    posterior_encoder_layers=2, flow_flows=2, flow_layers=2, stochastic_duration_predictor_flows=2,
    stochastic_duration_predictor_dds_conv_layers=2,
)  # fmt: skip
_ernie_sat = _class(
    "t2s.models.ernie_sat.ernie_sat", "ErnieSAT", _WORDS, _BANDS, postnet_layers=2, postnet_filts=3, postnet_chans=24,
    enc_attention_dim=32, enc_linear_units=48, enc_num_blocks=2, enc_pre_speech_layer=1, dec_attention_dim=32,
    dec_linear_units=48, dec_num_blocks=2, dec_cnn_module_kernel=7,
)  # fmt: skip


def _plain_weights(build: Callable[[], Any]) -> Callable[[], Any]:
    """The vocoder of `build` without its weight norm, as PaddleSpeech deploys it."""
    return partial(_without_norm, build)


def _without_norm(build: Callable[[], Any]) -> Any:
    network = build()
    network.remove_weight_norm()
    return network


_HIFIGAN = {
    "in_channels": _BANDS,
    "channels": 32,
    "upsample_scales": [4, 3],
    "upsample_kernel_sizes": [8, 6],
    "resblock_kernel_sizes": [3, 5],
    "resblock_dilations": [[1, 3], [1, 3]],
}
_MELGAN = {"in_channels": _BANDS, "channels": 32, "upsample_scales": [4, 2], "stacks": 2}
_hifigan = _class("t2s.models.hifigan.hifigan", "HiFiGANGenerator", **_HIFIGAN)
_istftnet = _class(
    "t2s.models.hifigan.hifigan", "HiFiGANGenerator", **_HIFIGAN, use_istft=True, istft_layer_id=1, n_fft=48,
    win_length=36,
)  # fmt: skip
_melgan = _class("t2s.models.melgan.melgan", "MelGANGenerator", **_MELGAN)
_multi_band = _class("t2s.models.melgan.melgan", "MelGANGenerator", **_MELGAN, out_channels=4)
_style_melgan = _class(
    "t2s.models.melgan.style_melgan", "StyleMelGANGenerator", in_channels=16, aux_channels=_BANDS, channels=16,
    noise_upsample_scales=[2, 2], upsample_scales=[2, 2, 1], upsample_mode="nearest",
)  # fmt: skip
_parallel = _class(
    "t2s.models.parallel_wavegan.parallel_wavegan", "PWGGenerator", layers=4, stacks=2, residual_channels=16,
    gate_channels=32, skip_channels=16, aux_channels=_BANDS, upsample_scales=[4, 2],
)  # fmt: skip
_wavernn = _class(
    "t2s.models.wavernn.wavernn", "WaveRNN", rnn_dims=24, fc_dims=24, bits=5, upsample_scales=[2, 3],
    aux_channels=_BANDS, compute_dims=16, res_out_dims=16, res_blocks=2, hop_length=6,
)  # fmt: skip
_waveflow = _class(
    "t2s.models.waveflow", "ConditionalWaveFlow", upsample_factors=[4, 2], n_flows=2, n_layers=8, n_group=8,
    channels=16, n_mels=_BANDS, kernel_size=[3, 3],
)  # fmt: skip
_diffusion = _class(
    "t2s.modules.diffnet", "DiffNet", in_channels=_BANDS, out_channels=_BANDS, layers=4, residual_channels=16,
    gate_channels=32, skip_channels=16, aux_channels=24, stacks=2,
)  # fmt: skip


def _keywords() -> Any:
    modeling = module_of("kws.models.mdtc")
    backbone = modeling.MDTC(stack_num=2, stack_size=2, in_channels=_BANDS, res_channels=16, kernel_size=5)
    return modeling.KWSModel(backbone, 3)


def _sounds() -> Any:
    panns = module_of("cls.models.panns.panns")
    return module_of("cls.models.panns.classifier").SoundClassifier(panns.cnn6(), num_class=10)


def _punctuation() -> Any:
    """ErnieLinear from a folder: its constructor takes one, or downloads."""
    transformers = nlp.transformers()
    ernie = module_of("text.models.ernie_linear.ernie_linear")
    settings = transformers.ErnieConfig(
        vocab_size=_WORDS, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=48,
        max_position_embeddings=32, num_labels=4,
    )  # fmt: skip
    with tempfile.TemporaryDirectory(prefix="zoo-") as place:
        transformers.ErnieForTokenClassification(settings).save_pretrained(place)
        files = sorted(Path(place).iterdir())
        return ernie.ErnieLinear(cfg_path=str(Path(place, "config.json")), ckpt_path=str(files[-1]))


_SO_FAR = Tensor(("batch", "before", 32))
_TOKENS = Tensor(("batch", "length"), "int64", f"integers(1,{_WORDS})")
_LAST = Tensor(("batch", 1), "int64", f"integers(1,{_WORDS})")
#: The cache of a stream: layers, heads, frames so far, keys and values.
_PAST = Tensor((2, 4, "past", 16))
_OFFSET = Tensor((1,), "int32", "integers(20,40)")
_STATES = Tensor(("batch", "frames", 32))
_FRAME_LENGTHS = Tensor(("batch",), "int64", "integers(3,7)")

ENTRIES = (
    Entry("Conformer_CTC", "Recognized", (_FRAMES, _LENGTHS), _u2("conformer", _CONFORMER)),
    Entry("Conformer_rope_CTC", "Recognized", (_FRAMES, _LENGTHS),
          _u2("conformer", _CONFORMER | {"pos_enc_layer_type": "rope_pos"})),
    Entry("Transformer_CTC", "Recognized", (_FRAMES, _LENGTHS), _u2("transformer", _ENCODER)),
    Entry("Squeezeformer_CTC", "Recognized", (_FRAMES, _LENGTHS), _u2("squeezeformer", _SQUEEZED)),
    Entry("Conformer_stream", "Chunk",
          (Tensor((1, "time", _BANDS)), _OFFSET, _PAST, Tensor((2, 1, 32, 6))), _u2("conformer", _CONFORMER | _STREAM)),
    Entry("Conformer_stream_short", "ShortChunk",
          (Tensor((1, "time", _BANDS)), _OFFSET, _PAST, Tensor((2, 1, 32, 6))), _u2("conformer", _CONFORMER | _STREAM)),
    Entry("Transformer_stream", "AttentionChunk",
          (Tensor((1, "time", _BANDS)), _OFFSET, _PAST), _u2("transformer", _ENCODER | {"use_dynamic_chunk": True})),
    Entry("U2_decoder", "Rescored", (_TOKENS, _TEXT_LENGTHS, Tensor((1, "frames", 32))),
          _u2("conformer", _CONFORMER)),
    Entry("U2pp_decoder", "BothRescored", (_TOKENS, _TOKENS, _TEXT_LENGTHS, Tensor((1, "frames", 32))),
          _u2("conformer", _CONFORMER, both=True)),
    Entry("U2_decoder_step", "Decoded",
          (Tensor(("batch", "before"), "int64", f"integers(1,{_WORDS})"), _LAST, _STATES, _SO_FAR, _SO_FAR),
          _u2("conformer", _CONFORMER)),
    Entry("DeepSpeech2_offline", "Offline", (_FRAMES, _LENGTHS), _deepspeech("bidirect")),
    Entry("DeepSpeech2_online", "Online",
          (_FRAMES, _LENGTHS, Tensor((2, "batch", 24)), Tensor((2, "batch", 24))), _deepspeech("forward")),
    Entry("DeepSpeech2_online_GRU", "OnlineGRU", (_FRAMES, _LENGTHS, Tensor((2, "batch", 24))),
          _deepspeech("forward", use_gru=True)),
    Entry("TransformerLM", "Phrase", (_TOKENS,),
          _class("s2t.models.lm.transformer", "TransformerLM", _WORDS, pos_enc="sinusoidal", embed_unit=24, att_unit=32,
                 head=4, unit=48, layer=2)),
    Entry("wav2vec2", "Waves", (Tensor(("batch", "wave")),), _wav2vec2),
    # `wav2vec2_model.py:1537` asks a length whether it is whole, `wavlm/modules/modules.py:448` walks along rows.
    Entry("HuBERT", "HiddenUnits", (Tensor(("batch", 1600)),), _hubert),
    Entry("WavLM", "Plain", (Tensor((2, "wave")),), _wavlm),
    Entry("Whisper", "Transcribed", (Tensor(("batch", _BANDS, 48)), _TEXT), _whisper),
    Entry("FastSpeech2", "Spoken", (_SENTENCE,), _fastspeech()),
    Entry("FastSpeech2_conformer", "Spoken", (_SENTENCE,), _fastspeech(**_CONFORMERS)),
    Entry("FastSpeech2_speakers", "SpokenBy", (_SENTENCE, Tensor((1,), "int64", "integers(0,5)")),
          _fastspeech(spk_num=5, spk_embed_dim=16, spk_embed_integration_type="concat")),
    Entry("FastSpeech2_stream_encoder", "Stretched", (_SENTENCE,), _fastspeech(**_BY_CHUNKS)),
    Entry("FastSpeech2_stream_decoder", "Streamed", (_STATES,), _fastspeech(**_BY_CHUNKS)),
    Entry("SpeedySpeech", "Toned", (_SENTENCE, Tensor(("length",), "int64", "integers(1,6)")), _speedyspeech),
    Entry("Tacotron2_encoder", "Letters", (_TEXT, _TEXT_LENGTHS), _tacotron),
    Entry("Tacotron2_step", "Attended",
          (Tensor(("batch", "length", 32)), Tensor(("batch", 16)), Tensor((2, "batch", 32)), Tensor((2, "batch", 32)),
           Tensor(("batch", "length"), values="uniform(0.1,1)")), _tacotron),
    Entry("Tacotron2_postnet", "Finished", (Tensor(("batch", "frames", _BANDS)),), _tacotron),
    Entry("TransformerTTS_encoder", "Read", (_TEXT, _TEXT_LENGTHS), _transformer_tts),
    Entry("TransformerTTS", "Taught",
          (_TEXT, _TEXT_LENGTHS, Tensor(("batch", "frames", _BANDS)), _FRAME_LENGTHS),
          _transformer_tts),
    Entry("VITS_text", "Priors", (_TEXT, _TEXT_LENGTHS), _vits),
    Entry("VITS_flow", "Flowed", (Tensor(("batch", 24, "frames")), _FRAME_LENGTHS), _vits),
    Entry("VITS_durations", "Timed", (Tensor(("batch", 24, "length")), Tensor(("batch", 2, "length"))), _vits),
    Entry("ERNIE-SAT", "Edited",
          (Tensor(("batch", "frames", _BANDS)), _TEXT, Tensor(("batch", "frames"), "int64", "integers(0,2)"),
           Tensor(("batch", "frames"), "int64", "integers(1,20)"),
           Tensor(("batch", "length"), "int64", "integers(1,20)")), _ernie_sat),
    Entry("HiFiGAN", "Vocoded", (_MELS,), _plain_weights(_hifigan)),
    Entry("HiFiGAN_normed", "Plain", (_COLUMNS,), _hifigan),
    Entry("iSTFTNet", "Plain", (_COLUMNS,), _plain_weights(_istftnet)),
    Entry("MelGAN", "Vocoded", (_MELS,), _plain_weights(_melgan)),
    Entry("MultiBandMelGAN", "Vocoded", (_MELS,), _plain_weights(_multi_band)),
    Entry("StyleMelGAN", "Styled", (Tensor(("batch", 16, "length")), Tensor(("batch", "length", 4, _BANDS))),
          _plain_weights(_style_melgan)),
    Entry("ParallelWaveGAN", "Noisy", (Tensor(("batch", "frames", 8)), _COLUMNS), _plain_weights(_parallel)),
    Entry("WaveRNN", "Samples", (Tensor(("batch", "frames", 6), values="uniform(-1,1)"), _COLUMNS), _wavernn),
    Entry("WaveRNN_conditions", "Conditioned", (_COLUMNS,), _wavernn),
    Entry("WaveRNN_step", "Sample",
          (Tensor(("batch", 1), values="uniform(-1,1)"), Tensor(("batch", _BANDS)), Tensor(("batch", 16)),
           Tensor(("batch", 24)), Tensor(("batch", 24))), _wavernn),
    Entry("WaveFlow", "Inverted", (Tensor(("batch", "frames", 8)), _COLUMNS), _waveflow, gain={"output_proj": 0.1}),
    Entry("DiffSinger_denoiser", "Denoised",
          (Tensor(("batch", _BANDS, "frames")), Tensor(("batch",), "int64", "integers(0,100)"),
           Tensor(("batch", 24, "frames"))), _diffusion),
    Entry("PANN_CNN6", "Plain", (Tensor(("batch", "long", 64)),), _sounds),
    Entry("ECAPA-TDNN", "Speakers", (Tensor(("batch", _BANDS, "time")), Tensor(("batch",), values="uniform(0.6,1)")),
          _class("vector.models.ecapa_tdnn", "EcapaTdnn", _BANDS, lin_neurons=16, channels=[32, 32, 32, 32, 96],
                 attention_channels=16, res2net_scale=4, se_channels=16)),
    Entry("GE2E", "Utterances", (_FRAMES,),
          _class("vector.models.lstm_speaker_encoder", "LSTMSpeakerEncoder", _BANDS, 2, 24, 16)),
    Entry("MDTC", "Keywords", (_FRAMES,), _keywords),
    Entry("ERNIE_punctuation", "Punctuated", (_TEXT,), _punctuation),
)  # fmt: skip


#: The files that import the others.
_SHARED = (
    "s2t.models.u2.u2", "s2t.models.ds2.deepspeech2", "s2t.models.lm.transformer", "s2t.models.whisper.whipser",
    "s2t.models.hubert.modules.hubert_model", "t2s.models.ernie_sat.ernie_sat", "t2s.models.melgan.style_melgan",
    "t2s.models.parallel_wavegan.parallel_wavegan", "t2s.models.tacotron2.tacotron2", "t2s.models.vits.generator",
    "t2s.models.transformer_tts.transformer_tts", "t2s.models.wavernn.wavernn", "text.models.ernie_linear.ernie_linear",
)  # fmt: skip


def _build(entry: Entry) -> Any:
    from evals.zoo.families import speech_layers

    network = entry.build()
    speech_layers.scale(network, np.random.default_rng(5))
    for name, layer in network.named_sublayers():
        gain = entry.gain.get(name.rpartition(".")[2])
        if gain:
            layer.weight.set_value(layer.weight * gain)
    return getattr(speech_layers, entry.layer)(network)


def modules() -> None:
    """Import what the networks share."""
    if checkout("speech", "paddlespeech/s2t") is not None:
        nlp.transformers()
        for name in _SHARED:
            module_of(name)


def networks() -> list[Network]:
    """PaddleSpeech's networks, where its checkout is named."""
    if checkout("speech", "paddlespeech/s2t") is None:
        return []
    return [
        Network("speech", entry.name, partial(_build, entry), entry.inputs, entry.dims, calibrated=True)
        for entry in ENTRIES
    ]
