"""Formulas as people ask for them and models write them: school, university, laboratory, computer."""

from __future__ import annotations

USUAL = {
    "school": r"""
        E = mc^2
        x_{1,2} = \frac{-b \pm \sqrt{b^2-4ac}}{2a}
        a^2 + b^2 = c^2
        \sqrt[3]{27} = 3
        \frac{3}{4} + \frac{1}{6} = \frac{9+2}{12} = \frac{11}{12}
        2\tfrac{1}{2} \times 4 \div 5 \approx 2
        |x - 3| \leq 5 \implies -2 \le x \le 8
        \sin^2\theta + \cos^2\theta = 1
        \tan 45^\circ = 1, \quad \angle ABC = 90^{\circ}
        \overline{AB} \parallel \overline{CD}, \quad \triangle ABC \cong \triangle DEF
        A = \pi r^2 \qquad V = \tfrac{4}{3}\pi r^3
        \log_2 8 = 3 \qquad \ln e^x = x
        \boxed{x = 42}
        \require{cancel} \frac{\cancel{6}}{\cancel{12}} = \frac12
        0.\overline{3} = \dfrac{1}{3}
        \underbrace{1 + 2 + \cdots + n}_{n \text{ terms}} = \frac{n(n+1)}{2}
    """,
    "systems and cases": r"""
        \begin{cases} 2x + 3y = 7 \\ x - y = 1 \end{cases}
        f(x) = \begin{cases} x^2 & \text{if } x \geq 0 \\ -x & \text{otherwise} \end{cases}
        |x| = \left\{ \begin{array}{ll} x, & x \ge 0 \\ -x, & x < 0 \end{array} \right.
        \begin{aligned} (a+b)^2 &= (a+b)(a+b) \\ &= a^2 + 2ab + b^2 \end{aligned}
        \begin{align} x + y &= 10 \label{sum} \\ x - y &= 2 \end{align}
        \begin{align*} f(x) &= x^3 - 3x \\ f'(x) &= 3x^2 - 3 \\ &= 3(x-1)(x+1) \end{align*}
        \begin{equation} a^n + b^n = c^n \tag{1} \end{equation}
        \begin{equation*} S = \sum_{k=1}^n k \end{equation*}
        \begin{gather} a = b + c \\ d = e - f \end{gather}
        \begin{multline} p(x) = 3x^6 + 14x^5y + 590x^4y^2 \\ - 12x^2y^4 - 12xy^5 + 2y^6 \end{multline}
        \begin{split} a &= b \\ &= c \end{split}
        \begin{equation} \begin{split} A &= \frac{\pi r^2}{2} \\ &= \frac{1}{2} \pi r^2 \end{split} \end{equation}
        \begin{alignat}{2} x &+ y &&= 1 \\ 2x &- y &&= 5 \end{alignat}
        \begin{alignedat}{2} 10&x + &3&y = 2 \\ 3&x + &13&y = 4 \end{alignedat}
        \begin{gathered} x = 1 \\ y = 2 \end{gathered}
        \begin{eqnarray} y &=& mx + b \\ &=& 2x + 1 \end{eqnarray}
        \begin{rcases} a \\ b \end{rcases} \Rightarrow c
        \begin{dcases} \int_0^1 x\,dx & a \\ 0 & b \end{dcases}
        E = mc^2 \tag{1.2}
        x^2 + 1 = 0 \tag*{(*)}
    """,
    "calculus": r"""
        \int_{-\infty}^{\infty} e^{-x^2}\,dx = \sqrt{\pi}
        \lim_{x \to 0} \frac{\sin x}{x} = 1
        f'(x) = \lim_{h \to 0} \frac{f(x+h) - f(x)}{h}
        \frac{d}{dx}\left( \int_a^x f(t)\,dt \right) = f(x)
        \frac{\partial^2 u}{\partial t^2} = c^2 \nabla^2 u
        \dv{y}{x} = \dv{x}(x^2) = 2x
        \dv[2]{y}{x} + \omega^2 y = 0
        \pdv{f}{x} = \pdv[2]{u}{t}
        \pdv{f}{x}{y}
        \iint_D f(x,y)\,\mathrm{d}A = \iiint_V g \, \mathrm dV
        \oint_C \mathbf{F} \cdot d\mathbf{r} = \iint_S (\nabla \times \mathbf{F}) \cdot d\mathbf{S}
        \left. \frac{x^3}{3} \right|_0^1 = \frac{1}{3}
        \eval{x^2}_0^2 = 4
        f(x) = \sum_{n=0}^{\infty} \frac{f^{(n)}(a)}{n!}(x-a)^n
        e^{i\pi} + 1 = 0
        \limsup_{n\to\infty} a_n = \inf_{n} \sup_{k \geq n} a_k
        \prod_{p} \frac{1}{1 - p^{-s}} = \zeta(s) = \sum_{n=1}^{\infty}\frac{1}{n^s}
        \int\limits_0^{2\pi} \cos\theta\,\dd\theta = 0
        \sum_{\substack{1 \le i \le n \\ i \ne j}} a_{ij}
        \cfrac{1}{1 + \cfrac{1}{1 + \cfrac{1}{x}}}
        \Gamma(z) = \int_0^\infty t^{z-1} e^{-t}\, dt
        \grad f, \quad \div \vb{E}, \quad \curl \vb{B}, \quad \laplacian \phi
        \ddot{x} + 2\zeta\omega_0 \dot{x} + \omega_0^2 x = 0
        \hat f(\xi) = \int_{\mathbb{R}} f(x)\, e^{-2\pi i x \xi}\, dx
    """,
    "linear algebra": r"""
        \begin{pmatrix} a & b \\ c & d \end{pmatrix}^{-1} = \frac{1}{ad-bc} \begin{pmatrix} d & -b \\ -c & a \end{pmatrix}
        \begin{bmatrix} 1 & 0 & \cdots & 0 \\ 0 & 1 & \cdots & 0 \\ \vdots & \vdots & \ddots & \vdots \\ 0 & 0 & \cdots & 1 \end{bmatrix}
        \begin{vmatrix} a & b \\ c & d \end{vmatrix} = ad - bc
        \begin{Vmatrix} a \\ b \end{Vmatrix} \begin{Bmatrix} 1 & 2 \end{Bmatrix}
        \left[\begin{array}{cc|c} 1 & 2 & 3 \\ 4 & 5 & 6 \end{array}\right]
        \begin{array}{c|cc} & p & q \\ \hline 1 & T & F \\ 2 & F & T \end{array}
        \bigl(\begin{smallmatrix} a & b \\ c & d \end{smallmatrix}\bigr)
        \det(A - \lambda I) = 0
        A\vec{v} = \lambda\vec{v}
        \norm{\vb{x}}_2 = \sqrt{\sum_i \abs{x_i}^2}
        \langle u, v \rangle = \overline{\langle v, u \rangle}
        A = U \Sigma V^{\mathsf{T}} = U \Sigma V^\top
        \operatorname{rank}(A) + \dim\ker A = n
        \operatorname*{arg\,min}_{x \in \mathbb{R}^n} \|Ax - b\|_2^2
        \boldsymbol{\Sigma} = \mathbf{X}^\intercal \mathbf{X}, \quad \bm{\mu}
        \widetilde{A} = P^{-1} A P, \quad \widehat{AB}
        \DeclareMathOperator{\tr}{tr} \tr(AB) = \tr(BA)
        \left\lVert \frac{x}{y} \right\rVert \le \left\lfloor \frac{n}{2} \right\rfloor + \left\lceil \frac{n}{2} \right\rceil
        \begin{pmatrix*}[r] -1 & 2 \\ 3 & -4 \end{pmatrix*}
        \mathbf{a} \times \mathbf{b} = \begin{vmatrix} \mathbf{i} & \mathbf{j} & \mathbf{k} \\ a_1 & a_2 & a_3 \end{vmatrix}
    """,
    "logic and sets": r"""
        \forall \varepsilon > 0 \; \exists \delta > 0 : |x - a| < \delta \Rightarrow |f(x) - L| < \varepsilon
        A \cup B = \{ x \mid x \in A \lor x \in B \}
        \neg (p \land q) \iff \neg p \lor \neg q
        A \setminus B \subseteq A \cap B^{\complement}, \quad \varnothing \subset A
        \mathbb{N} \subset \mathbb{Z} \subset \mathbb{Q} \subset \mathbb{R} \subset \mathbb{C}
        \bigcup_{i=1}^n A_i \qquad \bigcap_{i \in I} B_i
        \Gamma \vdash \varphi \quad \models \psi
        \therefore p \to q \quad \because q \leftarrow r
        f \colon X \to Y, \quad x \mapsto f(x)
        a \equiv b \pmod{n}
        \binom{n}{k} = \frac{n!}{k!\,(n-k)!}
        \gcd(a, b) \cdot \operatorname{lcm}(a, b) = ab
        A \xrightarrow{f} B \xleftarrow[g]{h} C
        \set{x \in \mathbb{R} : x^2 < 2}
        \newcommand{\R}{\mathbb{R}} f : \R^n \to \R
        \overset{\text{def}}{=} \quad \stackrel{?}{=} \quad \underset{x}{\max}
    """,
    "statistics": r"""
        P(A \mid B) = \frac{P(B \mid A)\,P(A)}{P(B)}
        X \sim \mathcal{N}(\mu, \sigma^2)
        \bar{x} = \frac{1}{n}\sum_{i=1}^{n} x_i
        \mathbb{E}[X] = \int x\,f(x)\,\mathrm{d}x, \quad \operatorname{Var}(X) = \mathbb{E}\left[(X-\mu)^2\right]
        \hat{\beta} = (X^\top X)^{-1} X^\top y
        f(x) = \frac{1}{\sigma\sqrt{2\pi}} \exp\!\left( -\frac{(x-\mu)^2}{2\sigma^2} \right)
        \hat\theta = \underset{\theta}{\operatorname{argmax}}\; \mathcal{L}(\theta)
        D_{\mathrm{KL}}(P \parallel Q) = \sum_x P(x) \log\frac{P(x)}{Q(x)}
        \begin{align} \mathcal{L} &= -\sum_i y_i \log \hat{y}_i \tag{2} \\ &= H(y, \hat{y}) \nonumber \end{align}
        X_n \xrightarrow{d} X, \qquad Z = \frac{\bar X - \mu}{\sigma / \sqrt{n}}
        t = \frac{\bar{x}_1 - \bar{x}_2}{s_p \sqrt{\frac{1}{n_1} + \frac{1}{n_2}}} \overset{H_0}{\sim} t_{n_1+n_2-2}
        \text{Attention}(Q,K,V) = \text{softmax}\left(\frac{QK^T}{\sqrt{d_k}}\right)V
    """,
    "physics": r"""
        \vec{F} = m\vec{a} = \frac{d\vec{p}}{dt}
        i\hbar \frac{\partial}{\partial t} \Psi = \hat{H}\Psi
        \ket{\psi} = \alpha\ket{0} + \beta\ket{1}
        \bra{\phi}\ket{\psi} = \braket{\phi}{\psi}
        \langle \hat{A} \rangle = \expval{A} = \mel{m}{A}{n}
        \comm{x}{p} = i\hbar
        \nabla \cdot \mathbf{E} = \frac{\rho}{\varepsilon_0}
        g = \SI{9.81}{\meter\per\second\squared}
        c = \SI{3e8}{m/s} = \qty{299792458}{\metre\per\second}
        \rho = 1000\,\si{kg/m^3} = \SI{1}{\gram\per\cubic\centi\meter}
        \num{6.022e23} \quad \ang{45}
        G_{\mu\nu} + \Lambda g_{\mu\nu} = \frac{8\pi G}{c^4} T_{\mu\nu}
        S = \int \dd[4]{x} \sqrt{-g}\, \mathcal{R}
        {}^{14}_{6}\mathrm{C} \rightarrow {}^{14}_{7}\mathrm{N} + e^- + \bar\nu_e
        \Delta x \, \Delta p \geq \frac{\hbar}{2}
        R = 8.314\ \mathrm{J\,mol^{-1}\,K^{-1}}
        \boxed{v = v_0 + at} \implies \fbox{$t = 3$ s}
    """,
    "chemistry": r"""
        \ce{H2O}
        \ce{2H2 + O2 -> 2H2O}
        \ce{CO2 + C -> 2 CO}
        \ce{SO4^2- + Ba^2+ -> BaSO4 v}
        \ce{N2 + 3H2 <=> 2NH3}
        \ce{A ->[H+][\Delta] B}
        \ce{^{227}_{90}Th+}
        \ce{CuSO4.5H2O}
        K_a = \frac{[\ce{H+}][\ce{A-}]}{[\ce{HA}]}
        \ce{CH3-CH2-OH}
        \ce{HC#CH + H2 ->[\text{Pd}] H2C=CH2}
        \ce{[Cu(NH3)4]^2+}
        \pu{123 kJ/mol}
    """,
    "computing": r"""
        T(n) = 2T\left(\frac{n}{2}\right) + \mathcal{O}(n)
        O(n \log n) \subset \Theta(n^2)
        a \oplus b = (a \lor b) \land \lnot (a \land b)
        H(X) = -\sum_{x} p(x)\log_2 p(x)
        \theta_{t+1} \leftarrow \theta_t - \eta \nabla_\theta J(\theta_t)
        \lambda x.\, x\;x \to_\beta y
        \mathtt{while}\ (x \neq 0)\ \{ x \mathrel{-}= 1 \}
        \lfloor \log_2 n \rfloor + 1 \text{ bits}
        \color{red}{x} + \textcolor{blue}{y}
        \left\langle \frac{a}{b} \,\middle|\, c \right\rangle
        \text{loss} = \frac{1}{N}\sum_{i=1}^{N}\ell\bigl(f(x_i), y_i\bigr) \eqref{eq:1}
        \mathrm{ReLU}(x) = \max(0, x) \quad\text{where $x \in \mathbb{R}$}
        \Pr\left[\,\bigvee_{i} E_i\,\right] \le \sum_{i} \Pr[E_i]
        \overbrace{a \cdots a}^{k} \# \& \_ 100\%
    """,
}
FORMULAS = [line.strip() for lines in USUAL.values() for line in lines.strip().splitlines()]
