"""What alembic runs first: migrate on the connection it was given, in that connection's transaction."""

from __future__ import annotations

from alembic import context

from grader.gradebook.schema import VERSION_TABLE

context.configure(
    connection=context.config.attributes["connection"],
    version_table=VERSION_TABLE,
    transactional_ddl=True,
    render_as_batch=True,
)
context.run_migrations()
