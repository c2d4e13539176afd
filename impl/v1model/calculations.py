"""Calculations over fields: hashes, and the checksums that the parser verifies and the deparser updates.

Fields of invalid headers are left out, as in BMv2. For the Internet checksum no bit string is made: 2^16 is 1 modulo
65535, so every field may stand where it is, shifted by its place modulo 16, and unchanged fields are taken from their
header at once.
"""

from __future__ import annotations

from dataclasses import dataclass

from scatterproof.impl.v1model import compiled
from scatterproof.impl.v1model.code import Block, choose
from scatterproof.impl.v1model.expressions import Scope, Value, condition, fit, number
from scatterproof.impl.v1model.fields import Field, HeaderInstance, Raw
from scatterproof.impl.v1model.hashes import ALGORITHMS
from scatterproof.impl.v1model.layout import HeaderLayout
from scatterproof.spec.place import Place

SUMS = frozenset({"csum16", "cksum16"})


@dataclass(frozen=True, slots=True)
class Piece:
    """Consecutive input: fields of one header (or constants, with no header), or a whole header."""

    header: HeaderInstance | None
    fields: tuple[Field | tuple[int, int], ...]
    whole: bool

    @property
    def bits(self) -> int:
        if self.whole:
            assert self.header is not None
            return self.header.bits
        return sum(one.width if isinstance(one, Field) else one[1] for one in self.fields)

    @property
    def variable(self) -> Field | None:
        """The variable field in it, whose length is known at run time only."""
        if self.whole:
            assert self.header is not None
            return self.header.variable
        return next((one for one in self.fields if isinstance(one, Field) and one.variable), None)

    @property
    def guard(self) -> str | None:
        """The local that says whether this piece is part of the input."""
        return None if self.header is None or self.header.metadata else self.header.valid


def selector_of(profile: str) -> str:
    """The name of the calculation by which an action selector chooses."""
    return f"selector of {profile}"


class Calculations:
    """All calculations of a program."""

    def __init__(self, program: compiled.CompiledProgram, layout: HeaderLayout, place: Place) -> None:
        self._all = {calculation.name: calculation for calculation in program.calculations}
        for pipeline in program.pipelines:
            for profile in pipeline.action_profiles:
                if profile.selector is not None:
                    name = selector_of(profile.name)
                    self._all[name] = compiled.Calculation(name, profile.selector.algo, profile.selector.input)
        self._layout = layout
        self._place = place

    def result(self, scope: Scope, name: str, payload: str) -> Value:
        """The result as an atom; what computes it is put before. `payload` is the local that holds the payload."""
        place = self._place / f"calculation {name}"
        if name not in self._all:
            place.refuse("there is no such calculation", "compile the program again")
        calculation = self._all[name]
        if calculation.algo not in ALGORITHMS:
            known = ", ".join(sorted(ALGORITHMS))
            place.refuse(f"the hash algorithm {calculation.algo!r} is not implemented", f"take one of {known}")
        with_payload = any(given.get("type") == "payload" for given in calculation.input)
        if with_payload and calculation.input[-1].get("type") != "payload":
            place.refuse("a payload before other input is not implemented", "put the payload last")
        pieces = self._pieces(calculation, place)
        if calculation.algo in SUMS and self._summable(pieces):
            return self._sum(scope, pieces, payload if with_payload else None)
        data = self._bytes(scope, pieces)
        if with_payload:
            data = f"{data} + {payload}"
        return Value(scope.temporary(f"{calculation.algo}({data})"), 0, ALGORITHMS[calculation.algo][1], atom=True)

    def _pieces(self, calculation: compiled.Calculation, place: Place) -> list[Piece]:
        pieces: list[Piece] = []
        for given in calculation.input:
            match given:
                case {"type": "field", "value": [str(header), str(name)]}:
                    one = self._layout.field(header, name, place)
                    self._extend(pieces, self._layout.header(header, place), one)
                case {"type": "hexstr", "value": str(text), "bitwidth": int(bits)}:
                    self._extend(pieces, None, (number(text) & (1 << bits) - 1, bits))
                case {"type": "header", "value": str(name)}:
                    pieces.append(Piece(self._layout.header(name, place), (), whole=True))
                case {"type": "payload"}:
                    pass
                case _:
                    place.refuse(f"the input {given!r} is not implemented", "give fields, headers and constants")
        return pieces

    def _extend(self, pieces: list[Piece], header: HeaderInstance | None, one: Field | tuple[int, int]) -> None:
        if pieces and pieces[-1].header is header and not pieces[-1].whole:
            last = pieces.pop()
            pieces.append(Piece(header, (*last.fields, one), whole=False))
        else:
            pieces.append(Piece(header, (one,), whole=False))

    # -- any algorithm ----------------------------------------------------------------------------------------------

    def _bytes(self, scope: Scope, pieces: list[Piece]) -> str:
        """An expression for the input as bytes."""
        joined, bits = scope.temporary("0"), scope.temporary("0")
        for piece in pieces:
            code, width = self._joined(piece)
            step: Block = [f"{joined} = {joined} << {width} | {code}", f"{bits} += {width}"]
            scope.before.extend(choose(piece.guard or "True", step))
        return f"to_bytes({joined}, {bits})"

    def _joined(self, piece: Piece) -> tuple[str, str]:
        """All of a piece as one number, and its width in bits."""
        if piece.whole:
            assert piece.header is not None
            return header_number(self._layout, piece.header), header_width(piece.header)
        code, width = "0", 0
        variable = ""
        for one in piece.fields:
            if isinstance(one, Field) and one.variable:
                code = f"({code} << {one.bits_local} | {self._layout.read(one)})"
                variable = f" + {one.bits_local}"
            else:
                part, bits = self._part(one)
                code = part if code == "0" and not variable else f"({code} << {bits} | {part})"
                width += bits
        return code, f"({width}{variable})" if variable else str(width)

    def _part(self, one: Field | tuple[int, int]) -> tuple[str, int]:
        if isinstance(one, Field):
            return unsigned(self._layout, one), one.width
        return str(one[0]), one[1]

    # -- the Internet checksum --------------------------------------------------------------------------------------

    def _summable(self, pieces: list[Piece]) -> bool:
        """Whether leaving out an invalid header keeps all others aligned to 16 bits."""
        return all(piece.variable is None and piece.bits % 16 == 0 for piece in pieces)

    def _sum(self, scope: Scope, pieces: list[Piece], payload: str | None) -> Value:
        total = "0"
        for piece in pieces:
            part = f"({self._terms(piece)})"
            guarded = f"({part} if {piece.guard} else 0)" if piece.guard else part
            total = guarded if total == "0" else f"{total} + {guarded}"
        if payload is not None:
            total = f"{total} + from_bytes({payload} if len({payload}) & 1 == 0 else {payload} + b'\\0')"
        name = scope.temporary(total)
        # Zero sums to zero; any other multiple of 65535 folds to 65535.
        return Value(scope.temporary(f"0xffff - ({name} % 0xffff or (0xffff if {name} else 0))"), 0, 0xFFFF, atom=True)

    def _terms(self, piece: Piece) -> str:
        fields = piece.header.fields if piece.whole and piece.header else piece.fields
        terms: list[str] = []
        left, mask = piece.bits, 0
        for one in fields:
            if isinstance(one, tuple):
                left -= one[1]
                terms.append(hex(one[0] << left % 16))
                continue
            left -= one.width
            header = piece.header
            assert header is not None
            if self._layout.raw(header) is Raw.INT and (one.shift - left) % 16 == 0:
                mask |= one.mask << one.shift
            else:
                code = unsigned(self._layout, one)
                terms.append(f"({code} << {left % 16})" if left % 16 else code)
        if mask and piece.header is not None:
            terms.insert(0, f"({piece.header.raw} & {mask:#x})")
        return " + ".join(terms)


