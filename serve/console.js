(function () {
  "use strict";
  var form = document.getElementById("sql"), text = document.getElementById("q"), list = document.getElementById("proposals");
  var tables = [], words = [], chosen = -1;
  var keywords = ("SELECT FROM WHERE GROUP BY ORDER HAVING LIMIT OFFSET JOIN LEFT INNER ON USING AS AND OR NOT IN IS NULL LIKE BETWEEN CASE WHEN THEN ELSE END DISTINCT " +
    "UNION ALL WITH VALUES ASC DESC NULLS FIRST LAST OVER PARTITION FILTER count sum avg min max percentile_cont coalesce round").split(" ");
  var make = function (tag, props) { return Object.assign(document.createElement(tag), props || {}); };

  text.addEventListener("keydown", function (e) {
    if (e.key === "Enter" && (e.ctrlKey || e.metaKey)) { e.preventDefault(); form.requestSubmit(); return; }
    if (list.hidden) { return; }
    if (e.key === "ArrowDown" || e.key === "ArrowUp") { e.preventDefault(); choose(chosen + (e.key === "ArrowDown" ? 1 : -1)); }
    if (e.key === "Tab" && words.length) { e.preventDefault(); take(words[Math.max(0, chosen)]); }
    if (e.key === "Enter" && chosen >= 0) { e.preventDefault(); take(words[chosen]); }
    if (e.key === "Escape") { e.preventDefault(); close(); }
  });
  text.addEventListener("input", propose);
  text.addEventListener("blur", function () { setTimeout(close, 150); });
  form.addEventListener("submit", function () { remember(text.value.trim()); });

  function close() { list.hidden = true; words = []; chosen = -1; text.removeAttribute("aria-activedescendant"); }
  function word() { return (/[A-Za-z_][A-Za-z0-9_.]*$/.exec(text.value.slice(0, text.selectionStart)) || [""])[0]; }

  // Columns of the tables that the query names come first, then tables, then keywords.
  function propose() {
    var typed = word(), dot = typed.lastIndexOf("."), part = typed.slice(dot + 1).toLowerCase(), found = [];
    if (!part && dot < 0) { close(); return; }
    var named = tables.filter(function (t) { return new RegExp("\\b" + t.name + "\\b", "i").test(text.value); });
    (named.length ? named : tables).forEach(function (t) { t.columns.forEach(function (c) { found.push(c.name); }); });
    if (dot < 0) { found = found.concat(tables.map(function (t) { return t.name; }), keywords); }
    words = found.filter(function (w, i) { return w.toLowerCase().indexOf(part) === 0 && w.toLowerCase() !== part && found.indexOf(w) === i; }).slice(0, 8);
    chosen = -1;
    list.textContent = "";
    words.forEach(function (w, i) {
      var li = make("li", { id: "proposal-" + i, textContent: w });
      li.setAttribute("role", "option");
      li.addEventListener("mousedown", function (e) { e.preventDefault(); take(w); });
      list.appendChild(li);
    });
    list.hidden = words.length === 0;
  }
  function choose(i) {
    chosen = (i + words.length) % words.length;
    Array.prototype.forEach.call(list.children, function (li, k) { li.setAttribute("aria-selected", k === chosen ? "true" : "false"); });
    text.setAttribute("aria-activedescendant", "proposal-" + chosen);
  }
  function take(w) {
    var typed = word(), part = typed.slice(typed.lastIndexOf(".") + 1), at = text.selectionStart;
    text.setRangeText(w, at - part.length, at, "end");
    close();
    text.focus();
  }

  // The history stays in this browser.
  function kept() { try { return JSON.parse(localStorage.getItem("straggler-sql")) || []; } catch (e) { return []; } }
  function remember(q) {
    if (!q) { return; }
    var all = [q].concat(kept().filter(function (o) { return o !== q; })).slice(0, 50);
    try { localStorage.setItem("straggler-sql", JSON.stringify(all)); } catch (e) { return; }
  }
  var history = document.getElementById("history"), earlier = kept();
  if (earlier.length) {
    var select = history.querySelector("select");
    earlier.forEach(function (q, i) { select.appendChild(make("option", { value: i, textContent: q.replace(/\s+/g, " ").slice(0, 90) })); });
    select.addEventListener("change", function () { if (select.value !== "") { text.value = earlier[select.value]; text.focus(); } });
    history.hidden = false;
  }

  fetch("/api/v1/schema").then(function (r) { return r.json(); }).then(function (all) {
    tables = all;
    var box = document.getElementById("tables");
    all.forEach(function (t) {
      var d = make("details"), s = make("summary", { textContent: t.name }), p = make("p", { className: "dim", textContent: t.doc }), ul = make("ul", { className: "plain" });
      t.columns.forEach(function (c) { ul.appendChild(make("li", { textContent: c.name + ", " + c.type + (c.unit ? ", " + c.unit : "") + ": " + c.doc })); });
      d.append(s, p, ul);
      box.appendChild(d);
    });
  });
})();
