"""What a case sets is what ADAPTER.md tells the writers of nodes of, and all that it leaves out has a default there."""

from __future__ import annotations

import pytest

from scatterproof.conformance.case import cases
from scatterproof.conformance.profile import needed
from scatterproof.spec.clauses import protocols
from scatterproof.spec.parameters import Parameters, declared


@pytest.mark.parametrize("protocol", protocols())
def test_every_case_sets_declared_parameters_and_leaves_none_out_that_has_no_default(protocol: str) -> None:
    for case in cases(protocol):
        given = needed(case.schedule)
        assert set(given) <= set(declared(protocol)), case.id
        assert len(dict(Parameters(protocol, given))) == len(declared(protocol)), case.id
