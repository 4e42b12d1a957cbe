"""What models say in these tests."""

from __future__ import annotations

THOUGHT = (
    "**Weighing it.** First one side, then the other. It could be either, so both are looked at in turn. "
)

# Every kind of block, one after the other, and a definition at the end that changes an earlier one.
RICH = """# What holds

A first paragraph with *stress*, **weight**, `code` and a [link][one].

- one
- two
  - two and a half

1. first
2. second

> Quoted words, \\
> on two lines.

| unit | ticks |
| --- | ---: |
| second | 1 |
| minute | 60 |

```python
def ruler(seconds: int) -> int:
    return seconds * 4  # one tick is one second
```

Inline $a^2 + b^2 = c^2$ and on its own:

$$
\\int_0^1 x\\,dx = \\frac{1}{2}
$$

- [x] done
- [ ] not done

A note[^1] at the end, with <b>no HTML</b> & signs: „Größe“ 😀 漢字.

[^1]: The note itself.

[one]: https://example.org/one
"""


def paragraphs(count: int) -> str:
    """So many numbered ones."""
    return "\n\n".join(f"Paragraph {n} says a few words more than its number." for n in range(1, count + 1))
