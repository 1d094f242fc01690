// Tables whose columns sort; their headings are buttons, so that the keyboard does too.

const ROWS_AT_ONCE = 60;

/**
 * Columns: {title, value(row), text(row)?, kind?: "text", mark(row)?: class names}. What `text` gives, a text or an element, is
 * shown; `value` is sorted by. With a button `more`, the first rows are shown until it is pressed.
 */
function fillTable(table, columns, rows, sort, more = null) {
  const draw = () => {
    const column = columns[sort.column];
    const sorted = [...rows].sort((a, b) => sort.direction * order(column.value(a), column.value(b)));
    const head = make("tr", {}, ...columns.map((one, index) => heading(one, index, sort, draw)));
    const shown = more && !more.dataset.all ? sorted.slice(0, ROWS_AT_ONCE) : sorted;
    if (more) {
      more.hidden = shown.length === sorted.length;
      more.onclick = () => {
        more.dataset.all = "yes";
        draw();
      };
    }
    const body = shown.map(row => make("tr", {}, ...columns.map(one => cell(one, row))));
    const focused = table.contains(document.activeElement) && document.activeElement.dataset.column;
    table.replaceChildren(make("thead", {}, head), make("tbody", {}, ...body));
    if (focused) table.querySelector(`[data-column="${focused}"]`).focus();
  };
  draw();
}

function order(a, b) {
  return typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b), "en", { numeric: true });
}

function heading(column, index, sort, draw) {
  const button = make("button", { type: "button" }, column.title);
  button.dataset.column = index;
  button.addEventListener("click", () => {
    sort.direction = sort.column === index ? -sort.direction : column.kind === "text" ? 1 : -1;
    sort.column = index;
    draw();
  });
  const state = sort.column !== index ? "none" : sort.direction > 0 ? "ascending" : "descending";
  return make("th", { scope: "col", className: column.kind || "", "aria-sort": state }, button);
}

function cell(column, row) {
  const classes = [column.kind || "", column.mark ? column.mark(row) : ""].join(" ");
  const shown = column.text ? column.text(row) : String(column.value(row));
  const parts = column.kind === "text" && typeof shown === "string" ? breakable(shown) : [shown];
  const element = make("td", { className: classes }, ...parts);
  if (column.click) element.addEventListener("click", column.click(row));
  return element;
}

function statusClass(name) {
  return name === "skip" ? "skip-status" : name;
}

const summarySort = { column: 4, direction: -1 };

function failuresOf(row) {
  return data.statuses.reduce((sum, status, index) => sum + (status.failure ? row.counts[index] : 0), 0);
}

function drawSummary(rows) {
  const count = name => data.statuses.findIndex(status => status.name === name);
  const number = (title, value, mark) =>
    ({ title, value, text: row => value(row) ? countText(value(row)) : "·", mark: row => value(row) ? mark || "" : "faint" });
  const columns = [
    { title: "Operator", kind: "text", value: row => row.operator },
    { title: "Type", kind: "text", value: row => row.type },
    { title: "Engine", kind: "text", value: row => row.engine },
    number("Pass", row => row.counts[count("pass")], "pass"),
    number("Failures", failuresOf, "fail"),
    ...["error", "crash", "timeout", "xpass"].filter(name => data.totals.some(row => row.counts[count(name)]))
      .map(name => number("Failures: " + name, row => row.counts[count(name)], name)),
    ...["xfail", "flake"].filter(name => data.totals.some(row => row.counts[count(name)]))
      .map(name => number(name, row => row.counts[count(name)], "skip-status")),
    number("Skip", row => row.counts[count("skip")], "skip-status"),
    number("Reference", row => row.counts[count("reference")]),
    number("Off the gate", row => row.offGate),
    { title: "Tolerance used", value: row => row.largestTolerance,
      text: row => row.tolerance.some(bin => bin) ? percentText(row.largestTolerance, 0) : "·" },
    { title: "Computes as", value: row => row.precision.name ? row.precision.bits : 99,
      text: row => row.precision.name || "·", mark: row => row.precision.less ? "fail" : row.precision.name ? "" : "faint" },
    { title: "Execution", value: row => row.seconds, text: row => timeText(row.seconds) },
  ];
  fillTable(byId("summary-table"), columns, rows, summarySort, byId("summary-more"));
}
