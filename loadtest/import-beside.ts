/**
 * Measures the latencies of a service while an import of trade rows runs beside it, against those while it is stopped, in short
 * turns: other work on the machine, and the phases of the import, are then in turns of both sides. The service runs a localnet on
 * one core; its client and the import share the other. The import has a data folder of its own on the same disk: a localnet begins at
 * slot 0, so no archive can end before it.
 *
 *     node loadtest/import-beside.ts [--seconds=6] [--rounds=10] [--rows=1000000]
 */
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { encodeBase58 } from '../src/chain/base58.ts'
import { WSOL } from '../src/market/cash.ts'
import { giveServersCore, leaveServersACore } from './cores.ts'
import { feel, restVictim, type Felt } from './neighbours/victims.ts'
import { reported, writeResult } from './result.ts'
import { ADMIN_KEY, startService, WITHOUT_LIMITS } from './service-process.ts'
import { median } from './median.ts'

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '6' },
    rounds: { type: 'string', default: '10' },
    rows: { type: 'string', default: '1000000' }
  }
})
const [seconds, rounds, rows] = [Number(values.seconds), Number(values.rounds), Number(values.rows)]
/** The bar: p99 beside an import, against the p99 without it. */
const RATIO_MAX = 1.25
/** Until the import reads rows, and between two turns. */
const START_MS = 2_000
const SETTLE_MS = 500
const ROWS_PER_SLOT = 50
const MINTS = 2_500
/** The block that the rows end before. */
const BEFORE = { slot: 300_000_000, time: 1_730_000_000 } as const
const CLI = join(import.meta.dirname, '../src/kernel/cli/millrace.js')

const addressOf = (number: number, fill: number): string =>
  encodeBase58(Uint8Array.from({ length: 32 }, (_, at) => (at < 4 ? (number >> (8 * at)) & 255 : fill)))

/** Yields a CSV file of trades that end before a block. */
function* csv(before: { readonly slot: number; readonly time: number }): Generator<string> {
  yield 'slot,block_time,signature,venue,pool,trader,in_mint,out_mint,in_amount_raw,out_amount_raw,mint,decimals,tx_index,ix_index\n'
  const slots = Math.ceil(rows / ROWS_PER_SLOT)
  for (let at = 0; at < rows; at++) {
    const behind = slots - Math.floor(at / ROWS_PER_SLOT)
    const signature = encodeBase58(
      Uint8Array.from({ length: 64 }, (_, byte) => (byte < 4 ? (at >> (8 * byte)) & 255 : 9))
    )
    const mint = at % MINTS
    yield (
      [
        ...[before.slot - behind, before.time - Math.ceil(behind / 2), signature, 'pumpswap'],
        ...[addressOf(mint, 3), addressOf(at % 40_000, 4), WSOL, addressOf(mint, 5)],
        ...[1_000_000 + (at % 977) * 1_000, 1_000_000_000 + at, addressOf(mint, 5), 6, at % ROWS_PER_SLOT, 2]
      ].join(',') + '\n'
    )
  }
}

/** Resolves once the localnet has its past. */
async function ready(url: string): Promise<void> {
  for (;;) {
    const health = (await (await fetch(`${url}/v1/health`)).json()) as { readonly status: string }
    if (health.status === 'ok') return
    await delay(500)
  }
}

/** Ends a process by SIGKILL, if it has not ended. */
async function killed(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.kill('SIGKILL')
  await ended
}

const directory = await mkdtemp(join(tmpdir(), 'millrace-import-beside-'))
const isApart = leaveServersACore()
const server = await startService(join(directory, 'live'), [], { env: WITHOUT_LIMITS })
let importing: ChildProcess | null = null
try {
  if (isApart) giveServersCore(server.pid)
  await ready(server.url)
  const file = join(directory, 'trades.csv')
  await pipeline(Readable.from(csv(BEFORE)), createWriteStream(file))
  const victim = restVictim(server.url, ADMIN_KEY)
  await feel(victim, seconds)
  const turns: { readonly alone: Felt; readonly beside: Felt; readonly ratio: number }[] = []
  const child = spawn(
    process.execPath,
    [CLI, 'archive', 'import', file, '--data-dir', join(directory, 'archive')],
    { stdio: ['ignore', 'ignore', 'inherit'] }
  )
  importing = child
  await delay(START_MS)
  for (let round = 0; round < rounds; round++) {
    child.kill('SIGSTOP')
    await delay(SETTLE_MS)
    const alone = await feel(victim, seconds)
    child.kill('SIGCONT')
    await delay(SETTLE_MS)
    const beside = await feel(victim, seconds)
    // An import that has ended proves nothing.
    if (child.exitCode !== null) throw new Error(`the import ended with ${child.exitCode}; give more --rows`)
    turns.push(reported('turn', { alone, beside, ratio: beside.p99_ms / alone.p99_ms }))
  }
  await killed(child)
  importing = null
  const medianOf = (side: 'alone' | 'beside'): number => median(turns.map((turn) => turn[side].p99_ms))
  // The p99 of one turn without an import varies by a factor of two.
  const ratio = medianOf('beside') / medianOf('alone')
  const isWhole = turns.every(({ alone, beside }) => alone.failures + beside.failures === 0)
  await writeResult('import-beside', {
    ...{ seconds, rows, server_has_a_core: isApart },
    bar: `the median p99 of the turns beside an import at most ${RATIO_MAX} × that of the turns while it is stopped, and no failure`,
    ...{ turns, ratio, reached: isWhole && ratio <= RATIO_MAX }
  })
} finally {
  if (importing !== null) await killed(importing)
  await server.end()
  await rm(directory, { recursive: true, force: true })
}
