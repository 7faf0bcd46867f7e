// access.js - which pages this server has, and which of them need a login.

/** Pages that need no login. */
const OPEN = /^\/(invite\/|workbench(\/|$)|(verify|reset)$)/;

/** True if operator.html was served, which marks a server with the workbench only. */
export const operatorOnly = () => document.documentElement.dataset.pages === "operator";

/** @param {string|null|undefined} token */
export const mustComeIn = (token) => !token && !operatorOnly() && !OPEN.test(location.pathname);
