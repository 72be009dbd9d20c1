// A click on a heading sorts the table by that column, a second click reverses the order.
for (const table of document.querySelectorAll("table.sortable")) {
  const headings = [...table.tHead.rows[0].cells];
  const key = (cell) => {
    const text = cell.dataset.value ?? cell.textContent.trim();
    return text !== "" && !isNaN(text) ? Number(text) : text;
  };
  const compare = (a, b) => {
    if (a === "" || b === "") return (a === "") - (b === "");
    if (typeof a === "number" && typeof b === "number") return a - b;
    return String(a).localeCompare(String(b), undefined, { numeric: true });
  };
  headings.forEach((heading, column) => {
    heading.querySelector("button")?.addEventListener("click", () => {
      const down = heading.getAttribute("aria-sort") === "ascending";
      headings.forEach((other) => other.removeAttribute("aria-sort"));
      heading.setAttribute("aria-sort", down ? "descending" : "ascending");
      const rows = [...table.tBodies[0].rows];
      rows.sort((a, b) => (down ? -1 : 1) * compare(key(a.cells[column]), key(b.cells[column])));
      table.tBodies[0].append(...rows);
    });
  });
}
