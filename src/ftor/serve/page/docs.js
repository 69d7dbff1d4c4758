// Shows the description of the API, /openapi.json, as text and tables.

function html(name, text = "", kind = "") {
  const made = document.createElement(name);
  made.textContent = text;
  if (kind) made.className = kind;
  return made;
}

function resolve(schema, all) {
  return schema?.$ref ? all.components.schemas[schema.$ref.split("/").pop()] : schema ?? {};
}

function kindOf(schema, all) {
  if (schema.$ref) return schema.$ref.split("/").pop();
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(" | ");
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.anyOf) return schema.anyOf.map((one) => kindOf(one, all)).join(" | ");
  if (schema.type === "array") return `[${kindOf(schema.items ?? {}, all)}]`;
  return schema.type ?? "any";
}

function bounds(schema) {
  const names = { minimum: "≥", maximum: "≤", maxItems: "at most" };
  return Object.entries(names).filter(([key]) => key in schema).map(([key, sign]) => `${sign} ${schema[key]}`).join(", ");
}

function table(schema, all) {
  const made = html("table");
  const head = html("tr");
  for (const name of ["Field", "Type", ""]) {
    const cell = html("th", name);
    cell.scope = "col";
    head.append(cell);
  }
  made.append(head);
  for (const [name, field] of Object.entries(schema.properties ?? {})) {
    const row = html("tr");
    const cell = html("td");
    cell.append(html("code", name));
    const required = schema.required?.includes(name) ? "Required." : field.default != null ? `Default ${JSON.stringify(field.default)}.` : "";
    const kind = html("td");
    kind.append(html("code", kindOf(field, all)), ` ${bounds(field)}`);
    row.append(cell, kind, html("td", [field.description, required].filter(Boolean).join(" ")));
    made.append(row);
  }
  const scroll = html("div", "", "scroll");
  scroll.append(made);
  return scroll;
}

function example(path, method, schema) {
  const body = schema?.examples?.[0];
  const data = body ? ` \\\n  -H 'Content-Type: application/json' \\\n  -d '${JSON.stringify(body)}'` : "";
  return html("pre", `curl ${location.origin}${path}${data}`);
}

function show(path, method, operation, all) {
  const part = html("article", "", "card");
  const title = html("h2");
  title.append(html("span", method.toUpperCase(), "method"), path);
  part.append(title, html("p", operation.description ?? ""));
  const request = resolve(operation.requestBody?.content["application/json"]?.schema, all);
  if (request.properties) part.append(html("h3", "Request"), table(request, all));
  part.append(html("h3", "Example"), example(path, method, request));
  part.append(html("h3", "Answers"));
  const answers = html("ul", "", "notes");
  for (const [status, response] of Object.entries(operation.responses)) {
    const kind = resolve(response.content?.["application/json"]?.schema, all).title;
    answers.append(html("li", `${status} ${response.description}${kind ? ` (${kind})` : ""}`));
  }
  part.append(answers);
  return part;
}

const all = await (await fetch("/openapi.json")).json();
const parts = Object.entries(all.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => show(path, method, operation, all)));
for (const [name, schema] of Object.entries(all.components.schemas)) {
  const part = html("article", "", "card");
  part.append(html("h2", name), html("p", schema.description ?? ""), table(schema, all));
  parts.push(part);
}
document.getElementById("paths").replaceChildren(...parts);
document.getElementById("about").textContent = `The API of version ${all.info.version}`;
