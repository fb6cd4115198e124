"""The file store's database as a whole: opened when it is first needed, begun anew, set aside, given up.

As a cache it gets over anything: what is damaged is set aside (`generations.py`) with a sentence in `notes`, what was
deleted is begun anew. A *durable* one holds what nobody can make again: there both are a StoreError, and a transaction
may be told to wait for the disk.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from pipeline.stores import generations, tables
from pipeline.stores.faults import DatabaseFault, is_damage, translate
from pipeline.stores.protocol import StoreError
from pipeline.stores.texts import Fault, Note

_ATTEMPTS = 3

_T = TypeVar("_T")

_abandoned: list[sqlite3.Connection] = []
"""Connections of a parent process: SQLite must not touch them in the child, not even to close them."""


class Database:
    """The one in use in `folder`, which is made if it is missing. Everything raises StoreError.

    `replaced` is called where another one takes its place: what was known of its rows is void."""

    def __init__(self, folder: Path, durable: bool, replaced: Callable[[], None]) -> None:
        self.folder = folder
        self.durable = durable
        self.notes: list[Note] = []
        self._replaced = replaced
        self._root = folder.absolute()  # the process may change its working directory
        self._opened: sqlite3.Connection | None = None
        self._identity = (0, 0)
        self._examined = False
        self._generation = 1

    @property
    def path(self) -> Path:
        """As the user named the folder."""
        return generations.database(self.folder, tables.SCHEMA, self._generation)

    @property
    def root(self) -> Path:
        return self._root

    def run(self, action: Callable[[sqlite3.Connection], _T]) -> _T:
        """The action's result; over a damaged database that on a new one, over one that was deleted just now as well.
        Only transactions may change things."""
        for left in reversed(range(_ATTEMPTS)):
            try:
                try:
                    return action(self._connection())
                except (sqlite3.Error, UnicodeDecodeError) as error:
                    if not is_damage(error, self._path()):
                        raise
                    self._set_aside(error)
                    return action(self._connection())
            except (sqlite3.Error, UnicodeDecodeError, OSError) as error:
                if left and not self.durable and not self._path().exists():
                    self._leave()
                    continue
                raise translate(error, self._path(), str(self.folder)) from error
        raise AssertionError("the last attempt returns or raises")

    def commit(self, action: Callable[[sqlite3.Connection], _T], *, synced: bool = False) -> _T:
        """In a transaction. `synced`: of a durable database, return when the disk has it, and all that came before."""

        def work(connection: sqlite3.Connection) -> _T:
            if self.durable:
                tables.wait_for_disk(connection, synced)
            with tables.transaction(connection):
                return action(connection)

        self._follow()
        return self.run(work)

    def is_replaced(self) -> bool:
        """An entry is damaged: if not only that one, but the database as a whole, set it aside. Looks once."""
        generation = self._generation
        if not self._examined:
            self.run(tables.check_structure)
            self._examined = True
        return self._generation != generation

    def begin_anew(self) -> None:
        """Remove the database; an empty one takes its place when it is needed."""
        self.release()
        generations.remove(self._path())
        self._replaced()
        self._generation += 1

    def release(self) -> None:
        opened, self._opened = self._opened, None
        if opened is not None:
            # Closing fails if the log cannot be folded into a damaged database: nothing is lost that was not before.
            with contextlib.suppress(sqlite3.Error):
                opened.close()

    def abandon(self) -> None:
        """The connection is that of the parent process."""
        if self._opened is not None:
            _abandoned.append(self._opened)
            self._opened = None

    def _path(self) -> Path:
        return generations.database(self._root, tables.SCHEMA, self._generation)

    def _connection(self) -> sqlite3.Connection:
        if self._opened is None:
            self._root.mkdir(parents=True, exist_ok=True)
            self._generation = max(self._generation, generations.current(self._root, tables.SCHEMA))
            path = self._path()
            obstacle = generations.in_the_way(path)
            if obstacle is not None:
                raise StoreError("in-the-way", str(self.folder), obstacle.name)
            if not path.exists():
                self._begin()
            self._opened = tables.connect(path, self.durable)
            self._examined = False
            status = path.stat()
            self._identity = (status.st_dev, status.st_ino)
        return self._opened

    def _begin(self) -> None:
        if not self.durable:
            generations.begin(self._root, tables.SCHEMA, self._generation, tables.create)
            return
        if self._identity != (0, 0):
            raise StoreError("store-vanished", str(self.folder), self.path.name)
        generations.begin(self._root, tables.SCHEMA, self._generation, tables.create_durable)
        generations.sync_folders(self._root)

    def _set_aside(self, error: DatabaseFault) -> None:
        if self.durable:
            raise StoreError("store-damaged", str(self.path), str(error)) from error
        fault: Fault = "other-version" if isinstance(error, tables.OtherVersion) else "set-aside"
        self.notes.append(Note(fault, str(self.path), str(error)))
        self._leave()
        self._generation += 1

    def _follow(self) -> None:
        """Leave a database that was deleted under us (`rm -r .aop` during a watch): nobody would see what we write."""
        if self._opened is None:
            return
        try:
            status = self._path().stat()
            same = (status.st_dev, status.st_ino) == self._identity
        except OSError:
            same = False
        if not same:
            if self.durable:
                raise StoreError("store-vanished", str(self.folder), self.path.name)
            self._leave()

    def _leave(self) -> None:
        self.release()
        self._replaced()
