"""How a gradebook's tables came about, version by version; alembic runs these files in order."""
