(function () {
  "use strict";
  var root = document.documentElement, key = "schedlab-theme";
  function remember(theme) { try { localStorage.setItem(key, theme); } catch (e) { /* a file may have no storage */ } }
  function remembered() { try { return localStorage.getItem(key); } catch (e) { return null; } }
  function dark() {
    if (root.dataset.theme) { return root.dataset.theme === "dark"; }
    return matchMedia("(prefers-color-scheme: dark)").matches;
  }
  var theme = remembered(), button = document.getElementById("theme");
  if (theme === "dark" || theme === "light") { root.dataset.theme = theme; }
  button.setAttribute("aria-pressed", String(dark()));
  button.addEventListener("click", function () {
    root.dataset.theme = dark() ? "light" : "dark";
    button.setAttribute("aria-pressed", String(dark()));
    remember(root.dataset.theme);
  });
  document.addEventListener("keydown", function (event) {
    var row = event.target.closest && event.target.closest("tbody tr[tabindex]");
    if (!row || event.altKey || event.ctrlKey || event.metaKey) { return; }
    var rows = Array.prototype.slice.call(row.parentNode.querySelectorAll("tr[tabindex]")), at = rows.indexOf(row);
    var to = { ArrowUp: at - 1, ArrowDown: at + 1, Home: 0, End: rows.length - 1 }[event.key];
    if (to === undefined || !rows[to]) { return; }
    event.preventDefault();
    row.tabIndex = -1;
    rows[to].tabIndex = 0;
    rows[to].focus();
  });
})();
