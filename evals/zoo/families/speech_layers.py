"""What PaddleSpeech's services call, from tensor to tensor: each layer calls the methods of a network in their order.

A network of a service takes lengths beside padded rows, or caches, or numbers of Python; some draw noise, which is an
input here. Where a service pads rows up to the longest, `reach` moves lengths up until the longest is as long as its
row.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import paddle
import paddle.nn.functional as F
from paddle import nn

from evals.zoo.families import paddlex_layers


def reach(lengths, size):
    """Lengths whose longest is `size`, as where rows were padded up to the longest."""
    return lengths + (size - lengths.max())


class Plain(nn.Layer):
    """A network that takes a tensor and returns a tensor already."""

    def __init__(self, network: Any) -> None:
        super().__init__()
        self.network = network

    def forward(self, features):
        return self.network(features)


class Recognized(Plain):
    """A U2 model's frames, up to the scores that CTC searches."""

    def forward(self, frames, lengths):
        states, mask = self.network._forward_encoder(frames, reach(lengths, frames.shape[1]))
        return self.network.ctc_activation(states), mask


class Chunk(Plain):
    """One chunk of a stream with the caches of those before it: all of them, or `kept` frames of the past."""

    kept = -1

    def forward(self, frames, offset, attention, convolution):
        return self.network.forward_encoder_chunk(frames, offset, self.kept, attention, convolution)


class ShortChunk(Chunk):
    kept = 8


class AttentionChunk(Plain):
    """One chunk of a transformer's stream: it has no convolution whose cache it keeps."""

    def forward(self, frames, offset, attention):
        states, attention, _ = self.network.forward_encoder_chunk(frames, offset, -1, attention)
        return states, attention


class Rescored(Plain):
    """Hypotheses of a beam search, scored by the attention decoder that reads from the left."""

    def forward(self, hypotheses, lengths, states):
        rows = hypotheses.shape[0]
        seen = paddle.ones([rows, 1, states.shape[1]], dtype="bool")
        longest = reach(lengths, hypotheses.shape[1])
        scores, _, _ = self.network.decoder(states.tile([rows, 1, 1]), seen, hypotheses, longest)
        return F.log_softmax(scores, axis=-1)


class BothRescored(Plain):
    """Hypotheses of a beam search and the same from their ends, scored from the left and from the right."""

    def forward(self, hypotheses, reversed_hypotheses, lengths, states):
        rows = hypotheses.shape[0]
        seen = paddle.ones([rows, 1, states.shape[1]], dtype="bool")
        longest = reach(lengths, hypotheses.shape[1])
        left, right, _ = self.network.decoder(
            states.tile([rows, 1, 1]), seen, hypotheses, longest, reversed_hypotheses, 0.3
        )
        return F.log_softmax(left, axis=-1), F.log_softmax(right, axis=-1)


class Decoded(Plain):
    """One step of the attention decoder: the tokens before with the states of both layers, and the last token."""

    def forward(self, before, last, states, first, second):
        tokens = paddle.concat([before, last], axis=1)
        size = tokens.shape[1]
        mask = paddle.tril(paddle.ones([size, size], dtype="bool")).unsqueeze(0)
        seen = paddle.ones([states.shape[0], 1, states.shape[1]], dtype="bool")
        scores, cache = self.network.decoder.forward_one_step(states, seen, tokens, mask, [first, second])
        return scores, cache[0], cache[1]


class Offline(Plain):
    """DeepSpeech2 over whole rows, in both directions."""

    def forward(self, frames, lengths):
        return self.network(frames, lengths)


class Online(Plain):
    """DeepSpeech2 over one chunk of a stream, with the states that the chunk before it left."""

    def forward(self, frames, lengths, hidden, cell):
        return self.network(frames, lengths, hidden, cell)


class OnlineGRU(Plain):
    """DeepSpeech2 with GRUs, whose cell states are nothing."""

    def forward(self, frames, lengths, hidden):
        probabilities, lengths, hidden, _ = self.network(frames, lengths, hidden)
        return probabilities, lengths, hidden


class Phrase(Plain):
    """A language model's scores of the token after each token."""

    def forward(self, tokens):
        lengths = (tokens != 0).sum(axis=1)
        states, _ = self.network.encoder(self.network.embed(tokens), lengths)
        return F.log_softmax(self.network.decoder(states), axis=-1)


class Waves(Plain):
    """wav2vec 2.0: states of a wave form."""

    def forward(self, wave):
        states, features = self.network(wave, return_dict=False)[:2]
        return states, features


class HiddenUnits(Plain):
    """HuBERT: states of a wave form."""

    def forward(self, wave):
        return self.network.extract_features(wave)[0]


