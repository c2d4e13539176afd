"""The house style as a check: sizes, directions of imports, and words that must not stay.

    ci/tidy [--rule RULE] [ROOT]

Prints `file:line: what is wrong; what to do instead` for each finding. Exit codes: 0 none, 1 some, 2 wrong
usage. A rule is a function from a file to its findings, or from all files; patterns are spelled so as not to find
themselves.
"""

from __future__ import annotations

import argparse
import ast
import gc
import graphlib
import io
import re
import subprocess
import sys
import tokenize
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path, PurePosixPath

MODULE_LINES = 400
TEST_MODULE_LINES = 600
FUNCTION_LINES = 60
LINE_LENGTH = 120
CHINESE_PHRASE = 20

# Folders of packages stand beside this one, and their modules are named below it.
PRODUCT = "scatterproof"
# Protocols that are still to come: no shared module may name them either.
TO_COME = frozenset({"workqueue", "pubsub"})
CORE = frozenset({"spec", "models", "impl", "conformance"})
MAY_IMPORT = {
    "spec": frozenset[str](),
    "models": frozenset({"spec"}),
    "impl": frozenset({"spec"}),
    "conformance": frozenset({"spec"}),
    "fuzz": CORE,
    "spark": CORE,
    PRODUCT: CORE | {"fuzz", "spark"},
}
# Python is left out: ruff holds its lines to the same length.
LINED_ENDINGS = frozenset({".tla", ".cfg", ".p4", ".sh", ""})
# Modules that hold a record: it names the parts of all folders.
RECORDS = frozenset({"plugin.py", "protocol.py"})
MADE_PAGES = frozenset({"FINDINGS.md", "CLAUSES.md"})
# Error texts may keep these phrases: others may match them.
PHRASES = re.compile(
    r"\b(tells? o[f]|of the few tha[t]|what (lack[s]|is lackin[g])|(is|are) told b[y]|saved and tol[d])\b"
)
MADE_FOLDERS = frozenset({"build", "dist", "results", "report", "states", "spark-warehouse", "__pycache__"})


Folder = tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Breach:
    """One place that breaks a rule; `line` counts from 1."""

    file: str
    line: int
    what: str
    instead: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.what}; {self.instead}"


class TextFile:
    """A text file of the project, with its syntax tree when it is Python."""

    def __init__(self, root: Path, path: Path, protocols: frozenset[str]) -> None:
        self.path = PurePosixPath(path.relative_to(root).as_posix())
        self.protocols = protocols
        self.text = path.read_text(encoding="utf-8")
        self.lines = self.text.splitlines()

    @cached_property
    def tree(self) -> ast.Module | None:
        if self.path.suffix != ".py":
            return None
        try:
            return ast.parse(self.text)
        except SyntaxError:  # ruff reports it, with the place
            return None

    @cached_property
    def is_test(self) -> bool:
        return "tests" in self.path.parts or self.path.name == "conftest.py"

    @property
    def package(self) -> str:
        return self.path.parts[0]

    @cached_property
    def nodes(self) -> tuple[ast.AST, ...]:
        return tuple(ast.walk(self.tree)) if self.tree else ()

    @cached_property
    def said(self) -> tuple[tokenize.TokenInfo, ...]:
        """Its comments and strings."""
        found = tokenize.generate_tokens(io.StringIO(self.text).readline) if self.tree else ()
        return tuple(token for token in found if token.type in (tokenize.COMMENT, tokenize.STRING))

    def finding(self, line: int, what: str, instead: str) -> Breach:
        return Breach(file=str(self.path), line=line, what=what, instead=instead)


def sizes(source: TextFile) -> Iterator[Breach]:
    """Long modules, functions and lines."""
    if source.path.suffix in {".py", ".tla"}:
        limit = TEST_MODULE_LINES if source.is_test else MODULE_LINES
        if len(source.lines) > limit:
            what = f"{len(source.lines)} lines in one module, {limit} is the limit"
            yield source.finding(limit + 1, what, "move one responsibility into a module of its own")
    if source.path.suffix in LINED_ENDINGS:
        for number, line in enumerate(source.lines, 1):
            if len(line) > LINE_LENGTH:
                yield source.finding(number, f"{len(line)} characters, {LINE_LENGTH} is the limit", "break the line")
    for node in source.nodes:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            if length > FUNCTION_LINES:
                what = f"{node.name} has {length} lines, {FUNCTION_LINES} is the limit"
                yield source.finding(node.lineno, what, "take out the steps that have a name")


