"""Fixtures for pytest: a server for each test, from the world that `guildhall_world` gives."""

from typing import Iterator

import pytest

from guildhall_test import Guildhall


@pytest.fixture(scope="session")
def guildhall_world() -> object:
    """The world of the tests: override it in conftest.py."""
    return "world.json"


@pytest.fixture
def guildhall(guildhall_world: object) -> Iterator[Guildhall]:  # pylint: disable=W0621
    """A server that runs; its folder is gone after the test."""
    with Guildhall(guildhall_world) as hall:
        yield hall
