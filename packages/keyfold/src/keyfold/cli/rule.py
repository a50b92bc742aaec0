"""`keyfold rule`: read a rule's page."""

from __future__ import annotations

import argparse

HELP = "Explain a rule of the reviewer, or list all of them."
EXAMPLES = ("keyfold rule K4",)


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("code", nargs="?", help="a code such as Q1, or a name such as range-bleed")


def run(args: argparse.Namespace) -> int:
    from keyfold.review.check import FAMILIES, rules
    from keyfold.review.check.page import page

    if args.code:
        print(page(args.code).text.rstrip())
        return 0
    for family, (title, _) in FAMILIES.items():
        print(f"\n{title}" if family != "K" else title)
        for rule in rules(select=[family]):
            print(f"  {rule.code:<4} {rule.severity:<8} {rule.name:<32} {rule.title}")
    return 0
