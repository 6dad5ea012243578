"""Every private name of Paddle that is imported or patched, and the versions that it was seen in.

The rooms take what they need from here, within a function: ``from exporter.paddle.private import core``. No other room
names `paddle.base`, `_C_ops` or `dy2static` (tests/test_architecture.py).

`python -m exporter.paddle.audit` says which names the installed Paddle lacks. A version that lacks none joins
:data:`VERSIONS`; a name that is newer than the oldest of them says so by `since`.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from packaging.version import Version

from exporter.base.errors import EnvironmentLacks

#: The versions of Paddle in which each name was looked up, the oldest first.
VERSIONS = ("3.0.0", "3.1.1", "3.2.2", "3.3.0", "3.3.1")


@dataclass(frozen=True)
class Name:
    """`path` is where Paddle has it, `members` what is used of it, `since` the first of the versions that has it."""

    path: str
    members: tuple[str, ...] = ()
    since: str = VERSIONS[0]


#: Private members of Paddle's objects that the rooms use where they have the object, by its class.
MEMBERS: Mapping[str, tuple[str, ...]] = {
    "paddle.base.core.BlockDesc": ("_insert_op", "_remove_op", "_remove_var", "_rename_var"),
    "paddle.base.core.OpDesc": ("_rename_input", "_set_attr"),
    "paddle.base.core.eager.Tensor": ("_is_initialized",),
    "paddle.jit.TranslatedLayer": ("_input_spec",),
    "paddle.jit.dy2static.program_translator.ProgramTranslator": ("_inplace_map", "_params_recorder"),
    "paddle.jit.dy2static.program_translator.StaticFunction": ("_function_spec", "_program_cache"),
    "paddle.nn.BatchNorm2D": ("_use_global_stats",),
    "paddle.nn.Conv2D": ("_groups", "_in_channels", "_out_channels"),
    "paddle.nn.Layer": ("_buffers", "_forward_pre_hooks", "_parameters", "_to_impl"),
    "paddle.optimizer.Optimizer": ("_grad_clip", "_learning_rate", "_parameter_list"),
    "paddle.static.quantization.PostTrainingQuantization": ("_scale_dict",),
}

_CORE = (
    *(
        "DataType",
        "ProgramDesc",
        "VarDesc.VarType",
        "eager.Tensor",
        "deserialize_pir_program",
        "serialize_pir_program",
        "set_num_threads",
    ),
    *("clear_low_precision_op_list", "get_low_precision_op_list"),
    *("need_type_promotion_old_ir", "get_promote_dtype_old_ir", "is_common_dtype_for_scalar"),
    *("default_cpu_generator", "_get_all_register_op_kernels"),
    *(f"host_memory_stat_{what}_value" for what in ("current", "peak", "reset_peak")),
    *(f"device_memory_stat_{what}_value" for what in ("current", "peak", "reset_peak")),
)
_C_OPS = (
    *("argsort", "cast", "fold", "full", "kthvalue", "mode", "share_data", "topk"),
    *("set_value", "set_value_", "set_value_with_tensor", "set_value_with_tensor_"),
    *("linear_interp", "bilinear_interp", "trilinear_interp", "bicubic_interp"),
)
_MAPS = ("methods_map", "funcs_map", "nn_funcs_map")
#: What only a build for GPUs has, in every version.
OF_GPU = (
    *("get_cublas_switch", "set_cublas_switch", "get_cudnn_switch", "set_cudnn_switch"),
    *("default_cuda_generator", "get_cuda_device_count"),
)
#: By the name under which the rooms import it.
NAMES: Mapping[str, Name] = {
    "core": Name("paddle.base.core", _CORE),
    "c_ops": Name("paddle._C_ops", _C_OPS),
    "framework_pb2": Name("paddle.base.proto.framework_pb2", ("ProgramDesc",)),
    # what a program is made of
    "Variable": Name("paddle.base.framework.Variable", ("__truediv__", "__abs__", "clone", "detach", "shape")),
    "Block": Name("paddle.base.framework.Block", ("append_op", "_var_recursive")),
    "tensor_arrays": Name("paddle.tensor.array", ("array_length", "array_read", "array_write", "create_array")),
    "tensor_array_to_tensor": Name("paddle.tensor.manipulation.tensor_array_to_tensor"),
    "Value": Name("paddle.pir.Value", ("get_defining_op", "replace_all_uses_with", "is_same", "set_type")),
    "create_shaped_type": Name("paddle.pir.create_shaped_type"),
    "in_pir_mode": Name("paddle.framework.in_pir_mode"),
    "translate_to_pir": Name("paddle.pir.translate_to_pir"),
    "in_dygraph_mode": Name("paddle.base.framework.in_dygraph_mode"),
    "pir_program_guard": Name("paddle.pir.core.program_guard"),
    "legacy_program_guard": Name("paddle.base.framework.program_guard"),
    "current_expected_place": Name("paddle.base.framework._current_expected_place"),
    "DygraphOldIrGuard": Name("paddle.pir_utils.DygraphOldIrGuard"),
    "DygraphPirGuard": Name("paddle.pir_utils.DygraphPirGuard"),
    # how legacy operators are written
    "OpProtoHolder": Name("paddle.base.framework.OpProtoHolder", ("instance", "get_op_proto")),
    "LayerHelper": Name("paddle.base.layer_helper.LayerHelper", ("append_op",)),
    "LayerHelperBase": Name("paddle.base.layer_helper_base.LayerHelperBase", ("create_variable_for_type_inference",)),
    "convert_into_variable": Name("paddle.base.dygraph.base._convert_into_variable"),
    "convert_to_proto_type": Name("paddle.base.framework.convert_to_proto_type"),
    "convert_dtype": Name("paddle.base.data_feeder.convert_dtype"),
    "check_dtype": Name("paddle.base.data_feeder.check_dtype"),
    "replace_ellipsis": Name("paddle.base.variable_index.replace_ellipsis"),
    "promoted_slots": Name("paddle.base.framework.SUPPORT_PROMOTION_OPS_AND_INPUTNAME"),
    "compat_softmax": Name("paddle.tensor.compat_softmax.softmax", since="3.3.0"),
    "sunk": Name(
        "paddle.base.dygraph.generated_tensor_methods_patch",
        ("methods_map", "funcs_map", "nn_funcs_map"),
        since="3.2.2",
    ),
    "op_info": Name("paddle.incubate.autograd.phi_ops_map.op_info"),
    "op_map": Name("paddle.incubate.autograd.phi_ops_map.op_map"),
    # how Paddle rewrites code, and where the code came from
    "parameter_recorder": Name(
        "paddle.jit.dy2static.parameter_recorder._global_parameter_recorder", ("params_dict", "tensor2value")
    ),
    "inplace_map": Name("paddle.jit.dy2static.parameter_recorder._global_inplace_map", ("params_dict",)),
    "ProgramTranslator": Name("paddle.jit.dy2static.program_translator.ProgramTranslator", ("get_instance",)),
    "ConcreteProgram": Name(
        "paddle.jit.dy2static.program_translator.ConcreteProgram", ("__init__", "pir_from_func_spec")
    ),
    "convert_call_func": Name(
        "paddle.jit.dy2static.convert_call_func", ("convert_call", "convert_zip", "convert_enumerate")
    ),
    "convert_operators": Name("paddle.jit.dy2static.convert_operators", ("convert_ifelse", "convert_while_loop")),
    "CallTransformer": Name(
        "paddle.jit.dy2static.transformers.call_transformer.CallTransformer", ("_no_need_convert_call",)
    ),
    "dy2static": Name("paddle.jit.dy2static"),
    "AssertTransformer": Name(
        "paddle.jit.dy2static.transformers.assert_transformer.AssertTransformer", ("visit_Assert",)
    ),
    "DygraphToStaticAst": Name("paddle.jit.dy2static.transformers.transform.DygraphToStaticAst", ("get_static_ast",)),
    "ForNodeVisitor": Name("paddle.jit.dy2static.transformers.base.ForNodeVisitor", ("__init__",)),
    "IfElseTransformer": Name("paddle.jit.dy2static.transformers.ifelse_transformer.IfElseTransformer", ("visit_If",)),
    "NameLiveness": Name("paddle.jit.dy2static.transformers.utils.FunctionNameLivenessAnalysis", ("visit_ListComp",)),
    "EagerParamBase": Name("paddle.base.framework.EagerParamBase"),
    "ast_to_func": Name("paddle.jit.dy2static.utils.ast_to_func"),
    "convert_to_static": Name("paddle.jit.dy2static.program_translator.convert_to_static"),
    "PyLayerMeta": Name("paddle.autograd.py_layer.PyLayerMeta"),
    "StaticPyLayer": Name("paddle.jit.dy2static.py_layer.StaticPyLayer", ("__init__", "apply")),
    "origins": Name("paddle.jit.dy2static.origin_info.global_origin_info_map"),
    # the hooks that compute a weight from others before each call
    "WeightNorm": Name("paddle.nn.utils.weight_norm_hook.WeightNorm", ("__call__",)),
    "SpectralNorm": Name("paddle.nn.utils.spectral_norm_hook.SpectralNorm", ("__call__",)),
    # what makes batches in processes of its own
    "LoaderIterator": Name("paddle.io.dataloader.dataloader_iter._DataLoaderIterMultiProcess", ("_try_shutdown_all",)),
    # what is patched while a layer is traced
    "inplace_utils": Name("paddle.utils.inplace_utils"),
    "math_op_patch": Name("paddle.base.layers.math_op_patch"),
    "manipulation": Name("paddle.tensor.manipulation", ("view", "view_as", "as_strided", "fill_", "zero_")),
    "select_input": Name("paddle.static.nn.control_flow.select_input"),
    "rnn": Name("paddle.nn.layer.rnn", ("_rnn_static_graph",)),
    "fft": Name("paddle.fft", ("fft_c2c", "fft_r2c", "fft_c2r", "fftn_c2c", "fftn_r2c", "fftn_c2r")),
}


def __getattr__(name: str) -> Any:
    """What the installed Paddle has under a name of the table; None where the name is newer than that Paddle.

    Raises:
        EnvironmentLacks: Paddle has it no more.
    """
    if name not in NAMES:
        raise AttributeError(name)
    known = NAMES[name]
    if newer(known):
        value = None
    else:
        try:
            value = resolve(known.path)
        except (ImportError, AttributeError) as error:
            raise differs((f"{known.path} (gone)",)) from error
    globals()[name] = value
    return value


def newer(name: Name) -> bool:
    """Whether the installed Paddle is older than the first version that has this name."""
    return Version(installed()) < Version(name.since)


def installed() -> str:
    """The version of the Paddle that is imported."""
    import paddle

    return str(paddle.__version__)


def resolve(path: str) -> Any:
    """The object that a dotted path names; modules on the way are imported.

    Raises:
        ImportError, AttributeError: there is no such thing.
    """
    first, *parts = path.split(".")
    value, place = importlib.import_module(first), first
    for part in parts:
        place = f"{place}.{part}"
        if not hasattr(value, part) and hasattr(value, "__path__"):
            importlib.import_module(place)
        value = getattr(value, part)
    return value


def found(path: str) -> Any:
    """As :func:`resolve`; None where the installed Paddle has no such thing."""
    try:
        return resolve(path)
    except (ImportError, AttributeError):
        return None


def differs(what: tuple[str, ...]) -> EnvironmentLacks:
    """The refusal of a Paddle that is not one of the known: what differs in it, and what to install."""
    return EnvironmentLacks(
        f"this Paddle differs in {', '.join(what)}; known are {VERSIONS[0]}–{VERSIONS[-1]}",
        where=f"Paddle {installed()}",
        hint=f"pip install paddlepaddle=={VERSIONS[-1]}, or a release of this tool that lists this Paddle",
    )
