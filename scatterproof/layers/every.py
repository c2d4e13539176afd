"""The layers of the main job, in the order of their columns."""

from __future__ import annotations

from scatterproof.layers import cases, drawn, models, mutants
from scatterproof.layers.job import JobLayer

LAYERS = (
    JobLayer(name="tlc", title="TLC", units=models.tlc_units, report=models.tlc_report, quick=True),
    JobLayer(name="z3", title="Z3", units=models.z3_units, report=models.z3_report, quick=True),
    JobLayer(name="conform", title="in process", units=cases.in_process, report=cases.report_in_process, quick=True),
    JobLayer(name="conform-stdio", title="over stdio", units=cases.over_stdio, report=cases.report_stdio),
    JobLayer(name="conform-udp", title="over UDP", units=cases.over_udp, report=cases.report_udp),
    JobLayer(name="fuzz", title="fuzzing", units=drawn.fuzz_units, report=drawn.fuzz_report),
    JobLayer(name="mine", title="Spark", units=drawn.mine_units, report=drawn.mine_report),
    JobLayer(name="mutants", title="mutants", units=mutants.units, report=mutants.report, after=("tlc",)),
)
