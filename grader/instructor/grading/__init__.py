"""Grade a class: grading processes that grade, an executor that spreads the work, a gradebook that keeps it."""
