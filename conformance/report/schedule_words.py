"""A schedule in words: what is done in a run, one line each, in the order of time where there is one."""

from __future__ import annotations

from scatterproof.spec.schedule import EVERYBODY, Call, Failure, FailureKind, FaultKind, Schedule, Submission

LONGEST = 40  # lines: whoever wants them all reads the schedule itself


def words(schedule: Schedule) -> list[str]:
    """At most `LONGEST` lines, and one that says how many more there would be."""
    topology = schedule.topology
    delays = {(delay.base_ns, delay.jitter_ns) for delay in schedule.delays}
    lines = [f"{len(topology.nodes)} nodes: {', '.join(f'{node.name} ({node.role})' for node in topology.nodes)}"]
    if len(delays) == 1:
        lines.append(f"each of {len(schedule.delays)} links takes {_spread(*delays.pop())}")
    else:
        lines += [
            f"link {_link(schedule, n)} takes {_spread(d.base_ns, d.jitter_ns)}" for n, d in enumerate(schedule.delays)
        ]
    for node, clock in enumerate(schedule.clocks):
        if clock.offset_ns or clock.drift_ppb:
            drift = f", {clock.drift_ppb / 1000:g} ppm fast" if clock.drift_ppb else ""
            lines.append(f"the clock of {_node(schedule, node)} is {clock.offset_ns} ns ahead{drift}")
    if schedule.parameters:
        lines.append("with " + ", ".join(f"{name} = {value}" for name, value in schedule.parameters.items()))
    timed = [(submission.time_ns, 1, _submission(schedule, submission)) for submission in schedule.submissions]
    timed += [(call.time_ns, 1, _call(schedule, call)) for call in schedule.calls]
    timed += [(failure.time_ns, 0, _failure(schedule, failure)) for failure in schedule.failures]
    lines += [f"at {time_ns} ns {told}" for time_ns, _, told in sorted(timed, key=lambda one: one[:2])]
    for fault in schedule.faults:
        done = {
            FaultKind.LOSE: "is lost",
            FaultKind.DELAY: f"is {fault.delay_ns} ns late",
            FaultKind.DUPLICATE: f"comes again {fault.delay_ns} ns later",
        }[fault.kind]
        lines.append(f"packet {fault.index} on link {_link(schedule, fault.link)} {done}")
    if schedule.end_ns is not None:
        lines.append(f"at {schedule.end_ns} ns the run ends")
    if len(lines) <= LONGEST:
        return lines
    return [*lines[: LONGEST - 1], f"and {len(lines) - LONGEST + 1} lines more"]


def _spread(base_ns: int, jitter_ns: int) -> str:
    return f"{base_ns} to {base_ns + jitter_ns} ns" if jitter_ns else f"{base_ns} ns"


def _node(schedule: Schedule, node: int) -> str:
    return schedule.topology.nodes[node].name


def _link(schedule: Schedule, link: int) -> str:
    ends = schedule.topology.links[link]
    return f"{_node(schedule, ends.source)}->{_node(schedule, ends.target)}"


def _submission(schedule: Schedule, submission: Submission) -> str:
    receivers = [
        "everybody" if message.receiver == EVERYBODY else _node(schedule, message.receiver)
        for message in submission.messages
    ]
    count = "a message" if len(receivers) == 1 else f"{len(receivers)} messages"
    return f"{_node(schedule, submission.node)} submits {count}, for {', '.join(receivers)}"


def _call(schedule: Schedule, call: Call) -> str:
    given = ", ".join(f"{name} = {value}" for name, value in call.arguments.items())
    return f"{_node(schedule, call.node)} calls {call.call}" + (f" with {given}" if given else "")


def _failure(schedule: Schedule, failure: Failure) -> str:
    where = (
        f"link {_link(schedule, failure.link)}"
        if failure.kind in (FailureKind.CUT, FailureKind.MEND)
        else _node(schedule, failure.node)
    )
    done = {
        FailureKind.CRASH: "crashes",
        FailureKind.RESTART: "begins anew",
        FailureKind.CUT: "is cut",
        FailureKind.MEND: "is mended",
        FailureKind.PAUSE: "is paused",
        FailureKind.RESUME: "goes on",
    }[failure.kind]
    return f"{where} {done}"
