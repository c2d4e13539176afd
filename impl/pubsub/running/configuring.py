"""Where an appliance's configuration comes from: a file, management nodes, or the store, which keeps the last one.

Clauses: PS-CONFIG, PS-AUTH.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from scatterproof.impl.pubsub.running.core import Core
from scatterproof.impl.pubsub.running.management import NOTHING, Configuration, read
from scatterproof.impl.pubsub.running.provisioning import Follower, Managed
from scatterproof.spec.errors import BadInput


class Configuring:
    """Puts configurations in force. follower: takes what management nodes give; None where there are none."""

    def __init__(
        self,
        core: Core,
        path: Path | None,
        managed: Managed | None,
        say: Callable[[str], None],
        turn: Callable[[], None],
    ) -> None:
        """path: the file, None where there is none. say: prints a line. turn: called ahead of a change."""
        self._core, self._path, self._say, self._turn = core, path, say, turn
        self.follower = None
        if managed is not None:
            self.follower = Follower(core.name, managed, self._id, lambda text: self._take(read(text, "it")), say)

    def _id(self) -> str:
        return self._core.configuration.id if self._core.configuration is not None else ""

    def _read(self) -> Configuration | None:
        """The configuration in the file; None where no file is named, or it cannot be read, which is printed. Raises
        BadInput where its text is no configuration."""
        try:
            return None if self._path is None else read(self._path.read_text(), str(self._path))
        except OSError as error:
            self._say(f"{self._path}: cannot be read: {error.strerror}")
        except UnicodeDecodeError:
            self._say(f"{self._path}: is no text")
        return None

    def begin(self, kept: str | None) -> None:
        """Put the file's configuration in force, or else the last known one. kept: the text of that, None for none.
        Raises BadInput where either is invalid, or a file is named and there is neither: without entitlements everybody
        could do everything."""
        known = read(kept, "the configuration in the store") if kept is not None else None
        found = self._read()
        if found is None and known is None and self._path is not None:
            raise BadInput(f"{self._path}: there is no configuration, and none that was known before")
        if self.follower is not None:
            self._core.configuration = NOTHING  # until there is one
        if known is not None:
            self._core.configure(known)
        if found is not None:
            self._core.configure(found)
        elif known is not None:
            self._say(f"configuration {known.id}, the last known, holds")

    def again(self) -> None:
        """Read the file again, and put its configuration in force. An invalid file changes nothing."""
        try:
            found = self._read()
        except BadInput as error:
            self._say(str(error))
            return
        if found is not None:
            self._take(found)

    def _take(self, found: Configuration) -> None:
        self._turn()
        changed = self._core.configure(found)
        self._say(f"configuration {found.id} {'holds now' if changed else 'is the one that holds'}")
