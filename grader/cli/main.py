"""The `kata` command: finds the subcommand, loads only that, and turns every end into an exit code."""

from __future__ import annotations

from grader import interpreter

interpreter.forget_foreign_paths()  # before anything is imported from where a learner could have put it

import _thread
import errno
import io
import os
import signal
import sys
import threading
import time
import warnings
from collections.abc import Sequence
from types import FrameType, TracebackType
from typing import Any, NoReturn, Self, cast

import click

from grader import __version__
from grader.commands import COMMANDS, FOR_OTHERS, load, others
from grader.errors import KataError, UsageError, did_you_mean

warnings.filterwarnings("ignore", category=SyntaxWarning)  # as `interpreter.command` has it
click.IntRange.name, click.FloatRange.name = "integer", "number"  # in "'x' is not a valid …", and in help

INTERNAL_ERROR = 3
INTERRUPTED = 130
BROKEN_PIPE = 141
LOOKED_S = 0.01
"""So often it is looked whether Python is done with the one that it dropped."""


class KataGroup(click.Group):
    """A group that imports a subcommand when it is used, and ends every run as `docs` promise."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the commands in the order a learner meets them."""
        return list(COMMANDS)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List what learners type, and name what instructors and authors do."""
        learners = {name: target for name, target in (COMMANDS | others()).items() if name not in FOR_OTHERS}
        room = formatter.width - 6 - max(map(len, learners))
        with formatter.section("Commands"):
            formatter.write_dl(
                [(name, load(target).get_short_help_str(room)) for name, target in learners.items()]
            )
        with formatter.section("For instructors and authors, each with --help"):
            formatter.write_text(", ".join(name for name in COMMANDS if name in FOR_OTHERS))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command."""
        target = COMMANDS.get(cmd_name) or others().get(cmd_name)
        return cast(click.Command, load(target)) if target else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command, or say what was probably meant."""
        if (command := self.get_command(ctx, args[0])) is None:
            raise _unknown_command(args[0])
        return args[0], command, args[1:]

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; a reader that closed the pipe (`| head`) is not an error."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            _discard_stdout()
            ctx.exit(BROKEN_PIPE)

    def main(  # type: ignore[override]  # ends the process in standalone mode only
        self, args: Sequence[str] | None = None, prog_name: str | None = "kata", **extra: Any
    ) -> Any:
        """Run, and leave with the exit code that the outcome stands for."""
        if not extra.pop("standalone_mode", True):
            return super().main(args, prog_name, standalone_mode=False, **extra)
        for name in ("stdout", "stderr"):
            if getattr(sys, name) is None:  # it was closed by who called: what is said goes nowhere
                setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115 - as long as we live
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(errors="replace")  # a terminal without Unicode still gets its answer
        with Interrupts() as interrupts:
            code = self._run(args, prog_name, extra, interrupts)
        sys.exit(_flush(code))

    def _run(
        self, args: Sequence[str] | None, prog_name: str | None, extra: dict[str, Any], interrupts: Interrupts
    ) -> int:
        try:
            # Not click's own end, whose exit codes and words are other ones than `docs` promise.
            outcome = super().main(args, prog_name, standalone_mode=False, **extra)
            return outcome if isinstance(outcome, int) else 0
        except KataError as error:
            report(error.message, error.hint)
            return error.exit_code
        except click.Abort:
            report("interrupted")
            return INTERRUPTED
        except click.ClickException as error:
            # Which command's help to name: other errors of click's have no context.
            context = error.ctx if isinstance(error, click.UsageError) else None
            if isinstance(error, getattr(click.exceptions, "NoArgsIsHelpError", ())):
                click.echo(error.format_message(), err=True)  # the help of a group: no mistake to report
            else:
                report(error.format_message(), f"See: {context.command_path} --help" if context else None)
            return UsageError.exit_code
        except OSError as error:
            # First: in a folder that is gone every path fails, and each error would name another one.
            if _is_nowhere():
                report("The folder you are in no longer exists.", "Go somewhere else: cd ~")
                return UsageError.exit_code
            if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EIO):
                return _internal_error(error)
            report(f"the output cannot be written ({error.strerror}).", "Free some space, then try again.")
            return INTERNAL_ERROR
        except Exception as error:
            if interrupts.came:  # what was interrupted raised something else
                report("interrupted")
                return INTERRUPTED
            return _internal_error(error)


class Interrupts:
    """Remembers that Ctrl-C was pressed, and presses it again where Python dropped it in a callback and went on.

    An exception in a weak reference's callback (the import system has some for its locks) or in `__del__` is printed as
    "Exception ignored" and is gone: seen with Python 3.11 in 2 of 120 interrupts while modules were imported. Code that
    is interrupted may also raise something else instead; `came` tells that from an error of ours.
    """

    def __init__(self) -> None:
        self.came = False
        self._handler: Any = None
        self._hook = sys.unraisablehook

    def __enter__(self) -> Self:
        """Take over from Python's own handler; one that somebody else has set stays."""
        if threading.current_thread() is threading.main_thread():
            # Signals are the main thread's: elsewhere `signal.signal` raises.
            self._handler = signal.getsignal(signal.SIGINT)
            if self._handler is signal.default_int_handler:
                signal.signal(signal.SIGINT, self._interrupt)
                self._hook, sys.unraisablehook = sys.unraisablehook, self._unraisable
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Give back what was there."""
        if self._handler is signal.default_int_handler:
            sys.unraisablehook = self._hook
            signal.signal(signal.SIGINT, self._handler)

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        self.came = True
        raise KeyboardInterrupt

    def _unraisable(self, dropped: Any) -> None:
        if not issubclass(dropped.exc_type, KeyboardInterrupt):
            self._hook(dropped)
            return
        # From another thread: in this one the hook is still running, in which Python drops whatever is raised.
        threading.Thread(target=self._again, daemon=True).start()

    def _again(self) -> None:
        """Press once more, but not while the first is being dropped: there, Python would drop this one, too."""
        while self._is_in_hook(sys._current_frames().get(threading.main_thread().ident or 0)):
            time.sleep(LOOKED_S)
        # As if the key had been pressed again: the handler runs in the main thread, at its next instruction.
        _thread.interrupt_main()

    def _is_in_hook(self, frame: FrameType | None) -> bool:
        while frame is not None and frame.f_code is not Interrupts._unraisable.__code__:
            frame = frame.f_back
        return frame is not None


@click.group(
    cls=KataGroup,
    invoke_without_command=True,
    # Every option has a variable as well: KATA_GRADE_JOBS is -j of kata grade.
    context_settings={"help_option_names": ["-h", "--help"], "auto_envvar_prefix": "KATA"},
)
@click.version_option(__version__, prog_name="kata", message="%(prog)s %(version)s")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document and nothing else.")
@click.pass_context
def cli(context: click.Context, as_json: bool) -> None:
    """Exercises that explain what is wrong. Without a command, kata shows where you are and what to type next.

    ID is a number (9.3, 9.3.2), a name (masked-attention), or the beginning of one.

    \b
    Example:
      kata start 9.3      put the exercises of unit 9.3 into this folder
      kata check          check what this folder holds
    """
    if context.invoked_subcommand is None:
        from grader.cli.status import status

        status(as_json=as_json)
    elif as_json:
        raise UsageError(
            f"--json comes before the command {context.invoked_subcommand}.",
            f"Write it after the command: kata {context.invoked_subcommand} --json",
        )


def main() -> NoReturn:
    """Run the command line and leave the process."""
    cli.main(prog_name="kata")
    raise AssertionError("unreachable: the group leaves the process")


def report(message: str, hint: str | None = None) -> None:
    """Print an error and what to do about it, on stderr."""
    from grader.report.style import print_message

    print_message(f"error: {message}", stderr=True)
    if hint:
        print_message(f"  {hint}", stderr=True)


def _unknown_command(word: str) -> UsageError:
    guess = did_you_mean(word, list(COMMANDS), most=1)
    hint = "See: kata --help"
    if not guess:
        from grader.catalogue import Catalogue

        try:
            # Only now, since reading the packs takes longer than all else that this message needs.
            Catalogue.discover().find(word)
            hint = f"It is an ID. Try: kata start {word}, or: kata check {word}"
        except KataError:
            pass
    return UsageError(f"There is no command {word}.{guess}", hint)


def _internal_error(error: Exception) -> int:
    from grader.report.style import escape_controls

    text = f"{type(error).__name__}: {error}".splitlines()[0][:300]
    try:
        if os.environ.get("KATA_DEBUG"):
            import traceback

            click.echo(escape_controls("".join(traceback.format_exception(error))), err=True)
        click.echo(
            f"kata: internal error: {escape_controls(text)} (set KATA_DEBUG=1 for the traceback)", err=True
        )
    except OSError:
        pass  # nobody is left to tell
    return INTERNAL_ERROR


def _is_nowhere() -> bool:
    """Return whether the folder this runs in was deleted: then any path may have failed."""
    try:
        os.getcwd()
    except OSError:
        return True
    return False


def _flush(code: int) -> int:
    """Push out what is still buffered while a failure can be told apart from a success."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        _discard_stdout()
        return BROKEN_PIPE
    except OSError as error:
        _discard_stdout()
        report(f"the output cannot be written ({error.strerror}).")
        return INTERNAL_ERROR
    return code


def _discard_stdout() -> None:
    """Send the rest nowhere, so that the interpreter's own flush at exit stays quiet."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError):
        sys.stdout = io.StringIO()
