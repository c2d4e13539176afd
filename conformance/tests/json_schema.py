"""As much of JSON Schema as the adapter contract's schema needs. A keyword that this does not know is an error: nothing
is passed over in silence."""

from __future__ import annotations

import base64
import binascii
from typing import Any

SAYS_NOTHING = frozenset({"title", "description", "default", "discriminator", "$schema", "version", "$defs"})
TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "integer": (int,),
    "boolean": (bool,),
    "null": (type(None),),
}


def flaws(value: Any, schema: dict[str, Any], whole: dict[str, Any], place: str = "") -> list[str]:
    """What the schema has against the value; empty when nothing."""
    if "$ref" in schema:
        return flaws(value, whole["$defs"][schema["$ref"].removeprefix("#/$defs/")], whole, place)
    found: list[str] = []
    for keyword, wanted in schema.items():
        match keyword:
            case "type":
                found += _typed(value, wanted, place)
            case "enum":
                found += [] if value in wanted else [f"{place}: {value!r} is none of {wanted}"]
            case "anyOf":
                ways = [flaws(value, way, whole, place) for way in wanted]
                found += [] if [] in ways else [f"{place}: fits none of {len(ways)}: {min(ways, key=len)}"]
            case "required":
                missing = [key for key in wanted if isinstance(value, dict) and key not in value]
                found += [f"{place}: lacks {key}" for key in missing]
            case "properties":
                for key in value if isinstance(value, dict) else ():
                    found += flaws(value[key], wanted[key], whole, f"{place}.{key}") if key in wanted else []
            case "additionalProperties":
                found += _additional(value, schema, whole, place)
            case "prefixItems":
                for at, (item, way) in enumerate(zip(value, wanted, strict=False)):
                    found += flaws(item, way, whole, f"{place}[{at}]")
            case "items":
                for at, item in enumerate(value if isinstance(value, list) and wanted is not False else ()):
                    found += flaws(item, wanted, whole, f"{place}[{at}]")
            case "minItems" | "maxItems":
                length = len(value) if isinstance(value, list) else wanted
                fits = length >= wanted if keyword == "minItems" else length <= wanted
                found += [] if fits else [f"{place}: has {len(value)} items"]
            case "minimum" | "maximum":
                number = isinstance(value, int | float)
                fits = not number or (value >= wanted if keyword == "minimum" else value <= wanted)
                found += [] if fits else [f"{place}: {value} is out of range"]
            case "contentEncoding":
                found += _base64(value, place)
            case _ if keyword not in SAYS_NOTHING:
                raise ValueError(f"{keyword} is not known here")
    return found


def _typed(value: Any, wanted: str, place: str) -> list[str]:
    fits = isinstance(value, TYPES[wanted]) and (wanted == "boolean" or not isinstance(value, bool))
    return [] if fits else [f"{place}: {value!r} is no {wanted}"]


def _additional(value: Any, schema: dict[str, Any], whole: dict[str, Any], place: str) -> list[str]:
    wanted = schema["additionalProperties"]
    others = [key for key in value if key not in schema.get("properties", {})] if isinstance(value, dict) else []
    if wanted is False:
        return [f"{place}: {key} is unknown" for key in others]
    return [flaw for key in others for flaw in flaws(value[key], wanted, whole, f"{place}.{key}")]


def _base64(value: Any, place: str) -> list[str]:
    try:
        base64.b64decode(value, validate=True)
    except (binascii.Error, TypeError):
        return [f"{place}: {value!r} is no base64"]
    return []
