"""sqlite-vec: an exact scan inside SQLite, with the time as a column to filter by.

Through apsw: many builds of Python's own sqlite3 cannot load an extension.
"""

from __future__ import annotations

from pathlib import Path

import apsw
import numpy as np
import sqlite_vec


class SqliteVec:
    packages = ("sqlite-vec", "apsw")
    widths = (0,)
    filters = True

    def build(self, base: np.ndarray, folder: Path) -> None:
        self.open(folder, len(base), base.shape[1])
        self.database.execute(f"create virtual table vectors using vec0(time integer, vector float[{base.shape[1]}])")
        rows = ((row, row, vector.tobytes()) for row, vector in enumerate(base))
        with self.database:
            self.database.executemany("insert into vectors(rowid, time, vector) values (?, ?, ?)", rows)
        self.database.close()

    def open(self, folder: Path, count: int, dimension: int) -> None:
        self.database = apsw.Connection(str(folder / "vectors.db"))
        self.database.enable_load_extension(True)
        self.database.load_extension(sqlite_vec.loadable_path())
        self.database.enable_load_extension(False)

    def set_width(self, width: int) -> None:
        pass

    def search(self, query: np.ndarray, k: int, window: tuple[int, int] | None) -> list[int]:
        sql = "select rowid from vectors where vector match ? and k = ?"
        values: list[object] = [query.tobytes(), k]
        if window is not None:
            sql += " and time >= ? and time < ?"
            values += window
        return [row for (row,) in self.database.execute(sql + " order by distance", values)]
