# ruff: noqa: E501 - one case is one line
"""What a network uses besides the sunk APIs: one line a case, `name | inputs | body | init`.

Several cases of a name differ by a number that the table adds. Bodies see x, y, z; `self` has what init made.
"""

from __future__ import annotations

from collections import Counter

from legacy_cases import Case, case

LAYERS = """
Linear | f32[b4,8] | self.m(x) | self.m = nn.Linear(8, 5)
Linear | f32[b4,3,8] | self.m(x) | self.m = nn.Linear(8, 5, bias_attr=False)
Bilinear | f32[b4,8]; f32[b4,6] | self.m(x, y) | self.m = nn.Bilinear(8, 6, 5)
Embedding | i64[b4,3] | self.m(x) | self.m = nn.Embedding(10, 5)
Embedding | i64[b4,3] | self.m(x) | self.m = nn.Embedding(10, 5, padding_idx=0)
Conv1D | f32[b2,3,16] | self.m(x) | self.m = nn.Conv1D(3, 4, 3, padding=1)
Conv2D | f32[b2,3,8,8] | self.m(x) | self.m = nn.Conv2D(3, 4, 3)
Conv2D | f32[b2,4,8,8] | self.m(x) | self.m = nn.Conv2D(4, 4, 3, groups=4, padding='SAME')
Conv2D | f32[b2,3,8,8] | self.m(x) | self.m = nn.Conv2D(3, 4, 3, stride=2, dilation=2, padding=[1, 2])
Conv2D | f32[b2,8,8,3] | self.m(x) | self.m = nn.Conv2D(3, 4, 3, data_format='NHWC')
Conv2D | f32[b2,3,8,8] | self.m(x) | self.m = nn.Conv2D(3, 4, 3, padding=1, padding_mode='reflect')
Conv3D | f32[b2,3,4,4,4] | self.m(x) | self.m = nn.Conv3D(3, 2, 3)
Conv1DTranspose | f32[b2,3,8] | self.m(x) | self.m = nn.Conv1DTranspose(3, 4, 3, stride=2)
Conv2DTranspose | f32[b2,3,8,8] | self.m(x) | self.m = nn.Conv2DTranspose(3, 4, 3, stride=2, output_padding=1)
Conv2DTranspose | f32[b2,3,8,8] | self.m(x, output_size=[17, 17]) | self.m = nn.Conv2DTranspose(3, 4, 3, stride=2)
Conv3DTranspose | f32[b1,2,3,3,3] | self.m(x) | self.m = nn.Conv3DTranspose(2, 2, 2)
BatchNorm1D | f32[b4,3] | self.m(x) | self.m = nn.BatchNorm1D(3)
BatchNorm1D | f32[b4,3,5] | self.m(x) | self.m = nn.BatchNorm1D(3)
BatchNorm2D | f32[b2,3,4,4] | self.m(x) | self.m = nn.BatchNorm2D(3)
BatchNorm3D | f32[b2,3,2,2,2] | self.m(x) | self.m = nn.BatchNorm3D(3)
BatchNorm2D | f32[b2,3,4,4] | self.m(x) | self.m = nn.BatchNorm2D(3, use_global_stats=False)
BatchNorm2D | f32[b2,4,4,3] | self.m(x) | self.m = nn.BatchNorm2D(3, use_global_stats=False, data_format='NHWC')
SyncBatchNorm | f32[b2,3,4,4] | self.m(x) | self.m = nn.SyncBatchNorm(3)
LayerNorm | f32[b2,3,8] | self.m(x) | self.m = nn.LayerNorm(8)
LayerNorm | f32[b2,3,8] | self.m(x) | self.m = nn.LayerNorm([3, 8], weight_attr=False, bias_attr=False)
GroupNorm | f32[b2,6,4,4] | self.m(x) | self.m = nn.GroupNorm(3, 6)
InstanceNorm1D | f32[b2,3,8] | self.m(x) | self.m = nn.InstanceNorm1D(3)
InstanceNorm2D | f32[b2,3,4,4] | self.m(x) | self.m = nn.InstanceNorm2D(3)
InstanceNorm3D | f32[b2,3,2,2,2] | self.m(x) | self.m = nn.InstanceNorm3D(3)
LocalResponseNorm | f32[b2,6,4,4] | self.m(x) | self.m = nn.LocalResponseNorm(5)
Dropout | f32[b2,3] | self.m(x) + 1 | self.m = nn.Dropout(0.5)
Dropout2D | f32[b2,3,4,4] | self.m(x) * 2 | self.m = nn.Dropout2D(0.5)
AlphaDropout | f32[b2,3] | self.m(x) * 2 | self.m = nn.AlphaDropout(0.5)
Sequential | f32[b2,8] | self.m(x) | self.m = nn.Sequential(nn.Linear(8, 8), nn.GELU(), nn.LayerNorm(8), nn.Softmax())
LayerList | f32[b2,8] | for m in self.ms:\\n    x = m(x).tanh()\\nreturn x | self.ms = nn.LayerList([nn.Linear(8, 8) for _ in range(3)])
ParameterList | f32[b2,8] | for p in self.ps:\\n    x = x.matmul(p)\\nreturn x | self.ps = nn.ParameterList([self.create_parameter([8, 8]) for _ in range(2)])
LSTM | f32[b2,5,4] | self.m(x)[0] | self.m = nn.LSTM(4, 6)
LSTM | f32[b2,5,4] | y, (h, c) = self.m(x)\\nreturn y, h, c | self.m = nn.LSTM(4, 6, num_layers=2)
LSTM | f32[b2,5,4] | y, (h, c) = self.m(x)\\nreturn y, h, c | self.m = nn.LSTM(4, 6, num_layers=2, direction='bidirectional')
LSTM | f32[b2,5,4]; i64[b2]@i(1,5) | self.m(x, sequence_length=y)[0] | self.m = nn.LSTM(4, 6)
LSTM | f32[5,2,4] | self.m(x)[0] | self.m = nn.LSTM(4, 6, time_major=True, dropout=0.2)
LSTM | f32[b2,5,4]; f32[1,2,6] | self.m(x, (y, y * 2))[0] | self.m = nn.LSTM(4, 6)
GRU | f32[b2,5,4] | y, h = self.m(x)\\nreturn y, h | self.m = nn.GRU(4, 6)
GRU | f32[b2,5,4]; i64[b2]@i(1,5) | y, h = self.m(x, sequence_length=y)\\nreturn y, h | self.m = nn.GRU(4, 6, direction='bidirect')
SimpleRNN | f32[b2,5,4] | self.m(x)[0] | self.m = nn.SimpleRNN(4, 6)
SimpleRNN | f32[b2,5,4] | self.m(x)[0] | self.m = nn.SimpleRNN(4, 6, activation='relu', num_layers=2)
LSTMCell | f32[2,4]; f32[2,6] | h, (a, b) = self.m(x, (y, y))\\nreturn h, a, b | self.m = nn.LSTMCell(4, 6)
GRUCell | f32[2,4]; f32[2,6] | h, s = self.m(x, y)\\nreturn h + s | self.m = nn.GRUCell(4, 6)
SimpleRNNCell | f32[2,4]; f32[2,6] | h, s = self.m(x, y)\\nreturn h + s | self.m = nn.SimpleRNNCell(4, 6)
RNN | f32[b2,5,4] | self.m(x)[0] | self.m = nn.RNN(nn.GRUCell(4, 6))
RNN | f32[b2,5,4]; i64[b2]@i(1,5) | self.m(x, sequence_length=y)[0] | self.m = nn.RNN(nn.LSTMCell(4, 6))
BiRNN | f32[b2,5,4] | self.m(x)[0] | self.m = nn.BiRNN(nn.GRUCell(4, 6), nn.GRUCell(4, 6))
MultiHeadAttention | f32[b2,5,8] | self.m(x, x, x) | self.m = nn.MultiHeadAttention(8, 2)
MultiHeadAttention | f32[b2,5,8]; f32[b2,1,5,5] | self.m(x, x, x, attn_mask=y) | self.m = nn.MultiHeadAttention(8, 2)
MultiHeadAttention | f32[b2,5,8]; bool[b2,1,5,5] | self.m(x, x, x, attn_mask=y) | self.m = nn.MultiHeadAttention(8, 2)
MultiHeadAttention | f32[b2,5,8] | c = self.m.gen_cache(x)\\ny, c = self.m(x, x, x, None, c)\\ny, c = self.m(y, y, y, None, c)\\nreturn y, c.k, c.v | self.m = nn.MultiHeadAttention(8, 2)
MultiHeadAttention | f32[b2,5,8] | y, w = self.m(x, x, x)\\nreturn y, w | self.m = nn.MultiHeadAttention(8, 2, need_weights=True)
TransformerEncoderLayer | f32[b2,5,8] | self.m(x) | self.m = nn.TransformerEncoderLayer(8, 2, 16)
TransformerEncoder | f32[b2,5,8] | self.m(x) | self.m = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16, normalize_before=True, activation='gelu'), 2)
TransformerDecoder | f32[b2,4,8]; f32[b2,5,8] | self.m(x, y) | self.m = nn.TransformerDecoder(nn.TransformerDecoderLayer(8, 2, 16), 2)
Transformer | f32[b2,4,8]; f32[b2,5,8] | self.m(x, y) | self.m = nn.Transformer(8, 2, 1, 1, 16)
MaxPool1D | f32[b2,3,8] | self.m(x) | self.m = nn.MaxPool1D(2)
MaxPool2D | f32[b2,3,8,8] | self.m(x) | self.m = nn.MaxPool2D(2, 2)
MaxPool2D | f32[b2,3,9,9] | self.m(x) | self.m = nn.MaxPool2D(3, 2, 1, ceil_mode=True)
MaxPool2D | f32[b2,3,8,8] | y, i = self.m(x)\\nreturn y, i | self.m = nn.MaxPool2D(2, 2, return_mask=True)
MaxPool3D | f32[b2,3,4,4,4] | self.m(x) | self.m = nn.MaxPool3D(2)
AvgPool1D | f32[b2,3,8] | self.m(x) | self.m = nn.AvgPool1D(2)
AvgPool2D | f32[b2,3,9,9] | self.m(x) | self.m = nn.AvgPool2D(3, 2, 1, exclusive=False, ceil_mode=True)
AvgPool3D | f32[b2,3,4,4,4] | self.m(x) | self.m = nn.AvgPool3D(2)
AdaptiveAvgPool1D | f32[b2,3,8] | self.m(x) | self.m = nn.AdaptiveAvgPool1D(3)
AdaptiveAvgPool2D | f32[b2,3,8,8] | self.m(x) | self.m = nn.AdaptiveAvgPool2D((3, None))
AdaptiveAvgPool3D | f32[b2,3,4,4,4] | self.m(x) | self.m = nn.AdaptiveAvgPool3D(2)
AdaptiveMaxPool1D | f32[b2,3,8] | self.m(x) | self.m = nn.AdaptiveMaxPool1D(3)
AdaptiveMaxPool2D | f32[b2,3,8,8] | self.m(x) | self.m = nn.AdaptiveMaxPool2D(3)
AdaptiveMaxPool3D | f32[b2,3,4,4,4] | self.m(x) | self.m = nn.AdaptiveMaxPool3D(2)
LPPool2D | f32[b2,3,8,8] | self.m(x) | self.m = nn.LPPool2D(2, 3)
MaxUnPool2D | f32[2,3,8,8] | y, i = F.max_pool2d(x, 2, 2, return_mask=True)\\nreturn self.m(y, i) | self.m = nn.MaxUnPool2D(2, 2)
MaxUnPool2D | f32[b2,3,8,8] | y, i = F.max_pool2d(x, 2, 2, return_mask=True)\\nreturn self.m(y, i) | self.m = nn.MaxUnPool2D(2, 2)
MaxUnPool1D | f32[b2,3,8] | y, i = F.max_pool1d(x, 2, 2, return_mask=True)\\nreturn self.m(y, i) | self.m = nn.MaxUnPool1D(2, 2)
MaxUnPool3D | f32[2,3,4,4,4] | y, i = F.max_pool3d(x, 2, 2, return_mask=True)\\nreturn self.m(y, i) | self.m = nn.MaxUnPool3D(2, 2)
PixelShuffle | f32[b2,8,3,3] | self.m(x) | self.m = nn.PixelShuffle(2)
PixelUnshuffle | f32[b2,2,6,6] | self.m(x) | self.m = nn.PixelUnshuffle(2)
ChannelShuffle | f32[b2,6,3,3] | self.m(x) | self.m = nn.ChannelShuffle(3)
Upsample | f32[b2,3,4,4] | self.m(x) | self.m = nn.Upsample(scale_factor=2, mode='bilinear', align_corners=True)
Upsample | f32[b2,3,4,4] | self.m(x) | self.m = nn.Upsample(size=[7, 9], mode='nearest')
UpsamplingBilinear2D | f32[b2,3,4,4] | self.m(x) | self.m = nn.UpsamplingBilinear2D(size=[8, 8])
Pad1D | f32[b2,3,4] | self.m(x) | self.m = nn.Pad1D([1, 2], mode='replicate')
Pad2D | f32[b2,3,4,4] | self.m(x) | self.m = nn.Pad2D([1, 2, 1, 0], mode='reflect')
Pad3D | f32[b2,3,4,4,4] | self.m(x) | self.m = nn.Pad3D(1, mode='constant', value=2.0)
ZeroPad2D | f32[b2,3,4,4] | self.m(x) | self.m = nn.ZeroPad2D([1, 0, 2, 1])
Flatten | f32[b2,3,4] | self.m(x) | self.m = nn.Flatten()
Unflatten | f32[b2,12] | self.m(x) | self.m = nn.Unflatten(1, [3, 4])
Unfold | f32[b2,3,6,6] | self.m(x) | self.m = nn.Unfold([2, 2])
Fold | f32[b2,12,9] | self.m(x) | self.m = nn.Fold([4, 4], [2, 2])
CosineSimilarity | f32[b2,3,4]; f32[b2,3,4] | self.m(x, y) | self.m = nn.CosineSimilarity()
PairwiseDistance | f32[b2,4]; f32[b2,4] | self.m(x, y) | self.m = nn.PairwiseDistance()
SpectralNorm | f32[4,3] | self.m(x) | self.m = nn.SpectralNorm([4, 3])
Softmax2D | f32[b2,3,4,4] | self.m(x) | self.m = nn.Softmax2D()
RReLU | f32[b2,4]@n | self.m(x) | self.m = nn.RReLU(0.1, 0.3)
PReLU | f32[b2,3,4,4]@n | self.m(x) | self.m = nn.PReLU(3)
Maxout | f32[b2,4,3,3]@n | self.m(x) | self.m = nn.Maxout(2)
weight_norm | f32[b2,8] | self.m(x) | self.m = nn.utils.weight_norm(nn.Linear(8, 5))
Identity | f32[b2,3] | self.m(x) + 0 | self.m = nn.Identity()
"""

