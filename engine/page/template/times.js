// Benchmarks, what they are compared with, and their trends.

const PLOTTED_AT_ONCE = 16;
let timesShown = PLOTTED_AT_ONCE;
let trendsShown = PLOTTED_AT_ONCE;
const timesSort = { column: 0, direction: 1 };

function compared() {
  return data.benchmarks.some(row => row.base);
}

function drawTimesTable(rows) {
  const columns = [
    { title: "Benchmark", kind: "text", value: row => row.name },
    { title: "Median", value: row => median(row.now.seconds), text: row => timeText(median(row.now.seconds)) },
    { title: "Repetitions", value: row => row.now.seconds.length },
    { title: "Of roofline", value: row => row.now.roofline ? row.now.roofline / median(row.now.seconds) : -1,
      text: row => row.now.roofline ? percentText(row.now.roofline / median(row.now.seconds)) : "·" },
  ];
  if (compared()) {
    columns.push(
      { title: "Base", value: row => row.base ? median(row.base.seconds) : -1, text: row => row.base ? timeText(median(row.base.seconds)) : "new" },
      { title: "Ratio", value: row => row.ratio || 0, text: row => row.ratio ? row.ratio.toFixed(3) : "·" },
      { title: "Spread", value: row => row.spread || 0, text: row => row.base ? percentText(row.spread) : "·" },
      { title: "p", value: row => row.p ?? 2, text: row => row.base ? row.p.toPrecision(2) : "·" },
      { title: "Verdict", kind: "text", value: row => row.change || "", mark: row => row.change || "" });
  }
  fillTable(byId("times-table"), columns, rows, timesSort);
}

/** Names on the left: the end of long ones, which tells them apart. */
function nameTick(value) {
  const name = this.getLabelForValue(value);
  const most = this.chart.width < 600 ? 18 : 44;
  return name.length > most ? "…" + name.slice(-most) : name;
}

function isPowerOfTen(value) {
  const exponent = Math.log10(value);
  return Math.abs(exponent - Math.round(exponent)) < 1e-9;
}

function stripOptions(x) {
  return {
    scales: { x, y: { type: "category", offset: true, labels: x.labels, ticks: { callback: nameTick, autoSkip: false } } },
    plugins: { tooltip: { callbacks: { title: items => items[0].raw.y } } },
  };
}

function points(rows, side, value) {
  return rows.filter(row => row[side]).flatMap(row => row[side].seconds.map(seconds => ({ x: value(row, seconds), y: row.name, seconds })));
}

function drawRoofline(rows) {
  const labels = rows.map(row => row.name);
  const markers = rows.filter(row => row.now.roofline).map(row => ({ x: row.now.roofline, y: row.name, seconds: row.now.roofline }));
  const options = stripOptions({ type: "logarithmic", labels, title: axisTitle("time of one execution"),
    ticks: { callback: value => isPowerOfTen(value) ? timeText(value) : "" } });
  options.plugins.tooltip.callbacks.label = context => `${context.dataset.label}: ${timeText(context.raw.seconds)}`;
  plot(byId("roofline-plot"), { type: "scatter", options, data: { datasets: [
    { label: "measured", data: points(rows, "now", (row, seconds) => seconds), backgroundColor: PALETTE[0], pointRadius: 4 },
    { label: "roofline", data: markers, backgroundColor: PALETTE[5], pointStyle: "triangle", pointRadius: 6 },
  ] } });
}

function drawDistributions(rows) {
  const center = new Map(rows.map(row => [row, median((row.base || row.now).seconds)]));
  const offset = (row, seconds) => 100 * (seconds / center.get(row) - 1);
  const options = stripOptions({ type: "linear", labels: rows.map(row => row.name), title: axisTitle("difference from the median"), ticks: { callback: value => value + "%" } });
  options.plugins.tooltip.callbacks.label =
    context => `${context.dataset.label}: ${timeText(context.raw.seconds)} (${context.raw.x.toFixed(1)}%)`;
  const datasets = [{ label: compared() ? "new" : "measured", data: points(rows, "now", offset), backgroundColor: PALETTE[1], pointRadius: 4 }];
  if (compared()) {
    datasets.push({ label: "base", data: points(rows, "base", offset), backgroundColor: PALETTE[0], pointStyle: "rectRot", pointRadius: 4 });
  }
  plot(byId("distributions-plot"), { type: "scatter", options, data: { datasets } });
}

function setHeight(id, rows) {
  byId(id).parentElement.style.height = `${8 + 1.7 * rows}rem`;
}

