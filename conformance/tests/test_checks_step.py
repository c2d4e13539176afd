"""What a step reads of the records that it is called with."""

from __future__ import annotations

import ast
from collections import Counter
from typing import NamedTuple

import pytest
from numba.extending import register_jitable

from scatterproof.conformance.checks.online import Monitor
from scatterproof.conformance.checks.source import compiled_source, used_columns
from scatterproof.conformance.checks.step import SILENT, Outcome, check, violated
from scatterproof.conformance.checks.surroundings import array
from scatterproof.conformance.protocol import load
from scatterproof.spec.clauses import protocols
from scatterproof.spec.trace import Kind, Order

COLUMNS = ("node", "kind", "digest", "timestamp", "barrier")


class Row(NamedTuple):
    digest: int
    timestamp: int
    barrier: int


@register_jitable
def is_below(row: Row, bound: int) -> bool:
    return row.timestamp < bound


def step(row: Row) -> Outcome:
    return violated(0, row.barrier, -1, -1) if is_below(row, row.barrier) else SILENT


BELOW = check("ONE", kinds=(Kind.SENT,), order=Order.NODE, ways=("below",))(step)


def test_a_field_that_only_a_helper_names_is_read_and_one_that_nobody_names_is_not() -> None:
    assert set(BELOW.parameters) == {"timestamp", "barrier"}
    assert used_columns([BELOW], COLUMNS) == ("node", "kind", "timestamp", "barrier")
    assert "digest" not in compiled_source([BELOW], COLUMNS)


def test_a_step_is_called_with_the_fields_that_it_and_its_helpers_name() -> None:
    monitor = Monitor([BELOW], COLUMNS, {"node_count": 1, "link_count": 0, "node_is_host": array([True])})
    monitor.observe(0, (0, int(Kind.SENT), 5, 11, 9))
    monitor.observe(1, (0, int(Kind.SENT), 5, 7, 9))
    assert [(found.position, found.expected) for found in monitor.broken] == [(1, 9)]


@pytest.mark.parametrize("protocol", protocols())
def test_nothing_in_the_compiled_loop_has_the_name_of_a_column(protocol: str) -> None:
    """The work queue has a column `last`: the loop's own number of that name stopped it at each row."""
    plugin = load(protocol)
    loop = ast.parse(compiled_source(plugin.checks, plugin.columns)).body[-1]
    given = Counter(
        name.id for name in ast.walk(loop) if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store)
    )
    columns = used_columns(plugin.checks, plugin.columns)
    assert {name: given[name] for name in columns} == dict.fromkeys(columns, 1)
