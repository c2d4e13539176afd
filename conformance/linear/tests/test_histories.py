"""Histories of other judges: read, written, and asked for an order; the search is held to trying all orders."""

from __future__ import annotations

from itertools import chain, combinations, permutations
from pathlib import Path
from random import Random

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scatterproof.conformance.linear import interchange
from scatterproof.conformance.linear.edn import Edn, Keyword, read, read_one, written
from scatterproof.conformance.linear.jepsen import HistoryCall, calls
from scatterproof.conformance.linear.models import MODELS, SequentialModel, as_state, judge_history
from scatterproof.spec import trace_ndjson
from scatterproof.spec.core import Outcome
from scatterproof.spec.errors import BadInput
from scatterproof.spec.trace import Trace, schema

BY_NAME = {model.name: model for model in MODELS}
TRACES = Path(interchange.__file__).parents[1] / "traces"
keywords = st.from_regex(r"[a-z][a-z-]*", fullmatch=True).map(Keyword)
atoms = st.none() | st.booleans() | st.integers() | st.text() | keywords


def history(text: str, folder: Path) -> Path:
    """By line: process, type, call, value."""
    lines = []
    for line in text.strip().splitlines():
        process, kind, call, value = line.split(None, 3)
        lines.append(f"{{:process {process}, :type :{kind}, :f :{call}, :value {value}}}")
    path = folder / "history.edn"
    path.write_text("; a history\n[" + "\n".join(lines) + "]")
    return path


@given(st.recursive(atoms, lambda inner: st.lists(inner).map(tuple) | st.dictionaries(st.integers(), inner)))
def test_what_is_written_is_read(value: Edn) -> None:
    assert read_one(written(value), "here") == value


def test_edn_is_read_as_its_makers_have_it() -> None:
    text = '#jepsen.history.Op{:a 1N, :b -2.5M} ; a comment\n(nil, true #{3}) \n"a\\n\\"b" sym [[1] 2]'
    assert [*read(text, "here")] == [
        (1, {"a": 1, "b": -2.5}),
        *[(2, value) for value in (None, True, (3,))],
        *[(3, value) for value in ('a\n"b', "sym", (1,), 2)],
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[1 2", "'[' is never closed"),
        ("[1 }", "'}' closes the '[' of line 1"),
        ("1 ]", "']' closes nothing"),
        ("{:a}", "a key without a value"),
        ('"a', "is not EDN"),
        ('"\\q"', "is no text of EDN"),
    ],
)
def test_what_is_not_edn_is_refused_by_file_and_line(text: str, said: str) -> None:
    with pytest.raises(BadInput, match="here: line 1: ") as refused:
        list(read(text, "here"))
    assert said in str(refused.value)


