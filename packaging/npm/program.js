/* program.js - finds the program `guildhall`. Nothing is downloaded. */
import { accessSync, constants, realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { delimiter, join } from 'node:path';

const require = createRequire(import.meta.url);

/** Returns the program of the package for this platform, which npm installs as an optional dependency. */
function installedProgram() {
  try {
    return require.resolve(`@guildhall/${process.platform}-${process.arch}/bin/guildhall`);
  } catch {
    return undefined;
  }
}

/** Returns the first `guildhall` in the path that is not the given file. */
function programInPath(own) {
  for (const folder of (process.env.PATH ?? '').split(delimiter)) {
    const file = join(folder, 'guildhall');
    try {
      accessSync(file, constants.X_OK);
      if (realpathSync(file) !== own) return file;
    } catch {
      // Not in this folder.
    }
  }
  return undefined;
}

/** Returns the path of the program; `own` is a launcher, which does not count. */
export function findProgram(own) {
  const found = process.env.GUILDHALL_BINARY || installedProgram() || programInPath(own);
  if (found) return found;
  throw new Error(process.platform === 'linux'
    ? `The package @guildhall/linux-${process.arch} with the program is not installed: install it, or set GUILDHALL_BINARY to the path of the program.`
    : `Guildhall has no program for ${process.platform}-${process.arch}: run the tests in a Linux container or in WSL (docs/macos-and-windows.md).`);
}