def excepts(source: TextFile) -> Iterator[Breach]:
    """Handlers that would swallow a defect of ours."""
    instead = "name the errors that are expected here"
    for node in source.nodes:
        if isinstance(node, ast.ExceptHandler):
            caught = node.type.elts if isinstance(node.type, ast.Tuple) else [node.type]
            for kind in caught:
                if kind is None:
                    yield source.finding(node.lineno, "bare except", instead)
                elif _name(kind) in {"Exception", "BaseException"}:
                    yield source.finding(node.lineno, f"except {_name(kind)}", instead)
        elif isinstance(node, ast.Call) and _name(node.func) == "suppress":
            kinds = {_name(kind) for kind in node.args}
            if kinds & {"Exception", "BaseException"}:
                yield source.finding(node.lineno, "suppress of every error", instead)


def imports(source: TextFile) -> Iterator[Breach]:
    """Imports against the direction spec <- models, impl, conformance <- fuzz, spark <- scatterproof, and imports by a
    folder's bare name."""
    allowed = MAY_IMPORT.get(source.package, frozenset(MAY_IMPORT))
    if source.is_test and source.package == "conformance":
        # A judge's tests need somebody to judge; the judge itself still knows nobody.
        allowed |= {"impl"}
    for line, module in imported(source):
        first, second, *_ = [*module.split("."), ""]
        target = second if second in MAY_IMPORT else first
        if first != PRODUCT:
            if first in MAY_IMPORT:
                instead = f"say {PRODUCT}.{module}: under two names one class would be two"
                yield source.finding(line, f"import of {module}", instead)
        elif target != source.package and target not in allowed:
            may = ", ".join(sorted(allowed)) or "none of our packages"
            what = f"{source.package} imports {module}"
            yield source.finding(line, what, f"{source.package} may import {may}: pass the value in from above")


def imported(source: TextFile) -> Iterator[tuple[int, str]]:
    """Line and dotted name of each module imported, relative and by `import_module("...")` too."""
    folder = source.path.parent.parts
    if source.package != PRODUCT:
        folder = (PRODUCT, *folder)
    for node in source.nodes:
        match node:
            case ast.Import(names=names):
                yield from ((node.lineno, alias.name) for alias in names)
            case ast.ImportFrom(module=module, names=names, level=0) if module == PRODUCT:
                yield from ((node.lineno, f"{PRODUCT}.{alias.name}") for alias in names)
            case ast.ImportFrom(module=module, level=0):
                yield node.lineno, module or ""
            case ast.ImportFrom(module=module, level=level):
                yield (
                    node.lineno,
                    ".".join([*folder[: len(folder) - level + 1], *([module] if module else [])]),
                )
            case ast.Call(func=func, args=[ast.Constant(value=str(module)), *_]) if _name(func) == "import_module":
                yield node.lineno, module


def protocols(source: TextFile) -> Iterator[Breach]:
    """Shared modules that name a protocol, in texts, comments and docstrings too: adding a fifth one must not touch
    them."""
    if source.package not in MAY_IMPORT or source.is_test or source.protocols & _path_names(source.path):
        return
    instead = "look it up by the protocol's name, or move this into the protocol's own module"
    for line, module in imported(source):
        for name in source.protocols.intersection(module.split(".")):
            yield source.finding(line, f"shared module imports {name}", instead)
    for line, text in _prose(source):
        for name in sorted(source.protocols & set(re.findall(r"\w+", text))):
            yield source.finding(line, f"shared module names {name}", instead)


def leftovers(source: TextFile) -> Iterator[Breach]:
    """Words of unfinished work."""
    for line, word in _matches(source, r"\b(TOD[O]|FIXM[E]|XX[X])\b"):
        yield source.finding(line, f"leftover {word}", "do it, or say in the document what is left out and why")


