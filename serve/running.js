(function () {
  "use strict";
  // Shows anew what is known of running applications, part by part, so that the reader's place, focus and open details stay.
  // One request at a time: 2 s after the last answer, after errors up to 30 s, and none while nobody looks.
  var box = document.getElementById("running"), timer = 0, wait = 2000;
  if (!box) { return; }
  var fill = function (old, now) {
    if (old.innerHTML === now.innerHTML) { return; }
    var at = document.activeElement, href = old.contains(at) ? at.getAttribute("href") : null;
    var wide = old.querySelector(".wide"), left = wide ? wide.scrollLeft : 0;
    old.innerHTML = now.innerHTML;
    if (left) { old.querySelector(".wide").scrollLeft = left; }
    if (href) { Array.prototype.some.call(old.querySelectorAll("a"), function (a) { if (a.getAttribute("href") === href) { a.focus({ preventScroll: true }); return true; } return false; }); }
  };
  var show = function (text) {
    var now = document.createElement("div"), selection = window.getSelection();
    if (selection && !selection.isCollapsed && box.contains(selection.anchorNode)) { return; } // somebody copies text
    now.innerHTML = text; // the server's own page, in which every name is escaped
    var parts = now.querySelectorAll("[data-part]"), known = box.querySelectorAll("[data-part]");
    if (!parts.length || parts.length !== known.length) { fill(box, now); return; }
    var seen = Array.prototype.filter.call(known, function (p) { return p.getBoundingClientRect().bottom > 60; })[0], top = seen ? seen.getBoundingClientRect().top : 0;
    parts.forEach(function (p) { fill(document.getElementById(p.id), p); });
    if (seen && scrollY > 0) { scrollBy({ top: seen.getBoundingClientRect().top - top, behavior: "instant" }); } // what is read stays where it is
  };
  var ask = function () {
    fetch(box.dataset.source).then(function (r) {
      if (r.redirected) { location.replace(r.url.replace(/[?&]part=1/, "")); return null; }
      if (!r.ok) { throw new Error(r.status); }
      return r.text();
    }).then(function (text) {
      if (text === null) { return; }
      show(text);
      wait = 2000;
      timer = setTimeout(ask, wait);
    }, function () { wait = Math.min(2 * wait, 30000); timer = setTimeout(ask, wait); });
  };
  document.addEventListener("visibilitychange", function () { clearTimeout(timer); if (!document.hidden) { ask(); } });
  timer = setTimeout(ask, wait);
})();
