"""List the policies, their rules and parameters."""

from __future__ import annotations

import argparse
import json
import textwrap

from engine.policy import POLICIES, Policy


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--format", choices=["table", "json"], default="table")


def run(arguments: argparse.Namespace) -> None:
    if arguments.format == "json":
        print(json.dumps([row(policy) for policy in POLICIES.values()], indent=1))
        return
    for policy in POLICIES.values():
        print(f"{policy.key}: {policy.title} ({policy.group})")
        paragraphs = [policy.rule, f"Source: {policy.source}."]
        for param in policy.params:
            paragraphs.append(f"{policy.key}.{param.name} = {param.default}: {param.help}")
        for paragraph in paragraphs:
            print(textwrap.fill(paragraph, 96, initial_indent="  ", subsequent_indent="    "))


def row(policy: Policy) -> dict:
    """One policy as JSON."""
    return {
        "policy": policy.key,
        "title": policy.title,
        "rule": policy.rule,
        "source": policy.source,
        "group": policy.group,
        "reconstructed": policy.reconstructed,
        "offline": policy.offline,
        "uses_lengths": policy.uses_lengths,
        "may_give_up_kv": policy.may_give_up_kv,
        "params": [
            {
                "name": param.name,
                "default": param.default,
                "low": param.low,
                "high": param.high,
                "help": param.help,
            }
            for param in policy.params
        ],
    }
