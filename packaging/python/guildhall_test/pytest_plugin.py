"""Fixtures for pytest: a server for each test, from the world that `guildhall_world` gives."""

from typing import Any, Iterator

import pytest

from guildhall_test import Guildhall


@pytest.fixture(scope="session")
def guildhall_world() -> object:
    """The world of the tests: override it in conftest.py."""
    return "world.json"


@pytest.fixture
def guildhall(guildhall_world: object) -> Iterator[Guildhall]:  # pylint: disable=W0621
    """A server with a fresh world; its folder is gone after the test."""
    with Guildhall(guildhall_world) as hall:
        yield hall


def pytest_addoption(parser: Any) -> None:
    group = parser.getgroup("guildhall")
    group.addoption("--guildhall-failures", default="guildhall-failures", metavar="FOLDER",
                    help="where transcripts of failed tests are saved")
    group.addoption("--guildhall-pictures", action="store_true",
                    help="failed tests also save a picture of the channel general; needs Chromium")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: Any, call: Any) -> Iterator[None]:
    """Adds what the bots did last to the report of a failed test that uses a server."""
    outcome = yield
    report = outcome.get_result()
    if report.when != "call" or not report.failed:
        return
    for value in getattr(item, "funcargs", {}).values():
        if isinstance(value, Guildhall):
            text = value.explain(call.excinfo.value, item.config.getoption("--guildhall-failures"), item.name,
                                 picture=item.config.getoption("--guildhall-pictures"))
            report.sections.append(("Guildhall", text))
