// "Try it": `tryIt` has columns and rows, `randomboostModel` predicts.
(() => {
  const { columns, shown, missing, rows } = tryIt;
  const model = randomboostModel;
  const MOST_CLASSES = 5, MOST_EFFECTS = 8;
  const usual = columns.map((column) => column.usual);
  const starts = [{ name: "medians of all features", cells: usual }, ...rows.map((row) => ({
    name: `${row.row}: true ${row.true}, predicted ${row.predicted}`,
    cells: row.cells,
  }))];
  const find = (name) => document.getElementById(`try-${name}`);
  const make = (tag, properties = {}, ...children) => {
    const element = Object.assign(document.createElement(tag), properties);
    element.append(...children);
    return element;
  };
  const percent = (share) => `${(100 * share).toFixed(1)}%`;
  const signed = (number) => `${number < 0 ? "\u2212" : "+"}${Math.abs(number).toFixed(2)}`;
  let start = usual, row = [...usual];

  // -- controls: each has `show(value)`, and calls `change` with a new value

  const numberControl = (column, id, change) => {
    const { low, high, step } = column;
    const slider = make("input", { type: "range", min: low, max: high, step });
    const field = make("input", { type: "number", id, step: "any", inputMode: "decimal" });
    slider.setAttribute("aria-label", column.name);
    slider.disabled = low === high;
    const digits = Math.max(0, -Math.floor(Math.log10(step)));
    slider.addEventListener("input", () => {
      field.value = Number(Number(slider.value).toFixed(digits));
      change(Number(field.value));
    });
    field.addEventListener("input", () => {
      if (field.validity.badInput) return;
      if (field.value !== "") slider.value = field.value;
      change(field.value === "" ? null : Number(field.value));
    });
    const show = (value) => {
      field.value = value === null ? "" : value;
      field.placeholder = missing ? "missing" : "needed";
      slider.value = value === null ? column.usual : value;
    };
    return { parts: [slider, field], show };
  };
  const categoryControl = (column, id, change) => {
    const names = column.options.map(String);
    const select = make("select", { id });
    select.append(...names.map((name, place) => new Option(name, place)));
    if (missing) select.append(new Option("(missing)", ""));
    const read = () => (select.value === "" ? null : column.options[select.value]);
    select.addEventListener("change", () => change(read()));
    const show = (value) => {
      const place = value === null ? -1 : names.indexOf(String(value));
      select.value = place < 0 ? "" : place; // a category that the model does not know is missing
    };
    return { parts: [select], show };
  };
  const controls = shown.map((place) => {
    const column = columns[place], id = `try-value-${place}`;
    const change = (value) => {
      row[place] = value;
      update();
    };
    const kind = column.options ? categoryControl : numberControl;
    const { parts, show } = kind(column, id, change);
    const label = make("label", { htmlFor: id, textContent: column.name });
    find("controls").append(make("div", { className: "control" }, label, ...parts));
    return { place, show };
  });

  // -- what the model says

  const bar = (share, mark, color) => {
    const filled = make("span", { className: "filled" });
    filled.style.width = `${Math.min(100, 100 * share)}%`;
    if (color) filled.style.background = color;
    const track = make("span", { className: "track" }, filled);
    if (mark !== null) {
      const before = make("span", { className: "mark" });
      before.style.left = `${100 * mark}%`;
      track.append(before);
    }
    track.setAttribute("aria-hidden", "true");
    return track;
  };
  const line = (name, value, text, drawn) => {
    const cell = make("td", { textContent: text });
    cell.dataset.value = value;
    const heading = make("th", { scope: "row", textContent: name });
    heading.dataset.name = name;
    return make("tr", {}, heading, make("td", { className: "wide" }, drawn), cell);
  };
  const showProbabilities = (shares, before) => {
    const order = [...shares.keys()].sort((a, b) => shares[b] - shares[a]).slice(0, MOST_CLASSES);
    find("probabilities").replaceChildren(...order.map((r) =>
      line(String(model.classes[r]), shares[r], percent(shares[r]), bar(shares[r], before[r]))));
  };
  const showEffects = (best) => {
    const score = model.scores(row)[best];
    const effects = columns.map((column, place) => {
      if (row[place] === column.usual) return 0;
      const changed = [...row];
      changed[place] = column.usual;
      return score - model.scores(changed)[best];
    });
    const order = [...effects.keys()].filter((place) => effects[place] !== 0);
    order.sort((a, b) => Math.abs(effects[b]) - Math.abs(effects[a]));
    const largest = Math.abs(effects[order[0]]);
    find("effects").replaceChildren(...order.slice(0, MOST_EFFECTS).map((place) => {
      const effect = effects[place], color = effect < 0 ? "var(--c1)" : "var(--c0)";
      return line(columns[place].name, effect, signed(effect), bar(Math.abs(effect) / largest, null, color));
    }));
    find("note").hidden = !order.length;
    const none = "No feature differs from its median in a way that matters.";
    find("why").textContent = order.length ? `What speaks for ${model.classes[best]}, and against it` : none;
  };
  const update = () => {
    try {
      const shares = model.predictProba(row);
      const best = model.classes.indexOf(model.predict(row));
      find("answer").textContent = `${model.classes[best]}, ${percent(shares[best])}`;
      showProbabilities(shares, model.predictProba(start));
      showEffects(best);
    } catch (error) { // a value is missing and the model takes none
      if (!(error instanceof TypeError)) throw error;
      const gap = columns[row.indexOf(null)];
      find("answer").textContent = `${gap.name} is missing: the model takes no missing values`;
    }
  };
  const begin = () => {
    start = starts[find("row").value].cells;
    row = [...start];
    controls.forEach(({ place, show }) => show(row[place]));
    update();
  };
  find("row").append(...starts.map(({ name }, place) => new Option(name, place)));
  find("row").addEventListener("change", begin);
  find("reset").addEventListener("click", begin);
  find("row").selectedIndex = Math.min(1, rows.length); // a mistake, if there is one
  document.querySelector(".try").hidden = false;
  begin();
})();
