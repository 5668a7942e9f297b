(function () {
  "use strict";
  var all = function (css, from) { return Array.prototype.slice.call((from || document).querySelectorAll(css)); };
  var make = function (tag, props) { return Object.assign(document.createElement(tag), props || {}); };

  // Theme: follows the system until the reader chooses.
  var root = document.documentElement, toggle = document.getElementById("theme");
  var keep = function (v) { try { if (v) localStorage.setItem("straggler-theme", v); return localStorage.getItem("straggler-theme"); } catch (e) { return v; } };
  var dark = function () { return (root.dataset.theme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark"; };
  var paint = function () { toggle.textContent = dark() ? "Light" : "Dark"; toggle.setAttribute("aria-label", "Switch to the " + (dark() ? "light" : "dark") + " theme"); };
  var kept = keep();
  if (kept === "dark" || kept === "light") { root.dataset.theme = kept; }
  toggle.hidden = false;
  toggle.addEventListener("click", function () { root.dataset.theme = dark() ? "light" : "dark"; keep(root.dataset.theme); paint(); });
  paint();

  // Sorting: a button in every head; numbers by data-v, unknown values always last.
  all("table.sortable").forEach(function (table) {
    all("thead th", table).forEach(function (th, i) {
      var button = make("button", { type: "button" });
      while (th.firstChild) { button.appendChild(th.firstChild); }
      th.appendChild(button);
      button.addEventListener("click", function () {
        var numeric = th.classList.contains("n");
        var up = th.getAttribute("aria-sort") ? th.getAttribute("aria-sort") === "descending" : !numeric;
        all("thead th", table).forEach(function (o) { o.removeAttribute("aria-sort"); });
        th.setAttribute("aria-sort", up ? "ascending" : "descending");
        var body = table.tBodies[0];
        var value = function (tr) { var td = tr.cells[i]; return td.dataset.v !== undefined ? td.dataset.v : td.textContent.trim(); };
        var compare = function (a, b) {
          var x = value(a), y = value(b), ux = x === "" || x === "–", uy = y === "" || y === "–";
          if (ux || uy) { return ux - uy; }
          var nx = Number(x), ny = Number(y);
          var c = isNaN(nx) || isNaN(ny) ? x.localeCompare(y, undefined, { numeric: true }) : nx - ny;
          return up ? c : -c;
        };
        Array.prototype.slice.call(body.rows).sort(compare).forEach(function (tr) { body.appendChild(tr); });
      });
    });
  });

  // Filter: rows carry what they are about; a row without a facet is not filtered by it.
  var bar = document.getElementById("filter");
  if (bar) {
    var rows = all("[data-row]"), facets = { app: [], cause: [], machine: [] };
    var add = function (list, v) { if (v && list.indexOf(v) < 0) { list.push(v); } };
    rows.forEach(function (r) {
      add(facets.app, r.dataset.app); add(facets.machine, r.dataset.machine);
      (r.dataset.causes || "").split(" ").forEach(function (c) { add(facets.cause, c); });
    });
    var titles = {};
    all("[data-cause-title]").forEach(function (e) { titles[e.dataset.cause] = e.dataset.causeTitle; });
    var controls = {};
    ["app", "cause", "machine"].forEach(function (f) {
      var select = bar.querySelector("[name=" + f + "]");
      facets[f].sort(function (a, b) { return a.localeCompare(b, undefined, { numeric: true }); }).forEach(function (v) {
        select.appendChild(make("option", { value: v, textContent: f === "cause" ? titles[v] || v : v }));
      });
      select.parentNode.hidden = facets[f].length < 2;
      controls[f] = select;
    });
    var search = bar.querySelector("[name=text]"), said = bar.querySelector("output"), clear = bar.querySelector("button");
    var texts = rows.map(function (r) { return (r.textContent + " " + (r.dataset.machine || "") + " " + (r.dataset.app || "")).toLowerCase(); });
    var apply = function () {
      var app = controls.app.value, cause = controls.cause.value, machine = controls.machine.value, words = search.value.toLowerCase().split(/\s+/).filter(Boolean), shown = 0;
      rows.forEach(function (r, i) {
        var ok = (!app || !("app" in r.dataset) || r.dataset.app === app) && (!machine || !("machine" in r.dataset) || r.dataset.machine === machine) &&
          (!cause || !("causes" in r.dataset) || r.dataset.causes.split(" ").indexOf(cause) >= 0) && words.every(function (w) { return texts[i].indexOf(w) >= 0; });
        r.hidden = !ok;
        shown += ok ? 1 : 0;
      });
      var on = app || cause || machine || words.length;
      said.textContent = on ? shown + " of " + rows.length + " rows below match" : "";
      clear.hidden = !on;
    };
    bar.hidden = rows.length === 0;
    bar.addEventListener("input", apply);
    bar.addEventListener("submit", function (e) { e.preventDefault(); });
    clear.addEventListener("click", function () { ["app", "cause", "machine"].forEach(function (f) { controls[f].value = ""; }); search.value = ""; apply(); search.focus(); });
  }

  // Timelines: one at a time, wider on demand.
  var figures = all("figure[data-timeline]"), pick = document.getElementById("pick");
  if (pick) {
    var select = pick.querySelector("select"), factor = 1;
    var show = function () { figures.forEach(function (f, i) { f.hidden = String(i) !== select.value; }); };
    var widen = function (by) {
      factor = Math.min(64, Math.max(1, factor * by));
      figures.forEach(function (f) {
        var box = f.querySelector(".tl-scroll"), plot = f.querySelector(".tl-plot"), at = (box.scrollLeft + box.clientWidth / 2) / Math.max(1, box.scrollWidth);
        plot.style.width = 100 * factor + "%";
        box.scrollLeft = at * box.scrollWidth - box.clientWidth / 2;
      });
      pick.querySelector("output").textContent = factor > 1 ? factor + "×" : "";
    };
    figures.forEach(function (f, i) { select.appendChild(make("option", { value: i, textContent: f.dataset.timeline })); });
    select.addEventListener("change", show);
    all("button", pick).forEach(function (b) { b.addEventListener("click", function () { widen(Number(b.value) || 1 / factor); }); });
    pick.hidden = false;
    select.parentNode.hidden = figures.length < 2;
    show();
    addEventListener("beforeprint", function () { widen(1 / factor); figures.forEach(function (f) { f.hidden = false; }); });
    addEventListener("afterprint", show);
  }

  // Code blocks: a copy button where the browser lets us.
  all("pre").forEach(function (pre) {
    var code = pre.querySelector("code"), button = make("button", { type: "button", className: "copy", textContent: "Copy" });
    button.setAttribute("aria-label", "Copy this code");
    pre.insertBefore(button, code);
    button.addEventListener("click", function () {
      var done = function (ok) { button.textContent = ok ? "Copied" : "Press Ctrl-C"; setTimeout(function () { button.textContent = "Copy"; }, 1500); };
      var byHand = function () {
        var range = document.createRange(); range.selectNodeContents(code);
        var s = getSelection(); s.removeAllRanges(); s.addRange(range);
        try { done(document.execCommand("copy")); } catch (e) { done(false); }
      };
      if (navigator.clipboard) { navigator.clipboard.writeText(code.textContent).then(function () { done(true); }, byHand); } else { byHand(); }
    });
  });
})();