ACTIVATIONS = " ".join(
    """celu elu hardshrink hardsigmoid hardswish hardtanh leaky_relu log_sigmoid log_softmax mish relu relu6 selu
    sigmoid silu softmax softplus softshrink softsign swish tanh tanhshrink thresholded_relu gelu""".split()
)

LOSSES = """
cross_entropy | f32[b4,5]; i64[b4]@i(0,5) | F.cross_entropy(x, y)
cross_entropy | f32[b4,5]; i64[b4]@i(0,5) | F.cross_entropy(x, y, reduction='none', label_smoothing=0.1)
cross_entropy | f32[b4,5]; f32[b4,5] | F.cross_entropy(x, y, soft_label=True)
cross_entropy | f32[b4,5]; i64[b4]@i(0,5) | F.cross_entropy(x, y, weight=paddle.to_tensor([1., 2., 3., 4., 5.]))
cross_entropy | f32[b2,5,3,3]; i64[b2,3,3]@i(0,5) | F.cross_entropy(x, y, axis=1, ignore_index=0)
softmax_with_cross_entropy | f32[b4,5]; i64[b4,1]@i(0,5) | F.softmax_with_cross_entropy(x, y)
nll_loss | f32[b4,5]; i64[b4]@i(0,5) | F.nll_loss(F.log_softmax(x), y)
mse_loss | f32[b4,5]; f32[b4,5] | F.mse_loss(x, y)
l1_loss | f32[b4,5]; f32[b4,5] | F.l1_loss(x, y, reduction='sum')
smooth_l1_loss | f32[b4,5]; f32[b4,5] | F.smooth_l1_loss(x, y)
huber | f32[b4,5]; f32[b4,5] | F.smooth_l1_loss(x, y, delta=0.3, reduction='none')
binary_cross_entropy | f32[b4,5]; f32[b4,5] | F.binary_cross_entropy(x, y)
binary_cross_entropy_with_logits | f32[b4,5]; f32[b4,5] | F.binary_cross_entropy_with_logits(x, y, pos_weight=paddle.to_tensor([2.0]))
kl_div | f32[b4,5]; f32[b4,5] | F.kl_div(x.log(), y)
margin_ranking_loss | f32[b4]; f32[b4] | F.margin_ranking_loss(x, y, paddle.ones_like(x))
cosine_embedding_loss | f32[4,5]; f32[4,5] | F.cosine_embedding_loss(x, y, paddle.to_tensor([1, -1, 1, -1]))
triplet_margin_loss | f32[b4,5]; f32[b4,5]; f32[b4,5] | F.triplet_margin_loss(x, y, z)
hinge_embedding_loss | f32[b4,5]; f32[b4,5] | F.hinge_embedding_loss(x, paddle.sign(y - 0.5))
soft_margin_loss | f32[b4,5]; f32[b4,5] | F.soft_margin_loss(x, paddle.sign(y - 0.5))
multi_label_soft_margin_loss | f32[b4,5]; f32[b4,5] | F.multi_label_soft_margin_loss(x, (y > 0.5).astype('float32'))
multi_margin_loss | f32[b4,5]; i64[b4]@i(0,5) | F.multi_margin_loss(x, y)
poisson_nll_loss | f32[b4,5]; f32[b4,5] | F.poisson_nll_loss(x, y)
gaussian_nll_loss | f32[b4,5]; f32[b4,5] | F.gaussian_nll_loss(x, y, paddle.ones_like(x))
sigmoid_focal_loss | f32[b4,5]; f32[b4,5] | F.sigmoid_focal_loss(x, (y > 0.5).astype('float32'))
dice_loss | f32[b4,5]; i64[b4,1]@i(0,5) | F.dice_loss(F.softmax(x), y)
log_loss | f32[b4,1]; f32[b4,1] | F.log_loss(x, y)
square_error_cost | f32[b4,1]; f32[b4,1] | F.square_error_cost(x, y)
label_smooth | f32[b4,5] | F.label_smooth(x)
npair_loss | f32[4,5]; f32[4,5] | F.npair_loss(x, y, paddle.to_tensor([0, 1, 0, 1]))
ctc_loss | f32[6,2,5]; i32[2,3]@i(1,5) | F.ctc_loss(F.log_softmax(x), y, paddle.to_tensor([6, 6]), paddle.to_tensor([3, 3]))
"""

