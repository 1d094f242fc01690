// The matrix: a row for each operator, a column for each engine. What every engine skips is one line.

const matrixSort = { column: 0, direction: 1 };

/** Results of an operator on an engine, over its data types. */
function matrixCell(rows) {
  const cell = { good: 0, failed: 0, skipped: 0, unjudged: 0, offGate: 0 };
  for (const row of rows) {
    data.statuses.forEach((status, index) => {
      const count = row.counts[index];
      if (status.failure) cell.failed += count;
      else if (status.name === "skip") cell.skipped += count;
      else if (status.name === "reference") cell.unjudged += count;
      else cell.good += count;
    });
    cell.offGate += row.offGate;
  }
  return cell;
}

function cellText(cell) {
  if (!cell) return "";
  if (cell.failed) return `${countText(cell.failed)} of ${countText(cell.good + cell.failed)} failed`;
  if (cell.good) return countText(cell.good) + (cell.skipped ? `, ${countText(cell.skipped)} skipped` : "");
  return cell.unjudged ? "reference" : cell.skipped ? "skipped" : cell.offGate ? "off the gate" : "";
}

function cellClass(cell) {
  return !cell ? "" : cell.failed ? "cell-fail" : cell.good ? "cell-pass" : "cell-none";
}

/** [operator, by engine: rows of the totals], operators with failures first. */
function matrixRows(totals) {
  const byOperator = new Map();
  for (const row of totals) {
    if (!byOperator.has(row.operator)) byOperator.set(row.operator, new Map());
    const engines = byOperator.get(row.operator);
    engines.set(row.engine, [...(engines.get(row.engine) || []), row]);
  }
  return [...byOperator].map(([operator, engines]) => ({ operator,
    cells: new Map([...engines].map(([engine, rows]) => [engine, matrixCell(rows)])) }));
}

function drawMatrix(totals) {
  const engines = [...new Set(data.totals.map(row => row.engine))];
  const rows = matrixRows(totals);
  const isSkipped = row => [...row.cells.values()].every(cell => !cell.good && !cell.failed && !cell.unjudged && !cell.offGate);
  const skipped = rows.filter(isSkipped);
  const failed = row => [...row.cells.values()].reduce((sum, cell) => sum + cell.failed, 0);
  const filter = (operator, engine) => () => setFilters({ operator, engine });
  const columns = [
    { title: "Operator", kind: "text", value: row => [failed(row) ? 0 : 1, row.operator].join(" "),
      text: row => make("button", { type: "button", className: "plain", onclick: filter(row.operator, "") }, row.operator) },
    ...engines.map(engine => ({ title: engine, value: row => row.cells.get(engine)?.failed || 0,
      text: row => cellText(row.cells.get(engine)), mark: row => cellClass(row.cells.get(engine)),
      click: row => filter(row.operator, engine) })),
  ];
  fillTable(byId("matrix-table"), columns, rows.filter(row => !isSkipped(row)), matrixSort);
  const fold = byId("matrix-skipped");
  fold.hidden = skipped.length === 0;
  fold.querySelector("summary").textContent = `${countText(skipped.length)} operators that every engine skips`;
  fold.querySelector("p").textContent = skipped.map(row => row.operator).join(", ");
}