function drawTimes(rows) {
  drawTimesTable(rows);
  const plotted = rows.slice(0, timesShown);
  setHeight("roofline-plot", plotted.length);
  setHeight("distributions-plot", plotted.length);
  drawRoofline(plotted);
  drawDistributions(plotted);
  const more = byId("times-more");
  more.hidden = rows.length <= timesShown;
  more.onclick = () => {
    timesShown += PLOTTED_AT_ONCE;
    drawTimes(rows);
  };
  const verdicts = ["slower", "faster", "unreliable", "too few", "as before"].map(change => [change, rows.filter(row => row.change === change).length]);
  byId("times-note").textContent = !compared() ? `${countOf(rows.length)}.` :
    `${countOf(rows.length)}, of which changes of more than ${percentText(data.threshold, 0)} count: ` +
    verdicts.map(([change, count]) => `${count} ${change}`).join(", ") + "." +
    (data.differences.length ? ` The runs differ in: ${data.differences.join("; ")}.` : "") +
    (data.onlyInBase.length ? ` Only in the base: ${data.onlyInBase.join(", ")}.` : "");
}

function countOf(benchmarks) {
  return benchmarks === 1 ? "1 benchmark" : `${benchmarks} benchmarks`;
}

/** What tells all points apart: commits, days, or minutes; and numbers where nothing does. */
function pointLabels(points) {
  const ways = [point => shortCommit(point.commit), point => point.measured.slice(0, 10),
    point => point.measured.slice(5, 16).replace("T", " ")];
  const labels = ways.map(way => points.map(way)).find(texts => new Set(texts).size === texts.length);
  return labels || points.map((point, index) => `${index + 1}: ${shortCommit(point.commit)}`);
}

function trendPlot(canvas, series) {
  const changes = new Set(series.changes.map(change => change.index));
  const line = (label, values, extra) => ({ label, data: values, tension: 0, ...extra });
  const datasets = series.failures ? [
    line("failures", series.failures, { borderColor: PALETTE[5], backgroundColor: PALETTE[5], stepped: true }),
    line("pass", series.passes, { borderColor: PALETTE[2], backgroundColor: PALETTE[2], stepped: true, yAxisID: "passes" }),
  ] : [
    line(series.level, series.points.map(point => point.level), { borderColor: PALETTE[0],
      pointBackgroundColor: series.points.map((_, index) => changes.has(index) ? PALETTE[5] : PALETTE[0]),
      pointRadius: series.points.map((_, index) => changes.has(index) ? 7 : 3) }),
    line("quartiles", series.points.map(point => point.high), { borderColor: "transparent", pointRadius: 0, fill: "+1", backgroundColor: "rgb(78 121 167 / 25%)" }),
    line("", series.points.map(point => point.low), { borderColor: "transparent", pointRadius: 0 }),
  ];
  const labels = pointLabels(series.points);
  const scales = { x: { title: axisTitle("result"), ticks: { maxTicksLimit: 6, callback: index => labels[index] } },
    y: series.failures ? { beginAtZero: true, title: axisTitle("failures") }
      : { title: axisTitle("time of one execution"), ticks: { callback: value => timeText(value) } } };
  if (series.failures) scales.passes = { position: "right", beginAtZero: true, title: axisTitle("passes"), grid: { display: false } };
  plot(canvas, { type: "line", data: { labels: series.points.map((_, index) => index), datasets }, options: {
    interaction: { mode: "index", intersect: false }, scales,
    plugins: { legend: { display: Boolean(series.failures) }, tooltip: {
      filter: item => item.dataset.label !== "",
      callbacks: { title: items => {
        const point = series.points[items[0].dataIndex];
        return `${point.measured}, ${shortCommit(point.commit)}${point.driver ? ", driver " + point.driver : ""}`;
      }, label: item => series.failures ? `${item.dataset.label}: ${item.raw}` : `${item.dataset.label}: ${timeText(item.raw)}` } } },
  } });
}

function changeText(series, change) {
  const point = series.points[change.index];
  return `${change.after > change.before ? "Slower" : "Faster"} since ${point.measured}, ${shortCommit(point.commit)}: ` +
    `${timeText(change.before)} → ${timeText(change.after)} (${percentText(change.after / change.before - 1)})` +
    (change.confirmed ? "" : ", to be confirmed");
}

function drawTrends(rows) {
  const shown = rows.slice(0, trendsShown).map(series => {
    const canvas = make("canvas", { role: "img", "aria-label": `Trend of ${series.title}` });
    const block = make("div", {}, make("h3", {}, series.title),
      make("p", { className: "note" }, [series.machine, series.adapter].filter(Boolean).join(", ")),
      make("div", { className: "plot small" }, canvas),
      ...series.changes.map(change => make("p", { className: change.after > change.before ? "slower" : "faster" }, changeText(series, change))));
    return [block, () => trendPlot(canvas, series)];
  });
  byId("trends-list").replaceChildren(...shown.map(([block]) => block));
  forgetCharts();
  shown.forEach(([, draw]) => draw());
  const more = byId("trends-more");
  more.hidden = rows.length <= trendsShown;
  more.onclick = () => {
    trendsShown += PLOTTED_AT_ONCE;
    drawTrends(rows);
  };
  const changed = rows.filter(series => series.changes.length).length;
  byId("trends-note").textContent = `${rows.length} series; ${changed} of them changed.`;
}
