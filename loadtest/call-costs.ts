/**
 * Measures the CPU time of calls that scan, as a multiple of an ordinary call: the reason for the defaults of
 * `MILLRACE_PROGRAM_ACCOUNTS_WEIGHT` and `MILLRACE_HOLDERS_WEIGHT`. The ordinary call is a page of 50 trades that no cache
 * has. All is in one process, without sockets: the requests go through the whole HTTP side. Rounds of all calls alternate.
 * Takes about a minute:
 *
 *     node --expose-gc loadtest/call-costs.ts [--small] [--help]
 */
import { loadavg } from 'node:os'
import { parseArgs } from 'node:util'
import { pino } from 'pino'
import { AccountIndexes } from '../actors/program-accounts/account-indexes.ts'
import { MirroredAccounts as Mirrored } from '../actors/program-accounts/mirrored-accounts.ts'
import { encodeBase58 } from '../src/chain/base58.ts'
import { pubkeyToBase58 } from '../src/chain/pubkey.ts'
import { UNIT_US, WORK_PRICES } from '../src/kernel/work/work-units.ts'
import { systemPorts } from '../src/ports.ts'
import {
  NO_PROGRESS,
  programsIn,
  PROGRAMS_PARTITION,
  type MirrorProgress
} from '../src/program-accounts/program.ts'
import { Whitelist } from '../src/program-accounts/whitelist.ts'
import { MirroredAccounts } from '../src/rpc/mirrored-accounts.ts'
import type { MarketApp } from '../test/http/market-app.ts'
import { block, buy, NOON, solSale } from '../test/market/world.ts'
import { withAccountService } from './account-service.ts'
import { numberedAddress, OWNERS_MS, storeHolderList } from './holder-list.ts'
import { holderReading } from './holder-reading.ts'
import { reported, writeResult } from './result.ts'
import { searchedNames } from './searched-names.ts'
import { accountMint, accountOf, accountOwner, MINT, OWNER, PROGRAM, SLOT } from './token-accounts.ts'
import { median } from './median.ts'

const HELP = `Usage: node --expose-gc loadtest/call-costs.ts [--small]

  --small   a tenth of the accounts and holders, printed and not saved
`
const VERSIONS_A_WRITE = 10_000
const TRADES = 2_000
const TRADES_A_BLOCK = 100
/** Number of tokens with searched names: the launches of a few days. */
const NAMES = 130_000
/** Many tokens have the one text. All letters of the other are in the names, and few names have them in this order. */
const TEXTS = { common: 'coin', rare: 'to' } as const

const { values } = parseArgs({ options: { small: { type: 'boolean' }, help: { type: 'boolean' } } })
if (values.help === true) process.stdout.write(HELP)
else await measureAll(values.small === true)

/** A call, and how often a round makes it: short calls need many for a figure above the clock's resolution. */
interface MeasuredCall {
  readonly calls: number
  readonly ask: (n: number) => Promise<void>
}

