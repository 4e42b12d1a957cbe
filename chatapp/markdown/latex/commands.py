r"""Commands of packages that models know, each with how many arguments it takes and what it means in plain LaTeX.

Where a command may be written with a star (`\abs*`) the star says nothing about the picture.
"""

from __future__ import annotations

_ONE = r"""
    \abs \left|#1\right|
    \norm \left\|#1\right\|
    \ceil \left\lceil#1\right\rceil
    \floor \left\lfloor#1\right\rfloor
    \order \mathcal{O}\left(#1\right)
    \expval \langle#1\rangle
    \ev \langle#1\rangle
    \vb \boldsymbol{#1}
    \va \vec{\boldsymbol{#1}}
    \vu \hat{\boldsymbol{#1}}
    \vectorbold \boldsymbol{#1}
    \pmb \boldsymbol{#1}
    \mathbfit \boldsymbol{#1}
    \Vec \vec{#1}
    \mathnormal #1
    \ensuremath #1
    \smash #1
    \substack \begin{subarray}{c}#1\end{subarray}
    \pqty \left(#1\right)
    \bqty \left[#1\right]
    \vqty \left|#1\right|
    \Bqty \left\{#1\right\}
    \hbox \text{#1}
    \cee \ce{#1}
    \url \texttt{#1}
"""
_TWO = r"""
    \comm [#1,#2]
    \commutator [#1,#2]
    \acomm \left\{#1,#2\right\}
    \anticommutator \left\{#1,#2\right\}
    \pb \left\{#1,#2\right\}
    \ip \langle#1\vert#2\rangle
    \innerproduct \langle#1\vert#2\rangle
    \dyad \ket{#1}\!\bra{#2}
    \ketbra \ket{#1}\!\bra{#2}
    \op \ket{#1}\!\bra{#2}
    \cancelto \overset{#1}{\cancel{#2}}
    \colorbox \boxed{\text{#2}}
    \href #2
    \inner \left\langle#1,#2\right\rangle
"""
_THREE = r"""
    \mel \langle#1\vert#2\vert#3\rangle
    \matrixel \langle#1\vert#2\vert#3\rangle
    \fcolorbox \boxed{\text{#3}}
"""
_NONE = r"""
    \grad \nabla
    \curl \nabla\times
    \laplacian \nabla^2
    \C \mathbb{C}
    \Q \mathbb{Q}
    \celsius {}^{\circ}\mathrm{C}
    \textdegree {}^{\circ}
    \dotsb \cdots
    \hdots \ldots
    \mathellipsis \ldots
    \setminus \mathbin{\backslash}
    \smallsetminus \mathbin{∖}
    \colon \mathpunct{:}\,
    \qed \square
    \QED \blacksquare
    \Or \lor
    \xor \oplus
    \bcdot \cdot
    \varlimsup \overline{\lim}
    \varliminf \underline{\lim}
    \AA \mathrm{Å}
    \aa \mathrm{å}
    \ss \mathrm{ß}
    \euro \text{€}
    \textbackslash \backslash
    \textasciitilde \sim
    \upmu \mathrm{μ}
    \Mapsto \Rightarrow
    \qc ,\quad
    \qif \quad\text{if}\quad
    \qand \quad\text{and}\quad
    \qor \quad\text{or}\quad
    √ \surd
"""
# Upright names that nobody defines although everybody writes them.
_NAMES = """
    sgn sign tr Tr trace rank diag Var Cov Corr lcm sech csch arccot arcsec arccsc arsinh arcosh artanh erf erfc Res im Ker Span
    supp vol Id adj codim
"""
# What changes nothing in a picture on a page.
_SILENT = r"""
    \nonumber \notag \allowbreak \noindent \centering \protect \strut \mathstrut \null \relax \xspace \displaylimits \hfill
    \hfil \break \nobreak \newline \par \tiny \scriptsize \footnotesize \small \normalsize \large \Large \LARGE \huge \Huge
    \bfseries \itshape
"""
SILENT = frozenset(_SILENT.split())
# Likewise, with what stands after it.
SILENT_ARGUMENT = frozenset(
    (r"\require", r"\vspace", r"\usepackage", r"\pagestyle", r"\bookmark", r"\hypertarget")
)


def _table(arguments: int, lines: str) -> dict[str, tuple[int, str]]:
    pairs = (line.strip().split(" ", 1) for line in lines.strip().splitlines())
    return {name: (arguments, body) for name, body in pairs}


TEMPLATES: dict[str, tuple[int, str]] = {
    **_table(0, _NONE),
    **_table(1, _ONE),
    **_table(2, _TWO),
    **_table(3, _THREE),
    **{f"\\{name}": (0, rf"\operatorname{{{name}}}") for name in _NAMES.split()},
}
