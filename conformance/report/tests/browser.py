"""A Chromium in which pages are tried: tests look at what it refuses and what it reports."""

from __future__ import annotations

import importlib.util
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias

NAMES = ("chromium", "chromium-browser", "google-chrome")


def why_not() -> str | None:
    """Why no page can be tried in a browser here, or None."""
    if importlib.util.find_spec("playwright") is None:
        return "playwright is not installed; ci/tools installs it where Chromium is"
    if not any(map(shutil.which, NAMES)):
        return f"none of {', '.join(NAMES)} is on PATH"
    return None


@contextmanager
def launched() -> Iterator[Any]:
    """The browser, started by Playwright."""
    from playwright.sync_api import sync_playwright

    path = next(path for name in NAMES if (path := shutil.which(name)))
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        try:
            yield browser
        finally:
            browser.close()


class Tab:
    """A page that is open.

    said: its errors, and what it wrote to the console.
    asked: the addresses that it requested.
    """

    def __init__(self, browser: Any, **options: Any) -> None:
        self.page = browser.new_context(**options).new_page()
        self.said: list[str] = []
        self.asked: list[str] = []
        self.page.set_default_timeout(20_000)
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("dialog", self._refuse)
        self.page.on("request", lambda request: self.asked.append(request.url))

    def _refuse(self, dialog: Any) -> None:
        self.said.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def settle(self) -> None:
        """Wait until the page has carried out the last key or click: it hears of a new address only later."""
        self.page.evaluate("new Promise(done => setTimeout(() => requestAnimationFrame(() => setTimeout(done))))")

    def count(self, selector: str) -> int:
        self.settle()
        return int(self.page.locator(selector).count())

    def id_of(self, selector: str) -> str:
        self.settle()
        return str(self.page.locator(selector).get_attribute("id"))

    def visible(self, selector: str) -> list[str]:
        """The ids of the elements that can be seen."""
        self.settle()
        script = "all => all.filter(one => one.checkVisibility()).map(one => one.id)"
        return [str(one) for one in self.page.eval_on_selector_all(selector, script)]


# Opens an address in a new tab, with the options of a browser context.
Open: TypeAlias = Callable[..., Tab]