async function measureAll(isSmall: boolean): Promise<void> {
  await withAccountService('call-costs', async ({ app, node, get }) => {
    const count = isSmall ? 2_000 : 20_000
    const traded = await storeTrades(app)
    await storeProgram(app, count)
    const { mint } = await storeHolderList(app, node, count)
    const rpc = new MirroredAccounts(app.storage, () => undefined, { newest: () => Number.MAX_SAFE_INTEGER })
    const allAccounts = async (filters: readonly unknown[]): Promise<void> => {
      const params = [pubkeyToBase58(PROGRAM), { filters, dataSlice: { offset: 0, length: 0 } }]
      const answer = await rpc.answer(params, new AbortController().signal)
      if (!('result' in answer)) throw new Error(JSON.stringify(answer))
    }
    const compared = (offset: number, bytes: Uint8Array) => ({
      memcmp: { offset, bytes: encodeBase58(bytes) }
    })
    const program = `/v1/programs/${pubkeyToBase58(PROGRAM)}/accounts`
    const holders = `/v1/tokens/${pubkeyToBase58(mint)}/holders`
    const readHolders = holderReading(app, count)
    const names = searchedNames(isSmall ? NAMES / 10 : NAMES)
    // A parameter that changes makes each answer a new one, which no cache has.
    const calls: Readonly<Record<string, MeasuredCall>> = {
      page_of_trades: {
        calls: 100,
        ask: (n) => get(`/v1/tokens/${traded}/trades?limit=50&offset=${n % (TRADES - 50)}`)
      },
      accounts_page_of_100: { calls: 50, ask: () => get(`${program}?limit=100`) },
      accounts_page_of_1000: { calls: 5, ask: () => get(`${program}?limit=1000`) },
      accounts_page_scanned: {
        calls: 1,
        ask: () =>
          get(`${program}?limit=1000&memcmp=${OWNER.offset + 1}:${encodeBase58(accountOwner(7).subarray(1))}`)
      },
      get_program_accounts_10_by_index: {
        calls: 50,
        ask: (n) => allAccounts([compared(OWNER.offset, accountOwner(n % 900))])
      },
      get_program_accounts_1000_by_index: {
        calls: 5,
        ask: (n) => allAccounts([compared(MINT.offset, accountMint(n % 9))])
      },
      get_program_accounts_scanned: {
        calls: 1,
        ask: () => allAccounts([compared(OWNER.offset + 1, accountOwner(7).subarray(1))])
      },
      get_program_accounts_whole: { calls: 1, ask: () => allAccounts([]) },
      holders_first: {
        calls: 5,
        ask: (n) => {
          app.nowMs += OWNERS_MS
          return get(`${holders}?limit=${50 + (n % 50)}`)
        }
      },
      holders_again: { calls: 50, ask: (n) => get(`${holders}?limit=${50 + (n % 50)}`) },
      holders_at_offset_9900: { calls: 5, ask: () => get(`${holders}?limit=100&offset=9900`) },
      holders_by_token_account: { calls: 50, ask: () => get(`${holders}?limit=100&by=token_account`) },
      holders_read: { calls: 1, ask: readHolders },
      names_all: { calls: 3, ask: async () => void names.search(TEXTS.rare) },
      names_by_volume: { calls: 3, ask: async () => void names.search(TEXTS.common) },
      order_of_volume: { calls: 3, ask: async () => names.beginOrder() }
    }
    const costs = await measured(calls, isSmall ? 3 : 9)
    const ordinary = costs.page_of_trades!
    const microseconds = (name: string, each: number): number => (costs[name]! * 1_000) / each
    const figures = {
      load_average: loadavg()[0],
      accounts: count,
      holders: count,
      cpu_ms: costs,
      us_each: {
        holder: microseconds('holders_read', count),
        name: microseconds('names_all', names.search(TEXTS.rare)),
        name_by_volume: microseconds('names_by_volume', names.search(TEXTS.common))
      },
      price_us: { holder: WORK_PRICES.holder * UNIT_US, name: WORK_PRICES.name * UNIT_US },
      ordinary_calls: Object.fromEntries(Object.entries(costs).map(([name, ms]) => [name, ms / ordinary]))
    }
    if (isSmall) process.stdout.write(`${JSON.stringify(figures, null, 2)}\n`)
    else await writeResult('call-costs', figures)
  })
}

/** Returns the CPU milliseconds of one call of each kind, all threads included: the median of the rounds after the first. */
async function measured(
  calls: Readonly<Record<string, MeasuredCall>>,
  rounds: number
): Promise<Readonly<Record<string, number>>> {
  const times: Record<string, number[]> = {}
  let n = 0
  for (let round = 0; round <= rounds; round++)
    for (const [name, { calls: count, ask }] of Object.entries(calls)) {
      globalThis.gc?.()
      const began = process.cpuUsage()
      for (let i = 0; i < count; i++) await ask(n++)
      const { user, system } = process.cpuUsage(began)
      if (round > 0) (times[name] ??= []).push(reported(name, (user + system) / 1_000 / count))
    }
  return Object.fromEntries(Object.entries(times).map(([name, list]) => [name, median(list)]))
}

/** Commits trades of a token, and returns its address. */
async function storeTrades(app: MarketApp): Promise<string> {
  const mint = numberedAddress(5, 0)
  await app.commit(block(1, NOON - 60, [solSale(150)]))
  for (let from = 0; from < TRADES; from += TRADES_A_BLOCK) {
    const events = Array.from({ length: TRADES_A_BLOCK }, (_, i) =>
      buy(10n ** 9n, BigInt(from + i + 1) * 1_000_000n, { outMint: mint, pool: mint })
    )
    await app.commit(block(2 + from, NOON + from, events))
  }
  return pubkeyToBase58(mint)
}

/** Stores a program with accounts and its two indexes, as a mirror does after its first snapshot. */
async function storeProgram({ storage }: MarketApp, count: number): Promise<void> {
  const { documents, programAccounts } = storage
  await new Whitelist(documents).add(pubkeyToBase58(PROGRAM), 0)
  for (let from = 0; from < count; from += VERSIONS_A_WRITE) {
    const versions = Array.from({ length: VERSIONS_A_WRITE }, (_, i) => accountOf(from + i))
    await programAccounts.put(PROGRAM, versions, [])
  }
  const program = (await programsIn(documents).get(PROGRAMS_PARTITION, [pubkeyToBase58(PROGRAM)]))!
  const progress: MirrorProgress = {
    ...NO_PROGRESS,
    slot: SLOT,
    oldestSlot: SLOT,
    accounts: count,
    atMs: Date.now()
  }
  const deps = { store: programAccounts, clock: systemPorts.clock, logger: pino({ level: 'silent' }) }
  const save = (changed: MirrorProgress): Promise<void> => programsIn(documents).putHot(program, 1, changed)
  await save(progress)
  const mirrored = new Mirrored(PROGRAM, progress, save, deps)
  const indexes = new AccountIndexes('the program', PROGRAM, () => program.value.indexes, mirrored, deps)
  while (await indexes.step());
}
