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

// On a phone the cells of a wide table stand one below the other, each after its heading.
for (const table of document.querySelectorAll("table.wide")) {
  const titles = [...table.tHead.rows[0].cells].map((cell) => cell.textContent.trim());
  for (const row of table.tBodies[0].rows) {
    [...row.cells].forEach((cell, column) => { cell.dataset.title = titles[column]; });
  }
  table.classList.add("stacked");
}

// Large figures fit a narrow page, and are scrolled at their full size on request.
for (const button of document.querySelectorAll("button.enlarge")) {
  button.hidden = false;
  button.addEventListener("click", () => {
    const large = button.nextElementSibling.classList.toggle("enlarged");
    button.setAttribute("aria-pressed", large);
  });
}
