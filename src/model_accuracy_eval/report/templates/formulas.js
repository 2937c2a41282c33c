// LaTeX as models write it → MathML, which browsers draw themselves. Every text becomes a text node; a command that is
// not known is shown as it is written.
const MATHML = "http://www.w3.org/1998/Math/MathML";
const math = (tag, attributes = {}, ...children) => {
  const element = document.createElementNS(MATHML, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children.flat(Infinity));
  return element;
};

const signs = (pairs) => Object.assign(Object.create(null), Object.fromEntries(pairs.trim().split(/\s+/).map((pair) => [pair.slice(0, -1), pair.at(-1)])));
const NAMES_OF_SIGNS = signs(`
  alphaα betaβ gammaγ deltaδ epsilonϵ varepsilonε zetaζ etaη thetaθ varthetaϑ iotaι kappaκ lambdaλ muμ nuν xiξ piπ rhoρ
  sigmaσ tauτ upsilonυ phiϕ varphiφ chiχ psiψ omegaω GammaΓ DeltaΔ ThetaΘ LambdaΛ XiΞ PiΠ SigmaΣ PhiΦ PsiΨ OmegaΩ
  infty∞ ellℓ hbarℏ emptyset∅ varnothing∅ alephℵ Reℜ Imℑ partial∂ nabla∇ angle∠ triangle△ square□ degree° prime′ checkmark✓
`);
const OPERATORS = signs(`
  times× cdot· div÷ pm± mp∓ ast∗ star⋆ circ∘ bullet• le≤ leq≤ leqslant⩽ ge≥ geq≥ geqslant⩾ ne≠ neq≠ ll≪ gg≫ approx≈
  equiv≡ sim∼ simeq≃ cong≅ propto∝ to→ rightarrow→ leftarrow← leftrightarrow↔ longrightarrow⟶ Rightarrow⇒ Leftarrow⇐
  Leftrightarrow⇔ implies⟹ Longrightarrow⟹ iff⟺ mapsto↦ in∈ ni∋ notin∉ subset⊂ subseteq⊆ supset⊃ supseteq⊇ cup∪ cap∩
  setminus∖ forall∀ exists∃ neg¬ lnot¬ land∧ wedge∧ lor∨ vee∨ oplus⊕ otimes⊗ cdots⋯ ldots… dots… dotsc… vdots⋮ ddots⋱
  perp⊥ parallel∥ mid∣ nmid∤ therefore∴ because∵ vert| Vert‖ lvert| rvert| lVert‖ rVert‖ lfloor⌊ rfloor⌋ lceil⌈ rceil⌉
  langle⟨ rangle⟩ uparrow↑ downarrow↓ rightleftharpoons⇌ subsetneq⊊ odot⊙ top⊤ bot⊥ lbrace{ rbrace} backslash\\ colon: sum∑ prod∏ int∫ iint∬ oint∮ bigcup⋃ bigcap⋂
`);
const WITH_LIMITS = new Set(["∑", "∏", "⋃", "⋂", "lim", "max", "min", "sup", "inf", "limsup", "liminf", "argmax", "argmin"]);
const FUNCTIONS = new Set(("arccos arcsin arctan arg argmax argmin cos cosh cot csc deg det dim exp gcd hom inf ker lcm lg lim "
  + "liminf limsup ln log max min sec sin sinh sup tan tanh").split(" "));
const ACCENTS = signs("hat^ widehat^ bar¯ overline‾ vec→ overrightarrow→ dot˙ ddot¨ tilde~ widetilde~ underline_ overbrace⏞ underbrace⏟");
const SPACES = { __proto__: null, ",": 0.17, ":": 0.22, ";": 0.28, " ": 0.3, "!": 0, quad: 1, qquad: 2, enspace: 0.5, thinspace: 0.17 };
const FENCES = { __proto__: null, pmatrix: "()", bmatrix: "[]", Bmatrix: "{}", vmatrix: "||", Vmatrix: "‖‖", cases: "{" };
const OF_SIZE = /^(?:[bB]ig+[lrm]?|displaystyle|textstyle|limits|nolimits|nonumber|notag|hline|left|right|middle)$/;
const DOUBLE = { C: "ℂ", H: "ℍ", N: "ℕ", P: "ℙ", Q: "ℚ", R: "ℝ", Z: "ℤ" };
const DEEPEST = 60;

