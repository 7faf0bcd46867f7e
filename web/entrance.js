// entrance.js - who has to come in before they see a page, and which pages this server has.

/** Pages that are there for everybody. */
const OPEN = /^\/(invite\/|workbench(\/|$)|(verify|reset)$)/;

/** The server says so in the page itself: see operator.html. */
export const operatorOnly = () => document.documentElement.dataset.pages === "operator";

/** @param {string|null|undefined} token */
export const mustComeIn = (token) => !token && !operatorOnly() && !OPEN.test(location.pathname);
