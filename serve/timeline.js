(function () {
  "use strict";
  // A picture of a window of time, drawn from what the server says of it. The window is in the address, so that a link shows it.
  var box = document.getElementById("timeline");
  if (!box) { return; }
  var by = function (id) { return document.getElementById(id); };
  var area = by("picture"), canvas = area.querySelector("canvas"), tools = by("tools"), root = document.documentElement;
  var params = new URLSearchParams(location.search);
  var from = Number(params.get("from")) || 0, to = Number(params.get("to")) || 0, skip = Number(params.get("skip")) || 0;
  var data = null, marks = [], chosen = -1, asked = null, timer = 0;
  var names = 96, axis = 34, gap = 5, lane = 13, dense = 30; // pixels

  var seconds = function (s) {
    if (s >= 5400) { return Number((s / 3600).toPrecision(3)) + " h"; }
    if (s >= 90) { return Number((s / 60).toPrecision(3)) + " min"; }
    if (s >= 1 || s === 0) { return Number(s.toPrecision(3)) + " s"; }
    return Number((s * 1000).toPrecision(3)) + " ms";
  };
  // clock is a place on the axis, of steps of some seconds.
  var clock = function (s, step) {
    s = Math.round(s * 1e6) / 1e6;
    if (s < 60) { return seconds(s); }
    var two = function (n) { return (n < 10 ? "0" : "") + n; }, digits = step < 1 ? Math.ceil(-Math.log10(step)) : 0, rest = (s % 60).toFixed(digits);
    return Math.floor(s / 3600) + ":" + two(Math.floor(s / 60) % 60) + ":" + (s % 60 < 10 ? "0" : "") + rest;
  };
  var wide = function () { return Math.max(40, canvas.clientWidth - names); };
  var least = function () { return 0.001; };
  // clip keeps a window inside of the timeline.
  var clip = function () {
    var span = Math.max(least(), to - from);
    if (!data || !data.lengthS) { return; }
    span = Math.min(span, data.lengthS);
    from = Math.max(0, Math.min(from, data.lengthS - span));
    to = from + span;
  };
  var whole = function () { return data && from <= 0 && to >= data.lengthS; };

  var ask = function () {
    clearTimeout(timer);
    timer = setTimeout(function () {
      if (asked) { asked.abort(); }
      asked = new AbortController();
      var q = new URLSearchParams();
      if (to > 0) { q.set("from", from.toFixed(6)); q.set("to", to.toFixed(6)); }
      else if (params.get("of")) { q.set("of", params.get("of")); }
      if (skip > 0) { q.set("skip", skip); }
      fetch(box.dataset.source + "?" + q, { signal: asked.signal }).then(function (r) { return r.json().then(function (v) { if (!r.ok) { throw new Error(v.error); } return v; }); }).then(function (v) {
        data = v;
        from = v.fromS; to = v.toS;
        collect();
        draw(); describe();
        var address = new URLSearchParams();
        if (!whole()) { address.set("from", from.toFixed(3)); address.set("to", to.toFixed(3)); }
        if (skip > 0) { address.set("skip", skip); }
        history.replaceState(null, "", location.pathname + (String(address) ? "?" + address : ""));
        area.dataset.ready = "yes";
      }).catch(function (e) { if (e.name !== "AbortError") { by("view").textContent = "The server did not answer: " + e.message; } });
    }, 80);
  };

  // layout gives each machine its place; rows are slots where each attempt is drawn, else one curve.
  var layout = function () {
    var y = axis, rows = [];
    data.machines.forEach(function (m) {
      var n = Math.min(Math.max(1, m.slots), 24), h = data.binS > 0 ? dense : n * lane;
      rows.push({ m: m, y: y + gap / 2, h: h, n: n });
      y += h + gap;
    });
    return { rows: rows, height: Math.max(y, axis + 20) };
  };
  var collect = function () {
    marks = [];
    data.machines.forEach(function (m, row) { m.marks.forEach(function (x) { if (!x.ordinary) { marks.push({ x: x, row: row, m: m }); } }); });
    marks.sort(function (a, b) { return a.x.fromS - b.x.fromS || a.row - b.row; });
    chosen = -1;
  };
  var place = function (x, row, w) {
    var scale = w / (to - from), left = (x.fromS - from) * scale, right = (x.toS - from) * scale;
    var p = { left: names + Math.max(0, left), width: Math.max(3, Math.min(right, w) - Math.max(0, left)) };
    if (x.slot > 0) { p.top = row.y + (Math.min(x.slot, row.n) - 1) * lane; p.height = lane - 2; } else { p.top = row.y + 2; p.height = row.h - 4; p.width = Math.max(3, Math.min(p.width, 6)); }
    return p;
  };
  var draw = function () {
    if (!data || to <= from) { return; }
    var l = layout(), ratio = devicePixelRatio || 1, w = wide(), style = getComputedStyle(root);
    var color = function (name) { return style.getPropertyValue("--" + name).trim() || "#888"; };
    canvas.style.height = l.height + "px";
    canvas.width = Math.round(canvas.clientWidth * ratio); canvas.height = Math.round(l.height * ratio);
    var g = canvas.getContext("2d");
    g.scale(ratio, ratio);
    g.font = "12px system-ui, sans-serif"; g.textBaseline = "middle";
    var scale = w / (to - from), at = function (s) { return names + (s - from) * scale; };
    // Axis: round steps, in minutes, hours and days too.
    var step = Math.pow(10, Math.floor(Math.log10((to - from) * 90 / w)));
    [1, 2, 5, 10].some(function (k) { if (k * step * scale >= 90) { step *= k; return true; } return false; });
    if (step > 10) { step = [15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 28800, 86400].find(function (k) { return k * scale >= 90; }) || 86400 * Math.ceil(90 / scale / 86400); }
    g.fillStyle = color("ink2"); g.strokeStyle = color("line"); g.lineWidth = 1; g.textAlign = "left";
    for (var t = Math.ceil(from / step) * step; t <= to; t += step) {
      g.beginPath(); g.moveTo(at(t), 16); g.lineTo(at(t), l.height); g.stroke();
      if (at(t) < names + w - 40) { g.fillText(clock(Math.abs(t) < step / 1000 ? 0 : t, step), at(t) + 3, 8); }
    }
    data.phases.forEach(function (p) {
      var a = Math.max(names, at(p.fromS)), z = Math.min(names + w, at(p.toS));
      if (z <= names || a >= names + w) { return; }
      g.fillStyle = color("accent"); g.fillRect(a, 28, Math.max(1, z - a - 1), 3);
      if (z - a > 60) { g.fillStyle = color("ink2"); g.save(); g.beginPath(); g.rect(a, 14, z - a, 14); g.clip(); g.fillText(p.name, a + 2, 21); g.restore(); }
    });
    l.rows.forEach(function (row, i) {
      g.fillStyle = color(i % 2 ? "paper" : "soft"); g.globalAlpha = .55; g.fillRect(0, row.y - gap / 2, names + w, row.h + gap); g.globalAlpha = 1;
      g.fillStyle = color("ink"); g.save(); g.beginPath(); g.rect(0, row.y - 3, names - 6, row.h + 6); g.clip(); g.fillText(row.m.name || "machine unknown", 6, row.y + Math.min(row.h, lane) / 2 + 1); g.restore();
    });
    g.save(); g.beginPath(); g.rect(names, 0, w, l.height); g.clip();
    l.rows.forEach(function (row) {
      if (data.binS > 0 && row.m.slots > 0) {
        g.fillStyle = color("busy");
        row.m.busy.forEach(function (n, k) {
          var x = at(data.fromS + k * data.binS), h = row.h * Math.min(1, n / row.m.slots);
          if (n > 0) { g.fillRect(x, row.y + row.h - Math.max(1, h), Math.max(1, data.binS * scale + .4), Math.max(1, h)); }
        });
      }
      row.m.marks.forEach(function (x) {
        var p = place(x, row, w);
        if (p.left > names + w) { return; }
        var failed = x.status === "failed" || x.status === "lost" || x.status === "killed";
        g.globalAlpha = x.open ? .6 : 1;
        g.fillStyle = x.cause ? color(x.cause) : color("busy");
        if (!failed || x.cause) { g.fillRect(p.left, p.top, Math.max(1, p.width - (x.ordinary ? .6 : 0)), p.height); }
        if (failed || x.copy || x.retry || x.recompute) {
          g.strokeStyle = x.recompute ? color("recompute") : color("ink"); g.lineWidth = 1.3;
          g.setLineDash(x.copy || x.status === "killed" ? [3, 2] : []);
          g.strokeRect(p.left + .7, p.top + .7, Math.max(1.6, p.width - 1.4), p.height - 1.4);
          g.setLineDash([]);
        }
        if (x.letter && p.width >= 12) { g.fillStyle = color("letter"); g.font = "600 10px system-ui, sans-serif"; g.fillText(x.letter, p.left + 3, p.top + p.height / 2 + .5); g.font = "12px system-ui, sans-serif"; }
        g.globalAlpha = 1;
      });
    });
    if (chosen >= 0) {
      var c = marks[chosen], q = place(c.x, l.rows[c.row], w);
      g.strokeStyle = color("accent"); g.lineWidth = 2.5; g.strokeRect(q.left - 2, q.top - 2, q.width + 4, q.height + 4);
    }
    g.restore();
  };
  // describe says in words what the picture shows, and lists what is marked: the worst first.
  var describe = function () {
    var n = data.attempts.toLocaleString("en"), words = n + (data.attempts === 1 ? " attempt" : " attempts") + " from " + seconds(data.fromS) + " to " + seconds(data.toS) + " of " + seconds(data.lengthS);
    words += data.binS > 0 ? ", in bins of " + seconds(data.binS) + "; what is no ordinary attempt is drawn on them" : ", each on its slot";
    var last = Math.min(skip + data.machines.length, data.machinesTotal);
    if (data.machines.length < data.machinesTotal) { words += "; machines " + (skip + 1) + " to " + last + " of " + data.machinesTotal + ", the most excess first"; }
    by("view").textContent = words + ".";
    tools.querySelector("[value=up]").hidden = skip === 0;
    tools.querySelector("[value=down]").hidden = last >= data.machinesTotal;
    tools.hidden = false;
    var causes = {};
    marks.forEach(function (m) { causes[m.x.cause] = true; });
    Array.prototype.forEach.call(by("legend").querySelectorAll("[data-cause]"), function (li) { li.hidden = !causes[li.dataset.cause]; });
    var list = by("marked"), all = 0;
    list.textContent = "";
    marks.forEach(function (m) { all += m.x.n; });
    marks.slice().sort(function (a, b) { return (b.x.excessS || 0) - (a.x.excessS || 0) || a.x.fromS - b.x.fromS; }).slice(0, 20).forEach(function (m) {
      var li = document.createElement("li"), a = document.createElement("a");
      a.href = "/attempts/" + m.x.key; a.textContent = m.x.title;
      li.appendChild(a); list.appendChild(li);
    });
    by("more").textContent = all === 0 ? "No outlier, copy, retry or failure is in it." : all > 20 ? all.toLocaleString("en") + " in all; zoom in to list others." : "";
  };
  var tell = function () { by("mark").textContent = chosen >= 0 ? marks[chosen].x.title : "\u00a0"; };

  var zoom = function (factor, around) {
    if (!data) { return; }
    var span = Math.max(least(), Math.min(data.lengthS, (to - from) * factor)), share = to > from ? (around - from) / (to - from) : .5;
    from = around - share * span; to = from + span;
    clip(); draw(); ask();
  };
  var pan = function (s) { from += s; to += s; clip(); draw(); ask(); };
  var middle = function () { return (from + to) / 2; };
  var show = function () { from = 0; to = data ? data.lengthS : 0; draw(); ask(); };
  var machines = function (n) { skip = Math.max(0, skip + n * (data ? Math.max(1, data.machines.length) : 1)); if (n < 0) { skip = Math.max(0, skip - skip % 32); } ask(); };
  var act = { "in": function () { zoom(.5, middle()); }, "out": function () { zoom(2, middle()); }, left: function () { pan(-(to - from) / 4); }, right: function () { pan((to - from) / 4); }, whole: show,
    up: function () { machines(-1); }, down: function () { machines(1); } };
  tools.addEventListener("click", function (e) { var f = act[e.target.value]; if (f) { f(); } });

  area.addEventListener("keydown", function (e) {
    if (e.ctrlKey || e.metaKey || e.altKey) { return; }
    var f = { ArrowLeft: act.left, ArrowRight: act.right, "+": act["in"], "=": act["in"], "-": act.out, "0": show, Home: show }[e.key];
    if (f) { e.preventDefault(); f(); return; }
    if ((e.key === "n" || e.key === "p") && marks.length) {
      e.preventDefault();
      chosen = (chosen < 0 && e.key === "p" ? marks.length - 1 : chosen + (e.key === "n" ? 1 : -1) + marks.length) % marks.length;
      draw(); tell();
    }
    if (e.key === "Enter" && chosen >= 0) { location.href = "/attempts/" + marks[chosen].x.key; }
  });

  // Pointers: one pans, two zoom.
  var held = new Map(), moved = false;
  var timeAt = function (x) { return from + (x - canvas.getBoundingClientRect().left - names) / wide() * (to - from); };
  var hit = function (e) {
    var r = canvas.getBoundingClientRect(), x = e.clientX - r.left, y = e.clientY - r.top, l = layout(), w = wide(), found = -1;
    marks.forEach(function (m, i) {
      var p = place(m.x, l.rows[m.row], w);
      if (x >= p.left - 2 && x <= p.left + p.width + 2 && y >= p.top && y <= p.top + p.height) { found = i; }
    });
    return found;
  };
  area.addEventListener("pointerdown", function (e) { if (e.button === 0) { held.set(e.pointerId, e.clientX); moved = false; area.setPointerCapture(e.pointerId); area.classList.add("held"); } });
  area.addEventListener("pointermove", function (e) {
    if (!data) { return; }
    if (!held.has(e.pointerId)) { var over = hit(e); if (over !== chosen) { chosen = over; draw(); tell(); } return; }
    var was = held.get(e.pointerId), others = Array.from(held.keys()).filter(function (k) { return k !== e.pointerId; });
    if (Math.abs(e.clientX - was) > 2) { moved = true; }
    held.set(e.pointerId, e.clientX);
    if (others.length) {
      var other = held.get(others[0]), before = Math.abs(was - other), now = Math.abs(e.clientX - other);
      if (before > 10 && now > 10) { zoom(before / now, timeAt((e.clientX + other) / 2)); }
    } else if (moved) { pan((was - e.clientX) / wide() * (to - from)); }
  });
  var release = function (e) { held.delete(e.pointerId); if (!held.size) { area.classList.remove("held"); } };
  area.addEventListener("pointerup", function (e) {
    if (held.has(e.pointerId) && !moved && data) { var i = hit(e); if (i >= 0) { if (e.pointerType === "mouse" || i === chosen) { location.href = "/attempts/" + marks[i].x.key; } chosen = i; draw(); tell(); } }
    release(e);
  });
  area.addEventListener("pointercancel", release);
  area.addEventListener("dblclick", function (e) { zoom(.5, timeAt(e.clientX)); });
  area.addEventListener("wheel", function (e) {
    if (e.ctrlKey) { e.preventDefault(); zoom(Math.pow(1.0015, e.deltaY), timeAt(e.clientX)); } else if (Math.abs(e.deltaX) > Math.abs(e.deltaY)) { e.preventDefault(); pan(e.deltaX / wide() * (to - from)); }
  }, { passive: false });
  addEventListener("resize", draw);
  new MutationObserver(draw).observe(root, { attributes: true, attributeFilter: ["data-theme"] });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  ask();
})();
