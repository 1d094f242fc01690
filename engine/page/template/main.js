// The page: what there is to show, drawn again when filters or colours change.

const data = JSON.parse(byId("data").textContent);

// More would hide what the page is for.
const mostOpenFiles = 6;

const sections = [
  { id: "regressions", title: "Regressions", there: () => data.slower.names.length > 0 },
  { id: "failures", title: "Failures", there: () => data.runs.length > 0 },
  { id: "graphs", title: "Graphs", there: () => data.graphs.length > 0 },
  { id: "matrix", title: "Operators", there: () => data.totals.length > 0 },
  { id: "summary", title: "By type", there: () => data.totals.length > 0 },
  { id: "distances", title: "Distances", there: () => data.totals.some(row => row.ulps.some(count => count)) },
  { id: "tolerances", title: "Tolerance used", there: () => data.totals.some(row => row.tolerance.some(count => count)) },
  { id: "times", title: "Times", there: () => data.benchmarks.length > 0 },
  { id: "trends", title: "Trends", there: () => Boolean(data.trends && data.trends.length) },
];

function slowerBenchmarks() {
  return data.benchmarks.filter(row => row.change === "slower");
}

/** Goes there without changing the address, which has the filters. */
function linkTo(id, properties, text) {
  const link = make("a", { href: "#" + id, ...properties }, text);
  link.addEventListener("click", event => {
    event.preventDefault();
    byId(id).scrollIntoView();
    byId(id).querySelector("button, summary, [tabindex]")?.focus({ preventScroll: true });
  });
  return link;
}

function sumOf(name) {
  const index = data.statuses.findIndex(status => status.name === name);
  return data.totals.reduce((sum, row) => sum + row.counts[index], 0);
}

function drawHeader() {
  document.title = data.title;
  byId("title").textContent = data.title;
  const failures = data.totals.reduce((sum, row) => sum + failuresOf(row), 0);
  const slower = data.slower.names.length;
  const parts = [];
  if (data.totals.length) {
    parts.push([failures ? "fail" : sumOf("pass") ? "pass" : "skip-status", failures ? "failures" : "matrix",
      `${countText(failures)} ${failures === 1 ? "failure" : "failures"}, ${countText(sumOf("pass"))} passed, ${countText(sumOf("skip"))} skipped`]);
  }
  if (data.slower.text) {
    parts.push([slower ? "slower" : data.slower.isUnclear ? "unreliable" : "pass",
      slower ? "regressions" : compared() ? "times" : "trends", data.slower.text]);
  }
  byId("verdict").replaceChildren(...parts.flatMap(([mark, id, text], index) => [index ? " · " : "", linkTo(id, { className: mark }, text)]));
  const engines = run => run.engines.map(engine => [engine.name, engine.adapter, engine.driver].filter(Boolean).join(", "));
  const bench = (what, file) => make("p", { className: "run" },
    [what + " " + file.path, file.context.date, file.context["dmlconform.machine"] || file.context.host_name].filter(Boolean).join(" · "));
  const lines = [
    ...data.runs.map(run => make("p", { className: "run" }, [run.path, run.started, run.machine, ...engines(run)].filter(Boolean).join(" · "))),
    ...data.benchFiles.map(file => bench("benchmarks", file)), ...data.baseFiles.map(file => bench("base", file))];
  byId("runs").replaceChildren(
    ...lines.length > mostOpenFiles ? [make("details", {}, make("summary", { className: "run" }, `from ${lines.length} files`), ...lines)] : lines);
}

function drawRegressions() {
  const line = text => make("p", { className: "slower" }, text);
  const trends = (data.trends || []).filter(series => series.verdict === "slower");
  byId("regressions-list").replaceChildren(
    ...slowerBenchmarks().sort((a, b) => b.ratio - a.ratio).map(row =>
      line(`${row.name}: ${timeText(median(row.base.seconds))} → ${timeText(median(row.now.seconds))} ` +
        `(${percentText(row.ratio - 1)} slower than the base)`)),
    ...trends.map(series => line(`${series.title}: ${changeText(series, series.changes.filter(change => change.confirmed).pop())}`)));
}

function draw() {
  const totals = data.totals.filter(keepsTotal);
  const failures = data.failures.filter(keepsFailure);
  const benchmarks = data.benchmarks.filter(row => keepsName(row.name));
  const shown = new Set(sections.filter(section => section.there()).map(section => section.id));
  if (shown.has("regressions")) drawRegressions();
  if (shown.has("matrix")) drawMatrix(totals);
  if (shown.has("summary")) drawSummary(totals);
  if (shown.has("failures")) drawFailures(failures);
  if (shown.has("graphs")) drawGraphs();
  if (shown.has("distances")) drawDistances(totals);
  if (shown.has("tolerances")) drawTolerances(totals);
  if (shown.has("times")) drawTimes(benchmarks);
  if (shown.has("trends")) drawTrends(data.trends.filter(series => keepsName(series.name)));
  byId("filter-count").textContent = [data.totals.length ? `${totals.length} of ${data.totals.length} rows` : "",
    data.benchmarks.length ? `${benchmarks.length} of ${data.benchmarks.length} benchmarks` : ""].filter(Boolean).join(", ");
}

for (const section of sections) {
  byId(section.id).hidden = !section.there();
  if (section.there()) byId("contents").append(linkTo(section.id, {}, section.title));
}
setUpFilters(draw);
drawHeader();
draw();
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
document.documentElement.dataset.ready = "yes";
