// Draws how an answer came about: words to outputs, the reordering tree, the alignment. Pointing at one part
// of a drawing lights what it is linked with in all of them.

const SVG = "http://www.w3.org/2000/svg";
const FAINTEST = 0.02;
const LINKED = 0.1;
const NARROW = 544; // as in page.css

export function element(name, attributes = {}, ...children) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

const context = document.createElement("canvas").getContext("2d");

function widthOf(text) {
  context.font = `${innerWidth <= NARROW ? 13 : 14}px ${getComputedStyle(document.body).fontFamily}`;
  return context.measureText(text).width;
}

function fitted(text, width) {
  if (widthOf(text) <= width) return text;
  const letters = [...text];
  const short = (count) => `${letters.slice(0, Math.ceil(0.6 * count)).join("")}…${letters.slice(letters.length - Math.floor(0.4 * count)).join("")}`;
  let count = letters.length - 1;
  while (count > 1 && widthOf(short(count)) > width) count--;
  return short(count);
}

export function percent(value) {
  if (value > 0 && value < 0.001) return "< 0.1 %";
  if (value < 1 && value > 0.999) return "> 99.9 %";
  const text = (100 * value).toFixed(value >= 0.1 && value < 0.995 ? 0 : 1);
  return `${text.replace(/\.0$/, "")} %`;
}

// The stages of an answer: its words, what is between the steps, its outputs.
export function stagesOf(record) {
  const middle = { fertility: "copies", reordering: "reordered" };
  const steps = record.steps;
  return [
    { name: "sentence", labels: record.source_tokens.map(shown) },
    ...steps.slice(0, -1).map((step) => ({ name: middle[step.name], labels: step.labels.map(shown) })),
    { name: "output", labels: record.written },
  ];
}

function shown(token) {
  return token === "@start@" ? "‹start›" : token.replace(/^@start@/, "‹start›");
}

// What is linked with positions of a stage: for each stage, how strongly each position is.
export class Links {
  constructor(record) {
    this.steps = record.steps.map((step) => step.marginals);
    this.sizes = [record.source_tokens.length, ...record.steps.map((step) => step.labels.length)];
    this.parts = [];
  }

  add(part, stage, positions) {
    this.parts.push({ part, stage, positions });
  }

  of(stage, positions) {
    const light = this.sizes.map((size) => new Array(size).fill(0));
    for (const position of positions) light[stage][position] = 1;
    for (let step = stage; step < this.steps.length; step++) {
      this.steps[step].forEach((row, from) => row.forEach((weight, to) => {
        light[step + 1][to] = Math.max(light[step + 1][to], weight * light[step][from]);
      }));
    }
    for (let step = stage - 1; step >= 0; step--) {
      this.steps[step].forEach((row, from) => row.forEach((weight, to) => {
        light[step][from] = Math.max(light[step][from], weight * light[step + 1][to]);
      }));
    }
    return light;
  }

  point(stage, positions) {
    const light = this.of(stage, positions);
    for (const { part, stage: at, positions: its } of this.parts) {
      const lit = at === "edge"
        ? light[its.step][its.from] >= LINKED && light[its.step + 1][its.to] >= LINKED
        : at === "cell"
          ? light[0][its.from] >= LINKED && light[light.length - 1][its.to] >= LINKED
          : its.some((position) => light[at][position] >= LINKED);
      part.classList.toggle("dim", !lit);
      part.classList.toggle("lit", lit);
    }
  }

  clear() {
    for (const { part } of this.parts) part.classList.remove("dim", "lit");
  }

  listen(part, stage, positions) {
    part.addEventListener("pointerenter", () => this.point(stage, positions));
    part.addEventListener("pointerleave", () => this.clear());
    part.addEventListener("focus", () => this.point(stage, positions));
    part.addEventListener("blur", () => this.clear());
  }
}

