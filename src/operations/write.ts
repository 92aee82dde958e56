/** Writes the runbook, the alert rules and the dashboards from their declarations: `node src/operations/write.ts`. */
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { writtenFiles } from './written-files.ts'

const ROOT = join(import.meta.dirname, '../..')

for (const [path, text] of await writtenFiles()) {
  await mkdir(dirname(join(ROOT, path)), { recursive: true })
  await writeFile(join(ROOT, path), text)
}
