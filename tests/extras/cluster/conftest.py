"""What tests of grading share."""

from tests.grading.conftest import _end_stations, hand_in, warm  # noqa: F401
