// Light or dark: as the system has it, until somebody chooses. Runs before the page is drawn.
"use strict";

const chosen = localStorage.getItem("theme");
const dark = matchMedia("(prefers-color-scheme: dark)");
document.documentElement.dataset.theme = chosen ?? (dark.matches ? "dark" : "light");

addEventListener("DOMContentLoaded", () => {
  const button = document.querySelector("[data-theme-switch]");
  const other = () => (document.documentElement.dataset.theme === "dark" ? "light" : "dark");
  const label = () => { button.textContent = other() === "dark" ? "Dark" : "Light"; };
  button.addEventListener("click", () => {
    document.documentElement.dataset.theme = other();
    localStorage.setItem("theme", document.documentElement.dataset.theme);
    label();
    dispatchEvent(new Event("themechange"));
  });
  label();
});
