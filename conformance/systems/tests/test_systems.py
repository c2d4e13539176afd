"""What hosts of real systems did, put into logs and judged; and NATS itself."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from scatterproof.conformance.adapters.log_folder import read_logs
from scatterproof.conformance.judge import judge
from scatterproof.conformance.profile import read_profile
from scatterproof.conformance.systems import __main__ as command
from scatterproof.conformance.systems.history import read_events, write_logs
from scatterproof.conformance.systems.hosts import Hosts
from scatterproof.conformance.systems.report import SystemResult, page, run, table
from scatterproof.conformance.systems.setup import PROFILES, SETUPS, Setup
from scatterproof.conformance.systems.telling import LogEvent, SystemHistory
from scatterproof.conformance.verdict import Verdict
from scatterproof.spec.errors import BadInput

BY_NAME = {setup.name: setup for setup in SETUPS}
Told = list[list[LogEvent]]


def sound() -> Told:
    """Three hosts, two messages of each of the first two, delivered in one order everywhere."""
    hosts: Told = [[], [], []]
    for time, (sender, number) in enumerate([(0, 1), (1, 1), (0, 2), (1, 2)]):
        hosts[sender].append(LogEvent("handed", 10 * time, sender, number, 100 * sender + number))
        for host, events in enumerate(hosts):
            events.append(LogEvent("delivered", 10 * time + host + 1, sender, number, 100 * sender + number))
    return hosts


def verdicts(hosts: Told, folder: Path, profile_name: str) -> dict[str, Verdict]:
    """Of the clauses that the profile claims."""
    profile = read_profile(PROFILES / f"{profile_name}.toml")
    write_logs(SystemHistory(tuple(map(tuple, hosts)), 2, True), profile.protocol, folder)
    results = profile.of_claimed(judge(read_logs(folder, "it")))
    return {result.clause: result.verdict for result in results if profile.claims(result.clause)}


def swap(hosts: Told) -> None:
    """Another order of two creators' messages at the last host."""
    hosts[2][0], hosts[2][1] = hosts[2][1], hosts[2][0]


def overtake(hosts: Told) -> None:
    hosts[2][0], hosts[2][2] = hosts[2][2], hosts[2][0]


def repeat(hosts: Told) -> None:
    hosts[2].append(hosts[2][0])


def forget(hosts: Told) -> None:
    hosts[2].pop()


def forget_own(hosts: Told) -> None:
    for events in hosts:
        events[:] = [event for event in events if (event.what, event.sender, event.number) != ("delivered", 1, 2)]


def invent(hosts: Told) -> None:
    hosts[2].append(LogEvent("delivered", 99, 1, 3, 7))


def alter(hosts: Told) -> None:
    hosts[2][3] = msgspec.structs.replace(hosts[2][3], digest=7)


@pytest.mark.parametrize("name", sorted(path.stem for path in PROFILES.glob("*.toml")))
def test_hosts_that_do_what_they_must_pass_all_that_a_profile_claims(tmp_path: Path, name: str) -> None:
    assert set(verdicts(sound(), tmp_path, name).values()) == {Verdict.PASS}


@pytest.mark.parametrize(
    ("damage", "profile", "clause"),
    [
        (swap, "one-order", "TO-ORDER"),
        (overtake, "nats-core", "BC-FIFO-ORDER"),
        (repeat, "nats-core", "BC-URB-ONCE"),
        (invent, "nats-core", "BC-URB-REAL"),
        (alter, "nats-core", "BC-URB-REAL"),
        (forget, "nats-jetstream", "BC-URB-AGREE"),
        (forget_own, "nats-jetstream", "BC-URB-VALID"),
    ],
)
def test_a_clause_that_hosts_break_is_named(
    tmp_path: Path, damage: Callable[[Told], None], profile: str, clause: str
) -> None:
    hosts = sound()
    damage(hosts)
    assert verdicts(hosts, tmp_path, profile)[clause] is Verdict.FAIL


def test_order_is_not_judged_by_what_the_first_host_did_not_deliver(tmp_path: Path) -> None:
    hosts = sound()
    hosts[0].pop()
    assert verdicts(hosts, tmp_path, "one-order") == {"TO-ORDER": Verdict.PASS}
    assert "1 messages that the first host did not deliver are left out" in read_logs(tmp_path, "it").notes


