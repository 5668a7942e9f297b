(function () {
  "use strict";
  // Progress: asked for while something goes on, and said to screen readers when it changes.
  var box = document.getElementById("progress"), before = null, timer = 0;
  var show = function (s) {
    var words = s.words;
    if (before !== null && s.applications !== before && !words) { words = "The list has changed."; }
    if (before === null) { before = s.applications; }
    if (box.dataset.words === words) { return; }
    box.dataset.words = words;
    box.textContent = words;
    if (s.applications !== before) {
      var link = document.createElement("a");
      link.href = location.href;
      link.textContent = " Show " + s.applications + (s.applications === 1 ? " application" : " applications");
      box.appendChild(link);
    }
    box.hidden = !words;
  };
  var ask = function () {
    fetch("/api/v1/status").then(function (r) { return r.ok ? r.json() : null; }).then(function (s) {
      if (s) { show(s); }
      timer = setTimeout(ask, s && s.words ? 1000 : 5000);
    }, function () { timer = setTimeout(ask, 5000); });
  };
  document.addEventListener("visibilitychange", function () { clearTimeout(timer); if (!document.hidden) { ask(); } });
  if (box) { ask(); }
})();
