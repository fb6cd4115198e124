"""The `aop` command: where a run begins and ends. Every fault that is not ours to have ends here as one sentence."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence
from contextlib import redirect_stdout
from typing import Final

from cli import streams
from cli.arguments import read_options, spoken
from cli.discovery import Unusable
from cli.exits import BROKEN_PIPE, FAILED, INTERRUPTED, OK, TROUBLE
from cli.messages import say
from cli.quick import read_words
from cli.trouble import SYSTEM_FAULTS, reason, sentence
from pipeline.diagnostics.lang import Lang

_GARBAGE_THRESHOLD: Final = 50_000

_COMPLETION_VARIABLE: Final = "_AOP_COMPLETE"
"""Set by the script that typer gives a shell: then the command line stands in other variables."""


def run() -> None:
    """The entry point of the console script. Ends in SystemExit, or where there is nothing left to do, at once."""
    arguments = sys.argv[1:]
    status = main(arguments)
    if status in (OK, FAILED) and read_words(arguments) is not None:
        # `aop compile` and `aop check` have closed and flushed all they had. The interpreter would take it apart object
        # by object, and copy the memory that it shared with forked processes for it: 6 ms.
        os._exit(status)
    # The interpreter looks through all objects for garbage before it ends: a twentieth of a short run, for nothing.
    gc.freeze()
    sys.exit(status)


def main(arguments: Sequence[str]) -> int:
    """Run one command line and return its exit status; nothing that a user or the system does wrong raises."""
    # Thousands of objects come with every import and stay. Looking at them again and again for garbage, as the default
    # of 700 new ones would have it, takes a tenth of a short run.
    gc.set_threshold(_GARBAGE_THRESHOLD)
    streams.prepare()
    lang = spoken(arguments)
    try:
        status = dispatch(arguments, lang)
        streams.flush()
    except KeyboardInterrupt:
        streams.abandon(sys.stdout)
        streams.note(say("trouble.interrupted", lang))
        return INTERRUPTED
    except streams.OutputClosed:
        streams.abandon(sys.stdout)
        return BROKEN_PIPE
    except streams.OutputFailed as failure:
        streams.abandon(sys.stdout)
        why = say("errno.closed", lang) if failure.error is None else reason(failure.error, lang)
        streams.note(say("trouble.output", lang, reason=why))
        return TROUBLE
    except Unusable as unusable:
        for fault in unusable.faults:
            streams.note(f"aop: {sentence(fault, lang)}")
        return TROUBLE
    except SYSTEM_FAULTS as fault:
        streams.note(f"aop: {sentence(fault, lang)}")
        return TROUBLE
    return status


def dispatch(arguments: Sequence[str], lang: Lang) -> int:
    """Raises what `main` puts into words."""
    completing = _COMPLETION_VARIABLE in os.environ
    quick = None if completing else read_words(arguments)
    if quick is not None:
        from cli.commands.compile import run as compile_documents  # noqa: PLC0415 - each command loads its own

        command, words = quick
        return compile_documents(read_options(words, check=command == "check"))
    if not arguments and not completing:
        with redirect_stdout(sys.stderr):
            _with_typer(["--help"], lang)
        return TROUBLE
    return _with_typer(arguments, lang)


def _with_typer(arguments: Sequence[str], lang: Lang) -> int:
    # Typer takes longer to load than a document to check; `cli.quick` reads the usual lines of the hot commands.
    import typer  # noqa: PLC0415 - see above

    from cli.app import build_app  # noqa: PLC0415 - see above
    from cli.usage import usage_sentence  # noqa: PLC0415 - see above

    try:
        status = build_app(lang)(args=list(arguments), prog_name="aop", standalone_mode=False)
    except typer.TyperException as error:
        streams.note(usage_sentence(error, lang))
        return TROUBLE
    except typer.Abort:
        raise KeyboardInterrupt from None
    return status if isinstance(status, int) else OK