// One stop of the tab key for each column; the arrow keys move within it.
function walk(nodes, horizontal = false) {
  nodes.forEach((node, place) => {
    node.setAttribute("tabindex", place ? -1 : 0);
    node.addEventListener("keydown", (event) => {
      const steps = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1, Home: -nodes.length, End: nodes.length };
      if (!(event.key in steps)) return;
      event.preventDefault();
      const next = nodes[Math.min(Math.max(place + steps[event.key], 0), nodes.length - 1)];
      nodes.forEach((other) => other.setAttribute("tabindex", other === next ? 0 : -1));
      next.focus();
    });
  });
}

function say(record, stages, links, stage, position) {
  const last = stages.length - 1;
  const label = stages[stage].labels[position];
  const light = links.of(stage, [position]);
  const named = (at) => stages[at].labels.filter((_, place) => light[at][place] >= 0.5).join(", ") || "nothing";
  if (stage === 0) return `${label}, fertility ${record.fertilities[position]}, becomes ${named(last)}`;
  if (stage === last) return `${label}, ${record.copied?.[position] ? "copied" : "made"} from ${named(0)}`;
  return `${label}, from ${named(0)}, becomes ${named(last)}`;
}

const PILL = 30;
const GAP = 8;
const TOP = 34;

export function drawFlow(container, record, links) {
  const stages = stagesOf(record);
  const width = Math.max(container.clientWidth, 280);
  const most = Math.max(...stages.map((stage) => stage.labels.length));
  const height = TOP + most * (PILL + GAP);
  const narrow = width < NARROW;
  const between = narrow ? 34 : Math.max(0.15 * width, 84);
  const [pad, count] = narrow ? [7, 22] : [11, 32];
  const wanted = stages.map((stage, at) => Math.max(...stage.labels.map(widthOf), 20) + 2 * pad + (at ? 2 : count));
  const room = width - between * (stages.length - 1);
  const sizes = shares(wanted, room, stages.map((_, at) => (at && at < stages.length - 1 ? 0.6 : 1)));
  const free = (width - sizes.reduce((sum, size) => sum + size, 0)) / (stages.length - 1);
  let x = 0;
  const columns = stages.map((stage, at) => {
    const count = stage.labels.length;
    const pitch = Math.min((height - TOP) / count, 1.6 * (PILL + GAP));
    const column = { x, size: sizes[at], top: TOP + (height - TOP - pitch * count) / 2, pitch };
    x += sizes[at] + free;
    return column;
  });
  const middle = (at, position) => columns[at].top + (position + 0.5) * columns[at].pitch;
  const svg = element("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "group" });
  svg.setAttribute("aria-label", "From the words of the sentence to the output");
  record.steps.forEach((step, at) => {
    const left = columns[at].x + columns[at].size;
    const right = columns[at + 1].x;
    const name = element("text", { class: `step ${step.name}`, x: (left + right) / 2, y: 9 }, step.name);
    if (widthOf(step.name) < right - left) svg.append(name);
    const edges = [];
    step.marginals.forEach((row, from) => row.forEach((weight, to) => {
      if (weight >= FAINTEST) edges.push({ weight, from, to });
    }));
    edges.sort((a, b) => a.weight - b.weight);
    for (const { weight, from, to } of edges) {
      const [y, z, bend] = [middle(at, from), middle(at + 1, to), (right - left) / 2];
      const edge = element("path", {
        class: `edge ${step.name}`, d: `M${left} ${y}C${left + bend} ${y} ${right - bend} ${z} ${right} ${z}`,
        "stroke-width": 1 + 1.5 * weight, "stroke-opacity": Math.min(1, 0.15 + 0.85 * weight),
      });
      links.add(edge, "edge", { step: at, from, to });
      svg.append(edge);
    }
  });
  stages.forEach((stage, at) => {
    const column = element("g", { role: "listbox", "aria-label": { sentence: "Words", output: "Outputs" }[stage.name] ?? stage.name });
    const { x: left, size } = columns[at];
    svg.append(element("text", { class: "head", x: left + 2, y: 9 }, stage.name));
    const nodes = stage.labels.map((label, position) => {
      const y = middle(at, position) - PILL / 2;
      const copies = at === 0 ? record.fertilities[position] : null;
      const kind = at === 0 ? (copies ? "word" : "word none") : at < stages.length - 1 ? "between" : record.copied?.[position] ? "made copied" : "made";
      const node = element("g", { class: `node ${kind}`, role: "option", "aria-selected": "false", transform: `translate(${left} ${y})` });
      node.setAttribute("aria-label", say(record, stages, links, at, position));
      node.append(element("title", {}, say(record, stages, links, at, position)));
      node.append(element("rect", { width: size, height: PILL, rx: 8 }));
      node.append(element("text", { x: pad, y: PILL / 2 + 1 }, fitted(label, size - 2 * pad - (at ? 0 : count - 2))));
      if (copies !== null) node.append(element("text", { class: "count", x: size - pad + 2, y: PILL / 2 + 1 }, `×${copies}`));
      links.add(node, at, [position]);
      links.listen(node, at, [position]);
      node.addEventListener("focus", () => node.setAttribute("aria-selected", "true"));
      node.addEventListener("blur", () => node.setAttribute("aria-selected", "false"));
      return node;
    });
    walk(nodes);
    column.append(...nodes);
    svg.append(column);
  });
  container.replaceChildren(svg);
}

// Widths of columns: what they want. If the room is too small, small columns keep theirs and the others share.
function shares(wanted, room, weights) {
  const sizes = new Array(wanted.length).fill(null);
  let left = room;
  for (let changed = true; changed;) {
    changed = false;
    const weight = weights.reduce((sum, one, at) => sum + (sizes[at] === null ? one : 0), 0);
    for (let at = 0; at < wanted.length; at++) {
      if (sizes[at] === null && wanted[at] <= (left * weights[at]) / weight) {
        sizes[at] = wanted[at];
        left -= wanted[at];
        changed = true;
        break;
      }
    }
  }
  const weight = weights.reduce((sum, one, at) => sum + (sizes[at] === null ? one : 0), 0);
  return sizes.map((size, at) => size ?? (left * weights[at]) / weight);
}

export function parseTree(text) {
  const words = text.match(/[()]|[^\s()]+/g) ?? [];
  let place = 0;
  const read = () => {
    if (words[place] !== "(") return { leaf: Number(words[place++]) };
    const symbol = words[place + 1];
    place += 2;
    const node = { symbol, left: read(), right: read() };
    place += 1;
    return node;
  };
  return read();
}

export function drawTree(container, record, links) {
  const stages = stagesOf(record);
  const at = record.steps[0].name === "reordering" ? 0 : 1;
  const root = parseTree(record.tree);
  const leaves = stages[at].labels;
  const order = inOrder(root);
  const after = new Map(order.map((leaf, place) => [leaf, place + 1]));
  const levels = measure(root);
  const tall = document.getElementById("flow").clientHeight / leaves.length;
  const row = innerWidth < 960 ? 28 : Math.min(Math.max(tall, 26), 42); // beside the flow it is as high
  const label = Math.min(Math.max(...leaves.map(widthOf)), 130) + 54;
  const pitch = Math.min(Math.max((container.clientWidth - label - 20) / Math.max(levels, 1), 15), 44);
  const [width, height] = [label + pitch * levels + 16, row * leaves.length + 8];
  const svg = element("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img" });
  svg.setAttribute("aria-label", `Reordering tree over ${leaves.join(" ")}; new order ${order.map((leaf) => leaves[leaf]).join(" ")}`);
  const branches = element("g");
  svg.append(branches);
  leaves.forEach((text, position) => {
    const y = (position + 0.5) * row + 4;
    const leaf = element("g", { class: "node" });
    leaf.append(element("rect", { x: 0, y: y - row / 2, width: label - 6, height: row, opacity: 0 }));
    leaf.append(element("text", { x: 2, y }, fitted(text, label - 54)));
    leaf.append(element("text", { class: "head", x: label - 8, y, "text-anchor": "end" }, `→ ${after.get(position)}`));
    links.add(leaf, at, [position]);
    links.listen(leaf, at, [position]);
    svg.append(leaf);
  });
  const draw = (node) => {
    if (node.leaf !== undefined) return { x: label, y: (node.leaf + 0.5) * row + 4, leaves: [node.leaf] };
    const [one, other] = [draw(node.left), draw(node.right)];
    const [x, y] = [label + node.level * pitch, (one.y + other.y) / 2];
    branches.append(element("path", { class: "branch", d: `M${one.x} ${one.y}H${x}V${other.y}H${other.x}` }));
    const below = [...one.leaves, ...other.leaves];
    const kind = node.symbol === "△" ? "inverted" : "straight";
    const radius = pitch < 20 ? 6.5 : 8.5;
    const knot = element("g", { class: `knot ${kind}` });
    knot.append(element("circle", { cx: x, cy: y, r: radius }), element("text", { x, y: y + 0.5 }, node.symbol));
    knot.append(element("title", {}, `${kind === "inverted" ? "swaps" : "keeps in order"}: ${below.map((leaf) => leaves[leaf]).join(" ")}`));
    links.add(knot, at, below);
    links.listen(knot, at, below);
    svg.append(knot);
    return { x, y, leaves: below };
  };
  draw(root);
  container.replaceChildren(svg);
}

