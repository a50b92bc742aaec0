"""Items are made that a model's own validators take, or none at all."""

from __future__ import annotations

from typing import Annotated, Self

import pytest
from pydantic import Field, model_validator

from keyfold import Design, Entity, Id, Key, Timestamp
from keyfold.errors import KeyfoldError
from keyfold_workbench.adopt.made_items import ItemMaker

design = Design("clinic")
table = design.table("clinic")


class Patient(Entity, table=table):
    patient_id: Id
    key = Key("PATIENT#{patient_id}", "PATIENT")


class Appointment(Entity, table=table):
    patient_id: Id
    starts_at: Timestamp
    ends_at: Timestamp
    asked: int
    granted: int
    key = Key("PATIENT#{patient_id}", "{starts_at:iso}")

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.ends_at <= self.starts_at or self.granted > self.asked:
            raise ValueError("out of order")
        return self


hospital = Design("hospital")
wards = hospital.table("wards")


class Bed(Entity, table=wards):
    bed_id: Id
    place: Annotated[str, Field(pattern=r"^ROOM#[^#]+#[a-z0-9]+$")]
    key = Key("BED#{bed_id}", "BED")


impossible = Design("impossible")
closed = impossible.table("closed")


class Closed(Entity, table=closed):
    closed_id: Id
    key = Key("CLOSED#{closed_id}", "CLOSED")

    @model_validator(mode="after")
    def _never(self) -> Self:
        raise ValueError("there is none of these")


def test_fields_that_must_fit_each_other_do() -> None:
    made = ItemMaker(design, seed=1).make(100)
    assert len([one for one in made if isinstance(one, Appointment)]) > 50


def test_a_pattern_of_fixed_texts_and_classes_is_fitted() -> None:
    places = [one.place for one in ItemMaker(hospital).make(5) if isinstance(one, Bed)]
    assert len(set(places)) == 5
    assert all(one.startswith("ROOM#") for one in places)


def test_an_entity_that_takes_nothing_is_named_with_the_way_around() -> None:
    with pytest.raises(KeyfoldError, match=r"Closed: .*there is none of these.*Closed=0"):
        ItemMaker(impossible).make(10)
