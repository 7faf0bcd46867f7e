// theme.js - the colour theme that the user has chosen in this browser: dark, light, or that of the operating system.
export const currentTheme = () => localStorage.getItem("theme") || "";

/** Sets the colour theme. @param {string} theme "" follows the system */
export function setTheme(theme) {
  localStorage.setItem("theme", theme);
  applyTheme();
}

export function applyTheme() {
  document.documentElement.dataset.theme = currentTheme();
}
applyTheme();