FUNCTIONAL = """
linear | f32[b4,8] | F.linear(x, self.w) | self.w = self.create_parameter([8, 3])
one_hot | i64[b4]@i(0,5) | F.one_hot(x, 5)
embedding | i64[b4]@i(0,5) | F.embedding(x, self.w) | self.w = self.create_parameter([5, 3])
normalize | f32[b4,5] | F.normalize(x)
normalize | f32[b4,5,3] | F.normalize(x, p=1, axis=-1, epsilon=1e-6)
cosine_similarity | f32[b4,5]; f32[b4,5] | F.cosine_similarity(x, y, axis=1)
interpolate | f32[b1,2,4,4] | F.interpolate(x, size=[8, 6], mode='bilinear')
interpolate | f32[b1,2,4,4] | F.interpolate(x, scale_factor=2, mode='nearest')
interpolate | f32[b1,2,4,4] | F.interpolate(x, scale_factor=[1.5, 2], mode='bicubic', align_corners=True)
interpolate | f32[b1,2,4] | F.interpolate(x, size=[8], mode='linear', data_format='NCW')
interpolate | f32[b1,2,3,3,3] | F.interpolate(x, size=[4, 4, 4], mode='trilinear', data_format='NCDHW')
interpolate | f32[b1,2,4,4] | F.interpolate(x, size=[2, 2], mode='area')
interpolate | f32[b1,2,4,4]; f32[b1,2,7,5] | F.interpolate(x, size=paddle.shape(y)[2:], mode='bilinear')
interpolate | f32[b1,2,4,4]; f32[b1,2,7,5] | F.interpolate(x, size=y.shape[2:], mode='bilinear', align_corners=False)
affine_grid | f32[b2,2,3] | F.affine_grid(x, [2, 3, 4, 4])
affine_grid | f32[2,2,3] | F.grid_sample(paddle.ones([2, 3, 5, 5]), F.affine_grid(x, [2, 3, 4, 4], align_corners=False))
pad | f32[b2,3] | F.pad(x, [1, 2], value=1.5)
pad | f32[b2,3,4,4] | F.pad(x, [1, 1, 2, 2], mode='circular')
pad | f32[b2,3,4,4] | F.pad(x, paddle.to_tensor([1, 1, 2, 2]), mode='reflect')
unfold | f32[b2,3,6,6] | F.unfold(x, 3, 1, 1)
fold | f32[b2,12,9] | F.fold(x, [4, 4], [2, 2])
scaled_dot_product_attention | f32[b2,5,2,4] | F.scaled_dot_product_attention(x, x, x)
scaled_dot_product_attention | f32[b2,5,2,4] | F.scaled_dot_product_attention(x, x, x, is_causal=True)
scaled_dot_product_attention | f32[b2,5,2,4]; f32[b2,1,5,5] | F.scaled_dot_product_attention(x, x, x, attn_mask=y)
scaled_dot_product_attention | f32[b2,5,2,4]; bool[b2,1,5,5] | F.scaled_dot_product_attention(x, x, x, attn_mask=paddle.logical_or(y, paddle.eye(5).astype('bool')))
sequence_mask | i64[b4]@i(1,5) | F.sequence_mask(x, maxlen=6)
temporal_shift | f32[4,4,3,3] | F.temporal_shift(x, 2)
pixel_shuffle | f32[b2,8,3,3] | F.pixel_shuffle(x, 2)
gumbel_softmax shape | f32[b2,5] | F.gumbel_softmax(x).sum(-1).round()
glu | f32[b2,6] | F.glu(x)
swiglu | f32[b2,6]@n | F.swiglu(x)
swiglu | f32[b2,3]@n; f32[b2,3]@n | paddle.incubate.nn.functional.swiglu(x, y)
maxout | f32[b2,4,3,3] | F.maxout(x, 2)
prelu | f32[b2,3,4]@n | F.prelu(x, paddle.to_tensor([0.25]))
rrelu | f32[b2,3]@n | F.rrelu(x, 0.1, 0.3, training=False)
dropout | f32[b2,3] | F.dropout(x, 0.5, training=False) * 2
dropout | f32[b2,3] | F.dropout(x, 0.5, training=False, mode='downscale_in_infer')
layer_norm | f32[b2,3] | F.layer_norm(x, 3)
batch_norm | f32[b2,3,4] | F.batch_norm(x, paddle.zeros([3]), paddle.ones([3]))
instance_norm | f32[b2,3,4] | F.instance_norm(x)
group_norm | f32[b2,4,3] | F.group_norm(x, 2)
local_response_norm | f32[b2,6,4,4] | F.local_response_norm(x, 3)
max_pool2d | f32[b2,3,8,8] | F.max_pool2d(x, 3, 2, padding='SAME')
avg_pool2d | f32[b2,3,8,8] | F.avg_pool2d(x, 2, divisor_override=3)
adaptive_avg_pool2d | f32[b2,3,8,8] | F.adaptive_avg_pool2d(x, 1)
adaptive_max_pool2d | f32[b2,3,8,8] | F.adaptive_max_pool2d(x, [2, 3])
max_unpool2d | f32[b2,3,4,4] | y, i = F.max_pool2d(x, 2, return_mask=True)\\nreturn F.max_unpool2d(y, i, 2, output_size=[4, 4])
conv2d | f32[b2,3,6,6] | F.conv2d(x, self.w, padding=1) | self.w = self.create_parameter([4, 3, 3, 3])
conv2d_transpose | f32[b2,3,6,6] | F.conv2d_transpose(x, self.w) | self.w = self.create_parameter([3, 4, 3, 3])
bilinear | f32[b4,3]; f32[b4,2] | F.bilinear(x, y, self.w) | self.w = self.create_parameter([5, 3, 2])
gather_tree | i64[3,2,2]@i(0,2) | F.gather_tree(x, x)
zeropad2d | f32[b2,3,4,4] | F.zeropad2d(x, [1, 2, 3, 4])
softmax dtype | f32[b2,3] | F.softmax(x, axis=0, dtype='float64')
log_softmax axis | f32[b2,3,4] | F.log_softmax(x, axis=1)
swish | f32[b2,3]@n | F.swish(x)
alpha_dropout | f32[b2,3] | F.alpha_dropout(x, training=False) + 1
upsample | f32[b2,3,4,4] | F.upsample(x, scale_factor=2)
pdist | f32[4,3] | paddle.pdist(x)
cdist | f32[b4,3]; f32[5,3] | paddle.cdist(x, y)
"""