REGISTER = "0 invoke write 1\n0 ok write 1\n1 invoke read nil\n1 ok read {}"
CASES = {
    "a value that was written": ("register", REGISTER.format(1), True),
    "a value that nobody wrote": ("register", REGISTER.format(2), False),
    "a write that overlaps": ("register", "0 invoke write 1\n1 invoke read nil\n1 ok read 1\n0 ok write 1", True),
    "a write of unknown end": ("register", "0 invoke write 1\n0 info write 1\n" + REGISTER.format(1), True),
    "a write that failed": ("register", "0 invoke write 2\n0 fail write 2\n" + REGISTER.format(2), False),
    "a write that comes too late": ("register", REGISTER.format(2) + "\n2 invoke write 2\n2 ok write 2", False),
    "a swap": ("register", REGISTER.format(1) + "\n1 invoke cas [1 3]\n1 ok cas [1 3]\n" + REGISTER.format(1), True),
    "a swap of what is not there": ("register", REGISTER.format(1) + "\n1 invoke cas [2 3]\n1 ok cas [2 3]", False),
    "two that hold": ("lock", "0 invoke acquire nil\n0 ok acquire nil\n1 invoke acquire nil\n1 ok acquire nil", False),
    "one after the other": (
        "lock",
        "0 invoke acquire nil\n0 ok acquire nil\n0 invoke release nil\n1 invoke acquire nil\n1 ok acquire nil",
        True,
    ),
    "another before the first": (
        "fifo-queue",
        "0 invoke enqueue 1\n0 ok enqueue 1\n0 invoke enqueue 2\n0 ok enqueue 2\n1 invoke dequeue nil\n1 ok dequeue 2",
        False,
    ),
    "the first": (
        "fifo-queue",
        "0 invoke enqueue 1\n0 ok enqueue 1\n0 invoke enqueue 2\n0 ok enqueue 2\n1 invoke dequeue nil\n1 ok dequeue 1",
        True,
    ),
    "another first, of no order": (
        "queue",
        "0 invoke enqueue 1\n0 ok enqueue 1\n0 invoke enqueue 2\n0 ok enqueue 2\n1 invoke dequeue nil\n1 ok dequeue 2",
        True,
    ),
    "what comes twice": (
        "queue",
        "0 invoke enqueue 1\n0 ok enqueue 1" + 2 * "\n1 invoke dequeue nil\n1 ok dequeue 1",
        False,
    ),
    "a taker that died in between": (
        "queue",
        "0 invoke enqueue 1\n0 ok enqueue 1\n1 invoke dequeue nil\n2 invoke dequeue nil\n2 ok dequeue 1",
        True,
    ),
    "what a taker of unknown end has taken": (
        "queue",
        "0 invoke enqueue 1\n0 ok enqueue 1\n1 invoke dequeue nil\n1 info dequeue :timed-out\n"
        "2 invoke dequeue nil\n2 fail dequeue nil",
        True,
    ),
    "two registers at once": (
        "registers",
        "0 invoke txn [[:write :x 1] [:write :y 1]]\n0 ok txn [[:write :x 1] [:write :y 1]]\n"
        "1 invoke txn [[:read :x nil] [:read :y nil]]\n1 ok txn [[:read :x 1] [:read :y 1]]",
        True,
    ),
    "a transaction of which nobody knows": (
        "registers",
        "0 invoke txn [[:w :x 1]]\n0 info txn :timed-out\n1 invoke txn [[:r :x nil]]\n1 ok txn [[:r :x 1]]",
        True,
    ),
    "half of a transaction": (
        "registers",
        "0 invoke txn [[:w :x 0] [:w :y 0]]\n0 ok txn [[:w :x 0] [:w :y 0]]\n0 invoke txn [[:w :x 1] [:w :y 1]]\n"
        "1 invoke txn [[:r :x nil] [:r :y nil]]\n1 ok txn [[:r :x 1] [:r :y 0]]\n0 ok txn [[:w :x 1] [:w :y 1]]",
        False,
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_an_order_is_found_where_there_is_one(name: str, tmp_path: Path) -> None:
    model, text, holds = CASES[name]
    found = judge_history(calls(history(text, tmp_path)), BY_NAME[model], "here", refusals=model == "queue")
    assert (found.stuck is None) == holds
    assert (found.explained == found.known) == holds


def test_what_no_order_explains_is_shown(tmp_path: Path) -> None:
    found = judge_history(calls(history(REGISTER.format(2), tmp_path)), BY_NAME["register"], "here")
    assert (found.known, found.explained) == (2, 1)
    assert str(found.stuck) == "line 4, process 1, read None (ok: 2)"


def test_texts_of_other_keys_are_apart(tmp_path: Path) -> None:
    lines = [
        '{:process 0, :type :invoke, :f :append, :key "a", :value "x"}',
        '{:process 0, :type :ok, :f :append, :key "a", :value "x"}',
        '{:process 0, :type :invoke, :f :get, :key "b", :value nil}',
        '{:process 0, :type :ok, :f :get, :key "b", :value "KEPT"}',
    ]
    for kept, holds in (("", True), ("x", False)):
        path = tmp_path / "history.edn"
        path.write_text("\n".join(lines).replace("KEPT", kept))
        assert (judge_history(calls(path), BY_NAME["texts"], "here").stuck is None) == holds


def test_a_refusal_says_something_only_where_that_is_asked(tmp_path: Path) -> None:
    path = history("0 invoke write 1\n0 ok write 1\n0 invoke cas [1 2]\n0 fail cas [1 2]", tmp_path)
    found = [judge_history(calls(path), BY_NAME["register"], "here", refusals=asked).stuck for asked in (False, True)]
    assert [stuck is None for stuck in found] == [True, False]


def test_what_it_holds_at_first_can_be_given(tmp_path: Path) -> None:
    path = history("0 invoke read nil\n0 ok read 3", tmp_path)
    for model, holds in ((BY_NAME["register"], True), (as_state(BY_NAME["register"], 0), False)):
        assert (judge_history(calls(path), model, "here").stuck is None) == holds


def test_lines_of_a_log_are_read(tmp_path: Path) -> None:
    path = tmp_path / "jepsen.log"
    path.write_text(
        "starting\nINFO  jepsen.util - 0\t:invoke\t:write\t1\nINFO  jepsen.util - 0\t:info\t:write\t:timed-out\n"
        "INFO  jepsen.util - :nemesis\t:info\t:start\tnil\nINFO  jepsen.util - 1\t:invoke\t:read\tnil\n"
        "INFO  jepsen.util - 1\t:ok\t:read\t1\n"
    )
    write, read_ = calls(path)
    assert (write.line, write.client, write.given, write.outcome, write.returned) == (2, 0, 1, Outcome.UNKNOWN, None)
    assert (read_.line, read_.told, read_.outcome) == (5, 1, Outcome.OK)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("0 invoke read nil\n0 invoke read nil", "begins read within line 2, process 0"),
        ("0 ok read nil", "ends read, which it has not begun"),
        ("0 began read nil", ":type of :invoke"),
        ("0 invoke lock nil", "register has no such call; it has read, write, cas"),
        ("0 invoke cas 3\n0 ok cas 3", "needs two values"),
    ],
)
def test_a_history_that_cannot_be_is_refused(text: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput) as refused:
        judge_history(calls(history(text, tmp_path)), BY_NAME["register"], "here")
    assert said in str(refused.value)


