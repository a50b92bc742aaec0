"""Commands, flags and choices, completed by the shell."""

from __future__ import annotations

import argparse
import shlex

BASH = """\
_keyfold() {{
  local line=" ${{COMP_WORDS[*]:1:COMP_CWORD-1}} " word="${{COMP_WORDS[COMP_CWORD]}}"
  local words="" best=0
{cases}
  COMPREPLY=($(compgen -W "$words" -- "$word"))
  [[ ${{#COMPREPLY[@]}} -gt 0 ]] || COMPREPLY=($(compgen -f -- "$word"))
}}
complete -o filenames -F _keyfold keyfold
"""
ZSH = "autoload -Uz bashcompinit && bashcompinit\n"


def script(shell: str) -> str:
    """The completion script of a shell."""
    found = words_by_command()
    return _fish(found) if shell == "fish" else _bash(found, zsh=shell == "zsh")


def words_by_command() -> dict[tuple[str, ...], list[str]]:
    """The subcommands, flags and choices of each command."""
    from keyfold.cli import command_names, command_parser

    found: dict[tuple[str, ...], list[str]] = {(): command_names()}
    for name in command_names():
        _add(found, (name,), command_parser(name))
    return found


def _add(
    found: dict[tuple[str, ...], list[str]],
    path: tuple[str, ...],
    parser: argparse.ArgumentParser,
) -> None:
    words = found[path] = []
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, sub in action.choices.items():
                words.append(name)
                _add(found, (*path, name), sub)
        else:
            words += action.option_strings
            words += [str(one) for one in action.choices or ()]


def _bash(found: dict[tuple[str, ...], list[str]], *, zsh: bool) -> str:
    cases = []
    for path, words in found.items():
        begun = " ".join(path)
        pattern = f'" {begun} "*' if path else "*"
        cases.append(
            f"  [[ $line == {pattern} ]] && (( {len(path)} >= best )) && "
            f"best={len(path)} words={shlex.quote(' '.join(words))}"
        )
    return (ZSH if zsh else "") + BASH.format(cases="\n".join(cases))


def _fish(found: dict[tuple[str, ...], list[str]]) -> str:
    lines = []
    for path, words in found.items():
        conditions = [f"__fish_seen_subcommand_from {one}" for one in path]
        if deeper := [one for one in words if (*path, one) in found]:
            conditions.append(f"not __fish_seen_subcommand_from {' '.join(deeper)}")
        seen = "; and ".join(conditions)
        for word in words:
            option = f"-l {word[2:]}" if word.startswith("--") else f"-a {shlex.quote(word)}"
            if not word.startswith("-") or word.startswith("--"):
                lines.append(f"complete -c keyfold -n {shlex.quote(seen)} {option}")
    return "\n".join(lines) + "\n"
