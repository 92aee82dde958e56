/**
 * The process that ingests in `followers.ts`: blocks of a synthetic market at mainnet's live rate, from now on. The arguments
 * are flags of `serve`. The message `pause` stops further blocks; every message is answered with the number of blocks so far
 * and the processor time that making one takes, which is the source's and not ingest's.
 */
import { readConfig } from '../../src/configuration.ts'
import type { SourcedBlock } from '../../src/node/block-source.ts'
import { LiveBlocks } from '../live-blocks.ts'
import { marketOf, Population } from '../market/population.ts'
import { RECORDED_SLOT } from '../recorded-block.ts'
import { atLiveRate, serveBlocks } from '../serve-blocks.ts'

/** A market of 5,000 mints. */
const MARKET = marketOf(1_000_000)
const MEASURED_BLOCKS = 30

/** The answer to each message. */
export interface IngestFigures {
  readonly blocks: number
  readonly sourceMsABlock: number
}

const reading = readConfig(process.argv.slice(2))
if (reading.kind === 'invalid') throw new Error(reading.problems.join('; '))
const live = new LiveBlocks(new Population(MARKET))
const sourceMsABlock = await costOfBlock()
const pause = new AbortController()
let made = 0
process.on('message', (message) => {
  if (message === 'pause') pause.abort()
  process.send!({ blocks: made, sourceMsABlock } satisfies IngestFigures)
})

/** Returns the processor time of making a block, once the code is compiled. */
async function costOfBlock(): Promise<number> {
  for (let n = 0; n < MEASURED_BLOCKS; n++) await live.at(n, RECORDED_SLOT + n, 0)
  const before = process.cpuUsage()
  for (let n = 0; n < MEASURED_BLOCKS; n++) await live.at(n, RECORDED_SLOT + n, 0)
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1_000 / MEASURED_BLOCKS
}

async function* blocks(after: number | null, signal: AbortSignal): AsyncGenerator<SourcedBlock> {
  const first = (after ?? RECORDED_SLOT) + 1
  for await (const n of atLiveRate(AbortSignal.any([signal, pause.signal]))) {
    const nowMs = Date.now()
    const block = await live.at(n, first + n, Math.floor(nowMs / 1000))
    yield { block, commitment: 'confirmed', receivedAtMs: nowMs }
    made++
  }
}

await serveBlocks(reading.config, blocks)