MANIPULATION = """
reshape | f32[b2,3,4] | paddle.reshape(x, [-1, 12])
reshape | f32[b2,3,4] | x.reshape([x.shape[0], 4, 3])
reshape | f32[b2,3,4] | x.reshape([0, -1])
reshape | f32[b2,12] | x.reshape([paddle.shape(x)[0], 3, 4])
transpose | f32[b2,3,4] | x.transpose([2, 0, 1])
t | f32[b2,3] | x.t() + x.T
mT | f32[b2,3,4] | x.mT
squeeze | f32[b2,1,3,1] | x.squeeze(1) + paddle.squeeze(x).unsqueeze(-1)
unsqueeze | f32[b2,3] | x.unsqueeze([0, 2])
flatten | f32[b2,3,4] | x.flatten(1)
concat | f32[b2,3]; f32[b2,4] | paddle.concat([x, y], axis=1)
concat | f32[b2,3]; f32[b2,3] | paddle.concat([x, y], axis=paddle.to_tensor(0))
stack | f32[b2,3]; f32[b2,3] | paddle.stack([x, y], axis=1)
unstack | f32[2,3] | a, b = paddle.unstack(x)\\nreturn a * b
split | f32[b2,6] | a, b, c = paddle.split(x, 3, axis=1)\\nreturn a + b, c
split | f32[b2,6] | a, b = x.split([2, -1], axis=1)\\nreturn a, b
chunk | f32[b2,6] | a, b = x.chunk(2, axis=1)\\nreturn a - b
unbind | f32[2,3] | a, b = paddle.unbind(x)\\nreturn a + b
tile | f32[b2,3] | paddle.tile(x, [2, 1])
expand | f32[b1,3] | x.expand([4, 3])
expand | f32[b2,1,3] | x.expand([-1, 4, -1])
broadcast_to | f32[3] | paddle.broadcast_to(x, [2, 3])
broadcast_tensors | f32[2,1]; f32[1,3] | a, b = paddle.broadcast_tensors([x, y])\\nreturn a + b
flip | f32[b2,3] | x.flip([0, 1])
rot90 | f32[b2,3] | paddle.rot90(x)
gather | f32[b5,3]; i64[2]@i(0,5) | paddle.gather(x, y)
gather | f32[b2,5]; i64[2]@i(0,5) | paddle.gather(x, y, axis=1)
gather_nd | f32[3,4]; i64[2,2]@i(0,3) | paddle.gather_nd(x, y)
index_select | f32[b2,5]; i64[2]@i(0,5) | paddle.index_select(x, y, axis=1)
index_sample | f32[b2,5]; i64[b2,3]@i(0,5) | paddle.index_sample(x, y)
index_add | f32[4,3]; i64[2]@i(0,4); f32[2,3] | paddle.index_add(x, y, 0, z)
index_fill | f32[4,3]; i64[2]@i(0,4) | paddle.index_fill(x, y, 0, 2.0)
take_along_axis | f32[b2,5]; i64[b2,3]@i(0,5) | paddle.take_along_axis(x, y, 1)
put_along_axis | f32[2,5]; i64[2,1]@i(0,5) | paddle.put_along_axis(x, y, 9.0, 1)
put_along_axis | f32[2,5]; i64[2,1]@i(0,5); f32[2,1] | paddle.put_along_axis(x, y, z, 1, 'add')
scatter | f32[4,3]; i64[2]@i(0,4); f32[2,3] | paddle.scatter(x, y, z, overwrite=False)
scatter_nd | i64[3,1]@i(0,4); f32[3,2] | paddle.scatter_nd(x, y, [4, 2])
scatter_nd_add | f32[4,2]; i64[3,1]@i(0,4); f32[3,2] | paddle.scatter_nd_add(x, y, z)
masked_select | f32[4,3] | paddle.masked_select(x, x > 0.5)
masked_fill | f32[b4,3] | paddle.masked_fill(x, x > 0.5, 2.0)
masked_scatter | f32[4,3]; f32[12] | paddle.masked_scatter(x, x > 0.5, y)
where | f32[b2,3]; f32[b2,3] | paddle.where(x > y, x, y)
where | f32[b2,3] | paddle.where(x > 0.5, x, paddle.zeros_like(x))
where | f32[b2,3] | paddle.where(x > 0.5, 1.0, x)
where indices | f32[2,3] | paddle.stack(paddle.where(x > 0.5))
nonzero | f32[2,3] | paddle.nonzero(x > 0.5)
roll | f32[b2,3] | x.roll([1, 1], [0, 1])
repeat_interleave | f32[b2,3] | paddle.repeat_interleave(x, 2, axis=1)
repeat_interleave | f32[2,3] | paddle.repeat_interleave(x, paddle.to_tensor([1, 2]), axis=0)
slice | f32[b2,5] | paddle.slice(x, [1], [1], [4])
strided_slice | f32[b2,6] | paddle.strided_slice(x, [1], [0], [6], [2])
crop | f32[b3,4] | paddle.crop(x, shape=[2, 2], offsets=[0, 1])
moveaxis | f32[b2,3,4] | paddle.moveaxis(x, 0, 2)
swapaxes | f32[b2,3,4] | paddle.swapaxes(x, 0, 1)
unique | i64[6]@i(0,3) | paddle.unique(x)
unique | i64[6]@i(0,3) | a, i, c = paddle.unique(x, return_index=True, return_counts=True)\\nreturn a, i, c
unique_consecutive | i64[6]@i(0,3) | paddle.unique_consecutive(x)
diag | f32[3] | paddle.diag(x)
diag | f32[3,3] | paddle.diag(x, offset=1)
diagflat | f32[3] | paddle.diagflat(x, 1)
diag_embed | f32[b2,3] | paddle.diag_embed(x)
fill_diagonal_tensor | f32[3,3]; f32[3] | paddle.tensor.manipulation.fill_diagonal_tensor(x, y)
meshgrid | f32[2]; f32[3] | a, b = paddle.meshgrid(x, y)\\nreturn a + b
tensordot | f32[b2,3,4]; f32[4,5] | paddle.tensordot(x, y, axes=1)
as_complex | f32[b2,3,2] | paddle.as_real(paddle.as_complex(x))
view | f32[b2,12] | x.view([-1, 3, 4])
view_as | f32[2,12]; f32[4,6] | x.view_as(y) + y
as_strided | f32[4,4] | paddle.as_strided(x, [3, 2], [4, 1])
unfold | f32[2,6] | paddle.unfold(x, 1, 3, 2)
atleast_2d | f32[3] | paddle.atleast_2d(x)
hstack | f32[b2,3]; f32[b2,3] | paddle.hstack([x, y])
vstack | f32[b2,3]; f32[b2,3] | paddle.vstack([x, y])
dsplit | f32[2,3,4] | a, b = paddle.dsplit(x, 2)\\nreturn a + b
tensor_split | f32[b2,5] | a, b = paddle.tensor_split(x, 2, axis=1)\\nreturn a, b
select_scatter | f32[2,3]; f32[3] | paddle.select_scatter(x, y, 0, 1)
slice_scatter | f32[4,3]; f32[2,3] | paddle.slice_scatter(x, y, [0], [0], [4], [2])
diagonal_scatter | f32[3,3]; f32[3] | paddle.diagonal_scatter(x, y)
block_diag | f32[2,2]; f32[1,3] | paddle.block_diag([x, y])
cartesian_prod | f32[2]; f32[3] | paddle.cartesian_prod([x, y])
combinations | f32[4] | paddle.combinations(x)
shard_index | i64[4,1]@i(0,8) | paddle.shard_index(x, 8, 2, 0)
cast | f32[b2,3]@u(1,9) | x.astype('int32'), x.cast('float64'), (x - 5).astype('int32').astype(paddle.bool)
float | i64[b2,3] | x.float(), x.int(), x.bool(), x.double()
to | f32[b2,3] | x.to('float64')
to | f32[b2,3] | x.to(paddle.int64)
astype held | i64[b2,3] | x.astype(HELD_DTYPE)
type_as | f32[b2,3]; i64[b2,3] | x.type_as(y)
clone | f32[b2,3] | x.clone() * 2
detach | f32[b2,3] | x.detach() + 1
assign | f32[b2,3] | paddle.assign(x) * 3
numel | f32[b2,3] | x.numel() + paddle.numel(x)
shape | f32[b2,3] | paddle.shape(x)
shape | f32[b2,3] | paddle.shape(x)[0] * 2 + x.shape[1]
shape list | f32[b2,3] | x.reshape(x.shape[:1] + [3, 1])
shape numel | f32[2,3] | x * x.shape.numel()
rank | f32[b2,3] | paddle.rank(x) + x.ndim
is_empty | f32[b2,3] | paddle.is_empty(x)
zeros_like | f32[b2,3] | paddle.zeros_like(x), paddle.ones_like(x, dtype='int64'), paddle.full_like(x, 2.5)
zeros | f32[b2,3] | paddle.zeros([x.shape[0], 2]) + 1
full | f32[b2,3] | paddle.full([2, 3], 7.0) * x
full | f32[b2,3] | paddle.full(paddle.shape(x), 2, 'int64')
new_zeros | f32[b2,3] | x.new_zeros([2, 3]), x.new_ones([1]), x.new_full([2], 3.0)
arange | f32[b2,3] | paddle.arange(3).astype('float32') * x
arange | f32[b4,3] | paddle.arange(x.shape[0])
arange | f32[b4,3] | paddle.arange(0, paddle.shape(x)[0], 2)
linspace | f32[b2,3] | paddle.linspace(0, 1, 3) + x
logspace | f32[b2,3] | paddle.logspace(0, 1, 3) + x
eye | f32[b3,3] | paddle.eye(3) + x
tril_indices | f32[b3,3] | paddle.tril_indices(3, 3, 0), x + 1
to_tensor | f32[b2,3] | x + paddle.to_tensor([1.0, 2.0, 3.0])
to_tensor | i64[b2,3] | x + paddle.to_tensor([[1], [2]])
to_tensor | f32[b2,3] | x * paddle.to_tensor(np.arange(3), dtype='float32')
to_tensor | bool[b2,3] | x & paddle.to_tensor([True, False, True])
to_tensor | f32[b2,3] | paddle.to_tensor([x.sum(), x.max()])
vander | f32[3] | paddle.vander(x)
polar | f32[b2,3]; f32[b2,3] | paddle.as_real(paddle.polar(x, y))
complex | f32[b2,3]; f32[b2,3] | paddle.as_real(paddle.complex(x, y) * paddle.complex(y, x))
tolist of shape | f32[2,3] | x.reshape([i * 1 for i in x.shape]) + 1
"""

