"""What tests of exports share."""

from tests.exports.conftest import course_folder, filled, kata  # noqa: F401
