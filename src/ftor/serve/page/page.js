// The page: asks the server for an answer, and shows it with its alternatives and how it came about.

import { Links, drawFlow, drawMap, drawTree, percent, stagesOf } from "./drawing.js";

const by = (id) => document.getElementById(id);
const form = by("form");
const sentence = by("sentence");
let models = [];
let latest = null;
let asked = 0;

function html(name, text = "", kind = "") {
  const made = document.createElement(name);
  made.textContent = text;
  if (kind) made.className = kind;
  return made;
}

async function call(path, body) {
  const headers = {};
  if (by("key").value) headers.Authorization = `Bearer ${by("key").value}`;
  if (body) headers["Content-Type"] = "application/json";
  const response = await fetch(path, { method: body ? "POST" : "GET", headers, body: body && JSON.stringify(body) });
  const content = await response.json().catch(() => ({}));
  if (response.status === 401) {
    by("key-option").hidden = false;
    by("key").focus();
  }
  if (!response.ok) throw new Error(content.error ?? `the server answers with status ${response.status}`);
  return { content, timing: response.headers.get("Server-Timing") ?? "" };
}

function fail(error) {
  const unreachable = error instanceof TypeError ? "The server cannot be reached." : "";
  by("problem").textContent = unreachable || error.message;
  by("problem").hidden = false;
  by("status").textContent = "";
}

function choose(select, values, chosen) {
  select.replaceChildren(...values.map(([value, text]) => {
    const option = html("option", text);
    option.value = value;
    option.selected = value === chosen;
    return option;
  }));
}

async function loadModels() {
  const { content } = await call("/v1/models");
  models = content.models;
  choose(by("model"), models.map((model) => [model.name, model.name]));
  by("model-option").hidden = models.length < 2;
  const counts = [1, 3, 5, 10, 20].filter((count) => count <= content.limits.n_best);
  choose(by("n-best"), counts.map((count) => [String(count), String(count)]), counts.includes(3) ? "3" : "1");
  showModel();
}

function current() {
  return models.find((model) => model.name === by("model").value);
}

function showModel() {
  const model = current();
  const names = { own: model.has_grammar ? "the model's own" : "none", none: "none" };
  const grammars = model.grammars.filter((name) => name !== "none" || model.has_grammar);
  choose(by("grammar"), grammars.map((name) => [name, names[name] ?? name]));
  by("grammar-option").hidden = grammars.length < 2;
  by("abstain-option").hidden = !model.calibrated;
  if (!model.calibrated) by("abstain").value = "";
  by("about").textContent = `${model.name}: ${model.description}`;
  document.title = `${model.name} – ftor`;
  const example = model.words.slice(0, 4).join(" ");
  sentence.placeholder = model.emphasis ? `${example} ; ${model.words[0]}` : example;
  by("hint").textContent = model.emphasis
    ? "Write it as in the training data: sentence ; word. Enter answers."
    : "Write it as in the training data. Enter answers.";
}

function bar(value) {
  const outer = html("div", "", "bar");
  const inner = html("span");
  inner.style.width = `${100 * value}%`;
  outer.setAttribute("aria-hidden", "true");
  outer.append(inner);
  return outer;
}

// A calibrated confidence if there is one, else the probability that the model gives.
function certainty(record) {
  if (record.confidence !== null) return { value: record.confidence, name: "confidence", text: record.abstained ? "too unsure of its best answer" : "likely to be right" };
  const value = record.score === null ? 0 : Math.min(Math.exp(record.score), 1);
  return { value, name: "probability", text: "by the model’s own account; it is not calibrated" };
}

function showAnswer(record) {
  by("answer").textContent = record.prediction ?? "The model abstains.";
  const { value, text } = certainty(record);
  by("certainty").replaceChildren(html("strong", percent(value)), bar(value), html("span", text, "muted"));
  const notes = [];
  if (record.well_formed === true) notes.push(html("li", "well-formed by the grammar"));
  if (record.well_formed === false) notes.push(html("li", "not well-formed: the grammar derives nothing the model can write here", "bad"));
  if (record.unknown?.length) notes.push(html("li", `words that the model does not know: ${record.unknown.join(", ")}`, "bad"));
  by("notes").replaceChildren(...notes);
  showAlternatives(record);
}

function pieces(text) {
  return text.match(/[\p{L}\p{N}_./-]+|\s+|[^\p{L}\p{N}_./\s-]/gu) ?? [];
}

// The pieces of a text, each with whether the reference has it at this place (longest common subsequence).
function compared(text, reference) {
  const [a, b] = [pieces(text), pieces(reference)];
  if (a.length * b.length > 250000) return a.map((piece) => ({ piece, same: true }));
  const best = Array.from({ length: a.length + 1 }, () => new Uint16Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      best[i][j] = a[i] === b[j] ? best[i + 1][j + 1] + 1 : Math.max(best[i + 1][j], best[i][j + 1]);
    }
  }
  const found = [];
  for (let i = 0, j = 0; i < a.length; i++) {
    while (j < b.length && a[i] !== b[j] && best[i][j + 1] === best[i][j]) j++;
    const same = j < b.length && a[i] === b[j];
    if (same) j++;
    found.push({ piece: a[i], same: same || !a[i].trim() });
  }
  return found;
}

