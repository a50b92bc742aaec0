/* The text of a GraphQL request: its tokens, laid out anew, and where the caret is in it. */

const TOKEN = /#[^\n]*|"""(?:[^\\]|\\.)*?"""|"(?:[^"\\\n]|\\.)*"?|\.\.\.|[$@]?\w+|-\w[\w.]*|[{}()[\]:=!|&]/g;

/** Tokens with their places; commas and space say nothing. */
export const tokens = (text) => [...text.matchAll(TOKEN)].map((found) => ({ text: found[0], at: found.index }));

/** The request with one field to a line; throws what is wrong with it. */
export function pretty(text) {
  const all = tokens(text);
  let next = 0;
  const peek = () => all[next]?.text;
  const take = (wanted) => {
    const token = all[next++];
    if (!token || (wanted && token.text !== wanted)) {
      const line = text.slice(0, token?.at ?? text.length).split("\n").length;
      throw new Error(`line ${line}: ${wanted || "something"} is missing${token ? ` before ${token.text}` : ""}`);
    }
    return token.text;
  };
  const until = (end, one) => {
    const made = [];
    while (peek() !== end) made.push(one());
    take(end);
    return made;
  };
  const value = () => {
    const token = take();
    if (token === "[") return `[${until("]", value).join(", ")}]${peek() === "!" ? take() : ""}`;
    if (token === "{") return `{${until("}", given).join(", ")}}`;
    return token + (peek() === "!" ? take() : "");
  };
  const given = () => {
    const name = take();
    take(":");
    const held = value();
    return `${name}: ${held}${peek() === "=" ? ` ${take()} ${value()}` : ""}${directives()}`;
  };
  const inParentheses = () => {
    if (peek() !== "(") return "";
    take();
    return `(${until(")", given).join(", ")})`;
  };
  const directives = () => {
    let made = "";
    while (peek()?.startsWith("@")) made += ` ${take()}${inParentheses()}`;
    return made;
  };
  const fields = (depth) => {
    if (peek() !== "{") return "";
    take();
    const pad = "  ".repeat(depth + 1);
    const lines = until("}", () => field(depth + 1));
    return ` {\n${lines.map((line) => pad + line).join("\n")}\n${"  ".repeat(depth)}}`;
  };
  const field = (depth) => {
    let head = take();
    if (head.startsWith("#")) return head;
    if (head === "...") {
      if (peek() === "on") head += ` ${take()} ${take()}`;
      else if (/^\w/.test(peek() || "")) head += take();
    } else if (peek() === ":") head += `${take()} ${take()}`;
    return head + inParentheses() + directives() + fields(depth);
  };
  const parts = [];
  while (next < all.length) {
    if (peek().startsWith("#")) { parts.push(take()); continue; }
    let head = "";
    while (next < all.length && peek() !== "{") head += peek() === "(" ? inParentheses() : peek().startsWith("@") ? directives() : `${head ? " " : ""}${take()}`;
    if (next >= all.length) take("{");
    parts.push((head + fields(0)).trim());
  }
  return `${parts.join("\n\n")}\n`;
}

/** The name of the operation in which the caret is, or of the first; null where none has a name. */
export function operationAt(text, caret) {
  let depth = 0, kind = "", begins = 0, found = null;
  for (const { text: token, at } of tokens(text)) {
    if (token === "{") depth += 1;
    else if (token === "}") depth -= 1;
    else if (depth === 0 && /^(query|mutation|subscription|fragment)$/.test(token)) { kind = token; begins = at; }
    else if (depth === 0 && kind && /^\w/.test(token)) {
      if (kind !== "fragment" && (!found || begins <= caret)) found = token;
      kind = "";
    }
    if (depth > 0 || token === "(") kind = "";
  }
  return found;
}

const KEYWORDS = new Set(["query", "mutation", "subscription", "fragment", "on"]);

