/**
 * Measures GET /v1/priority-fees for 128 accounts, with a full window of recorded blocks. The comparison is a bare Fastify
 * route that sends the answer's bytes and header fields; each has its own process. The bar concerns one list of accounts
 * that is requested repeatedly, both while blocks come at the live rate and without blocks. Also measured: a hundred lists,
 * which are recomputed after each block. Takes about three minutes:
 *
 *     node loadtest/priority-fees.ts [--small] [--help]
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { pubkeyToBase58 } from '../src/chain/pubkey.ts'
import { FEE_SLOTS } from '../src/transactions/priority-fees.ts'
import { giveServersCore, leaveServersACore } from './cores.ts'
import { fixturesDirectory } from './fixtures.ts'
import { startMeasured, type MeasuredProcess } from './measured-process.ts'
import { readBlock, recordedBlockText } from './recorded-block.ts'
import { writeResult } from './result.ts'
import { runAgainstBare } from './rounds.ts'
import { HEADERS } from './served-market.ts'

const HELP = `Usage: node loadtest/priority-fees.ts [--small]

  --small   one second a round, printed and not saved
`
const ACCOUNTS = 128
const LISTS = 100
const BAR = 0.5
/** Milliseconds in which the block in progress is stored. */
const SETTLE_MS = 1_000

const { values } = parseArgs({ options: { small: { type: 'boolean' }, help: { type: 'boolean' } } })
if (values.help === true) process.stdout.write(HELP)
else await measureAll(values.small === true)

async function measureAll(isSmall: boolean): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'millrace-fees-'))
  const seconds = isSmall ? 1 : 5
  const hasCore = leaveServersACore()
  const env = {
    MILLRACE_ADMIN_KEY: HEADERS['x-api-key'],
    MILLRACE_LOG_LEVEL: 'warn',
    MILLRACE_RATE_LIMIT_PER_MINUTE: '1000000000',
    MILLRACE_WORK_PER_MINUTE: '1000000000000',
    FIXTURES_DIR: fixturesDirectory()
  }
  const service = await startMeasured('fees-service.ts', [directory], { env })
  if (hasCore) giveServersCore(service.pid)
  try {
    await full(service)
    const paths = pathsOf(LISTS)
    const [hot] = paths
    const response = await fetch(service.url + hot, { headers: HEADERS })
    const answer = (await response.json()) as { readonly samples: number }
    const run = (requested: readonly string[]) =>
      runAgainstBare(service, { paths: requested, seconds, justStarted: false })
    const live = { one_list: await run([hot!]), lists: await run(paths) }
    service.send('pause')
    await sleep(SETTLE_MS)
    const quiet = { one_list: await run([hot!]), lists: await run(paths) }
    const rounds = [live.one_list, quiet.one_list]
    const reached =
      answer.samples > 0 &&
      rounds.every(({ ratio, statuses }) => ratio >= BAR && Object.keys(statuses).join() === '200')
    const figures = {
      reached,
      bar: BAR,
      load_of_the_machine: loadavg()[0],
      accounts: ACCOUNTS,
      lists: LISTS,
      samples_of_the_list: answer.samples,
      live,
      quiet
    }
    if (isSmall) process.stdout.write(`${JSON.stringify(figures, null, 2)}\n`)
    else await writeResult('priority-fees', figures)
    if (!reached) process.exitCode = 1
  } finally {
    await service.end()
    rmSync(directory, { recursive: true })
  }
}

/** Resolves once the service has ingested a window of blocks. */
async function full(service: MeasuredProcess): Promise<void> {
  for (;;) {
    const response = await fetch(`${service.url}/v1/priority-fees`, { headers: HEADERS })
    const { slot_range: slots } = (await response.json()) as { slot_range: readonly [number, number] | null }
    if (slots !== null && slots[1] - slots[0] >= FEE_SLOTS - 1) return
    await sleep(SETTLE_MS)
  }
}

/** Returns paths with lists of accounts that transactions of the recorded block write to. */
function pathsOf(lists: number): string[] {
  const written = new Set<string>()
  for (const { keys } of readBlock(JSON.parse(recordedBlockText())).transactions)
    for (let index = 0; index < keys.length; index++)
      if (keys.isWritable(index)) written.add(pubkeyToBase58(keys.bytes(index)))
  const all = [...written]
  return Array.from({ length: lists }, (_, list) => {
    const accounts = Array.from(
      { length: ACCOUNTS },
      (_, at) => all[(list * ACCOUNTS + at * 7) % all.length]!
    )
    return `/v1/priority-fees?accounts=${[...new Set(accounts)].join(',')}`
  })
}
