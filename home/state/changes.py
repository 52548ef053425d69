"""What makes the tables of one picture those of the next: only what differs is written."""

from collections.abc import Callable, Mapping
from typing import Any

from sqlalchemy import ColumnElement, Connection, Table, and_, bindparam

from home.state import rows, tables
from home.state.rows import Row
from routing.remembered import Remembered
from routing.words import AccountId

type Key = tuple[str, ...]


def write(connection: Connection, old: Remembered, new: Remembered) -> None:
    """Write the difference between two pictures, inside a transaction of the caller's."""
    readings = {k: rows.reading_row(k, r) for k, r in changed(old.readings, new.readings).items()}
    _replace(connection, tables.READINGS, gone(old.readings, new.readings), readings)
    _write_holds(connection, old, new)
    _write_accounts(connection, tables.HEALTH, old.ladders, new.ladders, rows.ladder_row)
    _write_accounts(connection, tables.CHECKS, old.checks, new.checks, rows.check_row)
    _write_accounts(connection, tables.GAUGES, old.gauges, new.gauges, rows.gauge_row)
    _write_accounts(connection, tables.LIFETIMES, old.lifetimes, new.lifetimes, rows.lifetime_row)
    sticks = {k: rows.stick_row(k, s) for k, s in changed(old.sticks, new.sticks).items() if _is_storable(k)}
    _replace(connection, tables.STICKS, set(filter(_is_storable, gone(old.sticks, new.sticks))), sticks)
    _write_lines(connection, old, new)
    write_pins(connection, old, new)
    tallies = {k: rows.capacity_row(k, t) for k, t in changed(old.capacities, new.capacities).items()}
    _replace(connection, tables.CAPACITIES, gone(old.capacities, new.capacities), tallies)


def write_pins(connection: Connection, old: Remembered, new: Remembered) -> None:
    """Write the difference of the wishes alone."""
    pins = {k: rows.pin_row(k, pin) for k, pin in changed(old.pins, new.pins).items() if _is_storable(k)}
    _replace(connection, tables.PINS, set(filter(_is_storable, gone(old.pins, new.pins))), pins)


def changed[K, V](old: Mapping[K, V], new: Mapping[K, V]) -> dict[K, V]:
    """Select what is new or other than before; almost all of it is the very same object."""
    return {key: value for key, value in new.items() if (was := old.get(key)) is not value and was != value}


def gone[K, V](old: Mapping[K, V], new: Mapping[K, V]) -> set[K]:
    """Select what is no more."""
    return old.keys() - new.keys()


def _write_accounts[V](
    connection: Connection,
    table: Table,
    old: Mapping[AccountId, V],
    new: Mapping[AccountId, V],
    row_of: Callable[[AccountId, V], Row],
) -> None:
    """Write a table that has one row per account."""
    fresh = {(account,): row_of(account, value) for account, value in changed(old, new).items()}
    _replace(connection, table, {(account,) for account in gone(old, new)}, fresh)


def _write_holds(connection: Connection, old: Remembered, new: Remembered) -> None:
    others = changed(old.holds, new.holds)
    stale = [{"key_account": account} for account in (*gone(old.holds, new.holds), *others)]
    if stale:
        connection.execute(tables.HOLDS.delete().where(_is(tables.HOLDS, "account")), stale)
    fresh = [row for holds in others.values() for row in rows.hold_rows(holds)]
    if fresh:
        connection.execute(tables.HOLDS.insert(), fresh)


def _write_lines(connection: Connection, old: Remembered, new: Remembered) -> None:
    fresh: dict[Key, Row] = {
        (line, family): {"line": line, "family": family}
        for line, families in new.lines.items()
        for family in families - old.lines.get(line, frozenset())
        if rows.is_storable(family)
    }
    _replace(connection, tables.LINES, set(), fresh)


def _replace(connection: Connection, table: Table, stale: set[Any], fresh: Mapping[Any, Row]) -> None:
    """Delete by primary key what is stale or to be replaced, then insert; each row is a statement's run, so none is too long."""
    names = [column.name for column in table.primary_key]
    keys = [{f"key_{name}": part for name, part in zip(names, key, strict=True)} for key in (*stale, *fresh)]
    if keys:
        connection.execute(table.delete().where(_is(table, *names)), keys)
    if fresh:
        connection.execute(table.insert(), list(fresh.values()))


def _is(table: Table, *names: str) -> ColumnElement[bool]:
    return and_(*(table.c[name] == bindparam(f"key_{name}") for name in names))


def _is_storable(key: Key) -> bool:
    return all(map(rows.is_storable, key))
