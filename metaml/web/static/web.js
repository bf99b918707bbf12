// Sorts tables and brushes parallel coordinates. Nothing is sent anywhere.
"use strict";

(() => {
  // How tables are sorted and what is brushed stands after the # of the address, so that this view can be kept or sent.
  const view = new URLSearchParams(location.hash.includes("=") ? location.hash.slice(1) : "");
  const remember = (name, value) => {
    if (value) view.set(name, value); else view.delete(name);
    const words = String(view);
    history.replaceState(history.state, "", words ? `#${words}` : location.pathname + location.search);
  };

  const valueOf = (row, column) => {
    const cell = row.cells[column];
    if (!cell) return { text: "" };
    if (cell.dataset.v === undefined) return { text: cell.textContent.trim() };
    return cell.dataset.v === "" ? { text: "" } : { number: Number(cell.dataset.v), text: cell.dataset.v };
  };

  const compare = (a, b, sign) => {
    // What has no value comes last in either order.
    if (a.text === "" || b.text === "") return (a.text === "") - (b.text === "");
    if (Number.isFinite(a.number) && Number.isFinite(b.number)) return sign * (a.number - b.number);
    return sign * a.text.localeCompare(b.text, undefined, { numeric: true });
  };

  const sort = (head, order) => {
    const body = head.closest("table").tBodies[0];
    const column = head.cellIndex;
    for (const cell of head.parentElement.cells) cell.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", order);
    const sign = order === "ascending" ? 1 : -1;
    const rows = [...body.rows].map(row => [valueOf(row, column), row]);
    rows.sort((a, b) => compare(a[0], b[0], sign));
    body.append(...rows.map(([, row]) => row));
  };

  const sortNext = button => {
    const head = button.closest("th");
    const first = button.dataset.first === "down" ? "descending" : "ascending";
    const other = first === "ascending" ? "descending" : "ascending";
    const order = head.getAttribute("aria-sort") === first ? other : first;
    sort(head, order);
    remember(head.closest("table").id, `${order},${button.textContent}`);
  };

  const sortAsBefore = table => {
    const [order, ...title] = (view.get(table.id) || "").split(",");
    if (order !== "ascending" && order !== "descending") return;
    const button = [...table.querySelectorAll("button.sort")].find(other => other.textContent === title.join(","));
    if (button) sort(button.closest("th"), order);
  };

  const textAt = (group, share) => {
    if (group.dataset.levels) {
      const levels = group.dataset.levels.split("\n");
      return levels[Math.round(share * (levels.length - 1))];
    }
    const [low, high] = [Number(group.dataset.low), Number(group.dataset.high)];
    const value = group.dataset.log ? Math.exp(Math.log(low) + share * (Math.log(high) - Math.log(low)))
      : low + share * (high - low);
    return value.toPrecision(4);
  };

  class Parallel {
    constructor(picture) {
      this.picture = picture;
      this.figure = picture.closest("figure");
      this.groups = [...picture.querySelectorAll(".axis-group")];
      const line = this.groups[0].querySelector(".upright");
      this.foot = Number(line.getAttribute("y1"));
      this.head = Number(line.getAttribute("y2"));
      this.names = this.groups.map(group => `only-${group.querySelector("title").textContent}`);
      this.ranges = this.names.map(name => {
        const [low, high] = (view.get(name) || "").split("-").map(Number);
        return 0 <= low && low <= high && high <= 1 ? [low, high] : [0, 1];
      });
      this.lines = [...picture.querySelectorAll(".run")].map(path => [path, path.dataset.v.split(",")]);
      this.groups.forEach((group, column) => this.listen(group, column));
      const reset = this.figure.querySelector(".reset");
      if (reset) reset.addEventListener("click", () => { this.ranges = this.groups.map(() => [0, 1]); this.draw(); this.keep(); });
      if (this.ranges.some(([low, high]) => low > 0 || high < 1)) this.draw();
    }

    // Writes the address when a hand lets go: browsers refuse to write it for each step of a drag.
    keep() {
      this.ranges.forEach(([low, high], column) => {
        const isWhole = low <= 0.0001 && high >= 0.9999;
        if (!isWhole || view.has(this.names[column])) remember(this.names[column], isWhole ? "" : `${low.toFixed(4)}-${high.toFixed(4)}`);
      });
    }

    shareAt(event) {
      const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(this.picture.getScreenCTM().inverse());
      return Math.min(1, Math.max(0, (this.foot - point.y) / (this.foot - this.head)));
    }

    listen(group, column) {
      const brush = group.querySelector(".brush");
      const drag = (target, move) => target.addEventListener("pointerdown", event => {
        event.preventDefault();
        target.setPointerCapture(event.pointerId);
        const start = this.shareAt(event);
        const go = moved => { move(start, this.shareAt(moved)); this.draw(); };
        const end = () => {
          target.removeEventListener("pointermove", go);
          for (const kind of ["pointerup", "pointercancel"]) target.removeEventListener(kind, end);
          this.keep();
        };
        target.addEventListener("pointermove", go);
        for (const kind of ["pointerup", "pointercancel"]) target.addEventListener(kind, end);
      });
      drag(brush, (start, now) => { this.ranges[column] = [Math.min(start, now), Math.max(start, now)]; });
      for (const [place, name] of [[0, ".lowest"], [1, ".highest"]]) {
        const handle = group.querySelector(name);
        drag(handle, (_, now) => this.set(column, place, now));
        handle.addEventListener("keydown", event => {
          const steps = { ArrowUp: 0.05, ArrowRight: 0.05, ArrowDown: -0.05, ArrowLeft: -0.05, PageUp: 0.2, PageDown: -0.2, Home: -1, End: 1 };
          if (!(event.key in steps)) return;
          event.preventDefault();
          this.set(column, place, this.ranges[column][place] + steps[event.key]);
          this.draw();
          this.keep();
        });
      }
    }

    set(column, place, share) {
      const range = this.ranges[column];
      const [least, most] = place === 0 ? [0, range[1]] : [range[0], 1];
      range[place] = Math.min(most, Math.max(least, share));
    }

    draw() {
      const isOn = this.ranges.map(([low, high]) => low > 0.0001 || high < 0.9999);
      this.groups.forEach((group, column) => {
        const [low, high] = this.ranges[column];
        const yOf = share => this.foot - share * (this.foot - this.head);
        group.classList.toggle("brushed-on", isOn[column]);
        const brush = group.querySelector(".brush");
        // The whole axis can be dragged along while it is not brushed.
        brush.setAttribute("y", isOn[column] ? yOf(high) : this.head);
        brush.setAttribute("height", isOn[column] ? Math.max(2, yOf(low) - yOf(high)) : this.foot - this.head);
        [[".lowest", low], [".highest", high]].forEach(([name, share]) => {
          const handle = group.querySelector(name);
          handle.setAttribute("y", yOf(share) - 4);
          handle.setAttribute("aria-valuenow", Math.round(100 * share));
          handle.setAttribute("aria-valuetext", textAt(group, share));
        });
      });
      let kept = 0;
      const out = new Set();
      for (const [path, values] of this.lines) {
        const inside = values.every((value, column) => !isOn[column]
          || (value !== "" && Number(value) >= this.ranges[column][0] - 1e-9 && Number(value) <= this.ranges[column][1] + 1e-9));
        path.classList.toggle("out", !inside);
        if (inside) kept += 1; else out.add(path.dataset.run);
      }
      const any = isOn.some(Boolean);
      this.figure.querySelector(".brushed").textContent = `${kept} of ${this.lines.length} runs`;
      this.figure.querySelector(".reset").hidden = !any;
      for (const row of document.querySelectorAll("tr[data-run]")) row.classList.toggle("away", any && out.has(row.dataset.run));
    }
  }

  const ready = new WeakSet();
  const begin = root => {
    for (const picture of root.querySelectorAll(".parallel-picture")) {
      if (!ready.has(picture)) { ready.add(picture); new Parallel(picture); }
    }
    for (const table of root.querySelectorAll("table[id]")) {
      if (!ready.has(table)) { ready.add(table); sortAsBefore(table); }
    }
  };

  document.addEventListener("click", event => {
    const button = event.target.closest("button.sort");
    if (button) sortNext(button);
  });
  const entry = document.querySelector(".bar-top [aria-current]");
  if (entry) entry.parentElement.scrollLeft = entry.offsetLeft - entry.parentElement.clientWidth / 2;
  document.addEventListener("htmx:afterSwap", () => begin(document));
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", () => begin(document));
  else begin(document);
})();
