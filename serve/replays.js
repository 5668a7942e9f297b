(function () {
  "use strict";
  // Shows how far a replay is, and the page anew when it has ended.
  var running = document.querySelector('[data-replay][data-state="running"]');
  if (!running) { return; }
  var ask = function () {
    fetch("/api/v1/replays").then(function (r) { return r.json(); }).then(function (list) {
      var now = list.filter(function (r) { return String(r.id) === running.dataset.replay; })[0];
      if (!now || now.state !== "running") { location.reload(); return; }
      var percent = Math.floor(100 * now.share);
      running.querySelector("progress").value = percent;
      running.querySelector(".percent").textContent = percent + " %";
      setTimeout(ask, 500);
    }, function () { setTimeout(ask, 3000); });
  };
  setTimeout(ask, 300);
})();
