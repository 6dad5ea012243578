"""Two recipes whose `fit` is a loop of their own: `paddle.Model.fit`, and a plain script. Data comes in batches."""

from __future__ import annotations

import time

import numpy as np
import paddle
from paddle import nn

from exporter.spec.recipe.base import Part, Recipe, Run

BATCH = 16


class Stripes(nn.Layer):
    """Which way the stripes of a small image run: image [batch, 1, 8, 8] to logits [batch, 3]."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1 = nn.Conv2D(1, 16, 3, padding=1)
        self.conv2 = nn.Conv2D(16, 32, 3, padding=1)
        self.drop = nn.Dropout(0.1)
        self.linear = nn.Linear(32 * 16, 3)

    def forward(self, image: paddle.Tensor) -> paddle.Tensor:
        x = nn.functional.max_pool2d(nn.functional.relu(self.conv1(image)), 2)
        x = nn.functional.relu(self.conv2(x))
        return self.linear(self.drop(x.flatten(1)))


class Images(paddle.io.Dataset):
    """Drawn from the index alone."""

    def __init__(self, part: Part) -> None:
        self.seed, self.size = (0, 320) if part == "train" else (1, 80)

    def __len__(self) -> int:
        return self.size

    def __getitem__(self, index: int) -> tuple[np.ndarray, np.ndarray]:
        dice = np.random.default_rng((self.seed, index))
        label = int(dice.integers(3))
        wave = np.sin(np.arange(8) * 1.7 + dice.uniform(0, 6))
        image = (wave[:, None] + np.zeros(8), np.zeros(8)[:, None] + wave, wave[:, None] * wave)[label]
        image = image + 0.8 * dice.normal(size=(8, 8))
        return image[None].astype("float32"), np.array(label, "int64")


def by_loader(part: Part) -> paddle.io.DataLoader:
    return paddle.io.DataLoader(Images(part), batch_size=BATCH, shuffle=part == "train")


def optimizer(layer: nn.Layer, late: int) -> paddle.optimizer.Optimizer:
    rate = paddle.optimizer.lr.StepDecay(0.01, step_size=40)
    for _ in range(20 * late):
        rate.step()
    return paddle.optimizer.Adam(rate, parameters=layer.parameters())


class Slow(paddle.callbacks.Callback):
    """An epoch shall last long enough to be interrupted within."""

    def on_train_batch_end(self, step: int, logs: object = None) -> None:
        del step, logs
        time.sleep(0.02)


def by_model_fit(layer: nn.Layer, run: Run) -> None:
    model = paddle.Model(layer)
    model.prepare(optimizer(layer, run.late), nn.CrossEntropyLoss())
    left = run.epochs - run.epoch
    model.fit(run.loader(), epochs=left, verbose=0, callbacks=[Slow(), run.callback()])


def by_script(layer: nn.Layer, run: Run) -> None:
    steps = optimizer(layer, run.late)
    saved = run.restore(steps)
    skip, total = saved.get("step", 0), saved.get("total", 0.0)
    for _ in range(run.epoch, run.epochs):
        for step, batch in enumerate(run.batches(skip=skip), skip + 1):
            loss = nn.functional.cross_entropy(
                layer(paddle.to_tensor(batch["image"])), paddle.to_tensor(batch["label"])
            )
            loss.backward()
            steps.step()
            steps.clear_grad()
            steps._learning_rate.step()
            total += float(loss)
            time.sleep(0.02)
            if run.stop:
                run.save(steps, step=step, total=total)
            run.progress(step, float(loss))
        run.log(loss=total / step)
        skip, total = 0, 0.0
        run.save(steps, step=0, total=0.0)


def _recipe(data: object, fit: object) -> Recipe:
    return Recipe(
        build=Stripes,
        data=data,
        inputs=("image",),
        labels=("label",),
        metric=paddle.metric.Accuracy(),
        metric_name="accuracy",
        epochs=3,
        batch_size=BATCH,
        fit=fit,
    )


model_fit = _recipe(by_loader, by_model_fit)
script = _recipe(Images, by_script)
