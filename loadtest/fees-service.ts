/**
 * Runs the service on the recorded mainnet block. The block comes again as each slot of the window of fees, and then at the
 * live rate. The argument is the directory of its store. A message from the parent process stops further blocks.
 */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { aborted } from '../actors/supervision/aborted.ts'
import type { Run } from '../actors/supervision/process.ts'
import { readConfig } from '../src/config/config.ts'
import type { BlockSource, SourcedBlock } from '../src/node/block-source.ts'
import { sleep, systemPorts } from '../src/ports.ts'
import { startService } from '../src/service.ts'
import { createLogger } from '../src/telemetry/logger.ts'
import { FEE_SLOTS } from '../src/transactions/priority-fees.ts'
import { version } from '../src/version.ts'
import { LIVE, readBlock, recordedBlockText, repeated } from './recorded-block.ts'

const directory = process.argv[2]!
const nothing = join(directory, 'nothing')
mkdirSync(nothing)
const flags = ['--data-dir', directory, '--port', '0', '--source', 'recorded', '--recorded-dir', nothing]
const reading = readConfig(flags)
if (reading.kind === 'invalid') throw new Error(reading.problems.join('; '))
const recorded = readBlock(JSON.parse(recordedBlockText()))
const blockAt = repeated(recorded)
const pause = new AbortController()
process.once('message', () => pause.abort())

async function* blocks(signal: AbortSignal): AsyncGenerator<SourcedBlock> {
  const stopped = AbortSignal.any([signal, pause.signal])
  for (let n = 0; !stopped.aborted; n++) {
    if (n >= FEE_SLOTS) await sleep(systemPorts.clock, 1_000 / LIVE.blocksPerSecond, stopped)
    const block = blockAt(n)
    yield { block, commitment: 'confirmed', receivedAtMs: block.blockTime * 1_000 }
  }
}

const source: Run<unknown, BlockSource> = async ({ draining, ready }) => {
  ready({ blocks: ({ signal }) => blocks(signal) })
  await aborted(draining)
}
const { config } = reading
const service = startService({
  config,
  logger: createLogger(config),
  version,
  source,
  onFirstKeys: () => undefined,
  onListening: (port) => process.stdout.write(`listening on http://127.0.0.1:${port}\n`)
})
process.once('SIGTERM', () => void service.drain())
await service.done
process.disconnect?.()
