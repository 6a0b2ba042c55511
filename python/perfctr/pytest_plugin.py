# SPDX-License-Identifier: LGPL-2.1-or-later
"""For pytest: the fixture perfctr_count.

    def test_parser(perfctr_count):
        with perfctr_count("instructions") as counter:
            parse(TEXT)
        assert counter.counts["instructions"] < 3_000_000

The counts of a test are in its properties (--junit-xml), too. If the events cannot be counted, the
test is skipped, with the reason; with --perfctr-required it fails.
"""
import pytest


def pytest_addoption(parser):
    parser.getgroup("perfctr").addoption(
        "--perfctr-required", action="store_true",
        help="fail, instead of skipping, tests whose events cannot be counted here")


@pytest.fixture
def perfctr_count(request, record_property):
    """A function that counts like perfctr.count()."""
    import perfctr  # here: if it cannot be loaded, only the tests that use the fixture fail

    counters = []

    def start(events="instructions,cycles"):
        try:
            counter = perfctr.count(events)
        except perfctr.Error as error:
            if request.config.getoption("--perfctr-required"):
                pytest.fail(str(error), pytrace=False)
            pytest.skip(str(error))
        counters.append(counter)
        return counter

    yield start
    for counter in counters:
        for name, value in (counter.counts.as_dict() if counter.counts else {}).items():
            record_property(name, value)
        counter.close()
