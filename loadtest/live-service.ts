/**
 * Runs the service on the store of a synthetic market while blocks arrive at mainnet's live rate. The first argument is the
 * market's directory, the others are flags of `serve`. The message `pause` from the parent process stops further blocks.
 */
import { readConfig } from '../src/configuration.ts'
import type { SourcedBlock } from '../src/node/block-source.ts'
import { LiveBlocks } from './live-blocks.ts'
import { Population } from './market/population.ts'
import { readMarketStore } from './market-store.ts'
import { LIVE } from './recorded-block.ts'
import { atLiveRate, serveBlocks } from './serve-blocks.ts'

const [directory = '', ...flags] = process.argv.slice(2)
const market = readMarketStore(directory)
if (market === null) throw new Error(`${directory} holds no market`)
const reading = readConfig(flags)
if (reading.kind === 'invalid') throw new Error(reading.problems.join('; '))
const { headSlot, headTime } = market
const live = new LiveBlocks(new Population(market.size))
const pause = new AbortController()
process.once('message', () => pause.abort())

async function* blocks(after: number | null, signal: AbortSignal): AsyncGenerator<SourcedBlock> {
  const first = (after ?? headSlot) + 1
  for await (const n of atLiveRate(AbortSignal.any([signal, pause.signal]))) {
    const slot = first + n
    const blockTime = headTime + Math.floor((slot - headSlot) / LIVE.blocksPerSecond)
    yield {
      block: await live.at(n, slot, blockTime),
      commitment: 'confirmed',
      receivedAtMs: blockTime * 1000
    }
  }
}

await serveBlocks({ ...reading.config, recordedDir: directory }, blocks)