const formula = (source, isBlock) => {
  const tokens = source.match(/\\(?:[a-zA-Z]+|[^])|\d+(?:\.\d+)?|\s+|[^]/gu) || [];
  let at = 0;
  let depth = 0;
  const peek = () => {
    while (at < tokens.length && /^\s/.test(tokens[at])) at += 1;
    return tokens[at];
  };
  const take = () => { const token = peek(); at += 1; return token; };
  const sign = (text, more = {}) => math("mo", more, text);
  const fence = (text) => sign(text, { stretchy: "true", fence: "true" });

  const row = (isEnd) => {
    if ((depth += 1) > DEEPEST) throw new RangeError("too deep");
    const nodes = [];
    while (peek() !== undefined && !isEnd(peek())) nodes.push(scripted());
    depth -= 1;
    return math("mrow", {}, nodes);
  };
  const group = () => {
    const inner = row((token) => token === "}");
    take();
    return inner;
  };
  // x^23 raises x to the power of 2.
  const argument = () => {
    if (/^\d./.test(peek() || "")) {
      const first = tokens[at][0];
      tokens[at] = tokens[at].slice(1);
      return math("mn", {}, first);
    }
    return peek() === undefined ? math("mrow") : atom();
  };
  const words = () => {
    if (peek() !== "{") return take() || "";
    at += 1;
    let said = "";
    for (let open = 1; at < tokens.length; at += 1) {
      open += (tokens[at] === "{") - (tokens[at] === "}");
      if (!open) break;
      said += tokens[at].replace(/^\\([^a-zA-Z])$/, "$1");
    }
    at += 1;
    return said;
  };
  const optional = () => {
    if (peek() !== "[") return null;
    at += 1;
    const inner = row((token) => token === "]");
    take();
    return inner;
  };
  const lines = (isEnd) => {
    const found = [[]];
    for (;;) {
      found.at(-1).push(row((token) => token === "&" || token === "\\\\" || isEnd(token)));
      if (peek() === undefined || isEnd(peek())) return found;
      if (take() === "\\\\") { optional(); found.push([]); }
    }
  };
  const tableOf = (rows, align = "center") => math("mtable", { class: align, displaystyle: "true" },
    rows.filter((cells) => cells.some((cell) => cell.childNodes.length))
      .map((cells) => math("mtr", {}, cells.map((cell) => math("mtd", {}, cell)))));

  const environment = () => {
    const name = words().replace("*", "");
    if (name === "array" || name === "tabular") words();
    const rows = lines((token) => token === "\\end");
    take();
    words();
    const [open, close] = FENCES[name] || "";
    const drawn = tableOf(rows, name === "cases" ? "left" : /align|split|eqn/.test(name) ? "aligned" : "center");
    return open ? math("mrow", {}, fence(open), drawn, close ? fence(close) : []) : drawn;
  };

  const command = (name) => {
    if (name in NAMES_OF_SIGNS) return math("mi", {}, NAMES_OF_SIGNS[name]);
    if (name in OPERATORS) return sign(OPERATORS[name]);
    if (name in SPACES) return math("mspace", { width: `${SPACES[name]}em` });
    if (FUNCTIONS.has(name)) return math("mi", {}, name);
    if (name in ACCENTS) {
      const tag = name.startsWith("under") ? "munder" : "mover";
      return math(tag, { accent: "true" }, argument(), sign(ACCENTS[name]));
    }
    if (/^[dtc]?frac$/.test(name)) return math("mfrac", {}, argument(), argument());
    if (/^[dt]?binom$/.test(name))
      return math("mrow", {}, fence("("), math("mfrac", { linethickness: "0" }, argument(), argument()), fence(")"));
    if (name === "sqrt") {
      const degree = optional();
      return degree ? math("mroot", {}, argument(), degree) : math("msqrt", {}, argument());
    }
    if (/^(?:text|mbox|textrm|textit|textbf|textnormal|operatorname)/.test(name))
      return name === "operatorname" ? math("mi", { mathvariant: "normal" }, words()) : math("mtext", {}, words().replace(/^ | $/g, "\u00a0"));
    if (/^(?:mathrm|rm|mathsf|mathtt|mathit|mathcal|mathscr|mathfrak)$/.test(name)) return math("mi", { mathvariant: "normal" }, words());
    if (name === "mathbb")
      return math("mi", {}, words().replace(/[A-Z]/g, (one) => DOUBLE[one] || String.fromCodePoint(0x1d538 + one.charCodeAt(0) - 65)));
    if (/^(?:mathbf|boldsymbol|bm|bf)$/.test(name)) return math("mrow", { class: "bold" }, argument());
    if (/^(?:boxed|fbox)$/.test(name)) return math("mrow", { class: "boxed" }, argument());
    if (/^(?:overset|stackrel)$/.test(name)) { const over = argument(); return math("mover", {}, argument(), over); }
    if (name === "underset") { const under = argument(); return math("munder", {}, argument(), under); }
    if (name === "pmod") return math("mrow", {}, sign("("), math("mi", {}, "mod"), math("mspace", { width: ".3em" }), argument(), sign(")"));
    if (/^(?:bmod|mod)$/.test(name)) return sign("mod", { lspace: ".3em", rspace: ".3em" });
    if (name === "not") return sign(`${argument().textContent}\u0338`);
    if (name === "tag") return math("mtext", {}, ` (${words()})`);
    if (/^(?:label|hspace|vspace|color)$/.test(name)) { words(); return math("mrow"); }
    if (name === "begin") return environment();
    if (OF_SIZE.test(name)) return peek() === "." ? (take(), math("mrow")) : math("mrow");
    if (name === "\\") return math("mspace", { width: "1em" });
    if (/^[^a-zA-Z]$/.test(name)) return sign(name === "|" ? "‖" : name);
    return math("mtext", {}, `\\${name}`);
  };

  const between = () => {
    const open = take();
    const inner = row((token) => token === "\\right");
    take();
    const close = take();
    const drawn = (token) => (!token || token === "." ? [] : fence(token[0] === "\\" ? OPERATORS[token.slice(1)] || (token[1] === "|" ? "‖" : token.slice(1)) : token));
    return math("mrow", {}, drawn(open), inner, drawn(close));
  };

  const atom = () => {
    const token = take();
    if (token === "{") return group();
    if (token === "\\left") return between();
    if (token[0] === "\\") return command(token.slice(1));
    if (/^\d/.test(token)) return math("mn", {}, token);
    if (/^[a-zA-Z]$/.test(token)) return math("mi", {}, token);
    if (token === "~") return math("mspace", { width: ".3em" });
    if (/^[}&]$/.test(token)) return math("mrow");
    if (/^\p{L}/u.test(token)) return math("mtext", {}, token);
    const spaces = token === "|" ? { lspace: "0", rspace: "0" } : {};
    return sign(token === "-" ? "−" : token, /[()[\]|]/.test(token) ? { stretchy: "false", ...spaces } : {});
  };

  const scripted = () => {
    const base = peek() === "^" || peek() === "_" ? math("mrow") : atom();
    let [sub, sup, primes] = [null, null, ""];
    for (;;) {
      const next = peek();
      if (next === "'") { take(); primes += "′"; }
      else if (next === "\\limits" || next === "\\nolimits") take();
      else if (next === "_" && !sub) { take(); sub = argument(); }
      else if (next === "^" && !sup) { take(); sup = argument(); }
      else break;
    }
    if (primes) sup = math("mrow", {}, sign(primes), sup || []);
    const isAround = isBlock && WITH_LIMITS.has(base.textContent);
    if (sub && sup) return math(isAround ? "munderover" : "msubsup", {}, base, sub, sup);
    if (sub) return math(isAround ? "munder" : "msub", {}, base, sub);
    return sup ? math(isAround ? "mover" : "msup", {}, base, sup) : base;
  };

  const rows = lines(() => false);
  const drawn = rows.length > 1 || rows[0].length > 1 ? tableOf(rows, "aligned") : rows[0];
  return math("math", isBlock ? { display: "block" } : {}, drawn);
};
