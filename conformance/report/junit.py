"""A conformance run as JUnit XML: a violated case is a failure, an inconclusive one an error; one that is not run, or
not applicable, is skipped."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path

from scatterproof.conformance.case import CaseResult
from scatterproof.conformance.report.run import ConformanceRun, broken, printable
from scatterproof.conformance.verdict import Verdict
from scatterproof.spec.files import write_atomically

_SKIPPED = (Verdict.NOT_RUN, Verdict.NOT_APPLICABLE)


def write(path: Path, run: ConformanceRun) -> None:
    write_atomically(path, encode(run))


def encode(run: ConformanceRun) -> bytes:
    counts = run.counts
    numbers = {
        "tests": str(len(run.results)),
        "failures": str(counts.get(Verdict.FAIL, 0)),
        "errors": str(counts.get(Verdict.INCONCLUSIVE, 0)),
        "skipped": str(sum(counts.get(verdict, 0) for verdict in _SKIPPED)),
        "time": f"{sum(run.seconds.values()):.3f}",
    }
    suites = ET.Element("testsuites", numbers)
    suite = ET.SubElement(suites, "testsuite", {"name": printable(f"{run.protocol} on {run.iut}"), **numbers})
    properties = ET.SubElement(suite, "properties")
    for name, value in (("iut", run.iut), ("catalogue", run.catalogue), ("profile", run.profile)):
        ET.SubElement(properties, "property", {"name": name, "value": printable(value)})
    for result in run.results:
        suite.append(_case(run, result))
    ET.indent(suites)
    content: bytes = ET.tostring(suites, encoding="utf-8", xml_declaration=True)
    return content + b"\n"


def _case(run: ConformanceRun, result: CaseResult) -> ET.Element:
    case = result.case
    element = ET.Element(
        "testcase",
        {
            "classname": printable(f"{run.protocol}.{case.clause}"),
            "name": printable(case.id),
            "time": f"{run.seconds.get(case.id, 0.0):.3f}",
        },
    )
    duty = f"When {case.stimulus}, it {case.duty}."
    if result.verdict is Verdict.FAIL:
        failure = ET.SubElement(element, "failure", {"message": printable(result.reason), "type": case.clause})
        sentences = [violation.sentence for clause in broken(result) for violation in clause.violations]
        failure.text = printable("\n".join([duty, *sentences]))
    elif result.verdict is Verdict.INCONCLUSIVE:
        error = ET.SubElement(element, "error", {"message": printable(result.reason), "type": "inconclusive"})
        error.text = printable(duty)
    elif result.verdict in _SKIPPED:
        message = printable(f"{result.verdict}: {result.reason}")
        ET.SubElement(element, "skipped", {"message": message})
    return element
