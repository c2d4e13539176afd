"""The hash algorithms of v1model, over a bit string given as an int and its length in bits.

As in BMv2, a bit string that is no whole number of bytes is filled with zeros at its end.
"""

from __future__ import annotations

import binascii
import zlib
from collections.abc import Callable


def to_bytes(value: int, bits: int) -> bytes:
    """The bit string as bytes, filled with zeros at the end."""
    return (value << (-bits % 8)).to_bytes((bits + 7) // 8)


def _reflected_table(polynomial: int) -> tuple[int, ...]:
    """The table of a CRC that takes the lowest bit of each byte first; the polynomial is reflected, too."""
    table = []
    for start in range(256):
        remainder = start
        for _ in range(8):
            remainder = (remainder >> 1) ^ (polynomial if remainder & 1 else 0)
        table.append(remainder)
    return tuple(table)


# x^16 + x^15 + x^2 + 1, reflected: CRC-16/ARC.
_CRC16 = _reflected_table(0xA001)


def crc16(data: bytes) -> int:
    """CRC-16/ARC: reflected, no start value, no final one."""
    remainder = 0
    for byte in data:
        remainder = _CRC16[(remainder ^ byte) & 0xFF] ^ (remainder >> 8)
    return remainder


def crc32(data: bytes) -> int:
    """The CRC of Ethernet."""
    return zlib.crc32(data)


def crc_ccitt(data: bytes) -> int:
    """CRC-16/CCITT-FALSE: starts from all ones."""
    return binascii.crc_hqx(data, 0xFFFF)


def csum16(data: bytes) -> int:
    """The Internet checksum: the complement of the one's complement sum of 16-bit words.

    2^16 is 1 modulo 65535, so the sum of the words of a number is the number itself modulo 65535; a sum that is not
    zero folds to 65535, never to 0.
    """
    number = int.from_bytes(data if len(data) % 2 == 0 else data + b"\0")
    return 0xFFFF - (number % 0xFFFF or (0xFFFF if number else 0))


def xor16(data: bytes) -> int:
    """All 16-bit words, exclusive or."""
    if len(data) % 2:
        data += b"\0"
    result = 0
    for at in range(0, len(data), 2):
        result ^= data[at] << 8 | data[at + 1]
    return result


def identity(data: bytes) -> int:
    """The first eight bytes as a number."""
    return int.from_bytes(data[:8])


# Under the names of BMv2 JSON, with the greatest result. The custom ones start as BMv2 starts them.
ALGORITHMS: dict[str, tuple[Callable[[bytes], int], int]] = {
    "crc16": (crc16, 0xFFFF),
    "crc16_custom": (crc16, 0xFFFF),
    "crc32": (crc32, 0xFFFFFFFF),
    "crc32_custom": (crc32, 0xFFFFFFFF),
    "crcCCITT": (crc_ccitt, 0xFFFF),
    "csum16": (csum16, 0xFFFF),
    "cksum16": (csum16, 0xFFFF),
    "xor16": (xor16, 0xFFFF),
    "identity": (identity, 0xFFFFFFFFFFFFFFFF),
}