INDEXING = """
getitem | f32[b4,3] | x[0]
getitem | f32[b4,3] | x[-1]
getitem | f32[b4,3] | x[1:3]
getitem | f32[b4,3] | x[:, 1]
getitem | f32[b4,3] | x[::2, 1:]
getitem | f32[b4,3] | x[:, ::-1]
getitem | f32[b4,6] | x[:, 4:1:-2]
getitem | f32[b4,3] | x[..., None]
getitem | f32[b4,3] | x[None, :, 0]
getitem | f32[b4,3,2] | x[..., 0]
getitem | f32[b4,3] | x[[0, 2]]
getitem | f32[4,3] | x[[0, 2], [1, 0]]
getitem | f32[4,3]; i64[2]@i(0,4) | x[y]
getitem | f32[4,3]; i64[2]@i(0,3) | x[:, y]
getitem | f32[4,3]; i64[2]@i(0,3) | x[y, y]
getitem | f32[4,3]; i64[]@i(0,4) | x[y]
getitem | f32[4,3]; i64[1]@i(1,4) | x[:y]
getitem | f32[4,3] | x[x > 0.5]
getitem | f32[4,3] | x[x[:, 0] > 0.5]
getitem | f32[4,3] | x[np.array([1, 2])]
getitem | f32[b4,3] | x[:, [2, 0]]
getitem | f32[b4,3] | x[1:, 0:2][0]
getitem | f32[b4,3] | x[x.shape[0] - 1]
getitem | f32[b4,3] | i = paddle.shape(x)[0] - 1\\nreturn x[i]
getitem | f32[4,5,2]; i64[6]@i(0,5) | x[0, y, 1]
getitem | f32[4,3] | x[paddle.to_tensor([True, False, True, False])]
setitem | f32[4,3] | x[0] = 1.0\\nreturn x
setitem | f32[4,3] | y = x * 1\\ny[:, 1] = 2.0\\nreturn y
setitem | f32[4,3]; f32[3] | z = x * 1\\nz[1] = y\\nreturn z
setitem | f32[4,3] | y = x * 1\\ny[1:3, ::2] = 5\\nreturn y
setitem | f32[4,3]; i64[2]@i(0,4) | z = x * 1\\nz[y] = 3.0\\nreturn z
setitem | f32[4,3]; i64[2]@i(0,3) | z = x * 1\\nz[:, y] = 3.0\\nreturn z
setitem | f32[4,3] | y = x * 1\\ny[x > 0.5] = 0.0\\nreturn y
setitem | f32[4,3] | y = x * 1\\ny[y > 0.5] = 0\\nreturn y
setitem | f32[4,3] | y = x * 1\\ny[[0, 2]] = paddle.ones([2, 3])\\nreturn y
setitem | f32[4,3] | y = paddle.zeros_like(x)\\ny[:, 0] = x[:, 1]\\ny[:, 1] = x[:, 0] * 2\\nreturn y
setitem | f32[4,3] | y = x * 1\\ny[..., -1] += 2\\nreturn y
setitem | f32[4,3] | y = paddle.zeros([4, 3])\\nfor i in range(4):\\n    y[i] = x[3 - i]\\nreturn y
setitem | f32[4,3] | y = x * 1\\ny[0, 1] = y[1, 0]\\nreturn y
setitem | i64[4,3] | y = x * 1\\ny[:2] = 7\\nreturn y
setitem | f32[4,3]; i64[2]@i(0,3) | z = x * 1\\nz[y, y] = 1.5\\nreturn z
setitem | f32[b4,3] | y = x * 1\\ny[:, 0:2] = 0.5\\nreturn y
setitem | f32[4,3]; f32[4,3] | z = x * 1\\nz[y > 0.5] = y[y > 0.5]\\nreturn z
"""

