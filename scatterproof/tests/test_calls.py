"""docs/calls.md: a protocol whose clients call goes through every layer, and no file of the project is another one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from scatterproof.tests.tutorials import Tutorial, explored, files_of, git, given, project_with, static_checks, verified

NAME = "mutex"
FILES = files_of("calls.md")
ANN_HOLDS = [[0, 1, "called", "acquire"], [10, 1, "returned", "acquire", "ok"]]
ANN_GIVES_BACK = [[40, 1, "called", "release"], [50, 1, "returned", "release", "ok"]]
BOB_IS_REFUSED = [[20, 2, "called", "acquire"], [30, 2, "returned", "acquire", "refused"]]
# Histories of two clients: what they are, their rows, and what is to be said of them.
HISTORIES: dict[str, tuple[list[list[Any]], str | dict[str, str]]] = {
    "refused while another surely holds the lock": ([*ANN_HOLDS, *BOB_IS_REFUSED], {}),
    "refused, and nobody has it": (BOB_IS_REFUSED, {"LK-REFUSE": "fail"}),
    "refused while a release is on its way": (
        [
            *ANN_HOLDS,
            BOB_IS_REFUSED[0],
            [25, 1, "called", "release"],
            BOB_IS_REFUSED[1],
            ANN_GIVES_BACK[1],
        ],
        {"LK-REFUSE": "inconclusive"},
    ),
    "refused after an acquire of unknown outcome": (
        [[0, 1, "called", "acquire"], [10, 1, "returned", "acquire", "unknown"], *BOB_IS_REFUSED],
        {"LK-REFUSE": "inconclusive"},
    ),
    "refused after an acquire of unknown outcome that took effect late": (
        [
            [0, 1, "called", "acquire"],
            [1, 1, "returned", "acquire", "unknown"],
            [2, 2, "called", "acquire"],
            [3, 2, "returned", "acquire", "ok"],
            [4, 2, "called", "release"],
            [5, 2, "returned", "release", "ok"],
            *BOB_IS_REFUSED,
        ],
        {"LK-REFUSE": "inconclusive"},
    ),
    "refused after an acquire that never returned": (
        [[0, 1, "called", "acquire"], *BOB_IS_REFUSED],
        {"LK-REFUSE": "inconclusive", "LK-RETURN": "fail"},
    ),
    "refused strictly after a release returned": (
        [*ANN_HOLDS, [11, 1, "called", "release"], [19, 1, "returned", "release", "ok"], *BOB_IS_REFUSED],
        {"LK-REFUSE": "fail"},
    ),
    "refused from the moment on at which a release returned": (
        [*ANN_HOLDS, [11, 1, "called", "release"], [20, 1, "returned", "release", "ok"], *BOB_IS_REFUSED],
        {"LK-REFUSE": "inconclusive"},
    ),
    "two have it": (
        [*ANN_HOLDS, BOB_IS_REFUSED[0], [30, 2, "returned", "acquire", "ok"], *ANN_GIVES_BACK],
        {"LK-ONE": "fail"},
    ),
    "one has it at the moment at which the other gives it back": (
        [*ANN_HOLDS, BOB_IS_REFUSED[0], [40, 2, "returned", "acquire", "ok"], *ANN_GIVES_BACK],
        {},
    ),
    "its release is refused to the holder": (
        [*ANN_HOLDS, [20, 1, "called", "release"], [30, 1, "returned", "release", "refused"]],
        {"LK-REFUSE": "fail"},
    ),
    "a return without a call": ([BOB_IS_REFUSED[1]], "and it is not in it"),
    "two calls of a client at once": (
        [*ANN_HOLDS[:1], [5, 1, "called", "release"]],
        "make two clients of those that call at once",
    ),
    "an earlier row of calls behind a later one": (
        [*BOB_IS_REFUSED, ANN_HOLDS[0]],
        "record calls in the order of their times",
    ),
}


TUTORIAL = Tutorial(NAME, FILES)
NETWORK: dict[str, list[dict[str, Any]]] = {
    "nodes": [{"name": "store", "role": "host"}, *({"name": name, "role": "client"} for name in ("ann", "bob"))],
    "links": [{"source": a, "target": b} for a, b in ((1, 0), (0, 1), (2, 0), (0, 2))],
}
SCHEDULE: dict[str, Any] = {
    "protocol": NAME,
    "topology": NETWORK,
    "submissions": [],
    "calls": [{"time_ns": 0, "node": 1, "call": "acquire"}],
    "delays": [{"base_ns": 1000, "jitter_ns": 0}] * 4,
    "parameters": {"retry_ns": 3000, "tries": 3},
    "seed": 1,
}
LATE = {"link": 0, "index": 0, "kind": "delay", "delay_ns": 20_000}  # the request that is sent again overtakes it
SCHEDULES = {
    "late": SCHEDULE | {"faults": [LATE]},
    "down": SCHEDULE | {"failures": [{"kind": "crash", "node": 0, "time_ns": 500}]},
    "two-hosts": SCHEDULE
    | {
        "topology": {
            "nodes": [*NETWORK["nodes"], {"name": "other", "role": "host"}],
            "links": [*NETWORK["links"], {"source": 0, "target": 3}, {"source": 3, "target": 0}],
        },
        "delays": SCHEDULE["delays"][:1] * 6,
    },
}
MUTANTS = ["fuzz", "--mutants", "--protocol", NAME, "--json", "--only"]
GIVEN: dict[tuple[str, str], tuple[list[str], int, str]] = {
    ("spec", "refuse_network"): (["replay", "results/two-hosts.json"], 0, "LK-RETURN"),
    ("conformance", "allowed_failures"): (["replay", "results/down.json"], 0, "LK-RETURN"),
    ("conformance", "fifo_links"): (["replay", "results/late.json"], 0, "never at stake"),
    ("models", "traces"): (["validate", "results/replay/late.ndjson"], 3, "no module that reads traces"),
    ("fuzz", "mutants"): ([*MUTANTS, "client/patient"], 0, '"killed": 0'),
    ("fuzz", "on_model"): ([*MUTANTS, "is_free/always"], 0, '"tlc": 0'),
    ("fuzz", "breaks"): (TUTORIAL.only("mutants"), 1, "none is named that breaks a clause"),
}


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return project_with(FILES, tmp_path_factory.mktemp("project"))


@pytest.mark.slow
def test_every_layer_passes_or_says_why_it_cannot_run(tree: Path) -> None:
    said = verified(tree, NAME, "--full")
    layers = {layer["layer"]: layer for layer in said["layers"]}
    silent = {name: layer["status"] for name, layer in layers.items() if layer["status"] != "pass"}
    assert said["verdict"] == "pass"
    assert silent == {"z3": "not run", "conform-udp": "not run"}
    (over_sockets,) = layers["conform-udp"]["details"]
    assert all("are told no calls yet" in row[-1] for row in over_sockets["rows"])
    assert "27 mutants killed, 1 proved equivalent, 0 open; each of 4 clauses" in layers["mutants"]["sentence"]
    shown = explored(tree, run=3, row=9)
    assert "calls acquire 1" in shown
    assert '["called", "1"]' in shown
    assert git(tree, "diff", "--name-only") == []
    assert set(git(tree, "ls-files", "--others", "--exclude-standard")) == set(FILES)


def test_every_hook_that_is_given_is_left_out_by_a_test() -> None:
    assert TUTORIAL.optional_hooks() == set(GIVEN)


@pytest.mark.slow
def test_a_hook_that_may_be_left_out_is_missed_by_a_command(tree: Path) -> None:
    (tree / "results").mkdir(exist_ok=True)
    for name, schedule in SCHEDULES.items():
        (tree / "results" / f"{name}.json").write_text(json.dumps(schedule), encoding="utf-8")
    TUTORIAL.assert_missed(tree, GIVEN)


@pytest.mark.slow
@pytest.mark.parametrize("words", static_checks(NAME), ids=lambda words: " ".join(words[:3]))
def test_static_checks_have_nothing_to_say(tree: Path, words: list[str]) -> None:
    run = given(tree, *words)
    assert run.returncode == 0, run.stdout + run.stderr


@pytest.mark.slow
def test_a_verdict_holds_for_every_order_that_the_times_of_calls_allow(tree: Path) -> None:
    script = str(Path(__file__).with_name("judging_calls.py"))
    run = given(tree, script, input=json.dumps([rows for rows, _ in HISTORIES.values()]))
    assert run.returncode == 0, run.stderr
    for (name, (rows, expected)), (by_tlc, found) in zip(HISTORIES.items(), json.loads(run.stdout), strict=True):
        if isinstance(expected, str):
            assert expected in found, name
            assert by_tlc[0] == ("accepted" if "order of their times" in expected else "cannot run"), name
            continue
        # Where calls leave it open whether a clause holds, some order explains them.
        broken = sorted(clause for clause, verdict in expected.items() if verdict == "fail" and clause != "LK-RETURN")
        assert by_tlc[::2] == ["rejected" if broken else "accepted", broken], name
        assert not broken or rows[by_tlc[1]][2] == "returned", name
        verdicts = {
            clause: verdict for clause, verdict, why in found if verdict != "pass" and "never at stake" not in why
        }
        assert verdicts == expected, name
        open_ones = [why for _, verdict, why in found if verdict == "inconclusive" and "never at stake" not in why]
        assert all("when the host carried each of them out would tell" in why for why in open_ones), name


@pytest.mark.slow
def test_a_log_of_calls_in_the_users_words_is_imported_and_mined(tree: Path) -> None:
    complete = {"called": [1, 2], "returned": [1, 2]}
    header = {"protocol": NAME, "topology": NETWORK, "parameters": {}, "complete": complete}
    (tree / "header.json").write_text(json.dumps(header | {"order": "link"}), encoding="utf-8")
    (tree / "words.toml").write_text(
        'header = "header.json"\nended = ["clean", "quiescent"]\n[columns]\ncall = "what"\noutcome = "how"\n'
        '[kinds]\nbegin = "called"\nend = "returned"\n[calls]\nlock = "acquire"\n[outcomes]\nno = "refused"\n',
        encoding="utf-8",
    )
    rows = "time_ns,kind,node,what,how\n5,begin,bob,lock,\n9,end,bob,lock,no\n"
    (tree / "calls.csv").write_text(rows, encoding="utf-8")
    words = ("-m", "scatterproof.cli")
    run = given(tree, *words, "import", "calls.csv", "-p", NAME, "--mapping", "words.toml", "--out", "imported")
    assert run.returncode == 0, run.stdout + run.stderr
    mined = given(tree, *words, "mine", "imported")
    assert mined.returncode == 1, mined.stderr
    assert "an acquire of bob, called at 5 ns, is refused, and nobody can have held the lock since" in mined.stdout
