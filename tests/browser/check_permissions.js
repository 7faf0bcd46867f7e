// check_permissions.js - checks that the pages' permission table equals the server's.
//
//     node check_permissions.js FOLDER_OF_THE_PROJECT
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

/** Returns the rows of the server's permission table. @param {string} project @returns {{bit: number, name: string}[]} */
export function readPermissions(project) {
  const text = readFileSync(join(project, "src/model/permissions/permissions.def"), "utf8");
  return [...text.matchAll(/^PERMISSION\((\d+),\s*(\w+)\)/gm)].map(([, bit, name]) => ({ bit: Number(bit), name }));
}

async function main(project) {
  const { PERMISSIONS } = await import(pathToFileURL(join(project, "web/permissions.js")).href), rows = readPermissions(project);
  const wanted = rows.map(({ bit, name }) => `${name}: ${bit}`), known = Object.entries(PERMISSIONS).map(([name, bit]) => `${name}: ${bit}`);
  const problems = [...wanted.filter((x) => !known.includes(x)).map((x) => `web/permissions.js lacks ${x}`), ...known.filter((x) => !wanted.includes(x)).map((x) => `permissions.def lacks ${x}`)];
  if (rows.length < 50) problems.push(`only ${rows.length} permissions were found`);
  console.log(problems.join("\n") || `${rows.length} permissions`);
  process.exit(problems.length ? 1 : 0);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main(process.argv[2]);