def drawn(draw: Random) -> list[HistoryCall]:
    """Up to six calls of three clients on a register, their ends wrong now and then."""
    found: list[HistoryCall] = []
    within: dict[int, HistoryCall] = {}
    for position in range(draw.randint(6, 12)):
        client = draw.randrange(3)
        if client in within:
            call = within.pop(client)
            call.outcome = draw.choice([Outcome.OK, Outcome.OK, Outcome.OK, Outcome.REFUSED])
            call.returned, call.told = position, draw.randrange(2) if call.name == "read" else call.given
        elif len(found) < 6:
            name = draw.choice(["read", "write", "cas"])
            given_: Edn = {"read": None, "write": draw.randrange(2), "cas": (draw.randrange(2), draw.randrange(2))}[
                name
            ]
            within[client] = HistoryCall(line=position, client=client, name=name, given=given_, called=position)
            found.append(within[client])
    return found


def is_explained_in_the_plainest_way(history_: list[HistoryCall], model: SequentialModel) -> bool:
    """By some order of all calls that ended and some of the others."""
    known = [call for call in history_ if call.returned is not None]
    unknown = [call for call in history_ if call.returned is None]
    some = chain.from_iterable(combinations(unknown, count) for count in range(len(unknown) + 1))
    for order in chain.from_iterable(permutations([*known, *more]) for more in some):
        if any(
            later.returned is not None and later.returned < call.called
            for at, call in enumerate(order)
            for later in order[at + 1 :]
        ):
            continue
        value: Edn = 0
        for call in order:
            if call.outcome is Outcome.REFUSED:
                if call.name == "cas" and isinstance(call.given, tuple) and value == call.given[0]:
                    break
            elif call.name == "read" and call.outcome is Outcome.OK and call.told != value:
                break
            elif call.name == "write":
                value = call.given
            elif call.name == "cas" and isinstance(call.given, tuple):
                if call.given[0] != value:
                    break
                value = call.given[1]
        else:
            return True
    return False


def test_the_search_finds_an_order_where_trying_all_does() -> None:
    model, found = as_state(BY_NAME["register"], 0), []
    for number in range(500):
        history_ = drawn(Random(number))
        found.append(judge_history(history_, model, "here", refusals=True).stuck is None)
        assert found[-1] == is_explained_in_the_plainest_way(history_, model), number
    assert min(found.count(True), found.count(False)) > 100


def labelled(name: str) -> Trace:
    (path,) = TRACES.glob(f"workqueue/*/{name}.ndjson")
    return trace_ndjson.read(path)


def test_a_client_whose_call_has_no_known_end_calls_on_as_another_process(tmp_path: Path) -> None:
    trace = labelled("Q-ONCE.whole")
    path = tmp_path / "history.edn"
    path.write_bytes(interchange.jepsen(trace))
    found = calls(path)
    assert {call.client for call in found} <= set(range(len(trace.header.topology.clients())))
    # The first answer is lost: what its client does from then on is of a process that many clients further.
    first = found[0]
    lines = path.read_text().splitlines()
    returned = next(at for at, line in enumerate(lines) if f":process {first.client}, :type :ok" in line)
    del trace.rows[returned - 1]
    path.write_bytes(interchange.jepsen(trace))
    again = calls(path)
    assert again[0].returned is None
    assert again[0].client == first.client == 0
    assert len(trace.header.topology.clients()) in {call.client for call in again[1:]}


def test_a_call_of_no_client_is_no_operation_of_a_process() -> None:
    trace = labelled("Q-ONCE.whole")
    node = schema("workqueue").index("node")
    first = calls_of(trace)[0]
    trace.rows[first] = tuple(0 if at == node else value for at, value in enumerate(trace.rows[first]))
    assert b":process :nemesis, :type :info, :f :called" in interchange.jepsen(trace)
    assert len(msgspec.json.decode(interchange.porcupine(trace))) == len(calls_of(trace)) - 1


def test_porcupine_is_given_calls_with_both_ends() -> None:
    trace = labelled("Q-ONCE.whole")
    found = msgspec.json.decode(interchange.porcupine(trace))
    assert len(found) == len(calls_of(trace))
    assert all(one["Call"] <= one["Return"] for one in found)
    assert {"open_group", "send_message"} <= {one["Input"]["f"] for one in found}
    assert {"ok"} <= {one["Output"]["outcome"] for one in found}


def calls_of(trace: Trace) -> list[int]:
    return [row for row, kind in enumerate(trace.column("kind")) if kind == 13]


def test_a_protocol_without_calls_has_no_histories() -> None:
    trace = trace_ndjson.read(next(TRACES.glob("totalorder/conforming/*.ndjson")))
    for write in (interchange.jepsen, interchange.porcupine):
        with pytest.raises(BadInput, match="protocol 'totalorder' has no calls, and so no histories"):
            write(trace)
