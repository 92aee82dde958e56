import { closeSync, openSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { ImportStamp } from '../../actors/archive/import-stamp.ts'
import { openEmbeddedFacts } from '../../storage/embedded/facts.ts'
import { run } from '../../src/kernel/cli/run.ts'
import { PROGRAM } from '../../src/program.ts'
import type { FactStore } from '../../storage/port.ts'

/**
 * Runs a command, and kills itself at a point of its import. The arguments are the point (after a durable write of facts, or
 * after committed blocks that were folded at once), its number, a folder for its own use, and the words of the command. With
 * `full-` before the point, it fills the disk of the data folder instead, which is the last word.
 */
const [point, number, folder, ...words] = process.argv.slice(2) as [string, string, string, ...string[]]
let count = 0
const isFilling = point.startsWith('full-')
const reached = (): void => {
  if (++count !== Number(number)) return
  if (isFilling) fillDisk(join(words.at(-1)!, 'filler-of-test'))
  else process.kill(process.pid, 'SIGKILL')
}

/** Writes a file until the disk is full. */
function fillDisk(path: string): void {
  const file = openSync(path, 'w')
  try {
    for (const bytes of [2 ** 20, 4_096, 1]) {
      try {
        for (;;) writeSync(file, Buffer.alloc(bytes))
      } catch {
        // No room for as many bytes.
      }
    }
  } finally {
    closeSync(file)
  }
}

if (point.endsWith('facts')) {
  const facts = await openEmbeddedFacts(folder)
  const prototype = Object.getPrototypeOf(facts) as { put: FactStore['put'] }
  await facts.close()
  const { put } = prototype
  prototype.put = async function (...of) {
    await put.apply(this, of)
    reached()
  }
} else {
  const committed: () => void = Reflect.get(ImportStamp.prototype, 'committed')
  ImportStamp.prototype.committed = function () {
    committed.call(this)
    reached()
  }
}
process.exitCode = await run(
  words,
  {
    stdout: () => undefined,
    stderr: (line) => void process.stderr.write(`${line}\n`),
    stdin: process.stdin,
    yieldProcessor: () => undefined,
    interrupted: new AbortController().signal
  },
  PROGRAM
)
