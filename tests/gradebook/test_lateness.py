"""What lateness costs, and what a due date means."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.instructor.gradebook.events import PointsChange
from grader.instructor.gradebook.times import (
    Lateness,
    LatePolicy,
    add_days,
    due_in_utc,
    final_score,
    lateness,
)
from tests.gradebook.handmade import change

DUE = datetime(2026, 10, 5, 12, tzinfo=UTC)
BERLIN = ZoneInfo("Europe/Berlin")

seconds = st.integers(-10_000_000, 10_000_000)
points = st.floats(0, 1000, allow_nan=False)
percents = st.floats(0, 100, allow_nan=False)
policies = st.builds(
    LatePolicy,
    grace_minutes=st.floats(0, 10_000),
    percent_per_day=percents,
    most_percent=percents,
    of=st.sampled_from(["earned", "possible"]),
    refused_after_days=st.none() | st.floats(0, 100),
)


def late(behind: timedelta, score: float = 8.0, whole: float = 10.0, **policy: object) -> Lateness:
    return lateness(DUE, DUE + behind, LatePolicy(**policy), score=score, max_score=whole)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("behind", "days", "taken"),
    [
        (timedelta(days=-3), 0, 0),
        (timedelta(0), 0, 0),
        (timedelta(minutes=15), 0, 0),  # the grace time's last moment
        (timedelta(minutes=15, microseconds=1), 0.010417, 0.8),  # and then the day has started
        (timedelta(days=1), 1, 0.8),
        (timedelta(days=1, seconds=1), 1.000012, 1.6),
        (timedelta(days=5), 5, 4.0),
        (timedelta(days=6), 6, 4.0),  # no more than half
        (timedelta(days=7), 7, 4.0),
        (timedelta(days=7, seconds=1), 7.000012, 8.0),  # not accepted any more
    ],
)
def test_a_policy_by_example(behind: timedelta, days: float, taken: float) -> None:
    found = late(behind, grace_minutes=15, percent_per_day=10, most_percent=50, refused_after_days=7)
    assert (found.days, round(found.points, 6)) == (days, taken)


@pytest.mark.parametrize(
    ("due", "submitted", "days", "charged"),
    [
        ("2026-10-24 20:00", "2026-10-25 19:30", 0.979167, 1),  # the day has 25 hours
        ("2026-10-24 20:00", "2026-10-25 20:00", 1, 1),
        ("2026-10-24 20:00", "2026-10-25 20:30", 1.020833, 2),
        ("2026-10-24 02:30", "2026-10-25 02:45+02:00", 1, 1),  # the clock shows 2:45 again an hour later
        ("2026-10-24 02:30", "2026-10-25 02:15+01:00", 0.989583, 1),
        ("2026-10-24 02:30", "2026-10-25 02:31+01:00", 1.000694, 2),
        ("2026-10-25 02:30+02:00", "2026-10-25 02:10+01:00", 0.027778, 1),  # 40 minutes
        ("2026-10-20 20:00", "2026-10-27 20:00", 7, 7),
        ("2026-10-20 20:00", "2026-10-27 20:01", 7.000694, 10),  # refused
        ("2026-03-28 20:00", "2026-03-29 19:30", 0.979167, 1),  # the day has 23 hours
        ("2026-03-28 20:00", "2026-03-29 20:30", 1.020833, 2),
        ("2026-03-28 02:30", "2026-03-29 03:10", 1, 1),  # 2:30 is left out, and read as 3:30
        ("2026-03-28 02:30", "2026-03-29 03:31", 1.042361, 2),
        ("2026-03-28 02:30", "2026-03-29 01:59", 0.978472, 1),
        ("2026-03-24 20:00", "2026-03-31 20:00", 7, 7),
        ("2026-03-24 20:00", "2026-03-31 20:01", 7.000694, 10),
    ],
)
def test_days_go_by_the_clocks_of_the_course_across_their_changes(
    due: str, submitted: str, days: float, charged: int
) -> None:
    at = [due_in_utc(datetime.fromisoformat(text), BERLIN) for text in (due, submitted)]
    policy = LatePolicy(percent_per_day=10, refused_after_days=7)
    assert lateness(*at, policy, score=10, max_score=10, zone=BERLIN)[:2] == (days, charged)
    for more in range(1, 8):  # an extension ends when that many days are over
        longer = lateness(add_days(at[0], more, BERLIN), at[1], policy, score=10, max_score=10, zone=BERLIN)
        assert (longer.points == 0) == (days <= more)


@given(policies, seconds, seconds)
def test_later_never_costs_less_across_a_clock_change(policy: LatePolicy, one: int, two: int) -> None:
    due = datetime(2026, 10, 25, tzinfo=UTC)
    first, second = sorted([one % 400_000 - 200_000, two % 400_000 - 200_000])
    costs = [
        lateness(due, due + timedelta(seconds=at), policy, score=8, max_score=10, zone=BERLIN).points
        for at in (first, second)
    ]
    assert costs[0] <= costs[1] + 1e-6


def test_percent_of_what() -> None:
    assert late(timedelta(hours=1), score=6.0, percent_per_day=10).points == 0.6
    assert late(timedelta(hours=1), score=6.0, percent_per_day=10, of="possible").points == 1.0
    assert late(timedelta(hours=1), score=0.5, percent_per_day=10, of="possible").points == 0.5


@pytest.mark.parametrize(("free", "taken"), [(0, 3.0), (1, 2.0), (2, 1.0), (3, 0.0), (5, 0.0)])
def test_free_days_cost_nothing_and_those_after_them_do(free: int, taken: float) -> None:
    policy = LatePolicy(percent_per_day=10)
    late = lateness(DUE, DUE + timedelta(days=3), policy, score=10, max_score=10, free_days=free)
    assert late[:2] == (3.0, taken)


def test_a_policy_that_says_nothing_gives_no_days_and_takes_none() -> None:
    assert (LatePolicy().late_days, LatePolicy().percent_per_day, LatePolicy().grace_minutes) == (0, 0, 0)


def test_without_a_policy_lateness_is_noted_and_costs_nothing() -> None:
    assert late(timedelta(days=2)) == Lateness(2.0, 0.0)


@given(policies, seconds, points, points)
def test_never_more_than_there_is(policy: LatePolicy, behind: int, score: float, whole: float) -> None:
    found = lateness(DUE, DUE + timedelta(seconds=behind), policy, score=score, max_score=whole)
    assert 0 <= found.points <= score + 1e-6
    assert found.days >= 0
    assert (found.days > 0) == (behind > policy.grace_minutes * 60) or abs(
        behind - policy.grace_minutes * 60
    ) < 1


@given(policies, seconds, seconds, points, points)
def test_later_never_costs_less(policy: LatePolicy, one: int, two: int, score: float, whole: float) -> None:
    first, second = sorted([one, two])
    earlier = lateness(DUE, DUE + timedelta(seconds=first), policy, score=score, max_score=whole)
    later = lateness(DUE, DUE + timedelta(seconds=second), policy, score=score, max_score=whole)
    assert earlier.points <= later.points + 1e-6


@given(policies, seconds, st.integers(0, 100), points, points)
def test_an_extension_never_hurts(
    policy: LatePolicy, behind: int, days: int, score: float, whole: float
) -> None:
    submitted = DUE + timedelta(seconds=behind)
    plain = lateness(DUE, submitted, policy, score=score, max_score=whole)
    longer = lateness(add_days(DUE, days, BERLIN), submitted, policy, score=score, max_score=whole)
    assert longer.points <= plain.points + 1e-6


@given(policies, points, points)
def test_nobody_is_late_without_a_due_date_or_a_time(policy: LatePolicy, score: float, whole: float) -> None:
    assert lateness(None, DUE, policy, score=score, max_score=whole) == Lateness(0, 0)
    assert lateness(DUE, None, policy, score=score, max_score=whole) == Lateness(0, 0)


def test_a_local_time_is_the_course_s() -> None:
    assert due_in_utc(datetime(2026, 10, 5, 14), BERLIN) == DUE
    assert due_in_utc(datetime(2026, 1, 5, 13), BERLIN) == datetime(2026, 1, 5, 12, tzinfo=UTC)
    assert due_in_utc(DUE, BERLIN) == DUE


def test_a_date_alone_lasts_to_the_end_of_the_day() -> None:
    assert due_in_utc(date(2026, 10, 4), BERLIN) == datetime(2026, 10, 4, 22, tzinfo=UTC)


def test_a_clock_change_is_read_in_the_learner_s_favour() -> None:
    twice = due_in_utc(datetime(2026, 10, 25, 2, 30), BERLIN)
    assert twice == datetime(2026, 10, 25, 1, 30, tzinfo=UTC)
    never = due_in_utc(datetime(2026, 3, 29, 2, 30), BERLIN)
    assert never == datetime(2026, 3, 29, 1, 30, tzinfo=UTC)


def test_an_extension_ends_at_the_same_time_of_day() -> None:
    due = due_in_utc(datetime(2026, 10, 24, 23, 59), BERLIN)
    assert add_days(due, 2, BERLIN) == due_in_utc(datetime(2026, 10, 26, 23, 59), BERLIN)
    assert add_days(due, 2, BERLIN) - due == timedelta(hours=49)


def decision(kind: str, value: float, *, revoked: bool = False) -> PointsChange:
    return change(value, kind=kind, revoked=revoked)


@pytest.mark.parametrize(
    ("decisions", "settled"),
    [
        ([], (6.0, 2.0)),
        ([decision("adjust", 1.5)], (7.5, 2.0)),
        ([decision("adjust", -10)], (0.0, 2.0)),
        ([decision("adjust", 10)], (16.0, 2.0)),  # a bonus may go past the most
        ([decision("override", 4)], (4.0, 0.0)),
        ([decision("adjust", 3), decision("override", 4)], (4.0, 0.0)),
        ([decision("override", 4), decision("adjust", 1)], (5.0, 0.0)),
        ([decision("override", 4), decision("override", 9)], (9.0, 0.0)),
        ([decision("override", 4, revoked=True), decision("adjust", 1)], (7.0, 2.0)),
        ([decision("adjust", 0.1), decision("adjust", 0.2)], (6.3, 2.0)),
    ],
)
def test_what_people_decide(decisions: list[PointsChange], settled: tuple[float, float]) -> None:
    assert final_score(8.0, 2.0, decisions) == settled


decisions = st.lists(
    st.builds(decision, st.sampled_from(["adjust", "override"]), st.floats(0, 100), revoked=st.booleans())
)


@given(points, decisions)
def test_what_is_revoked_might_as_well_not_be_there(graded: float, some: list[PointsChange]) -> None:
    assert final_score(graded, 0.0, some) == final_score(
        graded, 0.0, [one for one in some if not one.revoked]
    )


@given(points, points, decisions)
def test_an_override_forgets_what_was(one: float, other: float, some: list[PointsChange]) -> None:
    final = [*some, decision("override", 5)]
    assert final_score(one, 0.0, final) == final_score(other, 0.0, final) == (5.0, 0.0)


@pytest.mark.parametrize(
    ("later", "words"),
    [
        (timedelta(seconds=20), "1 minute late: 1 day begun, 10 %"),
        (timedelta(minutes=6), "6 minutes late: 1 day begun, 10 %"),
        (timedelta(hours=2, minutes=30), "2.5 hours late: 1 day begun, 10 %"),
        (timedelta(days=1, hours=1), "1.04 days late: 2 days begun, 20 %"),
        (timedelta(days=9), "9 days late: 9 days begun, 50 %"),
    ],
)
def test_lateness_says_what_was_charged_and_why(later: timedelta, words: str) -> None:
    policy = LatePolicy(percent_per_day=10, most_percent=50)
    assert lateness(DUE, DUE + later, policy, score=10, max_score=10).words == words
    assert lateness(DUE, DUE + later, LatePolicy(), score=10, max_score=10).words == words.partition(":")[0]
