"""What is said here, as Redis gets it: one command for all that is said in one moment, whatever it is said at."""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from typing import NamedTuple, cast

from redis.asyncio import Redis

SAID, OVER = "e", "x"
# Redis does nothing else meanwhile.
MOST = 500


class Utterance(NamedTuple):
    """An entry of a stream. `seconds`: for how long the stream is kept from now on, where that is to be said anew. `begins`: the stream
    begins with it; any other is refused where the stream is gone."""

    key: str
    number: str
    name: str
    text: str
    seconds: int = 0
    begins: bool = False

    @property
    def values(self) -> tuple[str | int, ...]:
        return self.number, self.name, self.text, self.seconds, int(self.begins)


# Whoever watches is told of what stands in the stream, and of nothing else. Of a stream that is gone, its place is given back.
_SAY = """
local lost = {}
for place, key in ipairs(KEYS) do
  local at = place * 5
  local number, name, text = ARGV[at - 4], ARGV[at - 3], ARGV[at - 2]
  local added
  if ARGV[at] == '1' then
    redis.call('DEL', key)
    added = redis.call('XADD', key, number, name, text)
  else
    added = redis.call('XADD', key, 'NOMKSTREAM', number, name, text)
  end
  if added then
    redis.call('PUBLISH', key, text)
    if ARGV[at - 1] ~= '0' then redis.call('EXPIRE', key, ARGV[at - 1]) end
  else
    lost[#lost + 1] = place
  end
end
return lost
"""


async def say(redis: Redis, spoken: Sequence[Utterance]) -> set[str]:
    """The keys of streams that are gone."""
    lost: set[str] = set()
    for start in range(0, len(spoken), MOST):
        some = spoken[start : start + MOST]
        keys = [each.key for each in some]
        values = [value for each in some for value in each.values]
        places = await cast(Awaitable[list[int]], redis.eval(_SAY, len(keys), *keys, *values))
        lost |= {keys[place - 1] for place in places}
    return lost