/** What kind of token each is, by the schema: `types` by name, `roots` by operation; what cannot stand there says why. */
export function classified(text, types, roots) {
  const stack = [];
  let last = null, fragment = null, awaits = "";
  return tokens(text).map(({ text: token, at }, index, all) => {
    const top = stack.at(-1);
    let kind = "", says = "";
    const refuse = (words, names) => { kind = "unknown"; says = words + likely(token, names); };
    if (token[0] === "#") return { token, at, kind: "comment" };
    if (token[0] === '"') return { token, at, kind: "string" };
    if (token === "{" && (top?.kind === "args" || top?.kind === "value")) stack.push({ kind: "value" });
    else if (token === "{") {
      const field = top?.type?.fields?.find((one) => one.name === last);
      const name = fragment || (field ? innermost(field.type) : top ? null : roots[awaits] || roots.query);
      if (/^(SCALAR|ENUM)$/.test(types.get(name)?.kind)) refuse(`${last} is one value, of type ${name}: it has no fields`, []);
      stack.push({ kind: "fields", type: types.get(name) });
      fragment = null; awaits = "";
    } else if (token === "(") stack.push({ kind: top ? "args" : "variables", name: last, field: top?.type?.fields?.find((one) => one.name === last) });
    else if (token === "}" || token === ")") last = stack.pop()?.name ?? null;
    else if (/^[$@]/.test(token)) kind = token[0] === "$" ? "variable" : "directive";
    else if (/^-?\d|^(true|false|null)$/.test(token)) kind = "literal";
    else if (/^\w/.test(token)) {
      if (last === "on") fragment = token;
      if (!top && KEYWORDS.has(token) && token !== "on") awaits = token;
      if (KEYWORDS.has(token) && (!top || token === "on")) kind = "keyword";
      else if (last === "on" || top?.kind === "variables") kind = "type";
      else if (top?.kind === "args" || top?.kind === "value") {
        kind = all[index + 1]?.text === ":" ? "argument" : "literal";
        const args = top.field?.args.map((one) => one.name);
        if (kind === "argument" && args && !args.includes(token)) refuse(`${top.field.name} takes no ${token}`, args);
      }
      else if (top?.kind === "fields") {
        const alias = all[index + 1]?.text === ":", spread = all[index - 1]?.text === "...";
        const known = !top.type?.fields || token === "__typename" || top.type.fields.some((one) => one.name === token);
        kind = alias || spread ? "name" : "field";
        if (kind === "field" && !known) refuse(`${top.type.name} has no field ${token}`, top.type.fields.map((one) => one.name));
      } else kind = "name";
      last = token;
    }
    return { token, at, kind, says };
  });
}

/** What was probably meant: a name that differs in few letters. */
function likely(given, names) {
  const apart = (a, b) => {
    let row = [...Array(b.length + 1).keys()];
    for (let i = 1; i <= a.length; i += 1) {
      const next = [i];
      for (let j = 1; j <= b.length; j += 1) next[j] = Math.min(row[j] + 1, next[j - 1] + 1, row[j - 1] + (a[i - 1] !== b[j - 1]));
      row = next;
    }
    return row[b.length];
  };
  const low = given.toLowerCase();
  const near = names.map((name) => [apart(low, name.toLowerCase()), name]).sort((a, b) => a[0] - b[0])[0];
  return near && near[0] <= Math.ceil(given.length / 2.5) ? `; did you mean ${near[1]}?` : "";
}

/** The place in a text of a line and a column, which begin at one. */
export const placeOf = (text, { line, column }) => text.split("\n").slice(0, line - 1).reduce((sum, one) => sum + one.length + 1, 0) + column - 1;

/** The line and the column of a place in a text. */
export function lineOf(text, place) {
  const before = text.slice(0, place).split("\n");
  return { line: before.length, column: before.at(-1).length + 1 };
}

export const innermost = (type) => (type.ofType ? innermost(type.ofType) : type.name);
