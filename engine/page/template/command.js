// The command that runs a case again as it was run: on its engine, with that engine's command and adapter, and with the options
// of the run that what came out depends on.

const OPTIONS_WITH_VALUE = ["--expect", "--directml", "--execution-flag", "--timeout", "--against"];
const OPTIONS_ALONE = ["--no-default-expectations", "--allow-external-data", "--times", "--isolate"];

function quoted(word) {
  return /^[A-Za-z0-9_./=,+:@%-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** Options of the run's own command line. */
function optionsOf(words) {
  const kept = [];
  words.forEach((word, index) => {
    const name = word.split("=")[0];
    if (OPTIONS_ALONE.includes(name)) kept.push(word);
    else if (OPTIONS_WITH_VALUE.includes(name)) {
      if (word.includes("=")) kept.push(word);
      else if (index + 1 < words.length) kept.push(word, words[index + 1]);
    }
  });
  return kept;
}

function runAgain(failure) {
  const run = data.runs[failure.run];
  const engine = run.engines.find(one => one.name === failure.engine) || { name: failure.engine };
  const words = ["dmlconform", "run", failure.file, "--filter", failure.id,
    "--engine", engine.command ? "exec:" + engine.command : engine.name];
  if (engine.adapter && !engine.reference && !engine.command) words.push("--adapter", engine.adapter);
  if (engine.featureLevel && !engine.command && engine.featureLevel !== data.highestFeatureLevel) {
    words.push("--feature-level", engine.featureLevel);
  }
  if (!failure.gated) words.push("--include-unspecified");
  return [...words, ...optionsOf(run.command || [])].map(quoted).join(" ");
}

/** The text with a button that copies it. */
function copyable(text) {
  const button = make("button", { type: "button" }, "Copy");
  const code = make("code", {}, text);
  const selectInstead = () => getSelection().selectAllChildren(code);
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(text);
      button.textContent = "Copied";
    } catch {
      selectInstead();
      button.textContent = document.execCommand("copy") ? "Copied" : "Selected";
    }
    setTimeout(() => button.textContent = "Copy", 2000);
  });
  return make("div", { className: "again" }, code, button);
}
