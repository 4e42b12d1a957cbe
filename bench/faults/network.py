"""Machines with a network of their own: each is a namespace, all are joined by one in the middle, where any two may be cut apart."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

PEOPLE = "people"
# Where namespaces may not be made, each machine is another address of this one.
LOOPBACK = "127.77.0."


class Network:
    """`is_real`: whether machines can be cut apart."""

    def __init__(self, machines: Sequence[str], *, is_real: bool) -> None:
        self.is_real = is_real
        self._places = {name: place for place, name in enumerate((PEOPLE, *machines))}
        run = os.getpid()
        # Several runs on one machine are in nobody's way.
        self._net, self._prefix = f"10.{64 + run % 128}", f"f{run}"
        self._cuts: list[frozenset[str]] = []

    def address(self, machine: str) -> str:
        place = self._places[machine]
        return f"{self._net}.{place}.2" if self.is_real else f"{LOOPBACK}{place + 1}"

    def machine_at(self, address: str) -> str:
        return next((name for name in self._places if self.address(name) == address), "")

    def command(self, machine: str, words: Sequence[str]) -> list[str]:
        """As it is run there."""
        if not self.is_real or machine == PEOPLE:
            return list(words)
        return ["ip", "netns", "exec", self._space(machine), *words]

    def cut(self, one: str, other: str) -> None:
        """From now on nothing comes through, and nobody is told."""
        self._cuts.append(frozenset((one, other)))
        self._rules("add", one, other)

    def join(self, one: str, other: str) -> None:
        self._cuts.remove(frozenset((one, other)))
        self._rules("del", one, other)

    def join_all(self) -> None:
        for one, other in tuple(self._cuts):
            self.join(one, other)

    def _rules(self, what: str, one: str, other: str) -> None:
        for here, there in ((one, other), (other, one)):
            between = ("from", self.address(here), "to", self.address(there))
            _ip("-n", self._hub, "rule", what, *between, "blackhole")

    @property
    def _hub(self) -> str:
        return f"{self._prefix}-hub"

    def _space(self, machine: str) -> str:
        return f"{self._prefix}-{machine}"

    def build(self) -> None:
        if not self.is_real:
            return
        _ip("netns", "add", self._hub)
        _ip("-n", self._hub, "link", "set", "lo", "up")
        _run("ip", "netns", "exec", self._hub, "sysctl", "-qw", "net.ipv4.ip_forward=1")
        for machine in self._places:
            self._add(machine)

    def _add(self, machine: str) -> None:
        place = self._places[machine]
        here, there = f"{self._prefix}p{place}", f"hub{place}"
        inside: tuple[str, ...] = ()
        if machine != PEOPLE:
            _ip("netns", "add", self._space(machine))
            inside = ("-n", self._space(machine))
            _ip(*inside, "link", "set", "lo", "up")
        _ip(*inside, "link", "add", here, "type", "veth", "peer", "name", there, "netns", self._hub)
        _ip(*inside, "address", "add", f"{self.address(machine)}/30", "dev", here)
        _ip(*inside, "link", "set", here, "up")
        _ip("-n", self._hub, "address", "add", f"{self._net}.{place}.1/30", "dev", there)
        _ip("-n", self._hub, "link", "set", there, "up")
        _ip(*inside, "route", "add", f"{self._net}.0.0/16", "via", f"{self._net}.{place}.1")

    def remove(self) -> None:
        """Links go with their namespaces."""
        if not self.is_real:
            return
        for space in (*map(self._space, self._places), self._hub):
            with suppress(subprocess.CalledProcessError):
                _ip("netns", "delete", space)
        with suppress(subprocess.CalledProcessError):
            _ip("link", "delete", f"{self._prefix}p0")


@contextmanager
def network(machines: Sequence[str]) -> Iterator[Network]:
    """Where the kernel gives none, it is said loudly, and all machines are this one."""
    made = Network(machines, is_real=True)
    try:
        try:
            made.build()
        except (OSError, subprocess.CalledProcessError) as error:
            made.remove()
            why = (getattr(error, "stderr", "") or str(error)).strip()
            print(
                f"SKIPPED LOUDLY: no machines with networks of their own, so none is cut off: {why}",
                flush=True,
            )
            made = Network(machines, is_real=False)
        yield made
    finally:
        made.remove()


def _ip(*words: str) -> None:
    program = shutil.which("ip") or "/usr/sbin/ip"
    _run(program, *words)


def _run(*command: str) -> None:
    subprocess.run(command, check=True, capture_output=True, text=True)
