"""`aop compile` and `aop check`."""

from __future__ import annotations

from contextlib import closing

from cli.arguments import Options
from cli.compiling import Compiling
from cli.discovery import discover
from cli.messages import say
from cli.printing import Printer
from cli.progress import bar_for
from cli.trouble import sentence


def run(options: Options) -> int:
    """Raises what `cli.main` puts into words."""
    with Compiling(options) as compiling:
        if options.watch:
            from cli.watch import watch  # noqa: PLC0415 - loads the watching of files, for this option only

            watch(options, compiling)
        return _once(options, compiling)


def _once(options: Options, compiling: Compiling) -> int:
    lang = options.setting.lang
    selection = discover(options.documents, options.out)
    label = say("compile.checking" if options.check else "compile.compiling", lang)
    with bar_for(len(selection.documents), label) as bar, Printer(options, selection.several, bar) as printer:
        for fault in selection.faults:
            printer.complain(sentence(fault, lang) or str(fault))
        with closing(compiling.run(selection, bar.advance)) as outcomes:
            for outcome in outcomes:
                printer.add(outcome)
    return printer.status
