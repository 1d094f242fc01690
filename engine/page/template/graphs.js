// Graphs and models: what each node takes, and where it goes wrong.

function fails(outcome) {
  return Boolean(outcome && data.statuses.find(status => status.name === outcome.status)?.failure);
}

function outcomeClass(outcome) {
  return !outcome ? "faint" : fails(outcome) ? "fail" : outcome.status === "pass" ? "pass" : "faint";
}

function secondsOf(node, engine) {
  return node.results[engine]?.seconds || 0;
}

function keepsNode(node) {
  return (!filters.operator || node.operator === filters.operator) && (!filters.type || node.type === filters.type) &&
    (!filters.status || Object.values(node.results).some(outcome => outcome.status === filters.status)) &&
    matchesText([node.name, node.operator, node.type, ...Object.values(node.results).map(outcome => outcome.status)]);
}

function enginesOf(graph) {
  const names = new Set([...Object.keys(graph.whole), ...graph.nodes.flatMap(node => Object.keys(node.results))]);
  return [...names].filter(name => !filters.engine || name === filters.engine);
}

/** The sum and the largest of the nodes' times on an engine. */
function timesOf(graph, engine) {
  const times = graph.nodes.map(node => secondsOf(node, engine));
  return { total: times.reduce((a, b) => a + b, 0), largest: times.reduce((a, b) => Math.max(a, b), 0) };
}

/** All nodes of an engine side by side, each as wide as its time; one that fails can be seen even if it takes none. */
function strip(graph, engine, total) {
  return make("div", { className: "strip", role: "img", "aria-label": `The nodes on ${engine}, as wide as their times` },
    ...graph.nodes.filter(node => node.results[engine]).map(node => {
      const outcome = node.results[engine];
      const part = make("span", { className: outcomeClass(outcome),
        title: `${node.name} (${node.operator}): ${outcome.status}, ${timeText(outcome.seconds)}` });
      part.style.flexGrow = total ? secondsOf(node, engine) / total : 1;
      return part;
    }));
}

function engineLines(graph, engine, { total }) {
  const whole = graph.whole[engine];
  const first = graph.nodes.find(node => fails(node.results[engine]));
  const texts = [
    [outcomeClass(whole), whole ? `${engine}: the whole graph: ${whole.status}` : `${engine}: the whole graph was not judged`],
    [first ? "fail" : "", first ? `first wrong node: ${first.name}` : ""],
    ["faint", `nodes by themselves: ${timeText(total)}`],
    ["faint", whole?.seconds ? `the whole graph: ${timeText(whole.seconds)}` : ""]];
  return [
    make("p", {}, ...texts.filter(([, text]) => text).flatMap(([className, text], index) =>
      [index ? " · " : "", make("span", { className }, text)])),
    ...[whole?.reason, whole?.hint].filter(text => typeof text === "string").map(text => make("p", { className: "note" }, text)),
    strip(graph, engine, total)];
}

/** The status of a node and its time, with a bar as long as its share of the largest time. */
function timeCell(node, engine, { total, largest }) {
  const outcome = node.results[engine];
  if (!outcome) return "·";
  const bar = make("span", { className: "bar " + outcomeClass(outcome) });
  bar.style.width = largest ? `${8 * secondsOf(node, engine) / largest}rem` : "0";
  const share = outcome.seconds && total ? `${timeText(outcome.seconds)} ${percentText(outcome.seconds / total)}` : "";
  return make("span", {}, make("span", { className: outcomeClass(outcome) }, outcome.status), " ", share, " ", bar);
}

function nodeTable(graph, engines, times) {
  const numbers = new Map(graph.nodes.map((node, index) => [node, index + 1]));
  const columns = [
    { title: "#", value: node => numbers.get(node) },
    { title: "Node", kind: "text", value: node => node.name },
    { title: "Operator", kind: "text", value: node => node.operator },
    { title: "Type", kind: "text", value: node => node.type },
    ...engines.map((engine, index) => (
      { title: engine, value: node => secondsOf(node, engine), text: node => timeCell(node, engine, times[index]) }))];
  const table = make("table"), more = make("button", { type: "button" }, "Show all nodes");
  fillTable(table, columns, graph.nodes.filter(keepsNode), { column: 0, direction: 1 }, more);
  return [make("div", { className: "scroll", tabIndex: 0, role: "region", "aria-label": `Nodes of ${graph.id}` }, table), more];
}

function graphDetails(graph, isOpen) {
  const engines = enginesOf(graph), times = engines.map(engine => timesOf(graph, engine));
  const about = Object.values(graph.whole).map(whole => whole.graph).find(Boolean) || {};
  const cuts = Array.isArray(about.cuts) ? about.cuts : [];
  const summary = make("summary", {}, make("span", { className: graph.fails ? "fail" : "pass" }, graph.fails ? "fail" : "pass"),
    ` ${graph.id}, ${countText(about.nodes || graph.nodes.length)} nodes`,
    ...data.runs.length > 1 ? [make("span", { className: "faint" }, ` · ${data.runs[graph.run].path}`)] : []);
  return make("details", { open: isOpen }, summary,
    ...about.description ? [make("p", { className: "note" }, String(about.description))] : [],
    ...cuts.length ? [make("p", {}, "Not judged:"), make("ul", {}, ...cuts.map(cut => make("li", {}, String(cut))))] : [],
    ...engines.flatMap((engine, index) => engineLines(graph, engine, times[index])),
    ...graph.leftOut ? [make("p", { className: "note" }, `${countText(graph.leftOut)} more results of nodes`)] : [],
    ...graph.nodes.length ? nodeTable(graph, engines, times) : []);
}

function drawGraphs() {
  const isSearching = Object.values(filters).some(Boolean);
  const kept = data.graphs.filter(graph => enginesOf(graph).length &&
    (!isSearching || graph.nodes.some(keepsNode) || matchesText([graph.id])));
  byId("graphs-note").textContent = data.graphCount > data.graphs.length
    ? `${data.graphs.length} of ${countText(data.graphCount)}: those that fail, then those with the most nodes.` : "";
  byId("graphs-list").replaceChildren(...kept.map((graph, index) => graphDetails(graph, index === 0)));
}
