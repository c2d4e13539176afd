"""Each rule of `ci/tidy` is seen red on a small tree, and quiet on the nearest thing that is allowed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from ci import tidy

WORK = "/wor" + "k/"  # spelled in two parts: this file is tidied too
UNFINISHED = "TO" + "DO"
CHINESE = "屏障" * 11

BREACHES = {
    "long module": ("sizes", "spec/a.py", "x = 1\n" * 401, 401),
    "long test module": ("sizes", "spec/tests/test_a.py", "x = 1\n" * 601, 601),
    "long TLA+ module": ("sizes", "spec/A.tla", "\\* a line\n" * 401, 401),
    "long function": ("sizes", "spec/a.py", "\ndef f():\n" + "    x = 1\n" * 60, 2),
    "long line of TLA+": ("sizes", "spec/A.tla", "\n" + "x" * 121, 2),
    "long line of a script": ("sizes", "ci/run", "#!/bin/sh\n" + "x" * 121, 2),
    "bare except": ("excepts", "impl/a.py", "try:\n    f()\nexcept:\n    pass\n", 3),
    "broad except": ("excepts", "impl/a.py", "try:\n    f()\nexcept Exception:\n    pass\n", 3),
    "broad among narrow": ("excepts", "impl/a.py", "try:\n    f()\nexcept (OSError, BaseException):\n    pass\n", 3),
    "suppress of all": ("excepts", "impl/a.py", "with contextlib.suppress(Exception):\n    f()\n", 1),
    "spec imports models": ("imports", "spec/a.py", "import scatterproof.models.claim\n", 1),
    "impl imports conformance": ("imports", "impl/a.py", "from scatterproof.conformance import network\n", 1),
    "conformance imports impl": (
        "imports",
        "conformance/a.py",
        "def f():\n    from scatterproof.impl.core import x\n",
        2,
    ),
    "models imports impl": ("imports", "models/a.py", "import scatterproof.impl\n", 1),
    "models imports fuzz": ("imports", "models/a.py", "import scatterproof.fuzz\n", 1),
    "conformance imports spark": ("imports", "conformance/a.py", "import scatterproof.spark\n", 1),
    "fuzz imports the console": ("imports", "fuzz/a.py", "import scatterproof.cli\n", 1),
    "a test against the direction": ("imports", "impl/tests/test_a.py", "import scatterproof.conformance\n", 1),
    "import of a folder of the product": ("imports", "conformance/a.py", "from scatterproof import impl\n", 1),
    "import by a folder's name": ("imports", "spec/a.py", "import spec.b\n", 1),
    "import by a folder's name in a script": ("imports", "ci/a.py", "def f():\n    from impl import core\n", 2),
    "import by a function": (
        "imports",
        "conformance/a.py",
        'm = importlib.import_module("scatterproof.impl.core")\n',
        1,
    ),
    "relative import upwards": ("imports", "spec/b/a.py", "from ...impl import x\n", 1),
    "protocol imported": ("protocols", "conformance/run.py", "from scatterproof.conformance.pubsub import x\n", 1),
    "protocol named": ("protocols", "spec/trace.py", 'if protocol == "pubsub":\n    pass\n', 1),
    "protocol in a text": ("protocols", "fuzz/a.py", 'folder = "spec/workqueue/x.toml"\n', 1),
    "protocol in a docstring": ("protocols", "spec/a.py", '"""Runs.\n\nSay `--protocol pubsub`.\n"""\n', 3),
    "protocol in a comment": ("protocols", "spec/a.py", "x = 1\ny = x  # as in pubsub\n", 2),
    "protocol in a made text": ("protocols", "spec/a.py", 'x = 1\ny = f"{x}/pubsub"\n', 2),
    "unfinished work": ("leftovers", "README.md", f"text\n{UNFINISHED}: more\n", 2),
    "machine path": ("places", "spec/a.toml", f'folder = "{WORK}x"\n', 1),
    "registry address": ("places", "ci/setup", "index=https://pypi." + "org/simple\n", 1),
    "address in a lock": ("places", "requirements.lock", "--extra-index" + "-url x\n", 1),
    "quotation": ("quotations", "spec/a.md", f"see\n\n{CHINESE}\n", 3),
    "skip": ("dodges", "spec/tests/test_a.py", "@pytest.mark.skipif(True)\ndef test_a(): ...\n", 1),
    "xfail": ("dodges", "spec/tests/test_a.py", "@pytest.mark.xfail\ndef test_a(): ...\n", 1),
    "imported skip": ("dodges", "spec/tests/test_a.py", "from pytest import skip\nskip()\n", 2),
    "sleep": ("dodges", "spec/tests/test_a.py", "import time\ntime.sleep(1)\n", 2),
    "a phrase in a page": ("words", "docs/a.md", "x\nThis tells " + "of barriers.\n", 2),
    "a phrase in a docstring": (
        "words",
        "spec/a.py",
        'def f():\n    """Count.\n\n    What is there, and what ' + 'lacks."""\n',
        4,
    ),
    "a phrase in a comment": ("words", "spec/a.py", "x = 1  # of the few " + "that count\n", 1),
    "sleep in a conftest": ("dodges", "spec/conftest.py", "import time\ntime.sleep(1)\n", 2),
}

ALLOWED = {
    "module at the limit": ("spec/a.py", "x = 1\n" * 400),
    "function at the limit": ("spec/a.py", "def f():\n" + "    x = 1\n" * 59),
    "line at the limit": ("spec/A.tla", "x" * 120),
    "long line of prose": ("README.md", "x " * 200),
    "narrow except": ("impl/a.py", "try:\n    f()\nexcept (OSError, ValueError):\n    pass\n"),
    "downward imports": (
        "fuzz/a.py",
        "import scatterproof.spec, scatterproof.models.x, numpy\nfrom scatterproof import impl\n",
    ),
    "a judge's test judges the reference": ("conformance/tests/test_a.py", "import scatterproof.impl.core\n"),
    "the console imports all": ("scatterproof/a.py", "from scatterproof import app, fuzz, impl, models, spark, spec\n"),
    "a script imports all": ("ci/a.py", "import scatterproof.cli\nfrom scatterproof import conformance, impl\n"),
    "own package": ("spec/b/a.py", "from .. import clauses\nfrom . import x\nimport scatterproof.spec.trace\n"),
    "protocol in its own module": ("conformance/checks/pubsub.py", 'name = "pubsub"\n'),
    "protocol in its own folder": ("impl/pubsub/a.py", 'name = "pubsub"\n'),
    "protocol in a test": ("spec/tests/test_a.py", 'name = "pubsub"\n'),
    "a name that has a protocol's in it": ("spec/a.py", '"""Say rebroadcast, or pubsubs."""\n'),
    "a method called like a protocol": ("spark/a.py", "context.pubsub(x)\n"),
    "a Chinese term": ("spec/a.md", "the term 屏障时间戳\n"),
    "a phrase in an error": ("spec/a.py", 'raise BadInput("the file tells ' + 'of two runs")\n'),
    "a phrase in a made page": ("spec/x/FINDINGS.md", "It tells " + "of one.\n"),
    "a waiting call outside tests": ("impl/a.py", "time.sleep(1)\n"),
}


def tree(root: Path, name: str, text: str) -> Path:
    file = root / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return root


@pytest.mark.parametrize("breach", BREACHES)
def test_a_breach_is_found_at_its_file_and_line_by_its_rule_alone(breach: str, tmp_path: Path) -> None:
    rule, name, text, line = BREACHES[breach]
    root = tree(tmp_path, name, text)

    files, found = tidy.check(root, [rule])

    assert files == 1
    assert [(finding.file, finding.line) for finding in found] == [(name, line)]
    others = [other for other in (*tidy.RULES, *tidy.RULES_OF_ALL) if other != rule]
    assert tidy.check(root, others)[1] == []


@pytest.mark.parametrize("case", ALLOWED)
def test_what_is_allowed_is_left_in_peace(case: str, tmp_path: Path) -> None:
    assert tidy.check(tree(tmp_path, *ALLOWED[case])) == (1, [])


def test_a_protocol_is_one_as_soon_as_it_has_clauses(tmp_path: Path) -> None:
    root = tree(tmp_path, "spec/trace.py", 'if protocol == "gossip":\n    pass\n')
    assert tidy.check(root, ["protocols"]) == (1, [])

    _, found = tidy.check(tree(root, "spec/gossip/clauses.toml", ""), ["protocols"])

    assert [(finding.file, finding.line) for finding in found] == [("spec/trace.py", 1)]


CIRCLE = {
    "conformance/judge.py": "import scatterproof.conformance.checks.rows\n",
    "conformance/checks/rows.py": "x = 1\nfrom scatterproof.conformance.kinds import y\n",
    "conformance/kinds.py": "",
}


def test_folders_that_import_each_other_are_found_at_the_imports(tmp_path: Path) -> None:
    for name, text in CIRCLE.items():
        tree(tmp_path, name, text)

    _, found = tidy.check(tmp_path, ["cycles"])

    assert sorted((f.file, f.line) for f in found) == [("conformance/checks/rows.py", 2), ("conformance/judge.py", 1)]
    assert "conformance/checks -> conformance" in found[0].what


@pytest.mark.parametrize(
    ("name", "to"),
    [
        ("conformance/judge.py", "conformance/protocol.py"),
        ("conformance/judge.py", "conformance/tests/test_judge.py"),
        ("conformance/checks/rows.py", "conformance/checks/tests/test_rows.py"),
        ("conformance/kinds.py", "conformance/checks/kinds.py"),
    ],
)
def test_records_and_tests_may_name_what_stands_below_them(name: str, to: str, tmp_path: Path) -> None:
    for file, text in CIRCLE.items():
        tree(tmp_path, to if file == name else file, text.replace("conformance.kinds", "conformance.checks.kinds")
             if name == "conformance/kinds.py" else text)  # fmt: skip
    assert tidy.check(tmp_path, ["cycles"])[1] == []


@pytest.mark.parametrize(
    ("one", "two", "breaches"),
    [
        ("spec/a.py", "fuzz/b.py", 1),
        ("impl/pubsub/a.py", "impl/pubsub/b/c.py", 1),
        ("impl/pubsub/a.py", "impl/workqueue/a.py", 0),
        ("impl/pubsub/a.py", "conformance/pubsub/a.py", 0),
        ("conformance/pubsub/products/a.py", "conformance/pubsub/products/b.py", 0),
        ("spec/a.py", "spec/tests/test_a.py", 0),
    ],
)
def test_a_class_name_means_one_thing_where_it_can_be_met(one: str, two: str, breaches: int, tmp_path: Path) -> None:
    for name in (one, two):
        tree(tmp_path, name, "class Step:\n    pass\n\n\nclass _Own:\n    pass\n")
    found = tidy.check(tmp_path, ["names"])[1]
    assert ["class Step" in f.what for f in found] == [True] * breaches


def test_every_rule_has_a_breach() -> None:
    assert {rule for rule, *_ in BREACHES.values()} == set(tidy.RULES)


def test_a_finding_names_the_place_and_the_replacement(tmp_path: Path) -> None:
    root = tree(tmp_path, "impl/a.py", "import scatterproof.conformance\n")
    command = [sys.executable, tidy.__file__, str(root)]

    run = subprocess.run(command, capture_output=True, text=True, check=False)

    assert run.returncode == 1
    assert run.stdout.splitlines() == [
        "impl/a.py:1: impl imports scatterproof.conformance; impl may import spec: pass the value in from above",
        "tidy: 1 files, 1 findings",
    ]


def test_a_tree_without_files_is_not_passed(tmp_path: Path) -> None:
    assert tidy.main([str(tmp_path)]) == 1


def test_made_files_and_binary_files_are_passed_over(tmp_path: Path) -> None:
    tree(tmp_path, "results/latest/log.txt", UNFINISHED)
    (tmp_path / "table.parquet").write_bytes(b"\xff\xfe" + UNFINISHED.encode())
    assert tidy.check(tree(tmp_path, "a.md", "text")) == (1, [])


def test_git_decides_which_files_count(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "--quiet", str(tmp_path)], check=True)
    tree(tmp_path, ".gitignore", "made.md\n")
    tree(tmp_path, "made.md", UNFINISHED)

    files, found = tidy.check(tree(tmp_path, "new.md", UNFINISHED))

    assert files == 2
    assert [finding.file for finding in found] == ["new.md"]