MATHS = """
add | f32[b2,3]; f32[b2,3] | paddle.add(x, y), x + y, x.add(y)
add | f32[b2,3]; f64[b2,3] | x + y
add | f16[b2,3]; f32[b2,3] | paddle.add(x, y)
add | f32[b2,3] | x + 1, 1 + x, x + 0.5
add | i64[b2,3] | x + 1, x + 1.5
add | i64[b2,3] | x + 16777217
add | i32[b2,3] | x - 16777217
add | f64[b2,3] | x + 0.1
multiply | f64[b2,3] | x * 0.1
multiply | i64[b2,3] | x * 16777217
divide | f64[b2,3] | x / 3
power | f64[b2,3] | x ** 0.3
power | f64[b2,3] | 1.1 ** x
fill_constant | i64[b2,3] | 16777217 - x
clip | f64[b2,3] | paddle.clip(x, 0.3, 0.7)
subtract | f32[b2,3]; f32[b2,3] | paddle.subtract(x, y), 1 - x, x - 1
subtract | f32[b2,3]; f64[b2,3] | paddle.subtract(x, y)
divide | f32[b2,3]; f32[b2,3] | paddle.divide(x, y), x / 3, 3 / x
divide | i64[b2,3]; i64[b2,3]@i(1,5) | x / y, x / 2, paddle.divide(x, y)
floor_divide | i64[b2,3]; i64[b2,3]@i(1,5) | x // y, x // 2, paddle.floor_divide(x, y)
floor_divide | f32[b2,3]; f32[b2,3] | x // y
mod | i64[b2,3]; i64[b2,3]@i(1,5) | x % y, x % 3, paddle.mod(x, y), paddle.remainder(x, y)
mod | f32[b2,3] | x % 0.3, paddle.floor_mod(x, x + 1)
pow | f32[b2,3] | x ** 2, x ** 0.5, 2 ** x, paddle.pow(x, 3), x.pow(2.0)
pow | f32[b2,3]; f32[b2,3] | x ** y, paddle.pow(x, y)
pow | i64[b2,3] | x ** 2
neg | f32[b2,3] | -x, paddle.neg(x)
square | f32[b2,3] | paddle.square(x), x.square()
reciprocal | f32[b2,3] | paddle.reciprocal(x)
scale | f32[b2,3] | paddle.scale(x, 2.0, 1.0), x.scale(0.5)
clip | f32[b2,3] | paddle.clip(x, 0.2, 0.7), x.clip(min=0.3), x.clip(max=0.5)
clip | i64[b2,3] | paddle.clip(x, 2, 5)
clip | f32[b2,3] | paddle.clip(x, paddle.to_tensor(0.2), paddle.to_tensor(0.7))
lerp | f32[b2,3]; f32[b2,3] | paddle.lerp(x, y, 0.3)
lerp | f32[b2,3]; f32[b2,3] | paddle.lerp(x, y, paddle.to_tensor(0.3))
trunc | f32[b2,3]@n | paddle.trunc(x * 3)
frac | f32[b2,3]@n | paddle.frac(x * 3)
tan | f32[b2,3] | paddle.tan(x), paddle.atan(x), paddle.asinh(x)
erf | f32[b2,3] | paddle.erf(x), paddle.erfinv(x)
digamma | f32[b2,3] | paddle.digamma(x), paddle.lgamma(x)
gammaln | f32[b2,3] | paddle.gammaln(x)
gammainc | f32[b2,3]; f32[b2,3] | paddle.gammainc(x, y), paddle.gammaincc(x, y)
polygamma | f32[b2,3] | paddle.polygamma(x, 1)
i0 | f32[b2,3] | paddle.i0(x), paddle.i0e(x), paddle.i1(x), paddle.i1e(x)
sinc | f32[b2,3] | paddle.sinc(x)
logit | f32[b2,3] | paddle.logit(x)
exp2 | f32[b2,3] | 2.0 ** x
stanh | f32[b2,3] | paddle.stanh(x)
atan2 | f32[b2,3]; f32[b2,3] | paddle.atan2(x, y)
hypot | f32[b2,3]; f32[b2,3] | paddle.hypot(x, y)
logaddexp | f32[b2,3]; f32[b2,3] | paddle.logaddexp(x, y)
copysign | f32[b2,3]; f32[b2,3]@n | paddle.copysign(x, y)
nextafter | f32[b2,3]; f32[b2,3] | paddle.nextafter(x, y)
heaviside | f32[b2,3]@n; f32[b2,3] | paddle.heaviside(x, y)
ldexp | f32[b2,3]; i32[b2,3]@i(0,4) | paddle.ldexp(x, y)
frexp | f32[b2,3] | m, e = paddle.frexp(x)\\nreturn m, e
gcd | i64[b2,3]@i(1,20); i64[b2,3]@i(1,20) | paddle.gcd(x, y)
lcm | i64[b2,3]@i(1,20); i64[b2,3]@i(1,20) | paddle.lcm(x, y)
fmax | f32[b2,3]; f32[b2,3] | paddle.fmax(x, y), paddle.fmin(x, y)
maximum | f32[b2,3]; f64[b2,3] | paddle.maximum(x, y)
inner | f32[b2,3]; f32[4,3] | paddle.inner(x, y)
outer | f32[2]; f32[3] | paddle.outer(x, y)
cross | f32[b2,3]; f32[b2,3] | paddle.cross(x, y, axis=1)
kron | f32[2,2]; f32[2,3] | paddle.kron(x, y)
addmm | f32[2,4]; f32[2,3]; f32[3,4] | paddle.addmm(x, y, z, 0.5, 2.0)
baddbmm | f32[2,2,4]; f32[2,2,3]; f32[2,3,4] | paddle.baddbmm(x, y, z)
mv | f32[b2,3]; f32[3] | paddle.mv(x, y)
mm | f32[b2,3]; f32[3,4] | paddle.mm(x, y)
multi_dot | f32[2,3]; f32[3,4]; f32[4,2] | paddle.linalg.multi_dot([x, y, z])
einsum | f32[b2,3]; f32[3,4] | paddle.einsum('ij,jk->ik', x, y)
einsum | f32[b2,3,4]; f32[b2,5,4] | paddle.einsum('bij,bkj->bik', x, y)
einsum | f32[b2,3,4] | paddle.einsum('bij->b', x)
einsum | f32[b2,4,5,3]; f32[b2,4,5,3] | paddle.einsum('bqhd,bkhd->bhqk', x, y)
trace | f32[b3,3] | paddle.trace(x)
mean | f32[b2,3] | x.mean(), paddle.mean(x, axis=1, keepdim=True), x.mean([0, 1])
mean | i64[b2,3] | x.astype('float32').mean()
max | f32[b2,3] | x.max(), paddle.max(x, axis=1), x.min(axis=[0, 1]), paddle.min(x, -1, True)
max | i64[b2,3] | x.max(axis=0), x.min()
prod | f32[b2,3] | x.prod(), paddle.prod(x, axis=1, keepdim=True), x.prod(dtype='float64')
std | f32[b2,3] | x.std(), paddle.var(x, axis=1), x.var(unbiased=False)
median | f32[2,3] | paddle.median(x), paddle.median(x, axis=1), paddle.median(x, axis=0, keepdim=True)
median | f32[b2,4] | paddle.median(x, axis=1)
median | f32[b2,4] | a, b = paddle.median(x, axis=1, mode='min')\\nreturn a, b
median | i64[2,5] | paddle.median(x, axis=1)
median | f32[2,4] | y = paddle.where(x > 0.7, x / 0.0 - x / 0.0, x)\\nreturn paddle.median(y, axis=1)
nanmedian | f32[2,4] | paddle.nanmedian(x), paddle.nanmedian(x, axis=1)
quantile | f32[2,4] | paddle.quantile(x, 0.4, axis=1)
nanquantile | f32[2,4] | paddle.nanquantile(x, 0.4, axis=1)
nansum | f32[b2,3] | paddle.nansum(x), paddle.nanmean(x, axis=1)
kthvalue | f32[b2,5] | a, b = paddle.kthvalue(x, 2, axis=1)\\nreturn a, b
mode | f32[b2,5] | a, b = paddle.mode(x, axis=1)\\nreturn a, b
topk | f32[b2,5] | a, b = paddle.topk(x, 2)\\nreturn a, b
topk | f32[b2,5] | a, b = x.topk(3, axis=1, largest=False)\\nreturn a, b
topk | f32[b2,5]; i64[1]@i(2,4) | a, b = paddle.topk(x, y)\\nreturn a, b
sort | f32[b2,5] | x.sort(), paddle.sort(x, axis=0, descending=True)
sort | f32[b2,5] | x.sort(stable=True)
argsort | f32[b2,5] | x.argsort(), paddle.argsort(x, descending=True)
searchsorted | f32[5]; f32[b2,3] | paddle.searchsorted(paddle.sort(x), y)
bucketize | f32[b2,3] | paddle.bucketize(x, paddle.to_tensor([0.2, 0.5, 0.8]))
cumsum | f32[b2,3] | x.cumsum(1), paddle.cumsum(x)
cumsum | i32[b2,3] | paddle.cumsum(x, 1)
cumprod | f32[b2,3] | paddle.cumprod(x, dim=1)
cummax | f32[b2,3] | a, b = paddle.cummax(x, axis=1)\\nreturn a, b
cummin | f32[b2,3] | a, b = paddle.cummin(x, axis=1)\\nreturn a, b
logcumsumexp | f32[b2,3] | paddle.logcumsumexp(x, axis=1)
diff | f32[b2,5] | paddle.diff(x)
trapezoid | f32[b2,5] | paddle.trapezoid(x)
cumulative_trapezoid | f32[b2,5] | paddle.cumulative_trapezoid(x)
histogram | f32[6] | paddle.histogram(x, 4, 0, 1)
histogramdd | f32[6,2] | paddle.histogramdd(x, [3, 3])[0]
bincount | i64[6]@i(0,4) | paddle.bincount(x)
count_nonzero | f32[b2,3] | paddle.count_nonzero(x, axis=1)
equal | f32[b2,3]; f32[b2,3] | x == y, x != y, x < y, x <= y, x >= y
equal | f32[b2,3]; f64[b2,3] | paddle.equal(x, y), x < y
equal | i64[b2,3] | x == 3, x > 2, paddle.less_than(x, paddle.to_tensor(4))
equal_all | f32[b2,3]; f32[b2,3] | paddle.equal_all(x, y), paddle.equal_all(x, x)
allclose | f32[b2,3]; f32[b2,3] | paddle.allclose(x, y), paddle.allclose(x, x + 1e-9)
bitwise | i64[b2,3]; i64[b2,3] | x & y, x | y, x ^ y, ~x
bitwise_shift | i64[b2,3]; i64[b2,3]@i(0,3) | paddle.bitwise_left_shift(x, y), x >> y
isin | i64[b2,3] | paddle.isin(x, paddle.to_tensor([1, 2, 3]))
isneginf | f32[b2,3] | paddle.isneginf(-1.0 / (x - x)), paddle.isreal(x)
signbit | f32[b2,3]@n | paddle.signbit(x)
sgn | f32[b2,3]@n | paddle.sgn(x)
nan_to_num | f32[b2,3] | paddle.nan_to_num(x / (x - x))
real | c64[b2,3,2] | x.real(), paddle.imag(x), x.conj(), paddle.angle(x), x.abs()
complex maths | c64[b2,3,2]; c64[b2,3,2] | x + y, x * y, x - y, x / y
add_n | f32[b2,3]; f32[b2,3] | paddle.add_n([x, y])
multiplex | f32[2,3]; f32[2,3] | paddle.multiplex([x, y], paddle.to_tensor([[0], [1]]))
increment | f32[1] | paddle.increment(x * 1, 2.0)
renorm | f32[b2,3,4] | paddle.renorm(x, 2.0, 1, 0.5)
rad2deg | f32[b2,3] | paddle.rad2deg(x), paddle.deg2rad(x)
in-place | f32[b2,3] | y = x * 1\\ny.tanh_()\\nreturn y
in-place | f32[b2,3] | y = x * 1\\ny.add_(paddle.to_tensor(1.0))\\nreturn y
in-place | f32[b2,3] | y = x * 1\\ny = y.exp_()\\nreturn y
in-place | f32[b2,3] | y = x * 1\\nz = y.clip_(0.2, 0.5)\\nreturn z
in-place | f32[b2,3] | y = x * 1\\ny = y.reshape_([3, 2])\\nreturn y
in-place | f32[b2,3] | y = x * 1\\ny.zero_()\\nreturn y + 1
in-place | f32[b2,3] | y = x * 1\\ny.fill_(3.0)\\nreturn y
in-place | f32[b2,3] | y = x * 1\\ny += 1\\ny *= 2\\ny -= 0.5\\ny /= 3\\nreturn y
"""

