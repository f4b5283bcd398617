"use strict";
document.documentElement.classList.add("js");

function keyOf(cell, isNumber) {
  if (!isNumber) return cell.textContent.trim().toLocaleLowerCase();
  return cell.dataset.value === "" ? NaN : Number(cell.dataset.value);
}

function compare(a, b, isNumber) {
  return isNumber ? a - b : a.localeCompare(b, undefined, { numeric: true });
}

/* Empty cells stay at the end, whichever way the rest is sorted. */
function isEmpty(key) {
  return key === "" || Number.isNaN(key);
}

function sortBy(table, heading) {
  const isNumber = heading.dataset.kind === "number";
  const before = heading.getAttribute("aria-sort");
  const first = isNumber ? "descending" : "ascending";
  const other = isNumber ? "ascending" : "descending";
  const direction = before === first ? other : first;
  const sign = direction === "ascending" ? 1 : -1;
  const body = table.tBodies[0];
  const rows = Array.from(body.rows, (row) => [keyOf(row.cells[heading.cellIndex], isNumber), row]);
  rows.sort(([a], [b]) => isEmpty(a) - isEmpty(b) || (isEmpty(a) ? 0 : sign * compare(a, b, isNumber)));
  body.append(...rows.map(([, row]) => row));
  for (const each of table.tHead.rows[0].cells) each.removeAttribute("aria-sort");
  heading.setAttribute("aria-sort", direction);
}

for (const button of document.querySelectorAll("th button")) {
  button.addEventListener("click", () => sortBy(button.closest("table"), button.closest("th")));
}

const table = document.getElementById("doubted");
if (table) {
  const search = document.getElementById("search");
  const verdict = document.getElementById("verdict");
  const found = document.getElementById("found");
  const rows = Array.from(table.tBodies[0].rows, (row) => [row, row.textContent.toLocaleLowerCase()]);
  const show = () => {
    const words = search.value.toLocaleLowerCase().split(/\s+/).filter(Boolean);
    let count = 0;
    for (const [row, text] of rows) {
      const fits = words.every((word) => text.includes(word)) && (!verdict.value || row.dataset.verdict === verdict.value);
      row.hidden = !fits;
      count += fits;
    }
    found.textContent = count === rows.length ? `${count} rows` : `${count} of ${rows.length} rows`;
  };
  search.addEventListener("input", show);
  verdict.addEventListener("change", show);
  show();
}