def unsigned(layout: HeaderLayout, one: Field) -> str:
    """A field's bits as a number."""
    low, high = one.bounds
    code = fit(Value(layout.read(one), low, high, atom=True), one.width, signed=False)
    return code.code if code.atom else f"({code.code})"


def header_width(header: HeaderInstance) -> str:
    return f"({header.bits} + {header.variable.bits_local})" if header.variable else str(header.bits)


def header_number(layout: HeaderLayout, header: HeaderInstance) -> str:
    """All bits of a header as one number: what was changed, within what was not."""
    raw = layout.raw(header)
    if header.variable:
        code = "0"
        for one in header.fields:
            width = one.bits_local if one.variable else str(one.width)
            part = layout.read(one) if one.variable else unsigned(layout, one)
            code = part if code == "0" else f"({code} << {width} | {part})"
        return code
    if raw is Raw.BYTES:
        return f"from_bytes({header.raw})"
    if raw is Raw.INT:
        return header.raw
    terms = [f"{unsigned(layout, one)} << {one.shift}" if one.shift else unsigned(layout, one) for one in header.fields]
    return f"({' | '.join(terms)})"


def header_bytes(layout: HeaderLayout, header: HeaderInstance) -> str:
    """An expression for the header as it stands in a packet."""
    if layout.raw(header) is Raw.BYTES:
        return header.raw
    if header.variable:
        return f"{header_number(layout, header)}.to_bytes({header_width(header)} >> 3)"
    return f"{header_number(layout, header)}.to_bytes({header.bits // 8})"


def checksum(
    scope: Scope, calculations: Calculations, given: compiled.Checksum, payload: str, *, verify: bool
) -> Block:
    """Statements that verify a checksum (into `std_checksum_error`) or update it."""
    if given.type != "generic":
        scope.refuse(f"the checksum type {given.type!r}")
    layout = scope.layout
    header = layout.header(given.target[0], scope.place)
    target = layout.field(*given.target, scope.place)
    truth = "True" if given.if_cond is None else condition(scope, given.if_cond)
    inner = Scope(layout, scope.place, temporaries=scope.temporaries)
    computed = calculations.result(inner, given.calculation, payload)
    if verify:
        error = layout.standard("checksum_error")
        if error is None:
            return []
        wrong = choose(f"{computed} != {unsigned(layout, target)}", [f"{layout.modify(error)} = 1"])
        body = [*inner.before, *wrong]
        if not header.metadata:
            truth = header.valid if truth == "True" else f"{header.valid} and {truth}"
    else:
        body = [*inner.before, *layout.assign(target, fit(computed, target.width, target.signed).code)]
    return [*scope.before, *choose(truth, body)]