LINALG = """
norm | f32[b2,3] | paddle.norm(x), paddle.linalg.norm(x, axis=1), x.norm(1, axis=1)
norm | f32[b2,3] | paddle.linalg.norm(x, p=float('inf')), paddle.linalg.norm(x, 'fro', axis=[0, 1])
norm | f32[3,3] | paddle.linalg.norm(x, 'nuc')
vector_norm | f32[b2,3] | paddle.linalg.vector_norm(x, 3.0)
matrix_norm | f32[3,3] | paddle.linalg.matrix_norm(x)
dist | f32[b2,3]; f32[b2,3] | paddle.dist(x, y, 2)
det | f32[b2,3,3] | paddle.linalg.det(x)
slogdet | f32[3,3] | paddle.linalg.slogdet(x)
inv | f32[b2,3,3] | paddle.linalg.inv(x + paddle.eye(3))
pinv | f32[3,2] | paddle.linalg.pinv(x)
solve | f32[b2,3,3]; f32[b2,3,1] | paddle.linalg.solve(x + paddle.eye(3), y)
triangular_solve | f32[3,3]; f32[3,1] | paddle.linalg.triangular_solve(x + paddle.eye(3), y)
cholesky | f32[3,3] | paddle.linalg.cholesky(x @ x.t() + paddle.eye(3))
cholesky_solve | f32[3,1]; f32[3,3] | paddle.linalg.cholesky_solve(x, paddle.tril(y) + paddle.eye(3))
lstsq | f32[4,3]; f32[4,1] | paddle.linalg.lstsq(x, y)[0]
qr | f32[3,3] | q, r = paddle.linalg.qr(x)\\nreturn q @ r
svd | f32[4,3] | u, s, v = paddle.linalg.svd(x)\\nreturn s
svdvals | f32[4,3] | paddle.linalg.svdvals(x)
eigh | f32[3,3] | w, v = paddle.linalg.eigh(x + x.t())\\nreturn w
eigvalsh | f32[3,3] | paddle.linalg.eigvalsh(x + x.t())
lu | f32[3,3] | a, p = paddle.linalg.lu(x)\\nreturn a, p
matrix_power | f32[b2,3,3] | paddle.linalg.matrix_power(x, 3)
matrix_rank | f32[3,3] | paddle.linalg.matrix_rank(x)
matrix_exp | f32[3,3] | paddle.linalg.matrix_exp(x)
cond | f32[3,3] | paddle.linalg.cond(x)
cov | f32[3,5] | paddle.linalg.cov(x)
corrcoef | f32[3,5] | paddle.linalg.corrcoef(x)
householder_product | f32[4,3]; f32[3] | paddle.linalg.householder_product(x, y)
vecdot | f32[b2,3]; f32[b2,3] | paddle.linalg.vecdot(x, y)
fft | f32[b2,8] | paddle.as_real(paddle.fft.fft(x))
fft | f32[b2,8] | paddle.as_real(paddle.fft.rfft(x)), paddle.fft.irfft(paddle.fft.rfft(x))
fft | f32[b2,8] | paddle.as_real(paddle.fft.ifft(paddle.fft.fft(x)))
fft2 | f32[b2,4,8] | paddle.as_real(paddle.fft.fft2(x)), paddle.as_real(paddle.fft.rfft2(x))
fft2 | f32[b2,4,8] | paddle.fft.irfft2(paddle.fft.rfft2(x)), paddle.as_real(paddle.fft.ifft2(x))
fftn | f32[2,4,8] | paddle.as_real(paddle.fft.fftn(x)), paddle.fft.irfftn(paddle.fft.rfftn(x))
hfft | f32[b2,8] | paddle.fft.hfft(paddle.fft.fft(x)), paddle.as_real(paddle.fft.ihfft(x))
fft n | f32[b2,8] | paddle.as_real(paddle.fft.fft(x, n=6, norm='ortho'))
fftshift | f32[b2,8] | paddle.fft.fftshift(x), paddle.fft.ifftshift(x)
fftfreq | f32[b2,8] | x + paddle.fft.fftfreq(8)
stft | f32[2,64] | paddle.as_real(paddle.signal.stft(x, 16))
istft | f32[2,64] | paddle.signal.istft(paddle.signal.stft(x, 16), 16)
frame | f32[2,64] | paddle.signal.frame(x, 16, 8)
overlap_add | f32[2,16,7] | paddle.signal.overlap_add(x, 8)
"""

VISION = """
nms | f32[5,4] | paddle.vision.ops.nms(paddle.concat([x[:, :2], x[:, :2] + x[:, 2:]], 1), 0.3)
nms | f32[5,4]; f32[5] | paddle.vision.ops.nms(paddle.concat([x[:, :2], x[:, :2] + x[:, 2:]], 1), 0.3, y)
roi_align | f32[1,3,8,8]; f32[2,4]@u(0,6) | paddle.vision.ops.roi_align(x, y, paddle.to_tensor([2], dtype='int32'), 3)
roi_pool | f32[1,3,8,8]; f32[2,4]@u(0,6) | paddle.vision.ops.roi_pool(x, y, paddle.to_tensor([2], dtype='int32'), 3)
psroi_pool | f32[1,8,8,8]; f32[2,4]@u(0,6) | paddle.vision.ops.psroi_pool(x, y, paddle.to_tensor([2], dtype='int32'), 2)
deform_conv2d | f32[1,3,6,6]; f32[1,18,6,6] | paddle.vision.ops.deform_conv2d(x, y, self.w, padding=1) | self.w = self.create_parameter([4, 3, 3, 3])
DeformConv2D | f32[1,3,6,6]; f32[1,18,4,4] | self.m(x, y) | self.m = paddle.vision.ops.DeformConv2D(3, 4, 3)
yolo_box | f32[1,14,4,4]; i32[1,2]@i(60,64) | a, b = paddle.vision.ops.yolo_box(x, y, [10, 13, 16, 30], 2, 0.01, 32)\\nreturn a, b
prior_box | f32[1,3,4,4]; f32[1,3,32,32] | a, b = paddle.vision.ops.prior_box(x, y, [4.0])\\nreturn a, b
box_coder | f32[3,4]; f32[3,4] | paddle.vision.ops.box_coder(x, [0.1, 0.1, 0.2, 0.2], y)
matrix_nms | f32[1,5,4]; f32[1,2,5] | paddle.vision.ops.matrix_nms(x, y, 0.1, 0.1, 5, 3)[0]
distribute_fpn_proposals | f32[4,4]@u(0,60) | paddle.vision.ops.distribute_fpn_proposals(x, 2, 5, 4, 224)[1]
ConvNormActivation | f32[b1,3,6,6] | self.m(x) | self.m = paddle.vision.ops.ConvNormActivation(3, 4)
normalize image | f32[3,4,4] | (x - paddle.to_tensor([0.5, 0.5, 0.5]).reshape([3, 1, 1])) / 0.2
segment_sum | f32[4,3] | paddle.geometric.segment_sum(x, paddle.to_tensor([0, 0, 1, 1]))
segment_mean | f32[4,3] | paddle.geometric.segment_mean(x, paddle.to_tensor([0, 0, 1, 1]))
segment_max | f32[4,3] | paddle.geometric.segment_max(x, paddle.to_tensor([0, 0, 1, 1]))
send_u_recv | f32[4,3] | paddle.geometric.send_u_recv(x, paddle.to_tensor([0, 1, 2]), paddle.to_tensor([1, 2, 1]))
viterbi_decode | f32[2,4,3]; f32[3,3] | a, b = paddle.text.viterbi_decode(x, y, paddle.to_tensor([4, 3]), False)\\nreturn a, b
"""

