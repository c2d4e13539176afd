"""The catalogue's loader refuses every unsound catalogue by name; the catalogues of the project are sound."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from scatterproof.spec import clauses, clauses_markdown
from scatterproof.spec.clauses import ClauseKind, Layer, Level, load, protocols, snake_case, spelling
from scatterproof.spec.errors import BadInput

PROTOCOL = "echo"

SOUND = """\
protocol = "echo"
version = "7"
title = "Echo"

[sources]
paper = "a paper"
ours = "ours"

[environments]
A = "plain"
B = "noisy"

[claim_groups]
K = { count = 2, title = "kept" }

[[clause]]
id = "EC-ANSWER"
name = "AnswerFollowsCall"
kind = "safety"
level = "MUST"
must = "An answer MUST follow its call."
source = "paper, section 2"
environments = ["A", "B"]
layers = ["tlc", "check", "oracle"]
not_yet = { z3 = "no claim", case = "no case" }

[[clause.literal]]
id = "lit-1"
rule = "An answer is sent."
suspicion = "Nothing says when."

[[clause]]
id = "EC-LOUD"
name = "AnswerIsLoud"
kind = "performance"
level = "MAY"
must = "An answer MAY be loud."
source = "ours: it is heard better"
environments = ["B"]
not_yet = "noise is not modelled"

