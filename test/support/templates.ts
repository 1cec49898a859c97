/** A folder for what the workers of a run make once and then copy, such as an empty database. */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export default function setup(): () => void {
  const folder = mkdtempSync(join(tmpdir(), 'oncefetch-templates-'));
  // Servers that refuse to run as root read it as another user.
  chmodSync(folder, 0o755);
  process.env['TEMPLATES'] = folder;
  return () => rmSync(folder, { recursive: true, force: true });
}
