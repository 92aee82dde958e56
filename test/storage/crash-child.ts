/**
 * A process that commits the first blocks of a series, and some API keys and tenants, from the start each time it is run:
 *
 *   node crash-child.ts DIRECTORY BLOCKS [POINT NTH]
 *
 * It kills itself when it reaches the crash point for the n-th time, after naming it on standard output. A line is
 * printed for each block, `done` at the end.
 */
import { writeSync } from 'node:fs'
import { argv } from 'node:process'
import type { CrashPoint } from '../../storage/crash-points.ts'
import { openEmbeddedStorage } from '../../storage/embedded/store.ts'
import { sampleKey, sampleTenant } from '../../storage/test/sample-access.ts'
import { sampleBlock } from '../../storage/test/sample-blocks.ts'

const SEED = 77

const [, , directory, blocks, crashAt, nth] = argv
/** Synchronous, so that a line is out before the process dies. */
const say = (line: string): number => writeSync(1, `${line}\n`)
let reached = 0

function reach(point: CrashPoint): void {
  if (point !== crashAt || ++reached !== Number(nth)) return
  say(`killed at ${point}`)
  process.kill(process.pid, 'SIGKILL')
}

const storage = await openEmbeddedStorage({ directory: directory!, reached: reach })
for (let index = 0; index < Number(blocks); index++) {
  await storage.blocks.commit(sampleBlock(SEED, index))
  if (index % 8 === 0) await storage.keys.put(sampleKey(index))
  if (index % 8 === 4) await storage.tenants.create(sampleTenant(index))
  say(`block ${index}`)
}
await storage.close()
say('done')
