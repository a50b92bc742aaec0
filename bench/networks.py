"""Sixty days of a social network, after sixty days of history: who follows whom, posts, pages."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

HISTORY, DAYS = 60, 60
TOTAL = HISTORY + DAYS
Numbers = np.ndarray[Any, np.dtype[Any]]


@dataclass
class Network:
    """Edges from authors to readers, and what each user does each day."""

    name: str
    users: int
    author: Numbers
    reader: Numbers
    begin: Numbers
    """First day of each edge; history has negative days."""
    end: Numbers
    posts: Numbers
    """users x TOTAL"""
    pages: Numbers
    """users x DAYS"""
    window: Numbers = field(init=False)
    """users x DAYS: how many days a page goes back."""
    shown: Numbers = field(init=False)
    """edges x DAYS: what a page shows of the author."""

    def active(self, day: int) -> Numbers:
        alive: Numbers = (self.begin <= day) & (day < self.end)
        return alive

    def prepare(self, page: int, kept: float) -> None:
        """How far back a page of each reader goes each day, and what each source has on it."""
        inflow = np.zeros((self.users, TOTAL), np.float32)
        for day in range(TOTAL):
            alive = self.active(day - HISTORY)
            inflow[:, day] = np.bincount(
                self.reader[alive], self.posts[self.author[alive], day], self.users
            )
        total = np.concatenate([np.zeros((self.users, 1)), np.cumsum(inflow, 1)], 1)
        made = np.concatenate([np.zeros((self.users, 1)), np.cumsum(self.posts, 1)], 1)
        self.window = np.zeros((self.users, DAYS), np.float32)
        self.shown = np.zeros((len(self.author), DAYS), np.float32)
        grid = np.arange(TOTAL + 1.0)
        for day in range(DAYS):
            now = HISTORY + day + 0.5
            here = (total[:, HISTORY + day] + total[:, HISTORY + day + 1]) / 2
            wanted = np.maximum(here - page, 0)
            back = np.array([np.interp(w, row, grid) for w, row in zip(wanted, total, strict=True)])
            back = np.clip(back, now - kept, now - 1e-4)
            self.window[:, day] = now - back
            start = back[self.reader]
            low = start.astype(int)
            before = made[self.author, low]
            before = before + (made[self.author, low + 1] - before) * (start - low)
            upto = (made[self.author, HISTORY + day] + made[self.author, HISTORY + day + 1]) / 2
            self.shown[:, day] = np.minimum(upto - before, page)


def follow(
    dice: np.random.Generator,
    users: int,
    follows: Numbers,
    weights: Numbers,
    reach: list[Numbers] | None,
) -> tuple[Numbers, Numbers]:
    """Distinct authors for each reader, drawn by weight (Gumbel's trick)."""
    authors, readers = [], []
    logs = np.log(weights)
    for reader in range(users):
        count = int(min(users // 3, max(1, follows[reader])))
        score = logs + dice.gumbel(size=users)
        if reach is not None:
            score = score + reach[reader]
        score[reader] = -np.inf
        chosen = np.argpartition(-score, count)[:count]
        authors.append(chosen)
        readers.append(np.full(count, reader))
    return np.concatenate(authors), np.concatenate(readers)


def lognormal(
    dice: np.random.Generator, size: int, mean: float, sigma: float, most: float
) -> Numbers:
    drawn = dice.lognormal(0, sigma, size)
    bounded: Numbers = np.minimum(drawn * mean / np.exp(sigma**2 / 2), most)
    return bounded


def make(name: str, seed: int, users: int, mean_follows: float = 30) -> Network:
    """A network of one kind; the same for the same seed."""
    dice = np.random.default_rng([seed, sum(map(ord, name))])
    exponent = {"Zipf 0.8": 0.8, "Zipf 1.4": 1.4}.get(name, 1.0)
    weights = (1.0 + np.arange(users)) ** -exponent
    follows = lognormal(dice, users, mean_follows, 0.8, users / 4)
    posting = lognormal(dice, users, 0.5, 1.6, 50.0)
    reading = lognormal(dice, users, 5.0, 1.0, 60.0)
    reach = None
    if name == "uniform":
        weights = np.ones(users)
        posting, reading = np.full(users, 0.5), np.full(users, 5.0)
        follows = np.full(users, mean_follows)
    if name.startswith("trial"):
        follows, reading = np.full(users, 20), np.full(users, 10.0)
    if name.endswith("popular post most"):
        posting = np.sort(posting)[::-1]
    if name == "popular post least":
        posting = np.sort(posting)
    if name == "communities":
        group = dice.integers(0, 20, users)
        weights = dice.permutation(weights) ** 0.6
        reach = [np.where(group == group[reader], 0.0, -4.0) for reader in range(users)]
        posting *= np.exp(dice.normal(0, 0.7, 20))[group]
        reading *= np.exp(dice.normal(0, 0.7, 20))[group]
    if name == "posters read most":
        matched = np.empty(users)
        matched[np.argsort(posting)] = np.sort(reading)
        reading = matched
    if name == "lurkers":
        reading = np.where(dice.random(users) < 0.5, 0.3, reading)
    if name == "dense":
        follows = follows * 2.5
    author, reader = follow(dice, users, follows, weights, reach)
    if name == "celebrity":
        extra = np.setdiff1d(np.arange(1, users), reader[author == 0])
        author = np.concatenate([author, np.zeros(len(extra), int)])
        reader = np.concatenate([reader, extra])
        posting[0] = 20.0
    begin = np.full(len(author), -HISTORY)
    end = np.full(len(author), DAYS)
    rate = np.repeat(posting[:, None], TOTAL, 1)
    pages = np.repeat(reading[:, None], DAYS, 1)
    if name == "bursts":
        for day in range(TOTAL):
            rate[dice.random(users) < 0.02, day : day + 2] *= 25
        rate = np.minimum(rate, 100)
        for day in range(DAYS):
            pages[dice.random(users) < 0.03, day] *= 6
    if name == "weekly":
        weekly = dice.random(users) < 0.6
        weekday = dice.integers(0, 7, users)
        visits = (np.arange(DAYS)[None, :] % 7) == weekday[:, None]
        pages = np.where(weekly[:, None], visits * np.minimum(reading, 4)[:, None], pages)
    if name == "churn":
        author, reader, begin, end = _churn(dice, users, author, reader, begin, end, rate, pages)
    posts = dice.poisson(rate).astype(np.float32)
    read = dice.poisson(pages).astype(np.float32)
    return Network(name, users, author, reader, begin, end, posts, read)


def _churn(
    dice: np.random.Generator,
    users: int,
    author: Numbers,
    reader: Numbers,
    begin: Numbers,
    end: Numbers,
    rate: Numbers,
    pages: Numbers,
) -> tuple[Numbers, Numbers, Numbers, Numbers]:
    """Habits change, people stop reading, and three follows in ten are replaced."""
    for user in range(users):
        for change in np.flatnonzero(dice.random(DAYS) < 1 / 30):
            kind = dice.random()
            if kind < 0.35:
                pages[user, change:] = lognormal(dice, 1, 5.0, 1.0, 60)[0]
            elif kind < 0.6:
                pages[user, change:] = 0.02
            else:
                rate[user, HISTORY + change :] = lognormal(dice, 1, 0.5, 1.6, 50)[0]
    leaving = dice.random(len(author)) < 0.3
    end = np.where(leaving, dice.integers(1, DAYS, len(author)), end)
    replaced = np.flatnonzero(leaving)
    others = dice.permutation(author[replaced])
    return (
        np.concatenate([author, others]),
        np.concatenate([reader, reader[replaced]]),
        np.concatenate([begin, end[replaced]]),
        np.concatenate([end, np.full(len(replaced), DAYS)]),
    )


NAMES = (
    "Zipf 0.8",
    "Zipf 1.0",
    "Zipf 1.4",
    "popular post most",
    "popular post least",
    "uniform",
    "communities",
    "celebrity",
    "bursts",
    "weekly",
    "churn",
    "posters read most",
    "lurkers",
    "dense",
)
TRIALS = ("trial", "trial, popular post most")
"""Two hundred users who follow twenty each and read ten pages a day."""
