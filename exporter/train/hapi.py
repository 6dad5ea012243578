"""In a child: `paddle.Model.fit` as a recipe's own loop."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from exporter.spec.recipe.base import Run


def callback(run: Run) -> Any:
    """What to give `paddle.Model.fit` among its callbacks: it restores, shows, logs and saves by `run`.

    An epoch is logged at its end and saved when the next one begins: callbacks behind this one, as those that step a
    schedule, have done their part then. An epoch that is interrupted begins again.
    """
    import paddle

    class Keep(paddle.callbacks.Callback):  # type: ignore[misc]  # Paddle gives no types
        def on_train_begin(self, logs: Any = None) -> None:
            del logs
            self._logged = False
            run.restore(self.model._optimizer)  # as Model.save takes it (hapi/model.py, Paddle 3.3)

        def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
            del epoch, logs
            self._save()

        def on_train_batch_end(self, step: int, logs: Any = None) -> None:
            run.progress(step + 1, _loss(logs), int(self.params.get("steps") or 0))

        def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
            del epoch
            run.log(loss=_loss(logs))
            self._logged = True

        def on_train_end(self, logs: Any = None) -> None:
            del logs
            self._save()

        def _save(self) -> None:
            if self._logged:
                self._logged = False
                run.save(self.model._optimizer)

    return Keep()


def _loss(logs: Any) -> float:
    """The loss that `paddle.Model` tells: a number, or a list of one for each loss."""
    loss = (logs or {}).get("loss", 0.0)
    return float(sum(map(float, loss)) if isinstance(loss, (list, tuple)) else loss)
