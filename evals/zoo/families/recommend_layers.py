"""What `forward` of PaddleRec's networks is from tensor to tensor: they take lists of columns, and labels."""

from __future__ import annotations

from typing import Any

import paddle
from paddle import nn


class Listed(nn.Layer):
    """Networks that take all inputs as one list."""

    def __init__(self, network: Any) -> None:
        super().__init__()
        self.network = network


class Fields(Listed):
    """Ids of `sparse` [batch, fields] as a list of columns, and numbers beside them."""

    def forward(self, sparse, dense):
        return self.network(paddle.split(sparse, sparse.shape[1], axis=1), dense)


class FirstOfFields(Fields):
    """DCN also gives a term of the loss."""

    def forward(self, sparse, dense):
        return self.network(paddle.split(sparse, sparse.shape[1], axis=1), dense)[0]


class Columns(Listed):
    """Ids of `sparse` [batch, fields] as a list of columns."""

    def forward(self, sparse):
        return self.network(paddle.split(sparse, sparse.shape[1], axis=1))


class Cells(Listed):
    """Ids of `sparse` [batch, fields] as a list of vectors [batch], each kept as [batch, 1]."""

    def forward(self, sparse):
        return self.network([sparse[:, field : field + 1] for field in range(sparse.shape[1])])


class Bags(Listed):
    """Ids of `sparse` [batch, fields, words] as a list of bags of words."""

    def forward(self, sparse):
        return self.network([sparse[:, field] for field in range(sparse.shape[1])])


class History(Listed):
    """DIN: what was looked at, beside what is offered; the label is read in training alone."""

    def forward(self, items, categories, item, category, mask, item_again, category_again):
        return self.network(items, categories, item, category, None, mask, item_again, category_again)


class Evolution(Listed):
    """DIEN also gets what was not looked at, and gives a term of the loss."""

    def forward(self, items, categories, item, category, mask, item_again, category_again, items_not, categories_not):
        seen, again = (items, categories, item, category, None, mask), (item_again, category_again)
        return self.network(*seen, *again, items_not, categories_not)[0]


class Two(Listed):
    """Two inputs as a list."""

    def forward(self, left, right):
        return self.network([left, right])


class Three(Listed):
    """Three inputs as a list."""

    def forward(self, left, middle, right):
        return self.network([left, middle, right])


class Pair(Listed):
    """NCF: a user and an item; the label is read in training alone."""

    def forward(self, user, item):
        return self.network([user, item, None])


class Match(Listed):
    """DSSM: how near a query is to a document."""

    def forward(self, query, document):
        return self.network([query, document], True)[0]


class Views(Listed):
    """The multi-view network: how near the words of a query are to those of a title."""

    def forward(self, query, title):
        return self.network([[query], [title]], True)[0]


class Ranking(Listed):
    """DMR: ids of a history and of an offer in one table, and the price."""

    def forward(self, ids, price):
        return self.network([ids, price], True)[0]


class News(Listed):
    """NAML and Fastformer: what is offered and what was read, by category, title and text."""

    def forward(self, category, read, part, parts_read, title, titles_read, text, texts_read):
        return self.network([category, read, part, parts_read, title, titles_read, text, texts_read])


class Interests(Listed):
    """MIND: the capsules of interests of a user."""

    def forward(self, items, length):
        return self.network(items, length)


class Timed(Listed):
    """TiSAS: scores of items after a history with its times."""

    def forward(self, items, times, offered):
        return self.network(items, times, [offered])


class Every(Listed):
    """ENSFM: scores of all items for each user."""

    def forward(self, user, items):
        return self.network(user, items)[0]


class Beginning(Listed):
    """BERT4Rec: the words at marked places of a history."""

    def forward(self, ids, places, kinds, mask, marked):
        return self.network(ids, places, kinds, mask, marked)
