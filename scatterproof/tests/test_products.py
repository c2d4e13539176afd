"""`conform --iut product:NAME`: systems of others, with cases, profile, page and exit code like any implementation."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from scatterproof import iuts
from scatterproof.conformance.adapters.products import Product, ProductIut
from scatterproof.conformance.case import cases
from scatterproof.conformance.protocol import load
from scatterproof.conformance.workqueue.products.tests.toys import toy
from scatterproof.spec.errors import BadInput
from scatterproof.tests.test_console import Console

KEEPS, BREAKS = (0, 1), (1, 0)
CONFORM = ("conform", "--protocol", "workqueue", "--iut", "product:toy")
Install = Callable[[Product], None]


@pytest.fixture
def console(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Console:
    return Console(monkeypatch, capsys)


@pytest.fixture
def install(monkeypatch: pytest.MonkeyPatch) -> Install:
    """Has protocols drive this product, and no other."""

    def installed(product: Product) -> None:
        monkeypatch.setattr(iuts, "load", lambda protocol: replace(load(protocol), products=lambda: (product,)))

    return installed


def test_drawn_runs_are_cases_and_the_profile_is_the_products(
    console: Console, install: Install, tmp_path: Path
) -> None:
    install(toy(KEEPS))
    code, found = console.json(*CONFORM, "--results", str(tmp_path))
    assert code == 0
    assert [case["id"] for case in found["cases"]] == [f"Q-LEASE/drawn-{seed}" for seed in range(10)]
    assert {case["verdict"] for case in found["cases"]} == {"pass"}
    assert found["profile"] == "sqs-fifo.toml"


def test_what_it_breaks_fails_the_case_and_is_in_the_files(console: Console, install: Install, tmp_path: Path) -> None:
    install(toy(BREAKS))
    page, junit = tmp_path / "page.html", tmp_path / "junit.xml"
    words = ("--case", "Q-LEASE/drawn-3", "--html", str(page), "--junit", str(junit), "--results", str(tmp_path))
    code, _, complaint = console(*CONFORM, *words)
    assert code == 1
    assert "which was put into its group before it" in page.read_text()
    assert len(ET.parse(junit).findall(".//failure")) == 1
    assert "--iut product:toy --case workqueue/Q-LEASE/drawn-3" in complaint


def test_what_is_not_installed_is_not_run(console: Console, install: Install, tmp_path: Path) -> None:
    install(toy(KEEPS, "there is no toy; install toys"))
    code, found = console.json(*CONFORM, "--results", str(tmp_path))
    assert code == 3
    assert {(case["verdict"], case["reason"]) for case in found["cases"]} == {
        ("not run", "there is no toy; install toys")
    }
    code, plan = console.json(*CONFORM, "--dry-run")
    assert {row["why"] for row in plan["cases"]} == {"there is no toy; install toys"}


def test_wrong_usage_gets_a_sentence(console: Console, install: Install) -> None:
    code, _, complaint = console("conform", "--protocol", "workqueue", "--iut", "product:stranger")
    assert code == 2
    assert "'product:stranger' is unknown; choose of moto, " in complaint
    code, _, complaint = console("conform", "--protocol", "broadcast", "--iut", "product:moto")
    assert code == 2
    assert "broadcast drives no products" in complaint
    install(toy(KEEPS))
    code, _, complaint = console(*CONFORM, "--shrink", "1")
    assert code == 2
    assert "a product has steps of its own" in complaint


def test_a_product_plays_no_schedule_but_its_own(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no other schedule"):
        ProductIut(toy(KEEPS), tmp_path).run(cases("workqueue")[0].schedule)
