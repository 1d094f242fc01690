// What is shown: a text to search for, and choices of engine, operator, type and status.

const filters = { text: "", engine: "", operator: "", type: "", status: "" };

function fillSelect(name, values) {
  const select = byId("filter-" + name);
  const unique = [...new Set(values)].sort();
  select.replaceChildren(make("option", { value: "" }, "all"), ...unique.map(value => make("option", { value }, value)));
  select.closest("label").hidden = unique.length === 0;
}

/** Whether every word that is searched for is in one of the texts. */
function matchesText(texts) {
  const where = texts.join("\n").toLowerCase();
  return filters.text.toLowerCase().split(/\s+/).every(word => where.includes(word));
}

/** A row of the summary: the status filter leaves those that have such results. */
function keepsTotal(row) {
  return (!filters.engine || row.engine === filters.engine) && (!filters.operator || row.operator === filters.operator) &&
    (!filters.type || row.type === filters.type) &&
    (!filters.status || row.counts[data.statuses.findIndex(status => status.name === filters.status)] > 0) &&
    (matchesText([row.operator, row.type, row.engine]) ||
      data.failures.some(failure => sameGroup(failure, row) && matchesText(failureTexts(failure))));
}

function sameGroup(failure, row) {
  return failure.engine === row.engine && shortOperator(failure) === row.operator && failure.type === row.type;
}

function shortOperator(failure) {
  return failure.operator.replace(/^DML_OPERATOR_/, "");
}

function failureTexts(failure) {
  return [failure.id, failure.operator, failure.type, failure.engine, failure.status, failure.reason || "", failure.file];
}

function keepsFailure(failure) {
  return (!filters.engine || failure.engine === filters.engine) &&
    (!filters.operator || shortOperator(failure) === filters.operator) && (!filters.type || failure.type === filters.type) &&
    (!filters.status || failure.status === filters.status) && matchesText(failureTexts(failure));
}

/** Benchmarks and trends are called engine/case; the operator is part of the case's name. */
function keepsName(name) {
  const plain = name.toLowerCase();
  return (!filters.engine || plain.startsWith(filters.engine.toLowerCase() + "/")) &&
    (!filters.operator || plain.includes(filters.operator.toLowerCase())) &&
    (!filters.type || plain.includes(filters.type.toLowerCase())) && matchesText([name]);
}

/** The filters are a part of the address, so that a link shows what its sender sees. */
function filtersToAddress() {
  const set = Object.entries(filters).filter(([, value]) => value);
  const text = new URLSearchParams(set).toString();
  history.replaceState(null, "", text ? "#?" + text : location.pathname + location.search);
}

function filtersFromAddress() {
  if (!location.hash.startsWith("#?")) return;
  for (const [name, value] of new URLSearchParams(location.hash.slice(2))) {
    if (name in filters) filters[name] = value;
  }
}

/** Shows them in their fields; a choice that the page does not have is none. */
function showFilters() {
  for (const name of Object.keys(filters)) {
    byId("filter-" + name).value = filters[name];
    if (byId("filter-" + name).value !== filters[name]) byId("filter-" + name).value = filters[name] = "";
  }
}

let filtersChanged = () => {};

/** Changes some of them. */
function setFilters(values) {
  Object.assign(filters, values);
  showFilters();
  filtersToAddress();
  filtersChanged();
}

function setUpFilters(changed) {
  filtersChanged = changed;
  fillSelect("engine", data.totals.map(row => row.engine));
  fillSelect("operator", data.totals.map(row => row.operator));
  fillSelect("type", data.totals.map(row => row.type));
  fillSelect("status", data.totals.length ? data.statuses.map(status => status.name) : []);
  for (const name of Object.keys(filters)) {
    byId("filter-" + name).addEventListener("input", event => {
      setFilters({ [name]: event.target.value });
    });
  }
  filtersFromAddress();
  showFilters();
  addEventListener("hashchange", () => {
    filtersFromAddress();
    showFilters();
    changed();
  });
  byId("filter-clear").addEventListener("click", () => {
    setFilters({ text: "", engine: "", operator: "", type: "", status: "" });
  });
}