def test_half_a_line_of_a_stopped_host_is_left_out_and_a_bad_one_is_named(tmp_path: Path) -> None:
    log = tmp_path / "host-0.ndjson"
    line = b'{"what":"handed","time_ns":1,"sender":0,"number":1,"digest":5}\n'
    log.write_bytes(line + line[:20])
    assert read_events(log) == (LogEvent("handed", 1, 0, 1, 5),)
    log.write_bytes(line + b'{"what":"lost"}\n')
    with pytest.raises(BadInput, match=r"host-0.ndjson: line 2 is no event of a host"):
        read_events(log)


def test_an_unknown_protocol_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="protocol 'nothing' is unknown"):
        write_logs(SystemHistory((), 1, True), "nothing", tmp_path)


def test_a_folder_that_cannot_be_made_is_one_sentence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(sys, "argv", ["systems", "--results", str(tmp_path / "file"), "core"])
    assert command.main() == 3
    assert "cannot be made: Not a directory; give another --results folder" in capsys.readouterr().err


@pytest.mark.parametrize(("name", "program"), [("core", "nats-server"), ("corosync", "corosync"), ("jgroups", "java")])
def test_a_system_that_is_not_there_is_not_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, program: str
) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr("scatterproof.conformance.systems.namespaces._SYSTEM_PATH", "")
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    outcome = run(BY_NAME[name], tmp_path)
    assert f"there is no {program} on PATH" in outcome.not_run
    assert not outcome.as_meant
    assert f"| {name} | | not run | | | there is no {program}" in table([outcome])
    assert "Versions: none was there." in page([outcome])


def test_a_host_that_is_gone_has_crashed_in_the_logs(tmp_path: Path) -> None:
    hosts = sound()
    hosts[1].pop()  # it did not live to deliver its last message
    for gone, verdict in (((), Verdict.FAIL), ((1,), Verdict.PASS)):
        history = SystemHistory(tuple(map(tuple, hosts)), 2, True, gone=gone)
        write_logs(history, "broadcast", tmp_path)
        found = {result.clause: result.verdict for result in judge(read_logs(tmp_path, "it"))}
        assert found["BC-URB-VALID"] is verdict


@pytest.mark.parametrize("uniform", [True, False])
def test_what_a_host_delivered_that_was_killed_counts_only_where_that_is_promised(
    tmp_path: Path, uniform: bool
) -> None:
    hosts = Hosts(replace(BY_NAME["corosync"], uniform=uniform), tmp_path, still_s=0.0)
    for log in hosts.logs:
        log.write_bytes(b"".join(msgspec.json.encode(event) + b"\n" for event in sound()[0]))
    hosts.lose(1)
    whole, handed = tuple(sound()[0]), tuple(event for event in sound()[0] if event.what == "handed")
    assert hosts.history(settled=True).hosts == (whole, whole if uniform else handed, whole)


def test_an_unknown_set_up_is_wrong_usage(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "argv", ["systems", "nothing"])
    with pytest.raises(SystemExit) as ended:
        command.main()
    assert ended.value.code == 2
    assert "set-up 'nothing' is unknown; choose of core, " in capsys.readouterr().err


def tried(setup: Setup, folder: Path) -> SystemResult | None:
    """What came of a shorter run; None, and a warning, where the system cannot be run here."""
    outcome = run(replace(setup, messages=100), folder)
    if outcome.not_run:
        warnings.warn(pytest.PytestWarning(f"not run: {outcome.not_run}"), stacklevel=2)
        return None
    return outcome


@pytest.mark.slow
@pytest.mark.parametrize("name", ["jetstream-killed", "core-killed"])
def test_nats_whose_server_is_killed_breaks_what_is_claimed_when_it_loses_a_message(tmp_path: Path, name: str) -> None:
    outcome = tried(BY_NAME[name], tmp_path)
    if outcome is None:
        return
    lost = 900 - outcome.deliveries
    broken = {result.clause for result in outcome.results if result.verdict is Verdict.FAIL}
    assert (tmp_path / "server.2.stderr").is_file()
    # Core NATS may be lucky, a stream may not have to be.
    assert bool(broken & {"BC-URB-AGREE", "BC-URB-VALID"}) == bool(lost), table([outcome])
    assert name == "core-killed" or (outcome.as_meant and not lost), table([outcome])


@pytest.mark.slow
@pytest.mark.parametrize("name", ["corosync", "jgroups-killed"])
def test_one_order_is_delivered(tmp_path: Path, name: str) -> None:
    """Without loss, in which members suspect each other by chance."""
    outcome = tried(replace(BY_NAME[name], befalls=(), breaks=""), tmp_path)
    if outcome is not None:
        assert outcome.as_meant, table([outcome])
        assert outcome.deliveries == 900