function measure(node) {
  node.level = node.leaf === undefined ? 1 + Math.max(measure(node.left), measure(node.right)) : 0;
  return node.level;
}

function inOrder(node) {
  if (node.leaf !== undefined) return [node.leaf];
  const [left, right] = [inOrder(node.left), inOrder(node.right)];
  return node.symbol === "△" ? [...right, ...left] : [...left, ...right];
}

export function drawMap(container, record, links) {
  const stages = stagesOf(record);
  const [rows, columns] = [stages[0].labels, stages[stages.length - 1].labels];
  const last = stages.length - 1;
  const margin = Math.min(Math.max(...rows.map(widthOf)), 110) + 10;
  const longest = Math.min(Math.max(...columns.map(widthOf)), 110);
  const cell = Math.min(Math.max((container.clientWidth - margin) / columns.length, 15), 28);
  const flat = longest < cell - 4;
  const top = flat ? 24 : longest + 12;
  const [width, height] = [margin + cell * columns.length + 2, top + cell * rows.length + 2];
  const svg = element("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img" });
  svg.setAttribute("aria-label", "Alignment of words and outputs; the table below has the same in text");
  rows.forEach((text, from) => {
    const y = top + (from + 0.5) * cell;
    const name = element("text", { x: margin - 7, y, "text-anchor": "end" }, fitted(text, margin - 10));
    links.add(name, 0, [from]);
    links.listen(name, 0, [from]);
    svg.append(name);
  });
  columns.forEach((text, to) => {
    const x = margin + (to + 0.5) * cell;
    const turned = flat ? { x, y: top - 12, "text-anchor": "middle" } : { transform: `translate(${x} ${top - 6}) rotate(-90)` };
    const name = element("text", turned, fitted(text, longest));
    links.add(name, last, [to]);
    links.listen(name, last, [to]);
    svg.append(name);
  });
  record.alignment.forEach((line, from) => line.forEach((weight, to) => {
    const place = { x: margin + to * cell + 1, y: top + from * cell + 1, width: cell - 2, height: cell - 2, rx: 3 };
    const both = element("g");
    both.append(element("rect", { class: "field", ...place }));
    if (weight >= FAINTEST) both.append(element("rect", { class: "cell", ...place, "fill-opacity": weight }));
    both.append(element("title", {}, `${rows[from]} → ${columns[to]}: ${percent(weight)}`));
    links.add(both, "cell", { from, to });
    links.listen(both, last, [to]);
    svg.append(both);
  }));
  container.replaceChildren(svg);
}