class Transcribed(Plain):
    """Whisper: scores of the tokens after a picture of the sound."""

    def forward(self, spectrogram, tokens):
        return self.network(spectrogram, tokens)


class Spoken(Plain):
    """FastSpeech2 as it is deployed: tokens of one sentence, and how the frames are stretched comes out beside them."""

    def forward(self, text):
        frames, durations, pitch, energy = self.network.inference(text)
        return frames, durations, pitch, energy


class SpokenBy(Plain):
    """FastSpeech2 of many speakers, by the speaker's number."""

    def forward(self, text, speaker):
        return self.network.inference(text, spk_id=speaker)[0]


class Stretched(Plain):
    """FastSpeech2's tokens as frames: what a streaming service gives its decoder chunk by chunk."""

    def forward(self, text):
        sizes = paddle.shape(text)[0:1]
        return self.network._forward(text.unsqueeze(0), sizes, is_inference=True, return_after_enc=True)[0]


class Streamed(Plain):
    """FastSpeech2's decoder over one chunk of frames."""

    def forward(self, frames):
        states = self.network.decoder(frames, None)
        return states + self.network.postnet(states.transpose([0, 2, 1])).transpose([0, 2, 1])


class Toned(Plain):
    """SpeedySpeech as it is deployed: tokens and tones of one sentence."""

    def forward(self, phones, tones):
        return self.network.inference(phones, tones)


class Letters(Plain):
    """Tacotron 2's encoder over rows of tokens."""

    def forward(self, text, lengths):
        return self.network.enc(text, reach(lengths, text.shape[1]))[0]


class Attended(Plain):
    """One step of Tacotron 2's decoder behind its prenet, which is random: attention, two cells, a frame, its end."""

    def forward(self, letters, frame, hidden, cell, weights):
        decoder = self.network.dec
        decoder.att.reset()
        # in floats: Paddle 3.3 does not divide floats by whole numbers, as `attentions.py:174` does
        sizes = paddle.full([letters.shape[0]], letters.shape[1], dtype="float32")
        context, weights = decoder.att(letters, sizes, hidden[0], weights)
        _, (first, first_cell) = decoder.lstm[0](paddle.concat([context, frame], axis=1), (hidden[0], cell[0]))
        _, (second, second_cell) = decoder.lstm[1](first, (hidden[1], cell[1]))
        states = paddle.concat([second, context], axis=1)
        hidden = paddle.stack([first, second])
        return (
            decoder.feat_out(states),
            decoder.prob_out(states),
            hidden,
            paddle.stack([first_cell, second_cell]),
            weights,
        )


class Finished(Plain):
    """Tacotron 2's postnet over the frames of its decoder."""

    def forward(self, frames):
        columns = frames.transpose([0, 2, 1])
        return (columns + self.network.dec.postnet(columns)).transpose([0, 2, 1])


class Read(Plain):
    """TransformerTTS's encoder over rows of tokens."""

    def forward(self, text, lengths):
        mask = self.network._source_mask(reach(lengths, text.shape[1]))
        return self.network.encoder(text, mask)[0]


class Taught(Plain):
    """TransformerTTS over whole rows: tokens, and the frames that the decoder reads."""

    def forward(self, text, lengths, frames, sizes):
        after, before, ends = self.network._forward(
            text, reach(lengths, text.shape[1]), frames, reach(sizes, frames.shape[1]), None
        )
        return after, before, ends


class Priors(Plain):
    """VITS: what its text says of the sound, means and spreads; its own `forward` multiplies floats by a bool."""

    def forward(self, text, lengths):
        encoder = self.network.text_encoder
        size = text.shape[1]
        mask = (paddle.arange(size).unsqueeze(0) < reach(lengths, size).unsqueeze(1)).unsqueeze(1)
        states, _ = encoder.encoder(encoder.emb(text) * encoder.attention_dim**0.5, mask)
        columns = states.transpose([0, 2, 1])
        mean, spread = paddle.split(encoder.proj(columns) * mask.astype("float32"), 2, axis=1)
        return columns, mean, spread


class Flowed(Plain):
    """VITS from a draw of its prior: the flow backwards."""

    def forward(self, noise, lengths):
        size = noise.shape[2]
        mask = paddle.arange(size).unsqueeze(0) < reach(lengths, size).unsqueeze(1)
        return self.network.flow(noise, mask.unsqueeze(1).astype("float32"), inverse=True)


class Timed(Plain):
    """VITS's durations from noise: its flows of splines backwards, without the last but one, as in the service."""

    def forward(self, states, noise):
        predictor = self.network.duration_predictor
        mask = paddle.ones([states.shape[0], 1, states.shape[2]])
        condition = predictor.proj(predictor.dds(predictor.pre(states), mask)) * mask
        flows = list(reversed(predictor.flows))
        for flow in [*flows[:-2], flows[-1]]:
            noise = flow(noise, mask, g=condition, inverse=True)
        return noise[:, :1]