def places(source: TextFile) -> Iterator[Breach]:
    """Paths of one machine, addresses of registries."""
    for line, word in _matches(source, r"/wor[k]/|/tmp/bash_job[s]|/roo[t]/|/home/[a-z]\w*/"):
        yield source.finding(line, f"machine path {word}", "use a path relative to the project, or a temporary folder")
    registries = r"pypi\.or[g]|pythonhoste[d]|registry\.npmj[s]|proxy\.golan[g]|repo\d?\.mave[n]"
    for line, word in _matches(source, registries):
        yield source.finding(line, f"registry address {word}", "leave the address to the user's own configuration")
    if source.path.suffix in {".lock", ".in"}:
        for line, word in _matches(source, r"\w+://|--(extra-)?index-url|--find-links"):
            yield source.finding(line, f"address in a lock ({word})", "remake it with ci/lock")


def quotations(source: TextFile) -> Iterator[Breach]:
    """Text of the source document copied out instead of restated."""
    for line, text in _matches(source, rf"[\u3000-\u303f\u3400-\u9fff\uff00-\uffef]{{{CHINESE_PHRASE + 1},}}"):
        what = f"{len(text)} Chinese characters in a row, {CHINESE_PHRASE} is the limit"
        yield source.finding(line, what, "say it in the project's words and cite the paragraph")


def dodges(source: TextFile) -> Iterator[Breach]:
    """Tests that may not run, or that wait for time to pass."""
    if not source.is_test:
        return
    for node in source.nodes:
        if isinstance(node, ast.Attribute | ast.Name):
            name = _name(node)
            if name in {"skip", "skipif", "xfail", "importorskip", "skipTest", "skipUnless", "skipIf"}:
                instead = "let the test run everywhere, on a stand-in where a tool is missing"
                yield source.finding(node.lineno, f"{name} in a test", instead)
            elif name == "sleep":
                instead = "wait for the event itself, or move the simulated clock"
                yield source.finding(node.lineno, "sleep in a test", instead)


def cycles(files: list[TextFile]) -> Iterator[Breach]:
    """Folders that import each other, in a circle. A protocol's folder is one, with all below it; `plugin.py` and
    `protocol.py` are left out, since a record is made of what stands in other folders."""
    known = {source.path.parts[:-1] for source in files}
    first: dict[tuple[Folder, Folder], tuple[TextFile, int]] = {}
    graph: dict[Folder, set[Folder]] = {}
    for source in files:
        if source.package not in MAY_IMPORT or source.is_test or source.path.name in RECORDS:
            continue
        here = _whole(source.path.parts[:-1], source.protocols)
        for line, module in imported(source):
            _, *parts = module.split(".")
            named = tuple(parts) if parts and parts[0] in MAY_IMPORT else (PRODUCT, *parts)
            there = _whole(named if named in known else named[:-1], source.protocols)
            if module.startswith(f"{PRODUCT}.") and there in known and there != here:
                graph.setdefault(here, set()).add(there)
                first.setdefault((here, there), (source, line))
    try:
        graphlib.TopologicalSorter(graph).prepare()
    except graphlib.CycleError as error:
        circle = error.args[1][::-1]
        said = " -> ".join("/".join(folder) for folder in circle)
        for pair in pairwise(circle):
            source, line = first[pair]
            yield source.finding(line, f"folders in a circle: {said}", "move what both need below both")


def words(source: TextFile) -> Iterator[Breach]:
    """Phrases that are no plain English, in prose for readers: comments, docstrings, and pages that are not
    generated."""
    if source.path.suffix == ".py":
        said = _prose(source, strings='"""')
    elif source.path.suffix == ".md" and source.path.name not in MADE_PAGES:
        said = enumerate(source.lines, 1)
    else:
        return
    for line, text in said:
        for phrase in PHRASES.finditer(text):
            yield source.finding(
                line, f"{phrase.group()!r} is no plain English", "say it in short words, the verb in front"
            )


