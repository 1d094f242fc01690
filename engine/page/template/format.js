"use strict";
// Numbers and times as people read them, and elements of the page. Texts from results only ever become text nodes.

const UNITS = [[1, "s"], [1e-3, "ms"], [1e-6, "µs"], [1e-9, "ns"]];

function threeDigits(value) {
  return Math.abs(value) >= 100 ? value.toFixed(0) : Math.abs(value) >= 10 ? value.toFixed(1) : value.toFixed(2);
}

function timeText(seconds) {
  if (!(seconds > 0)) return "-";
  const [size, unit] = UNITS.find(([size]) => seconds >= size) || UNITS[UNITS.length - 1];
  return threeDigits(seconds / size) + " " + unit;
}

function percentText(share, digits = 1) {
  return (100 * share).toFixed(digits) + "%";
}

function countText(count) {
  return count.toLocaleString("en");
}

function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** An element with properties, and texts and elements in it. */
function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name.includes("-") || name === "role" || name === "for") element.setAttribute(name, value);
    else element[name] = value;
  }
  element.append(...children);
  return element;
}

/** A name that may be broken after what separates its parts, and not inside of words. */
function breakable(name) {
  return name.split(/(?<=[_/,=\]])/).flatMap((part, index) => index ? [document.createElement("wbr"), part] : [part]);
}

function byId(id) {
  return document.getElementById(id);
}

/** A colour of the style sheet, as it is in light or dark mode now. */
function color(name) {
  return getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
}

function shortCommit(commit) {
  return commit ? commit.slice(0, 12) : "no commit";
}
