// The list of failures: each opens to everything that its result says.

const FAILURES_AT_ONCE = 20;
let failuresShown = FAILURES_AT_ONCE;

function definitions(pairs) {
  return make("dl", {}, ...pairs.filter(([, value]) => value !== undefined && value !== "")
    .flatMap(([name, value]) => [make("dt", {}, name), make("dd", {}, value)]));
}

function worstText(worst) {
  const accepted = worst.acceptedBelow === undefined ? "" :
    `, accepted from -${worst.acceptedBelow ?? "∞"} to +${worst.acceptedAbove ?? "∞"}`;
  const distance = worst.ulp === null ? "no distance: NaN" : `${countText(worst.ulp)} ULP`;
  return `[${worst.coordinates}]: expected ${worst.expected} (${worst.expectedBits}), actual ${worst.actual} ` +
    `(${worst.actualBits}), ${distance}${accepted}`;
}

function outputBlock(output) {
  const block = make("div", {}, make("h3", {}, `${output.name}: ${output.dataType} [${output.sizes}]`), definitions([
    ["beyond tolerance", `${countText(output.beyondTolerance)} of ${countText(output.elements)} elements`],
    ["tolerance", output.tolerance],
    ["tolerance used", output.largestToleranceUsed === undefined ? "" : percentText(output.largestToleranceUsed) + " by what is within it"],
    ["computes as", output.precision && output.precision.computesAs ?
      `${output.precision.computesAs} (Q ${threeDigits(output.precision.q)})` : ""],
    ["worst", output.worst ? make("span", { className: "mono" }, worstText(output.worst)) : ""],
  ]));
  const plots = make("div", { className: "plots" });
  const drawn = [];
  if (output.errorMap) {
    const canvas = make("canvas", { role: "img", "aria-label": "Error map: which part of the output is off by how much" });
    const frame = make("div", { className: "plot map" }, canvas);
    // Cells are squares.
    const shape = Math.min(Math.max(output.errorMap.columns / output.errorMap.rows, 0.5), 4);
    frame.style.width = `min(100%, ${18 * shape}rem)`;
    frame.style.aspectRatio = String(shape);
    plots.append(make("div", {}, make("p", { className: "note" }, output.errorMap.wrong ?
      "Share of wrong elements over the output: grey is none, red is all." :
      "Error over the output, in tolerances: grey within, yellow to red beyond."), frame));
    drawn.push(() => drawErrorMap(canvas, output.errorMap));
  }
  if (output.ulpHistogram) {
    const canvas = make("canvas", { role: "img", "aria-label": "Elements by distance in ULPs" });
    plots.append(make("div", {}, make("p", { className: "note" }, "Elements by distance."),
      make("div", { className: "plot small" }, canvas)));
    const counts = data.ulpBuckets.map(bucket => output.ulpHistogram[bucket] || 0);
    drawn.push(() => drawBars(canvas, data.ulpBuckets, [{ engine: output.engine, counts }], row => row.counts, "ULPs"));
  }
  block.append(plots);
  return [block, drawn];
}

/** What is in an opened failure; made when it is opened for the first time. */
function failureContent(failure) {
  const run = data.runs[failure.run];
  const content = [definitions([
    ["reason", failure.reason],
    ["difference", failure.difference],
    ["note", failure.hint],
    ["case", `${failure.file}:${failure.line}`],
    ["result", run.path],
    ["tags", (failure.tags || []).join(", ")],
    ["rejection", failure.rejection ? `${failure.rejection.code}: ${failure.rejection.message} [${failure.rejection.rule}]` : ""],
    ["descriptor", make("pre", {}, failure.descriptor.join("\n"))],
    ["stray writes", (failure.strayWrites || []).map(stray => `${stray.output}: ${stray.bytes} bytes from byte ${stray.offset} on`).join("; ")],
    ["run again", copyable(runAgain(failure))],
  ])];
  const drawn = [];
  for (const output of failure.outputs) {
    const [block, draws] = outputBlock({ ...output, engine: failure.engine });
    content.push(block);
    drawn.push(...draws);
  }
  return [content, drawn];
}

/** As reports of one line have it. */
function messageOf(failure) {
  return (failure.reason ? ": " + failure.reason : "") + (failure.difference ? ` (${failure.difference})` : "") +
    (failure.hint ? "; " + failure.hint : "");
}

function failureEntry(failure) {
  const details = make("details", {}, make("summary", {},
    make("span", { className: statusClass(failure.status) }, failure.status.toUpperCase()), " ",
    make("strong", {}, failure.id), ` on ${failure.engine}`, failure.gated ? "" : " (off the gate)",
    make("span", { className: "faint" }, messageOf(failure))));
  let draws = null;
  details.addEventListener("toggle", () => {
    if (!details.open) return;
    if (!draws) {
      const [content, drawn] = failureContent(failure);
      details.append(...content);
      draws = drawn;
    }
    draws.forEach(draw => draw());
  });
  return details;
}

function drawFailures(unsorted) {
  // What decides comes first.
  const rows = [...unsorted].sort((a, b) => Number(b.gated) - Number(a.gated));
  const offGate = rows.filter(failure => !failure.gated).length;
  byId("failures-list").replaceChildren(...rows.slice(0, failuresShown).map(failureEntry));
  forgetCharts();
  const more = byId("failures-more");
  more.hidden = rows.length <= failuresShown;
  more.onclick = () => {
    failuresShown += FAILURES_AT_ONCE;
    drawFailures(rows);
  };
  const kept = data.failureCount > data.failures.length ?
    ` The page has the first ${countText(data.failures.length)} of ${countText(data.failureCount)}; all are in the result.` : "";
  byId("failures-note").textContent =
    data.failureCount === 0 ? "None." : (rows.length === data.failures.length ?
      `${countText(rows.length - offGate)} ${rows.length - offGate === 1 ? "failure" : "failures"}${offGate ? `, and ${countText(offGate)} off the gate` : ""}.` : `${countText(rows.length)} of ${countText(data.failures.length)} match the filter.`) + kept;
}