function showAlternatives(record) {
  const answer = record.prediction ?? record.alternatives[0]?.prediction ?? "";
  const first = record.prediction === null ? 1 : 2; // a withheld answer heads the alternatives
  by("alternatives").replaceChildren(...record.alternatives.map((alternative, place) => {
    const item = html("li");
    const code = html("code");
    for (const { piece, same } of compared(alternative.prediction, answer)) code.append(same ? piece : html("mark", piece));
    const { value, name } = certainty(alternative);
    const number = html("span", percent(value), "number");
    number.setAttribute("aria-label", `${name} ${percent(value)}`);
    item.append(html("span", `${place + first}.`, "place"), code, bar(value), number);
    return item;
  }));
  by("alternatives-part").hidden = !record.alternatives.length;
}

function showStructure(record) {
  const shown = Boolean(record.steps?.length && record.written.length);
  by("structure").hidden = !shown;
  if (!shown) return;
  by("tree-part").hidden = !record.tree;
  by("structure").querySelector(".figures").classList.toggle("no-tree", !record.tree);
  by("copies-key").hidden = !record.copied?.some(Boolean);
  const names = record.steps.map((step) => step.name);
  by("flow-text").textContent = {
    "fertility,reordering": "Each word makes copies, the copies change places, and each becomes an output.",
    "reordering,fertility": "The words change places, and each makes outputs.",
    fertility: "Each word makes outputs, in the order of the words.",
  }[names.join()];
  drawAll(record);
  showTable(record);
}

function drawAll(record) {
  const links = new Links(record);
  drawFlow(by("flow"), record, links);
  if (record.tree) drawTree(by("tree"), record, links);
  drawMap(by("map"), record, links);
}

function showTable(record) {
  const stages = stagesOf(record);
  const outputs = stages[stages.length - 1].labels;
  const table = by("table");
  const head = html("tr");
  for (const [name, kind] of [["Output", ""], ["From", ""], ["Probability", "number"]]) {
    const cell = html("th", name, kind);
    cell.scope = "col";
    head.append(cell);
  }
  const rows = outputs.map((output, to) => {
    const column = record.alignment.map((row) => row[to]);
    const from = column.indexOf(Math.max(...column));
    const row = html("tr");
    row.append(html("td", output), html("td", stages[0].labels[from]), html("td", percent(column[from]), "number"));
    return row;
  });
  table.replaceChildren(head, ...rows);
}

function showCurl(body) {
  const quoted = JSON.stringify(body).replaceAll("'", "'\\''");
  const key = by("key-option").hidden ? "" : " \\\n  -H 'Authorization: Bearer KEY'";
  by("curl").textContent = `curl ${location.origin}/v1/predict \\\n  -H 'Content-Type: application/json'${key} \\\n  -d '${quoted}'`;
}

async function answer() {
  const text = sentence.value.trim();
  if (!text || !models.length) return;
  const turn = ++asked;
  const body = { sentences: [text], model: by("model").value, grammar: by("grammar").value, n_best: Number(by("n-best").value), structure: true };
  if (by("abstain").value) body.min_confidence = Number(by("abstain").value);
  by("submit").setAttribute("aria-disabled", "true");
  by("status").textContent = "Answering…";
  try {
    const { content, timing } = await call("/v1/predict", body);
    if (turn !== asked) return; // a later question is on its way
    const record = content.predictions[0];
    if (record.error) throw new Error(record.error);
    latest = record;
    by("problem").hidden = true;
    by("result").hidden = false;
    showAnswer(record);
    showStructure(record);
    showCurl({ ...body, structure: false });
    history.replaceState(null, "", `#${encodeURIComponent(text)}`);
    const times = Object.fromEntries([...timing.matchAll(/(\w+);dur=([\d.]+)/g)].map(([, name, ms]) => [name, Math.round(ms)]));
    const others = record.alternatives.length;
    by("status").textContent = `Answered in ${times.wait + times.predict} ms`
      + (others ? `, with ${others} alternative${others > 1 ? "s" : ""}.` : ".");
  } catch (error) {
    if (turn === asked) fail(error);
  } finally {
    if (turn === asked) by("submit").removeAttribute("aria-disabled");
  }
}

function grow() {
  sentence.style.height = "auto";
  sentence.style.height = `${sentence.scrollHeight + 2}px`;
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  answer();
});
sentence.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || event.isComposing) return;
  event.preventDefault();
  form.requestSubmit();
});
sentence.addEventListener("input", grow);
by("model").addEventListener("change", showModel);
by("key").addEventListener("change", () => models.length || loadModels().then(() => { by("problem").hidden = true; }).catch(fail));
by("copy").addEventListener("click", async () => {
  if (navigator.clipboard) { // only where the connection is safe
    await navigator.clipboard.writeText(by("answer").textContent);
    by("status").textContent = "Copied.";
  } else {
    getSelection().selectAllChildren(by("answer"));
  }
});
let width = innerWidth;
addEventListener("resize", () => {
  if (innerWidth === width || !latest?.steps) return;
  width = innerWidth;
  drawAll(latest);
});

by("as-table").open = matchMedia("(min-width: 60rem)").matches;
grow();
loadModels().then(() => {
  const given = decodeURIComponent(location.hash.slice(1));
  if (!given) return;
  sentence.value = given;
  grow();
  answer();
}).catch(fail);
