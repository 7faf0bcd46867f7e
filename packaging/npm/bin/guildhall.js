#!/usr/bin/env node
/* guildhall.js - runs the installed program: `npx guildhall demo`. */
import { spawn } from 'node:child_process';
import { realpathSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { findProgram } from '../program.js';

try {
  const program = findProgram(realpathSync(fileURLToPath(import.meta.url)));
  const child = spawn(program, process.argv.slice(2), { stdio: 'inherit' });
  // A terminal sends SIGINT to the program, too.
  process.on('SIGINT', () => {});
  for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('error', (error) => { console.error(`guildhall: ${error.message}`); process.exitCode = 1; });
  child.on('close', (status) => { process.exitCode = status ?? 1; });
} catch (error) {
  console.error(`guildhall: ${error.message}`);
  process.exitCode = 1;
}
