"""Files of cases: what they may say that the cases of protocols do not, and what is said of one that cannot be read."""

from __future__ import annotations

from pathlib import Path

import pytest

from scatterproof.conformance.case_files import CaseWords, numbers
from scatterproof.conformance.pubsub.cases.building import CASE_WORDS as OF_PUBSUB
from scatterproof.conformance.totalorder.cases.building import CASE_WORDS
from scatterproof.spec.errors import BadInput

CASE = """
[[case]]
id = "TO-ORDER/tried"
stimulus = "two hosts send"
duty = "delivers"
network = "star 2"
delays = { all = 500 }
steps = "0 all scatter"
faults = ["lose 0>2 1"]
failures = ["1_000..2_000 crash 0"]
"""
IN_CASE = "TO-ORDER/tried: "
WRONG = (
    ("network =", "[network]", "Expected newline or end of document after a statement (at line 6, column 11)"),
    ("[[case]]", "[[cases]]", "Object contains unknown field `cases`"),
    ("stimulus", "stimulos", IN_CASE + "Object contains unknown field `stimulos`"),
    ("star 2", "ring 2", IN_CASE + "network 'ring 2': 'ring' is no shape; there are chain, diamond,"),
    ("star 2", "star two", IN_CASE + "network 'star two': invalid literal for int()"),
    ("star 2", "star 2 3", IN_CASE + "network 'star 2 3': too many positional arguments"),
    ("all = 500", '"0>1" = 500', IN_CASE + "delays: '0>1' is no link; the network has 0>2 2>0 1>2 2>1"),
    ("lose 0>2 1", "lose 0>2/2 1", IN_CASE + "faults, 'lose 0>2/2 1': '0>2/2' is no link; the network has 0>2 2>0"),
    ("0 all scatter", "0 all", IN_CASE + "steps, '0 all': give when, by which node, and what"),
    ("all scatter", "all gather", IN_CASE + "steps, '0 all gather': 'gather' is no step; there are scatter"),
    ("0 all", "0+5 all", IN_CASE + "steps, '0+5 all scatter': '0+5' is no number; write 1_000, 1_000+500*3 or 2..4"),
    ("scatter", "scatter txt=a", IN_CASE + "steps, '0 all scatter txt=a': got an unexpected keyword"),
    ("scatter", "scatter 'a", IN_CASE + 'steps, "0 all scatter \'a": No closing quotation'),
    ("lose 0>2 1", "lose 0>2", IN_CASE + "faults, 'lose 0>2': give at least three words: `lose 0>3 1`"),
    ("lose 0>2 1", "delay 0>2 1", IN_CASE + "faults, 'delay 0>2 1': say which packets of the link, from 0"),
    ("lose 0>2", "lost 0>2", IN_CASE + "faults, 'lost 0>2 1': 'lost' is no fault; there are delay, duplicate, lose"),
    ("crash 0", "fall 0", IN_CASE + "failures, '1_000..2_000 fall 0': 'fall' is no failure; there are crash, cut,"),
    ("crash", "restart", IN_CASE + "failures, '1_000..2_000 restart 0': 'restart' is no failure that ends; there are"),
    ("id =", "ids = ", "case 1: Object contains unknown field `ids`"),
    ("duty", 'clocks = "0"\ndrifts = "1,1"\nduty', IN_CASE + "clocks and drifts: there are 1 and 2; give one of each"),
    ("crash 0", "crash 7", "case TO-ORDER/tried: failures[0] is a crash of node 7; nodes are 0 to 2"),
)


def refusal(folder: Path, words: CaseWords, text: str) -> str:
    path = folder / "mine.toml"
    path.write_text(text)
    with pytest.raises(BadInput) as caught:
        words.read(path)
    place, _, said = str(caught.value).partition(": ")
    assert (place, "\n" in said) == (str(path), False)
    return said


@pytest.mark.parametrize(("right", "wrong", "sentence"), WRONG)
def test_what_cannot_be_read_is_told_in_a_sentence_with_file_and_place(
    tmp_path: Path, right: str, wrong: str, sentence: str
) -> None:
    assert CASE.count(right) == 1
    assert refusal(tmp_path, CASE_WORDS, CASE.replace(right, wrong)).startswith(sentence)


def test_topics_and_grammars_that_are_not_there_are_refused(tmp_path: Path) -> None:
    text = CASE.replace("star 2", "row 1 0").partition("delays")[0].replace("TO-ORDER", "PS-ROUTE")
    step = 'steps = "0 1 publishes T9"\n'
    assert refusal(tmp_path, OF_PUBSUB, text + step).endswith("'T9' is none of T1.T2, T1.T3, T1.T2.T3, T4")
    grammar = step + 'set = { grammar = "smtp" }\n'
    assert refusal(tmp_path, OF_PUBSUB, text + grammar).endswith(
        "'smtp' is no grammar; there are document, mqtt, nats, amqp"
    )


def test_numbers_are_read_as_the_files_have_them() -> None:
    assert numbers("7,-3_000,1_000+500*3,90-5*2,2..4") == (7, -3_000, 1_000, 1_500, 2_000, 90, 85, 2, 3, 4)


def test_a_case_is_put_together_of_what_is_written(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(CASE)
    (case,) = CASE_WORDS.read(path)
    schedule = case.schedule
    assert (case.clause, case.at_stake) == ("TO-ORDER", ("TO-ORDER", "TO-COMPLETE"))
    assert [(one.time_ns, one.node, len(one.messages)) for one in schedule.submissions] == [(0, 0, 2), (0, 1, 2)]
    assert [(one.link, one.index, one.kind) for one in schedule.faults] == [(0, 1, "lose")]
    assert [(one.time_ns, one.kind, one.node) for one in schedule.failures] == [
        (1_000, "crash", 0),
        (2_000, "restart", 0),
    ]
    assert {one.base_ns for one in schedule.delays} == {500}
