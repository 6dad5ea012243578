"""docs/spec.zh.md: the phrases and sentences of docs/spec.md in Chinese.

Each sentence stands beside the first digits of the sha256 of the English one that it translates: where that changes,
a test names the key and the new digits.
"""

from __future__ import annotations

START = """# spec 逐键说明

[English](spec.md)

spec 描述导出什么，以及对导出结果作出哪些承诺。它是单个 YAML 1.2 文件：`yes`、`017`、`1:30` 都是文本，同一个键不能出现两次。未知的键会被拒绝，并提示最可能想写的那个。路径以当前工作目录为准。

- `exporter init NAME --model M:F` 试运行模型，据此写出第一份 spec 及其输入。
- `exporter init --schema` 打印 JSON Schema。编辑器据此补全键名，并显示本页的说明。
- `--set KEY=VALUE` 在命令行上按位置设置单个键：`--set dims.batch.max=16`。

位置中的 `NAME` 是 spec 自己起的名称，`[]` 表示列表中的一项。本页由命令生成：`python -m tools.spec_pages docs`。"""

PHRASES = {
    "start": START,
    "top": "顶层",
    "forms": "`values` 的写法",
    "engines": "推理引擎",
    "about_engines": "各引擎能以下列精度运行下列格式。`exporter doctor` 会说明本机能用哪些。",
    "variants": "精度",
    "about_variants": "除 `fp32` 外，各精度接受下列设置，以及 `formats` 和 `budget`。没有承诺的项目取默认 budget（[precision.md](precision.md)）。",
    "key": "键",
    "values": "取值",
    "default": "默认值",
    "meaning": "作用",
    "formats": "格式",
    "precisions": "精度",
    "settings": "设置",
    "budget": "默认 budget",
    "required": "必填",
    "none": "无",
    "or": "，或",
    "comma": "、",
    "keys": "下列各键",
    "plain": "JSON 值",
    "mapping": "映射：名称 → {}",
    "list": "列表：{}",
    "some": "非空列表：{}",
    "text": "文本",
    "long": "至少 {} 个字符的文本",
    "date": "日期，如 `2027-01-31`",
    "boolean": "`true` 或 `false`",
    "integer": "整数",
    "number": "数",
    "name": "字母、数字、`.`、`_`、`-`",
    "identifier": "标识符",
    "sum": "标识符，或其后加 `+N`",
    "reference": "`module:name`",
    "device": "`auto`、`cpu`、`gpu`、`gpu:N`",
    "safetensors": "`FILE.safetensors`",
}

