"""The languages of everything that people read (`--lang`)."""

from __future__ import annotations

from typing import Literal

Lang = Literal["ja", "en"]