class Edited(Plain):
    """ERNIE-SAT: a sound with a gap, and the text that fills it."""

    def forward(self, speech, text, gap, speech_places, text_places):
        speech_mask = paddle.ones([speech.shape[0], 1, speech.shape[1]], dtype="bool")
        text_mask = paddle.ones([text.shape[0], 1, text.shape[1]], dtype="bool")
        before, after, _ = self.network(
            speech, text, gap.astype("bool"), speech_mask, text_mask, speech_places, text_places
        )
        return before, after


class Vocoded(Plain):
    """A vocoder as it is deployed: frames of one sentence, one a row."""

    def forward(self, frames):
        return self.network.inference(frames)


class Noisy(Plain):
    """Parallel WaveGAN, whose noise is as long as the sound: `hop` numbers a frame."""

    def forward(self, noise, frames):
        rows = noise.shape[0]
        return self.network(noise.reshape([rows, 1, -1]), self.network_pad(frames))

    def __init__(self, network: Any) -> None:
        super().__init__(network)
        self.network_pad = nn.Pad1D(network.aux_context_window, mode="replicate")


class Styled(Plain):
    """Style MelGAN, which makes a vector of noise of every four frames."""

    def forward(self, noise, frames):
        return self.network(frames.flatten(1, 2).transpose([0, 2, 1]), noise)


class Samples(Plain):
    """WaveRNN over whole rows: frames, and the samples that it reads; `hop` samples a frame."""

    def forward(self, samples, frames):
        padded = F.pad(frames, [2, 2], data_format="NCL")
        return self.network(samples.flatten(1), padded)


class Sample(Plain):
    """One step of WaveRNN: the sample before, what its frame gives, and the states of both cells."""

    def forward(self, sample, frame, aux, first, second):
        network = self.network
        one, two, three, four = aux.split(4, axis=-1)
        states = network.I(paddle.concat([sample, frame, one], axis=1))
        first, _ = network.rnn1[0].cell(states, first)
        states = states + first
        second, _ = network.rnn2[0].cell(paddle.concat([states, two], axis=1), second)
        states = F.relu(network.fc1(paddle.concat([states + second, three], axis=1)))
        states = F.relu(network.fc2(paddle.concat([states, four], axis=1)))
        return network.fc3(states), first, second


class Conditioned(Plain):
    """What WaveRNN's steps read of the frames."""

    def forward(self, frames):
        return self.network.upsample(frames)


class Inverted(Plain):
    """WaveFlow from noise: row by row through each of its flows."""

    def forward(self, noise, frames):
        condition = self.network.encoder(frames, trim_conv_artifact=True)
        return self.network.decoder.inverse(noise.flatten(1)[:, : condition.shape[2]], condition)


class Denoised(Plain):
    """One step of DiffSinger's diffusion."""

    def forward(self, frames, step, condition):
        return self.network(frames, step, condition)


class Keywords(Plain):
    """MDTC behind its scores, which its own `KWSModel` takes of a pair."""

    def forward(self, frames):
        return self.network.activation(self.network.linear(self.network.backbone(frames)[0]))


class Speakers(Plain):
    """ECAPA-TDNN: an embedding of each row, of which a share is no padding."""

    def forward(self, features, shares):
        return self.network(features, lengths=shares)


class Utterances(Plain):
    """The speaker encoder of GE2E: an embedding of each row."""

    def forward(self, utterances):
        return self.network.embed_sequences(utterances)


class Punctuated(Plain):
    """ERNIE's tags of punctuation: scores and probabilities, one row a token."""

    def forward(self, tokens):
        return self.network(tokens)


def scale(network: Any, draw: np.random.Generator) -> None:
    """Draw every matrix of parameters as `paddlex_layers.scale`, those of recurrent cells and of weight norm too.

    FastSpeech2 gives most tokens no frame where nothing moves its logarithms of durations up.
    """
    paddlex_layers.scale(network, draw)
    for layer in network.sublayers(include_self=True):
        for name, parameter in layer._parameters.items():
            if name.startswith(("weight_ih", "weight_hh")):
                value = draw.standard_normal(parameter.shape) * parameter.shape[-1] ** -0.5
                parameter.set_value(value.astype("float32"))
            elif name == "weight_g":
                parameter.set_value((1.4 * (1 + 0.1 * draw.standard_normal(parameter.shape))).astype("float32"))
    durations = getattr(network, "duration_predictor", None)
    if hasattr(durations, "linear"):
        durations.linear.bias.set_value(np.full(durations.linear.bias.shape, 1.5, "float32"))