def names(files: list[TextFile]) -> Iterator[Breach]:
    """Public class names that mean two things: in shared code, or in one protocol's part of a package. Each product's
    module calls its parts as the others do, and an example stands alone."""
    first: dict[tuple[Folder, str], tuple[PurePosixPath, int]] = {}
    for source in files:
        if source.is_test or source.tree is None or "examples" in source.path.parts:
            continue
        there = sorted(source.protocols & _path_names(source.path))
        alone = (str(source.path),) if source.path.parent.name == "products" else ()
        scope = (source.package, *there, *alone) if there or alone else ()
        for node in source.tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                place = first.setdefault((scope, node.name), (source.path, node.lineno))
                if place != (source.path, node.lineno):
                    instead = "one class name has one meaning: rename one of them"
                    yield source.finding(node.lineno, f"class {node.name} stands in {place[0]}, too", instead)


RULES: dict[str, Callable[[TextFile], Iterator[Breach]]] = {
    rule.__name__: rule for rule in (sizes, excepts, imports, protocols, leftovers, places, quotations, dodges, words)
}
RULES_OF_ALL: dict[str, Callable[[list[TextFile]], Iterator[Breach]]] = {"cycles": cycles, "names": names}


def _name(node: ast.AST | None) -> str:
    """The last part of a dotted name, or nothing."""
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case _:
            return ""


def _path_names(path: PurePosixPath) -> set[str]:
    """Folders of the path, and the words of the file's stem: `mutants_pubsub.py` belongs to a protocol."""
    return {*path.parts[:-1], *path.stem.split("_")}


def _whole(folder: Folder, protocols: frozenset[str]) -> Folder:
    """The folder, or the protocol's folder that it is in."""
    ends = [place for place, name in enumerate(folder, 1) if name in protocols]
    return folder[: ends[0]] if ends else folder


def _prose(source: TextFile, strings: str = "") -> Iterator[tuple[int, str]]:
    """Comments, and strings that begin with `strings`, by line. Python names are left out: a method may have a
    protocol's name."""
    for token in source.said:
        if token.type == tokenize.COMMENT or token.string.startswith(strings):
            yield from enumerate(token.string.splitlines(), token.start[0])


def _matches(source: TextFile, pattern: str) -> Iterator[tuple[int, str]]:
    expression = re.compile(pattern)
    for number, line in enumerate(source.lines, 1):
        for match in expression.finditer(line):
            yield number, match.group()


def sources(root: Path) -> Iterator[TextFile]:
    """Text files that git tracks or would track; every file where there is no repository."""
    if (root / ".git").exists():
        command = ["git", "-C", str(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        listing = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        paths = [root / name for name in listing.split("\0") if name]
    else:
        paths = [path for path in root.rglob("*") if not MADE_FOLDERS & set(path.relative_to(root).parts)]
    protocols = TO_COME | {file.parent.name for file in root.glob("spec/*/clauses.toml")}
    for path in sorted(set(paths)):
        if path.is_file() and not path.is_symlink():
            try:
                yield TextFile(root, path, protocols)
            except UnicodeDecodeError:  # a picture or a Parquet file
                continue


def check(root: Path, rules: list[str] | None = None) -> tuple[int, list[Breach]]:
    """Number of files read, and what the named rules (all by default) find: in the order of the files, and then of
    all files."""
    chosen = rules or [*RULES, *RULES_OF_ALL]
    files = list(sources(root))
    found = [finding for source in files for name in chosen if name in RULES for finding in RULES[name](source)]
    found += [finding for name in chosen if name in RULES_OF_ALL for finding in RULES_OF_ALL[name](files)]
    return len(files), found


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="ci/tidy", description="Check the house style.")
    parser.add_argument(
        "--rule", choices=sorted([*RULES, *RULES_OF_ALL]), action="append", help="only this rule (may be given again)"
    )
    here = Path(__file__).resolve().parent.parent
    parser.add_argument("root", type=Path, nargs="?", default=here, help="folder to check (default: this project)")
    options = parser.parse_args(arguments)
    gc.disable()  # syntax trees have no circles; to look for some among all of them took a third of the time
    files, found = check(options.root.resolve(), options.rule)
    for finding in found:
        print(finding)
    print(f"tidy: {files} files, {len(found)} findings")
    return 1 if found or not files else 0


if __name__ == "__main__":
    sys.exit(main())
