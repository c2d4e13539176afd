"""pip's settings, as `pip config list` prints them, become uv's environment."""

from __future__ import annotations

from pathlib import Path

from ci.uv_settings import pip_settings, uv_environment


def test_the_environment_goes_before_install_and_that_before_global() -> None:
    listing = """:env:.index-url='https://a.example/simple'
:env:.cert='/a.pem'
global.cert='/b.pem'
global.proxy='http://b.example:1'
install.index-url='https://c.example/simple'
install.proxy='http://c.example:1'
"""
    assert pip_settings(listing) == {
        "cert": "/a.pem",
        "proxy": "http://c.example:1",
        "index-url": "https://a.example/simple",
    }


def test_several_values_are_separated_as_uv_wants_them(tmp_path: Path) -> None:
    settings = {
        "extra-index-url": f"https://a.example/simple\n{tmp_path.as_uri()}",
        "find-links": "/wheels /more",
    }
    assert uv_environment(settings) == {
        "UV_INDEX": f"https://a.example/simple {tmp_path.as_uri()}",
        "UV_FIND_LINKS": "/wheels,/more",
        "UV_INDEX_STRATEGY": "unsafe-best-match",
    }


def test_a_local_index_that_does_not_exist_is_left_out(tmp_path: Path) -> None:
    settings = {"extra-index-url": (tmp_path / "absent").as_uri()}
    assert uv_environment(settings) == {"UV_INDEX_STRATEGY": "unsafe-best-match"}


def test_without_settings_no_address_is_invented() -> None:
    assert uv_environment(pip_settings("")) == {"UV_INDEX_STRATEGY": "unsafe-best-match"}