FLOW = """
if | f32[b2,3] | if x.sum() > 1:\\n    y = x * 2\\nelse:\\n    y = x - 1\\nreturn y
if | f32[b2,3] | if x.mean() > 5:\\n    return x.exp()\\nreturn x.tanh()
if | f32[b2,3] | if not (x > 2).any():\\n    x = x + 1\\nreturn x
if | f32[b2,3] | y = x\\nif (x.sum() > 1) and (x.max() < 2):\\n    y = x.sigmoid()\\nreturn y * 1
if | f32[b2,3] | if paddle.logical_or(x.sum() > 100, x.min() > -1):\\n    x = x.matmul(x.t())\\nreturn x * 1
if | f32[b2,3] | if x.shape[0] > 1:\\n    x = x * 3\\nreturn x * 1
if expression | f32[b2,3] | y = x * 2 if x.sum() > 1 else x * 3\\nreturn y
while | f32[b2,3] | i = paddle.zeros([1])\\nwhile i < 3:\\n    x = x.tanh()\\n    i = i + 1\\nreturn x * 1
while | f32[b2,3] | while x.sum() < 100:\\n    x = x * 2\\nreturn x * 1
while | f32[b2,3] | i = paddle.to_tensor(0)\\nwhile i < 5:\\n    if x.sum() > 20:\\n        break\\n    x = x * 2\\n    i += 1\\nreturn x * 1
for | f32[b4,3] | y = paddle.zeros([3])\\nfor i in range(x.shape[0]):\\n    y = y + x[i]\\nreturn y
for | f32[4,3] | y = []\\nfor row in x:\\n    y.append(row.max())\\nreturn paddle.stack(y)
for | f32[b4,3] | y = paddle.zeros([3])\\nfor row in x:\\n    y = y + row.exp()\\nreturn y
for | f32[b4,3] | y = []\\nfor i in range(paddle.shape(x)[0]):\\n    y.append(x[i] * 2)\\nreturn paddle.stack(y)
for | f32[b2,3] | for i in range(3):\\n    if i == 1:\\n        continue\\n    x = x * (i + 1)\\nreturn x
list | f32[b2,3] | y = [x]\\nfor _ in range(3):\\n    y.append(y[-1].tanh())\\nreturn paddle.concat(y, 1)
dict | f32[b2,3] | d = {'a': x * 2}\\nd['b'] = d['a'].exp()\\nreturn d['b']
cond | f32[b2,3] | paddle.static.nn.cond(x.sum() > 1, lambda: x * 2, lambda: x * 3)
assert shape | f32[b2,3] | assert x.shape[1] == 3\\nreturn x * 2
len | f32[4,3] | x * len(x)
print | f32[b2,3] | print('tracing')\\nreturn x * 2
ternary and | f32[b2,3] | y = x.sum() > 1 and x.max() < 100\\nreturn x * y.astype('float32')
any of python | f32[b2,3] | if any([x.shape[1] == 3, False]):\\n    x = x + 1\\nreturn x
isinstance | f32[b2,3] | if isinstance(x, (list, tuple)):\\n    x = x[0]\\nreturn x * 2
lambda | f32[b2,3] | f = lambda a: a.tanh() * 2\\nreturn f(x)
inner function | f32[b2,3] | def g(a, b=2):\\n    return a.sigmoid() * b\\nreturn g(x) + g(x, b=3)
zip | f32[b2,3]; f32[b2,3] | t = 0\\nfor a, b in zip([x, y], [y, x]):\\n    t = t + a * b\\nreturn t
enumerate | f32[b2,3] | for i, f in enumerate([paddle.exp, paddle.tanh]):\\n    x = f(x) * (i + 1)\\nreturn x
map | f32[b2,3] | a, b = map(paddle.exp, [x, x * 2])\\nreturn a + b
no_grad | f32[b2,3] | with paddle.no_grad():\\n    y = x.exp()\\nreturn y
kwargs | f32[b2,3] | paddle.sum(**{'x': x, 'axis': 1})
none parameter | f32[b2,3] | x * 2 if self.p is None else x * self.p | self.p = None
buffer | f32[b2,3] | x + self.b | self.register_buffer('b', paddle.to_tensor([1.0, 2.0, 3.0]))
parameter only | f32[3] | x + paddle.tanh(self.w).sum() | self.w = self.create_parameter([3])
tensor attribute | f32[b2,3] | paddle.multiply(x, self.t) | self.t = paddle.to_tensor([1.0, 2.0, 3.0])
numpy constant | f32[b2,3] | x + paddle.to_tensor(self.n) | self.n = np.ones([3], 'float32')
parameterless | f32[b2,3] | paddle.tanh(x)
nested outputs | f32[b2,3] | x * 2, [x + 1, (x - 1,)]
"""

COMPUTED = """
computed | f32[b2,2,3] | F.affine_grid(x, [x.shape[0], 3, 8, 8])
computed | f32[b4,6] | paddle.crop(x, shape=[x.shape[0], 3], offsets=[0, 1])
computed | f32[b4,6] | paddle.crop(x, shape=[2, -1], offsets=[x.shape[0] - 2, 1])
computed | f32[b2,6] | F.pad(x, [0, x.shape[0], 0, 1], value=0.5)
computed | f32[b2,6] | F.pad(x, [x.shape[0], 1])
computed | f32[b2,3,6,6] | F.pad(x, [0, x.shape[0], 0, 1], mode='reflect')
computed | f32[b2,3,6] | F.pad(x, [0, x.shape[0], 0, 1, 2, 0], pad_from_left_axis=False)
computed | f32[b3,2] | x + paddle.linspace(0, 1, x.shape[0]).unsqueeze(1)
computed | f32[b3,2] | x + paddle.arange(0, x.shape[0] * 2, 2).astype('float32').unsqueeze(1)
computed | f32[b4,4] | paddle.gather(x, paddle.arange(x.shape[0] - 1, -1, -1))
computed | f32[b4,4] | paddle.arange(x.shape[0] * 3, 1, -2) + x[0, 0].astype('int64')
computed | f32[b3,4] | paddle.roll(x, x.shape[0], 1)
computed | f32[b3,4] | paddle.roll(x, [x.shape[0], 1], [1, 0])
computed | i64[b3]@i(1,4) | F.sequence_mask(x, maxlen=x.shape[0] + 2)
computed | i64[b3]@i(1,4) | F.sequence_mask(x, maxlen=x.max(), dtype='float32')
computed | f32[b4,6] | paddle.strided_slice(x, [0], [0], [x.shape[0]], [2])
computed | f32[b4,4] | x + paddle.eye(x.shape[0], 4)
computed | f32[b4,4] | x.repeat_interleave(2, 0)
computed | f32[b4,4] | x.repeat_interleave(x.shape[0], 1)
computed | f32[b4,4]; f32[b4,4] | z = x * 1\\nz[y > 0.5] = y[y > 0.5]\\nreturn z
computed | f32[b4,4]; f32[b4,4] | z = x * 1\\nm = y[:, 0] > 0.2\\nz[m] = y[m] * 2\\nreturn z
computed | f32[b2,12]@n | self.m(x) | self.m = nn.Unflatten(1, [3, -1])
computed | f32[b12,3]@n | paddle.unflatten(x, 0, [-1, 4]), paddle.unflatten(x.reshape([-1, 2, 3]), 2, (-1, 3))
computed | f32[b2,6]@n; f32[b2,6]@n | paddle.inner(x, y), paddle.inner(x, y[0])
computed | f32[b2,7,7,3]@n | F.adaptive_avg_pool2d(x, 1, data_format='NHWC')
computed | f32[b2,3] | paddle.isin(x, paddle.to_tensor([0.1, 0.5, 1.0])), paddle.isin(x > 0.5, paddle.to_tensor([True]), invert=True)
"""

GROUPS = (LAYERS, LOSSES, FUNCTIONAL, MANIPULATION, INDEXING, MATHS, LINALG, VISION, FLOW, COMPUTED)


def cases() -> list[Case]:
    found = [case(f"F.{name}", "F", f"F.{name}(x)", "f32[b2,3]@n") for name in ACTIVATIONS.split()]
    seen: Counter[str] = Counter()
    for group in GROUPS:
        for line in group.strip().splitlines():
            name, inputs, body, *init = (part.strip() for part in line.split(" | "))
            seen[name] += 1
            texts = [text.strip() for text in inputs.split(";")]
            found.append(case(name, f"#{seen[name]}", body.replace("\\n", "\n"), *texts, init=init[0] if init else ""))
    return found