SENTENCES = {
    "section ": ("b96dc71d", "描述导出什么，以及对导出结果作出哪些承诺。带注释的完整例子见 `specs/digits.yaml`。"),
    "name": ("c0b1e9de", "模型及其 bundle 的名称，发布到 `artifacts/NAME/VERSION/`。"),
    "version": (
        "bd5eaaf7",
        "bundle 的版本；不写时取 spec、参数与产物的摘要。`candidate`、`failed` 和 `unverified` 是另有用途的文件夹名，会被拒绝。",
    ),
    "model": ("90e08148", "模型工厂：返回 `paddle.nn.Layer` 的函数，或某个 Layer 类本身。"),
    "source": (
        "4c6c64c2",
        "代替 `model`：Paddle 程序文件 `inference.json` 或 `.pdmodel`，或其所在的文件夹。程序自身说明的内容无需再写：`args`、`inputs`、`outputs`、`weights`，以及图像常用的 `dims`。",
    ),
    "args": (
        "8dcf0669",
        "工厂函数的参数，按名称给出：文本、数、`true`、`false`、`null`，以及由它们组成的列表和映射。recipe 的 `build` 若带形参，也会得到这些参数。",
    ),
    "recipe": (
        "f957230e",
        "模型的训练方式。提供 checkpoint（除非已给出 `checkpoint`）、`values: dataset` 的样本、校准样本以及评估指标。",
    ),
    "checkpoint": ("ec44d1f4", "训练好的权重文件，`.safetensors` 或 `.pdparams`；给出后不再训练。"),
    "weights": (
        "9d658b64",
        "`factory` 表示导出工厂函数自带的权重，即未经 recipe 训练。不写时必须给出 `recipe` 或 `checkpoint`；写了则两者都不能出现。",
    ),
    "prune": ("8f698ed0", "导出前做通道剪枝。"),
    "inputs": ("46c060b8", "`forward` 的输入，名称与其形参一致。"),
    "dims": ("31d132f8", "shape 中出现的每个命名维度的取值范围；没有输入用到的维度会被拒绝。"),
    "outputs": (
        "a7d8c168",
        "输出名称，顺序与 `forward` 的返回值一致。不写时取返回字典的键，否则为 `output_0`、`output_1` …",
    ),
    "formats": (
        "859645b4",
        "要写出的格式：`pir` 为 `.json` 与 `.pdiparams`，`pdmodel` 为 `.pdmodel` 与 `.pdiparams`。",
    ),
    "engines": (
        "bc069223",
        "用来验证产物的推理引擎。每个变体至少要有一个能运行它的引擎；不写时，默认引擎中能运行任一所选格式的都会参与。",
    ),
    "precisions": ("ca64b5cb", "要写出并评判的精度，可带设置，也可只写名称列表。`fp32` 必须在内，且不接受任何设置。"),
    "opset": (
        "87477f9a",
        "期望的 ONNX opset；不写时为 17。若实际写出的是另一个 opset，报告会注明；不写出 ONNX 时写此键会被拒绝。",
    ),
    "writer": (
        "967fe817",
        "ONNX 的写出方式。`program` 直接从 PIR 程序写出，支持 opset 11 到 25，写不了的算子会指名拒绝。`paddle2onnx` 原样保留 paddle2onnx 写出的文件，供对照，由同一套关卡评判（docs/onnx.md）。",
    ),
    "external_data_mb": (
        "f667fbae",
        "ONNX 文件超过多少（单位 10⁶ 字节）时，较大的张量写到旁边的 `model.onnx.data`。不写时以单个 ONNX 文件的上限 2,147 为准。",
    ),
    "budget": (
        "3ad05771",
        "允许的误差比：推理引擎相对 float64 的误差，除以动态图 float32 自身的误差（docs/parity.md）。",
    ),
    "depends": (
        "6339cbc9",
        "项目之外、模型或其数据会读取而工具看不到的文件的匹配模式（docs/cache.md）。",
    ),
    "ignores": (
        "56063b0a",
        "项目中对这个 spec 没有任何影响的文件的匹配模式（docs/cache.md）。",
    ),
    "golden_mb": (
        "59763b59",
        "golden 记录的大小上限，单位 10⁶ 字节：超出后，最大的若干输出各以 65,536 个元素的固定种子采样代替。输入始终完整保存。",
    ),
    "ranks": (
        "994e7a3b",
        "按 recipe 训练的进程数，各进程分担每个 batch 的行（数据并行），有 GPU 时每个进程占一块；与 `exporter train --ranks` 相同（docs/training.md）。微调只用一个进程。",
    ),
    "seed": ("6801ba65", "所有随机数生成器的种子：初始权重、训练、用例取值、采样。"),
    "device": (
        "dda4315e",
        "训练与推理引擎所用的设备。`auto` 在所有引擎都能用某块 GPU 时取该 GPU，否则取 CPU；指定了却不存在的设备以退出码 3 结束。",
    ),
    "targets": (
        "7d28cc2d",
        "必须能加载产物的运行时，如 `paddle_inference>=2.6`：`.pdmodel` 按其中最旧的 Paddle Inference 写出。读不了 `formats` 中任何一种格式的运行时会被拒绝，未知名称也会；`pir` 从 Paddle 3.0 起才能读取。也可写明外部的使用方（`rknn`、`ncnn==20260113`）：它们不能接受的内容在训练之前就被拒绝（`exporter targets` 列出它们）。",
    ),
    "decoding": ("a169dea3", "模型是解码器的一步：缓存逐步反馈回输入，评判误差如何增长（docs/decoding.md）。"),
    "candidates": (
        "3f52b6ba",
        "其他工具由该模型生成的文件，每项为路径或 `{file: …, name: …}`：发布时与自己的产物一样评判，以其名称列出；bundle 不收录这些文件（docs/sources.md）。",
    ),
    "determinism": (
        "082e8fb8",
        "`bits` 承诺无论产物怎样运行都逐位相同：运行两次、在两个进程中、用一个线程与两个线程、每行单独与在其 batch 中、有填充与无填充（docs/determinism.md）。",
    ),
    "waivers": ("2351a615", "暂时允许不成立的断言。"),
    "pipeline": ("0dfe02f9", "模型前后的处理步骤，在训练与部署之间逐步比对（docs/pipeline.md）。"),
    "section pipeline": ("7bab357a", "模型前后的处理步骤（训练时的与部署时的），以及用来比对它们的原始样本。"),
    "pipeline.samples": ("40fd440e", "原始样本文件的匹配模式：图片、一行一个样本的 `.txt`、`.npy`、`.safetensors`。"),
    "pipeline.input": ("a4c0e7ec", "最后一步所喂给的输入；不写则为唯一的或第一个输入。"),
    "pipeline.preprocess": ("2cbeedba", "从原始样本到模型输入的步骤。"),
    "pipeline.postprocess": ("0e3293b3", "从模型输出到最终答案的步骤。"),
    "pipeline.fold": (
        "348ccaf3",
        "`true` 把部署步骤中属于张量的部分放进计算图：`inputs` 这时是其中第一步所取的，如 uint8 [batch, height, width, 3]，第一个输出是最终答案（docs/folded.md）。",
    ),
    "pipeline.tolerance": (
        "f5aa4e32",
        "每一步之后允许的差异，以该步数值范围的 1/255 为单位：解码器或缩放实现的像素取整方式不同时写 1。不写则整数必须相等，浮点数只允许 float32 的舍入误差。",
    ),
    "pipeline.max_metric_loss": (
        "57d5b7c1",
        "fp32 产物在全部留出样本上允许的 recipe 指标损失；只在每个输入都是 `values: dataset` 时测量，动态图与各产物用同一份 recipe 代码计算；其他情况下写此键会被拒绝。"
        "`unrated`：该指标不能评价此模型的输出。",
    ),
    "section pipeline.preprocess": (
        "f00f733c",
        "模型之前的步骤，各写成列表、`module:function`，或 `FAMILY:FILE`（docs/pipeline.md）。",
    ),
    "pipeline.preprocess.training": ("62c21aae", "训练与评估生成输入的步骤。"),
    "pipeline.preprocess.deployment": ("acee9ae5", "部署生成输入的步骤：结果必须与前者相同。"),
    "section pipeline.postprocess": ("439fae0d", "模型之后的步骤，写法与之前的步骤相同。"),
    "pipeline.postprocess.training": ("9e0abec9", "训练与评估由输出得到答案的步骤。"),
    "pipeline.postprocess.deployment": ("d8a24174", "部署由输出得到答案的步骤：结果必须与前者相同。"),
    "section decoding": ("8568d244", "解码器的一步，连续运行多次，以自身的输出作为下一步的输入（docs/decoding.md）。"),
    "decoding.cache": (
        "b1ba5acf",
        "保存此前计算结果的输入，各对应一个输出，该输出就是它在下一步的值：键与值，或某个状态。",
    ),
    "decoding.steps": ("6693aeb0", "每个推理引擎连续运行的步数，每一步都用它自己上一步给出的缓存。"),
    "decoding.tokens": (
        "0e5c9b9d",
        "id 类输入，各对应决定它的输出：取最后一组分数中最大者，或直接就是 id。所有引擎都用动态图的选择。没有键提到的输入每一步按其 `values` 重新抽取。",
    ),
    "decoding.counts": (
        "232b3b40",
        "每一步加一的输入，从其 `integers(a,b)` 的最小数开始：例如固定大小缓冲区中的位置。",
    ),
    "decoding.held": ("79faa56c", "在所有步中保持不变的输入，例如编码器给出的内容。"),
    "section prune": ("969d176b", "导出前删去通道；若有 recipe，剪枝后的小模型再按它微调。"),
    "prune.flops": ("be1fc54a", "剪枝后最多保留的 FLOPs 比例，按 typical 尺寸计算。"),
    "prune.importance": (
        "c0c16d93",
        "先剪哪些卷积核：按 `l1`（绝对值之和）或 `fpgm`（与其他卷积核的距离）衡量，最小者先剪。",
    ),
    "prune.multiple_of": ("b6a96fcb", "被剪层保留的通道数是它的倍数：推理引擎按块计算，介于其间的通道数反而更慢。"),
    "prune.epochs": ("787132eb", "微调的轮数，微调需要 recipe；不写时按 recipe 的轮数，0 表示不微调。"),
    "section inputs.NAME": ("d8d72e2c", "`forward` 的一个输入，以形参名为键；文件中的顺序就是调用时的顺序。"),
    "inputs.NAME.dtype": (
        "5be4199b",
        "`forward` 所接收张量的数据类型。不含 `bfloat16`：所记录的用例以 NumPy 保存。",
    ),
    "inputs.NAME.shape": (
        "3586ef0d",
        "各轴的大小，从最外层起；单词表示 `dims` 中的命名维度，其后可以加一个数，如 `past+1`；`[]` 表示标量。",
    ),
    "inputs.NAME.values": ("84d7781e", "所记录的用例里该输入填什么值。"),
    "inputs.NAME.empty_rows": (
        "1cd19660",
        "是否可能有全 0 的行，例如全是填充的一行的掩码：`true` 会增加这样的用例。`false` 承诺没有人会发来这样的行，用例里也没有。适用于 `integers` 和 `uniform`。",
    ),
    "inputs.NAME.finite": (
        "e4cf362a",
        "`true` 承诺没有人会发来 NaN 或无穷大。`false` 会增加在某些行里含有它们的用例：各引擎须在哪些数是有限的这一点上一致（docs/not-finite.md）。适用于浮点数据类型。",
    ),
    "section dims.NAME": (
        "f0d27c8f",
        "一个命名维度。用例在 `typical`、`min`、`max` 和一个奇数尺寸上记录，多个维度之间两两组合。若某维度是输入的第一个轴，且不出现在其他轴上，它就表示行数，即 batch。",
    ),
    "dims.NAME.min": ("b0b202dc", "产物必须支持的最小尺寸。"),
    "dims.NAME.typical": ("abd4c84c", "常用尺寸。特殊取值的用例、校准、FLOPs 与速度都以它为准。"),
    "dims.NAME.max": ("c6469de2", "产物必须支持的最大尺寸。"),
    "dims.NAME.multiple_of": ("b923e8a9", "尺寸的步长：`min`、`typical`、`max` 也必须是它的倍数。"),
    "section precisions.NAME": ("d90b4bdc", "某一精度如何得到。对该精度没有意义的键，会在任何工作开始之前被拒绝。"),
    "precisions.NAME.formats": ("e2272185", "写出该精度变体的格式，须在 spec 的格式之内；不写时为全部。"),
    "precisions.NAME.samples": ("650110fc", "用于校准的样本行数。"),
    "precisions.NAME.data": ("f5a82e58", "每个输入各含若干行的文件，用来代替训练数据或输入的 `.npy` 文件。"),
    "precisions.NAME.noise": ("0a68421c", "`true` 表示在没有真实样本时，允许用随机取值校准。"),
    "precisions.NAME.method": ("8f1dd2f3", "由样本确定激活值范围的方法。"),
    "precisions.NAME.activations": ("419db5c8", "ONNX 中激活值的类型；`int8` 用于要求两个操作数都有符号的引擎。"),
    "precisions.NAME.keep": (
        "37cc97fd",
        "保持 float32 的部分：层（报告中的名称）、算子（`Add.3`），或某一类的全部算子（`Add`）。",
    ),
    "precisions.NAME.search": (
        "9ea4a52a",
        "`true` 表示让噪声最大的层以 float32 计算，权重存为 8、16 或 32 位，直到每个输出都满足 `min_snr_db`。",
    ),
    "precisions.NAME.timed": ("776d3bbf", "`true` 表示报告 `search` 每个候选的速度，但不据此选择。"),
    "precisions.NAME.ranges": (
        "bea34e3f",
        "`trained` 表示带着量化舍入按 recipe 微调（QAT，量化感知训练），并采用激活值在训练中的范围。",
    ),
    "precisions.NAME.epochs": ("22a3d35a", "上述微调的轮数，用于 `ranges: trained`；不写时按 recipe 的轮数。"),
    "precisions.NAME.cpu": (
        "c5725737",
        "`any` 在所有 x86 上都正确：没有 VNNI 的 CPU 以 16 位累加，任意两个乘积都不会溢出，代价是最多一个比特。`vnni` 用满 8 位，面向带 VNNI 的 CPU。",
    ),
    "precisions.NAME.budget": ("157d3080", "评判该变体的依据。"),
    "section precisions.NAME.budget": ("5df9b4e0", "评判低精度变体的依据；没有给出的键取该精度自己的默认值。"),
    "precisions.NAME.budget.min_snr_db": (
        "df006251",
        "相对 float64 的信噪比，单位 dB，把所有承诺的用例合在一起计算；40 dB 相当于 1 % 的误差。",
    ),
    "precisions.NAME.budget.min_top1": (
        "263b09a2",
        "最高分位置与动态图一致的行所占比例；对整数输出则是相等的行所占比例，不写时为 0.9。",
    ),
    "precisions.NAME.budget.max_metric_loss": (
        "2e172883",
        "在全部留出样本上，recipe 的指标最多允许下降多少；此时每个输入都要写 `values: dataset`。"
        "`unrated`：不承诺指标，因为它不能评价此模型的输出。",
    ),
    "precisions.NAME.budget.max_size": ("347b6eff", "该变体文件的字节数，相对 fp32 的比例。"),
    "precisions.NAME.budget.min_speedup": ("733f2a7a", "承诺的加速比；不写则不评判速度，任何精度都没有默认值。"),
    "section precisions.NAME.budget.min_speedup": (
        "b9aea7fa",
        "对速度的承诺。两边都用单线程、交替运行；换到另一类 CPU 上，结果为 `inconclusive`。",
    ),
    "precisions.NAME.budget.min_speedup.engine": ("77284e63", "给该变体计时的引擎，须在 spec 的 `engines` 之内。"),
    "precisions.NAME.budget.min_speedup.ratio": ("8c170e04", "该变体至少要比 fp32 快多少倍。"),
    "precisions.NAME.budget.min_speedup.batch": ("ffe285af", "每次调用的行数；不写时与 typical 用例相同。"),
    "precisions.NAME.budget.min_speedup.over": (
        "1d595f23",
        "作为对照运行 fp32 的引擎；不写时为同一引擎，而 `paddle_inference_int8` 的对照是 `paddle_inference_default`。",
    ),
    "section candidates[]": ("02f0b254", "其他工具由该模型生成的文件，以自己产物的断言与对照来评判。"),
    "candidates[].file": ("df70a2c5", "ONNX、`.json`、`.pdmodel` 或 OpenVINO 的 `.xml`；参数放在旁边。"),
    "candidates[].name": ("49035477", "其断言所用的名称；不写时取文件名。"),
    "section waivers[]": ("2d055c36", "豁免：匹配该模式的断言在截止日期之前可以不成立，每份报告都会写明。"),
    "waivers[].claim": (
        "c626ded3",
        "被豁免断言的匹配模式，如 `onnx/openvino/*`，可用 `*`、`?` 和 `[…]`。`interface` 与 `weights` 两类断言，只有模式以该词结尾时才被覆盖。",
    ),
    "waivers[].reason": ("87db840b", "理由；每份报告都会重复。"),
    "waivers[].until": ("0d95e002", "豁免有效的最后一天。"),
    "values normal": ("3448eb8c", "标准正态分布的随机数。用于浮点类型。"),
    "values uniform(a,b)": ("9280066c", "从 a 到 b 均匀抽取的数，a < b。用于浮点类型。"),
    "values integers(a,b)": (
        "22870779",
        "从 a 到 b - 1 均匀抽取的整数，须在 dtype 的表示范围内。声明了范围之后还会增加用例：全取最小值、全取最大值、互不相同、已排序、每隔一个重复，以及在照常抽取的行之间夹有全是填充、只有一个 token、全是最后一个 id 或取满长度的行。",
    ),
    "values integers(0,2)": (
        "18fbd754",
        "掩码或标志位。增加的用例：全 1、只有末位为 0、1 全部在前，以及在照常抽取的行之间夹有全 0 或只有一个 1 的行；`empty_rows: false` 承诺没有全 0 的行。",
    ),
    "values integers(1,seq+1)": (
        "0cd7656a",
        "上下界可以是命名维度，取它在该用例中的尺寸，还可以加上或减去一个数：这里即长度从 1 到 seq，包括整行。无论该维度取多大，范围都不能为空；`integers(1,seq)` 止于 seq - 1，若 seq 可能为 1 则会被拒绝。",
    ),
    "values integers(seq,seq+1)": (
        "215014e1",
        "只有一个数，即该维度的尺寸：若 `seq` 是已有的长度，它就是下一个 token 的位置（docs/decoding.md）。",
    ),
    "values dataset": (
        "2f6df81c",
        "recipe 留出数据中的行，字段名与输入同名。spec 需要有 `recipe`。行比用例中的命名维度长时从末尾裁掉，较短则会被拒绝。",
    ),
    "values samples": (
        "52dd42dc",
        "`pipeline` 的样本，用于 `fold: true` 的模型，次序随机；用例的行数更多时重复使用。裁剪方式与 recipe 的行相同。",
    ),
    "values FILE.npy": (
        "d61449dd",
        "NumPy 文件中从随机一行起的连续若干行。文件的 dtype 与输入相同，第一轴之后各轴也相同，行数不少于最大的用例。",
    ),
}
