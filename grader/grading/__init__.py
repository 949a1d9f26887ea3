"""Grade a class: stations that grade, an executor that spreads the work, a gradebook that keeps it."""
