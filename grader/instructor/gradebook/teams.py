"""Teams: a hand-in of one member counts for all of them, for an assignment or for everything."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from grader.errors import UsageError
from grader.instructor.gradebook.events import Provenance, Team
from grader.instructor.gradebook.store import Gradebook


def set_teams(book: Gradebook, of: str, teams: Mapping[str, Sequence[str]], made: Provenance) -> list[int]:
    """Put teams in the place of those that an assignment had; return the numbers of what was decided.

    Args:
        book: with the decisions.
        of: an assignment or a kata; empty for everything.
        teams: members' identities by the team's name; a team of one is none.
        made: who says so, and why.

    Raises:
        UsageError: somebody is in two teams.
    """
    owners: dict[str, str] = {}
    for name, members in teams.items():
        for member in members:
            if (other := owners.setdefault(member, name)) != name:
                raise UsageError(
                    f"{member} is in two teams, {other} and {name}.", "Leave one of the lines out."
                )
    wanted = {name: sorted(members) for name, members in teams.items() if len(members) > 1}
    standing = [team for team in book.standing(Team) if team.of == of]
    same = {team.name for team in standing if wanted.get(team.name) == sorted(team.members)}
    if gone := [team.id for team in standing if team.name not in same]:
        book.undo(*gone, author=made.author, comment=made.comment)
    return [
        book.decide(Team(of=of, name=name, members=members, made=made))
        for name, members in wanted.items()
        if name not in same
    ]
