"""The conformance cases of the broadcast stack, as cases.toml has them.

A step is `sends a b`: two messages with these contents, for everybody or, with `to=1`, for one process. Without
contents the byte of the turn's number is sent, in as many messages as `messages` says (1 if left out): once in the
first message, twice in the second, and so on. `empty` says how many messages have no contents. The level is the
clause's, unless it is set.
"""

from __future__ import annotations

from pathlib import Path

from scatterproof.conformance.case_building import clause_of
from scatterproof.conformance.case_files import CaseStep, CaseWords, WrittenCase
from scatterproof.conformance.network.topologies import mesh
from scatterproof.spec.core import Parameter
from scatterproof.spec.schedule import EVERYBODY, Delay, Message, Submission
from scatterproof.spec.topology import NodeId, Topology

_RESEND_NS = 20_000
_HOP_NS = 1_000


def sends(
    time_ns: int, node: NodeId, *contents: bytes, number: int, to: int = EVERYBODY, messages: int = 1, empty: int = 0
) -> Submission:
    numbered = tuple(bytes([number]) * size for size in range(1, messages + 1))
    payloads = (b"",) * empty or contents or numbered
    return Submission(time_ns, node, tuple(Message(to, payload) for payload in payloads))


def _sends(step: CaseStep) -> tuple[Submission, ...]:
    named = {key: int(value) for key, value in step.named.items()}
    return (step.given(sends, *(word.encode() for word in step.words), number=step.number, **named),)


def _parameters(written: WrittenCase, _: Topology) -> dict[str, Parameter]:
    return {"level": clause_of(written.id).split("-")[1].lower(), "resend_ns": _RESEND_NS, **written.set}


CASE_WORDS = CaseWords(
    protocol="broadcast",
    steps={"sends": _sends},
    networks={"mesh": mesh},
    delay=lambda _: Delay(_HOP_NS),
    parameters=_parameters,
    # The run must settle.
    at_stake=lambda _: ("BC-PL-RELIABLE",),
)
CASES = CASE_WORDS.read(Path(__file__).with_suffix(".toml"))
