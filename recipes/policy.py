"""A policy that reacts to its environment: bring a cart to rest at the middle of its track, by REINFORCE.

`fit` is a loop of the recipe's own: hundreds of carts are driven at once by the policy as it is, and what they lose on
their way is what it learns of. The environment is whole numbers, 21 places and 9 speeds, so that the metric can drive a
cart from each of the 189 states. Real data: `data/policy/starts.csv`, a line of headings, place and speed a line, are
the states in which training begins.
"""

from __future__ import annotations

import numpy as np
import paddle
from paddle import nn

from exporter.recipe.base import Recipe, Run, Samples
from recipes._folder import real, table

PLACES, SPEEDS = 10, 4  # to each side of 0
STEPS, CARTS, UPDATES = 24, 128, 40
EPOCHS = 3
DISCOUNT = 0.9


class Policy(nn.Layer):
    """State [batch, 2], place and speed from -1 to 1, to logits [batch, 3]: push left, let it roll, push right."""

    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh(), nn.Linear(32, 3))

    def forward(self, state: paddle.Tensor) -> paddle.Tensor:
        """Score the three pushes."""
        return self.body(state)


def build() -> nn.Layer:
    """The factory that `specs/policy.yaml` names."""
    return Policy()


def step(carts: np.ndarray, push: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """What becomes of carts [carts, 2] after a push of -1, 0 or 1, and its cost [carts]; the track's ends stop them."""
    speed = np.clip(carts[:, 1] + push, -SPEEDS, SPEEDS)
    place = np.clip(carts[:, 0] + speed, -PLACES, PLACES)
    speed = np.where(place == carts[:, 0] + speed, speed, 0)
    return np.stack([place, speed], axis=1), (abs(place) + abs(speed)) / (PLACES + SPEEDS)


def every_state() -> np.ndarray:
    """All places and speeds, [states, 2]."""
    places, speeds = np.mgrid[-PLACES : PLACES + 1, -SPEEDS : SPEEDS + 1]
    return np.stack([places.ravel(), speeds.ravel()], axis=1)


def seen(carts: np.ndarray) -> np.ndarray:
    """States as the policy sees them."""
    return (carts / (PLACES, SPEEDS)).astype(np.float32)


def data() -> Samples:
    """To train: states in which carts begin, a push at random, and what it gains; held out: every state there is."""
    dice = np.random.RandomState(0)
    states = every_state()
    folder = real("policy")
    starts = table(folder / "starts.csv").astype(np.int64) if folder else states[dice.randint(len(states), size=512)]
    return Samples(train=_pushed(starts, dice), held_out=_pushed(states, dice))


def _pushed(carts: np.ndarray, dice: np.random.RandomState) -> dict[str, np.ndarray]:
    action = dice.randint(3, size=len(carts))
    _, cost = step(carts, action - 1)
    return {"state": seen(carts), "action": action, "gain": (cost.mean() - cost).astype(np.float32)}


def loss(logits: paddle.Tensor, action: paddle.Tensor, gain: paddle.Tensor) -> paddle.Tensor:
    """REINFORCE: likelier what gained more than was expected; a little entropy, so that all is tried."""
    likely = nn.functional.log_softmax(logits)
    taken = paddle.take_along_axis(likely, action.unsqueeze(1), axis=1).squeeze(1)
    entropy = -(likely.exp() * likely).sum(axis=1)
    return -(taken * gain).mean() - 0.01 * entropy.mean()


def fit(layer: nn.Layer, run: Run) -> None:
    """Drive, learn of it, and drive again; an interrupted run goes on with the epoch that was begun."""
    optimizer = paddle.optimizer.Adam(5e-3, parameters=layer.parameters())
    run.restore(optimizer)
    starts = data().train["state"] * np.float32([PLACES, SPEEDS])
    for epoch in range(run.epoch, run.epochs):
        dice = np.random.RandomState((run.seed + 1000 * epoch) % 2**32)
        losses = []
        for update in range(1, UPDATES + 1):
            value = loss(*_driven(layer, starts, dice))
            value.backward()
            optimizer.step()
            optimizer.clear_grad()
            losses.append(float(value))
            run.progress(update, losses[-1], UPDATES)
        run.log(loss=float(np.mean(losses)))
        run.save(optimizer)


def _driven(layer: nn.Layer, starts: np.ndarray, dice: np.random.RandomState) -> tuple[paddle.Tensor, ...]:
    """Logits, actions and gains of every step of every cart; a gain is against the mean of the other carts' step."""
    carts = np.rint(starts[dice.randint(len(starts), size=CARTS)]).astype(np.int64)
    states, actions, costs = [], [], []
    for _ in range(STEPS):
        states.append(seen(carts))
        with paddle.no_grad():
            chances = nn.functional.softmax(layer(paddle.to_tensor(states[-1]))).numpy()
        actions.append((chances.cumsum(axis=1) < dice.rand(CARTS, 1)).sum(axis=1).clip(max=2))
        carts, cost = step(carts, actions[-1] - 1)
        costs.append(cost)
    still_to_come = np.zeros(CARTS)
    gains = []
    for cost in reversed(costs):
        still_to_come = cost + DISCOUNT * still_to_come
        gains.append(-still_to_come)
    gain = np.stack(gains[::-1])
    gain = (gain - gain.mean(axis=1, keepdims=True)) / gain.std()
    state, action = np.concatenate(states), np.concatenate(actions)
    return layer(paddle.to_tensor(state)), paddle.to_tensor(action), paddle.to_tensor(gain.ravel().astype(np.float32))


def at_rest(logits: np.ndarray, action: np.ndarray, gain: np.ndarray) -> float:
    """Of the carts that begin in each state, the share that the likeliest pushes bring to rest in the middle.

    The logits are those of all states in their order; of fewer rows, as one alone, the share cannot be said: 0.
    """
    carts = every_state()
    if len(logits) != len(carts):
        return 0.0
    push = logits.argmax(axis=1) - 1
    for _ in range(2 * STEPS):
        carts, _ = step(carts, push[(carts[:, 0] + PLACES) * (2 * SPEEDS + 1) + carts[:, 1] + SPEEDS])
    return float((carts == 0).all(axis=1).mean())


recipe = Recipe(
    build=build,
    data=data,
    inputs=("state",),
    labels=("action", "gain"),
    loss=loss,
    metric=at_rest,
    metric_name="at_rest",
    fit=fit,
    epochs=EPOCHS,
    batch_size=64,
    floor=0.9,
)
