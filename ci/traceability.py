"""Holds the clause catalogues to their word, in both directions.

Exits with 1, a line for each fault, when a catalogue says that a layer checks a clause and the layer has
nothing of that name, and when a layer has it while the catalogue still gives a reason why not. Where the
layers keep a clause of protocol <p>:

  tlc     an operator ``Name ==`` in spec/<p>/*.tla, and a .cfg or models.toml of that folder that names it
  z3      a claim ``Claim(name="snake_name")`` or a function of that name in models/<p>/*.py
  check   a function of that name in conformance/<p>/*checks*.py or conformance/<p>/checks/*.py
  oracle  a function of that name in conformance/<p>/*oracles*.py or conformance/<p>/oracles/*.py, or one that
          is imported there from conformance/oracles
  case    the clause's id in conformance/<p>/*cases* or below such a folder

Usage: ci/traceability [ROOT]. Exit codes: 0 sound, 1 faults, 2 bad input.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

HOME = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(HOME))

from scatterproof.spec.clauses import Catalogue, Clause, Layer, load, protocols, spelling  # noqa: E402
from scatterproof.spec.errors import BadInput  # noqa: E402

ID = re.compile(r"(?<![\w-])[A-Z]+(?:-[A-Z0-9]+)+(?![\w-])")
OPERATOR = re.compile(r"^(\w+)[ \t]*==", re.MULTILINE)
SHARED_ORACLES = "scatterproof.conformance.oracles."
TLA_COMMENT = re.compile(r"\(\*.*?\*\)|\\\*[^\n]*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Shelf:
    """What one layer has for a protocol.

    where: where to look, in words.
    found: by spelling, the files that have it.
    """

    where: str
    found: Mapping[str, str]


def shelves(root: Path, protocol: str) -> dict[Layer, Shelf]:
    """What each layer has under ``root``; BadInput when a file cannot be parsed."""
    models = sorted(path for path in (root / "models" / protocol).rglob("*.py") if "tests" not in path.parts)
    conformance = root / "conformance" / protocol
    return {
        Layer.TLC: Shelf(
            f"an operator in a module of spec/{protocol} that a .cfg or models.toml names",
            _index(_checked_operators(root, protocol)),
        ),
        Layer.Z3: Shelf(
            f"a claim in models/{protocol}",
            _index(_python_names(models, root, claims=True)),
        ),
        Layer.CHECK: _functions(root, conformance, "checks"),
        Layer.ORACLE: _functions(root, conformance, "oracles"),
        Layer.CASE: Shelf(f"its id in conformance/{protocol}/cases*", _index(_cited(root, conformance))),
    }


def _index(pairs: Iterable[tuple[str, Path]]) -> dict[str, str]:
    files: dict[str, list[str]] = {}
    for name, file in pairs:
        if str(file) not in files.setdefault(name, []):
            files[name].append(str(file))
    return {name: ", ".join(names) for name, names in files.items()}


def _checked_operators(root: Path, protocol: str) -> Iterator[tuple[str, Path]]:
    """Operators that a module defines and a configuration names: TLC would not look at the others."""
    folder = root / "spec" / protocol
    configured: set[str] = set()
    for file in (*folder.rglob("*.cfg"), *folder.glob("models.toml")):
        configured.update(re.findall(r"\w+", TLA_COMMENT.sub("", file.read_text(encoding="utf-8"))))
    for file in sorted(folder.rglob("*.tla")):
        for name in OPERATOR.findall(TLA_COMMENT.sub("", file.read_text(encoding="utf-8"))):
            if name in configured:
                yield name, file.relative_to(root)


def _functions(root: Path, conformance: Path, word: str) -> Shelf:
    files = sorted({*conformance.glob(f"*{word}*.py"), *conformance.glob(f"{word}/*.py")})
    where = f"a function in conformance/{conformance.name}/*{word}*.py or {word}/*.py"
    return Shelf(where, _index(_python_names(files, root, claims=False)))


def _python_names(files: Iterable[Path], root: Path, *, claims: bool) -> Iterator[tuple[str, Path]]:
    """Module-level functions, oracles that several protocols share and, with ``claims``, the names given to
    ``Claim(name=...)``."""
    for file in files:
        try:
            tree = ast.parse(file.read_text(encoding="utf-8"))
        except SyntaxError as error:
            raise BadInput(f"{file}, line {error.lineno}: not Python ({error.msg}); mend it.") from error
        for node in tree.body:
            if isinstance(node, ast.FunctionDef):
                yield node.name, file.relative_to(root)
            elif isinstance(node, ast.ImportFrom) and str(node.module).startswith(SHARED_ORACLES):
                yield from ((alias.name, file.relative_to(root)) for alias in node.names)
        for name in _claim_names(tree) if claims else ():
            yield name, file.relative_to(root)


def _claim_names(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Claim":
            for keyword in node.keywords:
                if keyword.arg == "name" and isinstance(keyword.value, ast.Constant):
                    yield str(keyword.value.value)


def _cited(root: Path, conformance: Path) -> Iterator[tuple[str, Path]]:
    for place in sorted(conformance.glob("*cases*")):
        files = [place] if place.is_file() else sorted(place.rglob("*"))
        for file in files:
            if file.is_file() and file.suffix != ".pyc":
                for clause_id in ID.findall(file.read_text(encoding="utf-8")):
                    yield clause_id, file.relative_to(root)


def faults(catalogue: Catalogue, having: Mapping[Layer, Shelf]) -> list[str]:
    """One line for each place where catalogue and layers disagree."""
    return [
        line
        for clause in catalogue.clauses
        for layer in Layer
        for line in _faults_of(f"{catalogue.protocol}: {clause.id}", clause, layer, having[layer])
    ]


def _faults_of(head: str, clause: Clause, layer: Layer, shelf: Shelf) -> Iterator[str]:
    spelled = clause.layers.get(layer)
    if spelled is not None and spelled not in shelf.found:
        yield f"{head}: the catalogue says that {layer} checks it, but there is no {spelled} ({shelf.where})"
    # A case may cite a clause in passing, so an id in a case does not say that the clause is tried there.
    unsaid = spelling(clause.id, clause.name, layer)
    if spelled is None and layer is not Layer.CASE and unsaid in shelf.found:
        yield (
            f"{head}: {shelf.found[unsaid]} has {unsaid}, but the catalogue says that {layer} "
            f"does not check it: add {layer} to its layers"
        )


def main(arguments: list[str]) -> int:
    if len(arguments) > 1 or arguments[:1] in (["-h"], ["--help"]):
        print(__doc__)
        return 0 if len(arguments) == 1 else 2
    root = Path(arguments[0]).resolve() if arguments else HOME
    lines: list[str] = []
    clauses = 0
    try:
        known = protocols(root / "spec")
        if not known:
            raise BadInput(f"{root / 'spec'}: no protocol has a clauses.toml there; give the project's root.")
        for protocol in known:
            catalogue = load(protocol, root / "spec")
            clauses += len(catalogue.clauses)
            lines += faults(catalogue, shelves(root, protocol))
    except BadInput as error:
        print(error, file=sys.stderr)
        return error.exit_code
    for line in lines:
        print(line)
    if not lines:
        print(f"{clauses} clauses of {', '.join(known)}: every layer that is named has its part")
    return 1 if lines else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
