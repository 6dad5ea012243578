"""`to_static(full_graph=True, backend="CINN")`: the program is compiled by CINN, where Paddle was built with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exporter.deploy.modes.base import Lack, Mode
from exporter.deploy.modes.kinds._layer import TracedMode
from exporter.spec.recipe.base import Recipe

if TYPE_CHECKING:
    import paddle


class Cinn(TracedMode):
    """Without CINN Paddle takes the argument and runs the program uncompiled (3.3.1), so it is asked first."""

    title = "to_static, CINN"

    def lacks(self, recipe: Recipe) -> Lack | None:
        import paddle

        if not paddle.is_compiled_with_cinn():
            what = f"this Paddle {paddle.__version__} was not compiled with CINN"
            return Lack(what, "install a GPU build of Paddle that has it, or leave cinn out", here=True)
        return super().lacks(recipe)

    def trace(self, layer: paddle.nn.Layer) -> None:
        from paddle.jit import to_static

        to_static(layer, full_graph=True, backend="CINN")


plugin: Mode = Cinn()