[claims]
K1 = { says = "answers", clauses = ["EC-ANSWER"] }
K2 = { says = "loud answers", clauses = ["EC-ANSWER", "EC-LOUD"] }
"""


def catalogue_of(text: str, folder: Path) -> clauses.Catalogue:
    """The catalogue read from a text, stored as that of the protocol `echo` in `folder`."""
    (folder / PROTOCOL).mkdir(exist_ok=True)
    (folder / PROTOCOL / "clauses.toml").write_text(text, encoding="utf-8")
    return load(PROTOCOL, folder)


def test_a_sound_catalogue_gives_each_layer_a_spelling_or_a_reason(tmp_path: Path) -> None:
    catalogue = catalogue_of(SOUND, tmp_path)
    answer, loud = catalogue.clauses

    assert (catalogue.protocol, catalogue.version, catalogue.title) == ("echo", "7", "Echo")
    assert (answer.kind, answer.level) == (ClauseKind.SAFETY, Level.MUST)
    assert answer.layers == {
        Layer.TLC: "AnswerFollowsCall",
        Layer.CHECK: "answer_follows_call",
        Layer.ORACLE: "answer_follows_call",
    }
    assert answer.not_yet == {Layer.Z3: "no claim", Layer.CASE: "no case"}
    assert [literal.id for literal in answer.literals] == ["lit-1"]
    assert loud.layers == {}
    assert loud.not_yet == dict.fromkeys(Layer, "noise is not modelled")
    assert catalogue.clause("EC-LOUD") is loud
    assert catalogue.by_name["AnswerFollowsCall"] is answer
    assert catalogue.claims_of("EC-LOUD") == ("K2",)
    assert catalogue.claim("K1").clauses == ("EC-ANSWER",)


@pytest.mark.parametrize(
    ("old", "new", "place", "fault"),
    [
        ('kind = "safety"', 'kind = "safety"\nmood = "good"', "EC-ANSWER", "unknown key 'mood'"),
        ('kind = "safety"', 'kind = "wish"', "EC-ANSWER", "unknown kind 'wish'; take one of safety, liveness"),
        ('kind = "safety"\n', "", "EC-ANSWER", "the key 'kind' is missing"),
        ('level = "MAY"', 'level = "MIGHT"', "EC-LOUD", "unknown level 'MIGHT'"),
        ('version = "7"', 'version = ""', "clauses.toml", "'version' is not a text"),
        ('version = "7"', 'version = "7"\ncolour = "red"', "clauses.toml", "unknown key 'colour'"),
        ('protocol = "echo"', 'protocol = "ohce"', "clauses.toml", "write 'echo', the name of its folder"),
        ('id = "EC-LOUD"\n', "", "clause 2 of the file", "it has no id"),
        (
            'kind = "safety"',
            'kind = "safety"\nexplains = ["EC-SOFT"]',
            "EC-ANSWER",
            "it explains 'EC-SOFT', which is unknown",
        ),
        ('kind = "safety"', 'kind = "safety"\nexplains = ["EC-ANSWER"]', "clauses.toml", "explain each other"),
        ('id = "EC-LOUD"', 'id = "loud"', "loud", "not a clause id"),
        ('id = "EC-LOUD"', 'id = "EC-ANSWER"', "clauses.toml", "the id EC-ANSWER is used twice"),
        ("AnswerIsLoud", "AnswerFollowsCall", "clauses.toml", "EC-ANSWER and EC-LOUD share the name"),
        ("AnswerIsLoud", "answer_is_loud", "EC-LOUD", "not CamelCase"),
        ("An answer MUST follow", "An answer will follow", "EC-ANSWER", "its sentence has no MUST"),
        ("MUST follow", "MUST or SHOULD follow", "EC-ANSWER", "mixes MUST and SHOULD"),
        ("follow its call.", "follow its call. So be it.", "EC-ANSWER", "not one sentence"),
        ("follow its call.", "follow its call", "EC-ANSWER", "not one sentence"),
        ('"paper, section 2"', '"hearsay"', "EC-ANSWER", "names no document; begin it with one of: paper; ours"),
        ('environments = ["B"]', 'environments = ["Z"]', "EC-LOUD", "unknown environment 'Z'"),
        ('environments = ["B"]\n', "", "EC-LOUD", "names no environment"),
        ('"oracle"]', '"oracle", "coq"]', "EC-ANSWER", "unknown layer 'coq'"),
        ('"oracle"]', '"oracle", "tlc"]', "EC-ANSWER", "'layers' names 'tlc' twice"),
        ('"oracle"]', '"oracle", 3]', "EC-ANSWER", "'layers' is not a list of texts"),
        ('z3 = "no claim", ', "", "EC-ANSWER", "neither the layer z3 nor a reason"),
        ('z3 = "no claim"', 'z3 = ""', "EC-ANSWER: not_yet", "'z3' is not a text"),
        ('z3 = "no claim"', 'coq = "no claim"', "EC-ANSWER", "unknown layer 'coq'"),
        ('z3 = "no claim"', 'z3 = "no", tlc = "no"', "EC-ANSWER", "tlc both checks it and is not yet there"),
        ('not_yet = "noise is not modelled"\n', "", "EC-LOUD", "neither the layer tlc nor a reason"),
        ('id = "lit-1"', 'id = "first"', "EC-ANSWER", "'first' is no id of a literal rule"),
        ("[claims]", "[[claims]]", "clauses.toml", "'claims' is not a table"),
        ("K2 =", "K3 =", "claims", "unknown claim 'K3'"),
        ('K1 = { says = "answers", clauses = ["EC-ANSWER"] }\n', "", "claim K1", "it is missing"),
        (
            '["EC-ANSWER", "EC-LOUD"]',
            '["EC-LOUDER"]',
            "claim K2",
            "unknown clause 'EC-LOUDER'; the nearest are EC-LOUD",
        ),
        ('["EC-ANSWER", "EC-LOUD"]', "[]", "claim K2", "mapped to no clause"),
        ("count = 2", "count = true", "claim group K", "'count' is not a number"),
        ("[claims]", "[claims", "clauses.toml", "line"),
    ],
)
def test_an_unsound_catalogue_is_refused_with_file_place_and_fault(
    tmp_path: Path, old: str, new: str, place: str, fault: str
) -> None:
    assert SOUND.count(old) >= 1
    with pytest.raises(BadInput) as refused:
        catalogue_of(SOUND.replace(old, new, 1), tmp_path)
    message = str(refused.value)
    assert message.startswith(str(tmp_path / PROTOCOL / "clauses.toml"))
    assert place in message
    assert fault in message
    assert "\n" not in message


def test_a_toml_fault_names_its_line(tmp_path: Path) -> None:
    line = SOUND.splitlines().index("[claims]") + 1
    with pytest.raises(BadInput, match=f"at line {line}, column"):
        catalogue_of(SOUND.replace("[claims]", "[claims"), tmp_path)


def test_a_reason_for_a_clause_that_every_layer_checks_is_refused(tmp_path: Path) -> None:
    text = SOUND.replace('"oracle"]', '"oracle", "z3", "case"]')
    with pytest.raises(BadInput, match="though every layer checks the clause"):
        catalogue_of(text.replace('not_yet = { z3 = "no claim", case = "no case" }', 'not_yet = "no"'), tmp_path)


def test_a_catalogue_without_clauses_is_refused(tmp_path: Path) -> None:
    head = SOUND[: SOUND.index("[[clause]]")].replace("count = 2", "count = 1")
    with pytest.raises(BadInput, match="the key 'clause' is missing"):
        catalogue_of(head, tmp_path)
    with pytest.raises(BadInput, match="there is no clause in it"):
        catalogue_of("clause = []\n" + head, tmp_path)


def test_bytes_that_are_not_utf8_are_refused(tmp_path: Path) -> None:
    (tmp_path / PROTOCOL).mkdir()
    (tmp_path / PROTOCOL / "clauses.toml").write_bytes(b'title = "\xff"')
    with pytest.raises(BadInput, match="byte 9 is not UTF-8"):
        load(PROTOCOL, tmp_path)


def test_an_unknown_protocol_is_refused_with_those_that_exist(tmp_path: Path) -> None:
    catalogue_of(SOUND, tmp_path)
    with pytest.raises(BadInput, match=r"no protocol 'ecco'.*the protocols that exist are: echo\."):
        load("ecco", tmp_path)
    with pytest.raises(BadInput, match=r"no protocol '\.\./echo'"):
        load("../echo", tmp_path)


def test_an_unknown_clause_is_refused_with_the_nearest(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no clause 'EC-LOWD': the nearest are EC-LOUD"):
        catalogue_of(SOUND, tmp_path).clause("EC-LOWD")
    with pytest.raises(BadInput, match="no claim 'K9'"):
        catalogue_of(SOUND, tmp_path).claim("K9")


def test_a_protocol_is_a_folder_with_a_catalogue(tmp_path: Path) -> None:
    (tmp_path / "common").mkdir()
    assert protocols(tmp_path) == ()
    catalogue_of(SOUND, tmp_path)
    assert protocols(tmp_path) == (PROTOCOL,)


@pytest.mark.parametrize("protocol", protocols())
def test_every_catalogue_of_the_project_loads_and_spells_names_that_come_back(protocol: str) -> None:
    catalogue = load(protocol)
    assert catalogue.clauses
    for clause in catalogue.clauses:
        assert set(clause.layers) | set(clause.not_yet) == set(Layer)
        assert not set(clause.layers) & set(clause.not_yet)
        assert "".join(word.capitalize() for word in clause.snake_name.split("_")) == clause.name


@pytest.mark.parametrize("module", [clauses, clauses_markdown])
def test_shared_modules_name_no_protocol(module: object) -> None:
    text = Path(str(getattr(module, "__file__", ""))).read_text(encoding="utf-8")
    assert not [protocol for protocol in protocols() if protocol in text]


def test_a_layer_spells_a_clause_by_name_snake_name_or_id() -> None:
    assert snake_case("DeliverBelowBarrier") == "deliver_below_barrier"
    spelled = {layer: spelling("EC-LOUD", "AnswerIsLoud", layer) for layer in Layer}
    assert spelled == {
        Layer.TLC: "AnswerIsLoud",
        Layer.Z3: "answer_is_loud",
        Layer.ORACLE: "answer_is_loud",
        Layer.CHECK: "answer_is_loud",
        Layer.CASE: "EC-LOUD",
    }


def test_the_page_in_the_repository_is_fresh() -> None:
    run = subprocess.run(
        [sys.executable, "-m", "scatterproof.spec.clauses", "--check"],
        cwd=clauses.SPEC.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (run.returncode, run.stderr) == (0, "")


def test_a_page_is_stale_when_missing_and_when_its_catalogue_changed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    catalogue_of(SOUND, tmp_path)
    assert clauses_markdown.main(["--check"], tmp_path) == 1
    assert clauses_markdown.main([], tmp_path) == 0
    assert clauses_markdown.main(["--check"], tmp_path) == 0
    catalogue_of(SOUND.replace("MAY be loud", "MAY be shrill"), tmp_path)
    assert clauses_markdown.main(["--check"], tmp_path) == 1
    assert "CLAUSES.md is stale: run `python -m scatterproof.spec.clauses`" in capsys.readouterr().err


def test_a_refused_catalogue_leaves_the_page_as_it_was(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    catalogue_of(SOUND, tmp_path)
    clauses_markdown.main([], tmp_path)
    before = (tmp_path / "CLAUSES.md").read_text(encoding="utf-8")
    (tmp_path / PROTOCOL / "clauses.toml").write_text("clause = 3", encoding="utf-8")
    assert clauses_markdown.main([], tmp_path) == 2
    assert (tmp_path / "CLAUSES.md").read_text(encoding="utf-8") == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["CLAUSES.md", PROTOCOL]
    assert "clauses.toml" in capsys.readouterr().err


def test_the_page_shows_sentence_layers_reasons_literal_rules_and_claims(tmp_path: Path) -> None:
    text = clauses_markdown.chapter(catalogue_of(SOUND.replace("is sent", "is sent | shouted"), tmp_path))
    assert "| EC-ANSWER | MUST | An answer MUST follow its call. | paper, section 2 |" in text
    assert "| EC-ANSWER | `AnswerFollowsCall` | safety | A B | yes | - | yes | yes | - | K1, K2 |" in text
    assert "- EC-ANSWER (z3): no claim" in text
    assert "- EC-LOUD (tlc, z3, oracle, check, case): noise is not modelled" in text
    assert "| EC-ANSWER | lit-1 | An answer is sent &#124; shouted. | Nothing says when. |" in text
    assert "| K2 | loud answers | EC-ANSWER, EC-LOUD |" in text


def test_two_protocols_make_two_chapters(tmp_path: Path) -> None:
    catalogue_of(SOUND, tmp_path)
    shutil.copytree(tmp_path / PROTOCOL, tmp_path / "again")
    (tmp_path / "again" / "clauses.toml").write_text(SOUND.replace('"echo"', '"again"'), encoding="utf-8")
    text = clauses_markdown.page(tmp_path)
    assert text.count("\n## Echo") == 2
