// theme.js - the colour theme that the user has chosen for this browser: dark, light, or the one of the system.
export const currentTheme = () => localStorage.getItem("theme") || "";

/** @param {string} theme "" follows the system */
export function setTheme(theme) {
  localStorage.setItem("theme", theme);
  applyTheme();
}

export function applyTheme() {
  document.documentElement.dataset.theme = currentTheme();
}
applyTheme();
