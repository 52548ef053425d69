"""Tables that keep only what was put in last."""


def put_last[K, V](table: dict[K, V], key: K, value: V, bound: int) -> None:
    """Put the value at the table's young end and drop the oldest over the bound."""
    table.pop(key, None)
    table[key] = value
    if len(table) > bound:
        del table[next(iter(table))]
