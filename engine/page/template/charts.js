// Plots, by Chart.js. Each canvas has one chart at a time, drawn anew when filters or colours change.

const PALETTE = ["#4e79a7", "#f28e2b", "#59a14f", "#b07aa1", "#76b7b2", "#e15759", "#edc948", "#9c755f"];
const charts = new Map();

function plot(canvas, config) {
  if (charts.has(canvas)) charts.get(canvas).destroy();
  Chart.defaults.color = color("faint");
  Chart.defaults.borderColor = color("line");
  Chart.defaults.animation = false;
  Chart.defaults.maintainAspectRatio = false;
  Chart.defaults.font.family = "system-ui, sans-serif";
  charts.set(canvas, new Chart(canvas, config));
}

/** Charts whose canvases are gone. */
function forgetCharts() {
  for (const [canvas, chart] of charts) {
    if (!canvas.isConnected) {
      chart.destroy();
      charts.delete(canvas);
    }
  }
}

function axisTitle(text) {
  return { display: true, text };
}

function engineColor(engine) {
  const engines = [...new Set([...data.totals.map(row => row.engine), ...data.benchmarks.map(row => row.name.split("/")[0])])];
  return PALETTE[Math.max(engines.indexOf(engine), 0) % PALETTE.length];
}

/** A bar for each label and engine, of the sums of what `counts` gives for a row: a number of what is `counted`. */
function drawBars(canvas, labels, rows, counts, title, counted) {
  const engines = [...new Set(rows.map(row => row.engine))];
  plot(canvas, {
    type: "bar",
    data: {
      labels,
      datasets: engines.map(engine => ({
        label: engine,
        backgroundColor: engineColor(engine),
        data: labels.map((_, index) =>
          rows.filter(row => row.engine === engine).reduce((sum, row) => sum + counts(row)[index], 0) || null),
      })),
    },
    options: {
      scales: {
        x: { title: axisTitle(title) },
        y: { type: "logarithmic", min: 0.5, title: axisTitle(counted), ticks: { callback: value => Math.abs(Math.log10(value) - Math.round(Math.log10(value))) < 1e-9 ? countText(value) : "" } },
      },
    },
  });
}

function drawDistances(rows) {
  drawBars(byId("distances-plot"), data.ulpBuckets, rows, row => row.ulps, "ULPs", "elements");
}

function drawTolerances(rows) {
  const bins = rows.length ? rows[0].tolerance.length : 10;
  const labels = Array.from({ length: bins }, (_, index) => `${100 * index / bins}–${100 * (index + 1) / bins}%`);
  drawBars(byId("tolerances-plot"), labels, rows, row => row.tolerance, "of the tolerance", "outputs");
}

/** Shares of the tolerance to colours: grey within it, then from yellow to red, by orders of magnitude. */
function heatColor(used) {
  if (used === 0) return color("panel");
  if (used !== null && used <= 1) return `hsl(210 30% ${70 - 25 * used}%)`;
  const heat = used === null ? 1 : Math.min(Math.log10(used) / 4, 1);
  return `hsl(${50 - 50 * heat} 90% ${55 - 12 * heat}%)`;
}

/** Shares of wrong elements to colours: grey for none, then from yellow to red. */
function shareColor(share) {
  return share === 0 ? color("panel") : `hsl(${50 - 50 * share} 90% ${58 - 16 * share}%)`;
}

/** map: {rows, columns, used: row by row, null where infinite; wrong: shares of elements, absent in older results}. */
function drawErrorMap(canvas, map) {
  const points = map.used.map((used, index) => ({ x: index % map.columns, y: Math.floor(index / map.columns), used,
    wrong: map.wrong ? map.wrong[index] : null }));
  const size = chart => {
    const area = chart.chartArea || { width: 100, height: 100 };
    return Math.max(Math.min(area.width / map.columns, area.height / map.rows) / Math.SQRT2 - 0.3, 1);
  };
  plot(canvas, {
    type: "scatter",
    data: { datasets: [{ data: points, pointStyle: "rect", pointBackgroundColor: points.map(point => point.wrong === null ? heatColor(point.used) : shareColor(point.wrong)),
      pointBorderWidth: 0, pointRadius: context => size(context.chart), pointHoverRadius: context => size(context.chart) }] },
    options: {
      scales: {
        x: { min: -0.5, max: map.columns - 0.5, grid: { display: false }, ticks: { display: false },
          title: { display: true, text: "last dimension →" } },
        y: { min: -0.5, max: map.rows - 0.5, reverse: true, grid: { display: false }, ticks: { display: false },
          title: { display: true, text: "← all others" } },
      },
      plugins: { legend: { display: false }, tooltip: { callbacks: { label: context =>
        (context.raw.wrong === null ? "" : `${percentText(context.raw.wrong)} of the elements wrong, `) +
        (context.raw.used === null ? "infinitely far off, or NaN" : `at most ${threeDigits(context.raw.used)} of the tolerance`) } } },
    },
  });
}
