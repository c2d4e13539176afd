"""Publish and subscribe, as `models` sees it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scatterproof.models.protocol import ModelsPlugin

if TYPE_CHECKING:
    from scatterproof.models.claim import Claim


def _claims() -> tuple[Claim, ...]:
    import scatterproof.models.pubsub
    from scatterproof.models.z3_claims import claims_in

    return claims_in(scatterproof.models.pubsub)


PLUGIN = ModelsPlugin(claims=_claims)
