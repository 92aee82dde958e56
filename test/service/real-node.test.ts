import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { Keypair, type Connection } from '@solana/web3.js'
import t, { type Test } from 'tap'
import { decodeBase58 } from '../../src/chain/base58.ts'
import { RealLoad } from '../node/real-load.ts'
import { RealPool, SWAP_PROGRAM } from '../node/real-pool.ts'
import { readBothWays } from '../node/real-readers.ts'
import { RealValidator, testWithValidator } from '../node/real-validator.ts'
import { swapProgram } from '../node/swap-program.ts'
import { closeConnection, reportedOutcome, walkThrough } from '../node/web3-flows.ts'
import { IS_LONG } from '../random-runs.ts'
import { ownDirectory } from '../own-directory.ts'
import { faultsOf, linesWith, slotOf, until } from './asking.ts'
import { decodeFlows, findFlows, flowBlocks, flowsAreStored } from './found-flows.ts'
import { startProcess, type ServiceProcess } from './service-process.ts'
import { servedMarket } from './real-market.ts'
import { shownBy, sourceOf } from './shown-source.ts'
import { storedSlots } from './stored-rows.ts'

const SLOTS = IS_LONG ? 500 : 150
/** Minimum number of transactions of all kinds: forty of each. */
const TRANSACTIONS = 240
/** Minimum number of trades that are executed. A starved node drops some of those that it accepts. */
const TRADES = 60
/** Maximum signatures of one request. */
const SIGNATURES_MAX = 256
/** 50 ms a slot, if the machine keeps up. */
const TICKS_PER_SLOT = 8
/** A hundred slots of a node that runs. */
const PAUSE_MS = 5_000

/** Number of slots whose difference is reported. */
const DIFFERENCES_MAX = 5

interface Indexing extends ServiceProcess {
  readonly name: string
  readonly dataDir: string
}

async function startIndexing(t: Test, name: string, flags: readonly string[]): Promise<Indexing> {
  const dataDir = join(t.testdirName, name)
  const service = await startProcess({ dataDir, recordedDir: null, more: ['--source', name, ...flags] })
  t.teardown(async () => {
    if (service.child.exitCode === null && service.child.signalCode === null) await service.end('SIGKILL')
    if (!t.passing()) for (const line of service.stderr.slice(-20)) t.comment(`${name}: ${line}`)
  })
  return Object.assign(service, { name, dataDir })
}

testWithValidator(
  t,
  'a real node, polled and over gRPC, gives the same blocks, rows and trades, through a pause, a kill and a new genesis',
  async (t, validator) => {
    ownDirectory(t)
    const { connection, url, grpcUrl } = validator
    t.teardown(() => closeConnection(connection))
    const genesis = await connection.getGenesisHash()
    const cash = Keypair.generate()
    const money = ['--usd-mints', cash.publicKey.toBase58()]
    const services = await Promise.all([
      startIndexing(t, 'rpc', [...money, '--rpc-url', url]),
      startIndexing(t, 'yellowstone', [...money, '--yellowstone-url', grpcUrl, '--rpc-url', url])
    ])
    const readers = readBothWays(t, validator, genesis)
    const heads = (): Promise<number[]> => Promise.all(services.map(slotOf))
    const lowestHead = async (): Promise<number> =>
      Math.min(...(await heads()), ...readers.map(({ blocks }) => [...blocks.keys()].at(-1) ?? 0))
    const reach = (slot: number): Promise<unknown> =>
      until(async () => (await lowestHead()) >= slot, `all have slot ${slot}`)

    const startedMs = performance.now()
    const seconds = (): string => ((performance.now() - startedMs) / 1_000).toFixed(1)
    await reach(1)
    t.comment(`read after ${seconds()} s`)
    const first = Math.max(...(await heads()), ...readers.map(({ blocks }) => [...blocks.keys()][0]!))
    const { flows, wallet } = await walkThrough(connection, reportedOutcome)
    const pool = await RealPool.open(connection, wallet.payer, cash)
    const load = new RealLoad(connection, wallet, pool)
    t.teardown(() => load.end())
    t.comment(`walked after ${seconds()} s, from slot ${first}`)
    await reach(first + SLOTS / 3)
    t.comment(`paused after ${seconds()} s`)

    validator.server.pause()
    for (const { name, states } of readers)
      await until(async () => states.has('stalled'), `${name} is seen to be stalled`)
    // A busy process may still have blocks of before.
    const standing = await until(async () => {
      const before = await heads()
      await delay(PAUSE_MS)
      return isDeepStrictEqual(await heads(), before) && before
    }, 'nothing comes while the node stands still')
    validator.server.resume()
    await reach(Math.max(...standing, first + (2 * SLOTS) / 3))

    t.comment(`killed after ${seconds()} s`)
    await validator.server.kill()
    for (const service of services) {
      await until(async () => (await sourceOf(service)) === 'waiting', `${service.name} waits for the node`)
      const isSaid = async (): Promise<boolean> => linesWith(service, AWAY[service.name]!) > 0
      await until(isSaid, `${service.name} says that the node is away`)
    }
    for (const { name, states } of readers)
      await until(async () => states.has('waiting'), `${name} waits for the node`)
    await validator.server.start()
    await validator.healthy()
    t.comment(`restarted after ${seconds()} s`)
    const restarted = await connection.getSlot('confirmed')
    await reach(Math.max(first + SLOTS + 10, restarted + 50))
    const blocksSince = async (): Promise<number> =>
      (await connection.getBlocks(first, undefined, 'confirmed')).length
    await until(async () => (await blocksSince()) >= SLOTS, `there are ${SLOTS} blocks`)
    await until(async () => load.signatures.length >= TRANSACTIONS, 'enough transactions are sent')
    await until(
      async () => (await executedOf(connection, load.trades)) >= TRADES,
      'enough trades are executed'
    )
    t.comment(`enough after ${seconds()} s`)
    await load.end()
    // By then the last transaction is in a block, or never will be.
    await reach((await connection.getSlot('confirmed')) + 30)
    const last = await connection.getSlot('confirmed')
    await reach(last)

    t.comment(`all there after ${seconds()} s`)
    const slots = await connection.getBlocks(first, last, 'confirmed')
    t.comment(
      `${slots.length} blocks of slots ${first} to ${last}, ${load.signatures.length} transactions sent`
    )
    t.ok(slots.length >= SLOTS)
    const blocks = await flowBlocks(flows, url)
    // A starved process abandons blocks that it gets a little later, although their node is available.
    const isWhole = async (service: Indexing): Promise<boolean> =>
      isDeepStrictEqual((await coverageFrom(first)(service)).body['gaps'], [])
    for (const service of services) await until(() => isWhole(service), `${service.name} has every block`)
    await validator.server.kill()
    // While it starts, the content of the first one is checked.
    const starting = RealValidator.start({ port: validator.port, ticksPerSlot: TICKS_PER_SLOT })
    t.teardown(async () => (await starting).end())
    for (const { name, body } of await Promise.all(services.map(coverageFrom(first)))) {
      t.match(body, { genesis, gaps: [], next_from_slot: null })
      t.match(body['ranges'], [{ from_slot: first }], name)
    }

    await findFlows(t, flows, services)
    const found = await decodeFlows(t, flows, blocks)
    const traded = {
      token: pool.token.publicKey,
      cash: cash.publicKey,
      pool: pool.pool,
      trader: wallet.payer.publicKey
    }
    const [market, streamedMarket] = await Promise.all(services.map((each) => servedMarket(each, traded)))
    t.same(streamedMarket, market, 'both serve the same trades, cursors, candles and prices')

    for (const reader of readers) await reader.end()
    const [polled, streamed] = readers.map(({ blocks }) => slots.map((slot) => blocks.get(slot)))
    const differing = slots.filter((_, at) => polled![at] === undefined || polled![at] !== streamed![at])
    const told = differing
      .slice(0, DIFFERENCES_MAX)
      .map((slot) => `${slot}: ${differenceOf(readers.map(({ name, blocks }) => [name, blocks.get(slot)]))}`)
    t.same(told, [], 'block by block both say the same of every transaction')
    for (const { name, faults } of readers) t.same(faults, [], name)
    const read = polled!.flatMap((text) => (JSON.parse(text!) as { transactions: Read[] }).transactions)
    const landed = new Set(read.filter(({ failed }) => !failed).map(({ signature }) => signature))
    const expected = load.trades.filter((each) => landed.has(Buffer.from(decodeBase58(each)).toString('hex')))
    const served = market!.trades.map(({ signature }) => String(signature))
    t.same(served.toSorted(), expected.toSorted(), 'every trade is served that was executed, and no other')
    t.ok(served.length >= TRADES, `${served.length} trades`)
    const kinds = kindsIn(read)
    t.comment(JSON.stringify(kinds))
    for (const [kind, count] of Object.entries(kinds)) t.ok(count >= 20, `${count} ${kind}`)

    t.comment(`compared after ${seconds()} s`)
    const ends = await heads()
    await starting
    for (const service of services) {
      await until(async () => (await sourceOf(service)) === 'refused', `${service.name} is refused`)
      const errors = faultsOf(service).filter((line) => REFUSED[service.name]!.test(line))
      t.equal(errors.length, 1, `${service.name} says so in one line`)
      t.match(await shownBy(service), {
        state: 'refused',
        reason: /is of another cluster.*: its genesis is \w+, the stored one is \w+$/,
        nodes: [{ state: 'refused' }]
      })
    }
    t.same(await heads(), ends, 'no block of it is taken')

    t.comment(`refused after ${seconds()} s`)
    const rows = []
    for (const service of services) {
      t.match(await service.end('SIGTERM'), { code: 0 })
      const stored = await storedSlots(join(service.dataDir, 'store'))
      rows.push(stored.filter(({ slot }) => slot >= first && slot <= last))
    }
    const [ofPolled, ofStreamed] = rows.map((each) => each.map((row) => ({ ...row, receivedAtMs: 0 })))
    t.same(
      ofPolled!.map(({ slot }) => slot),
      slots,
      "the node's blocks, each once"
    )
    t.same(ofStreamed, ofPolled, 'both have the same rows')
    flowsAreStored(t, found, ofPolled!)
  },
  { ticksPerSlot: TICKS_PER_SLOT, programs: { [SWAP_PROGRAM.toBase58()]: swapProgram() } }
)

const AWAY: Readonly<Record<string, string>> = {
  rpc: 'the source has no node',
  yellowstone: 'cannot be reached'
}

const REFUSED: Readonly<Record<string, RegExp>> = {
  rpc: /the source is refused: it is of another cluster/,
  yellowstone: /is of another cluster than the stored blocks.*the service does not retry/
}

type BlockTexts = readonly (readonly [reader: string, text: string | undefined])[]

/** Names the reader that lacks a block, or shows both texts of it around the first character that differs. */
function differenceOf(texts: BlockTexts): string {
  const lacking = texts.filter(([, text]) => text === undefined).map(([name]) => name)
  if (lacking.length > 0) return `not read by ${lacking.join(' and ')}`
  const [first, second] = texts.map(([, text]) => text!) as [string, string]
  const at = [...first].findIndex((character, place) => character !== second[place])
  return texts.map(([name, text]) => `${name} …${text!.slice(Math.max(0, at - 60), at + 60)}…`).join(' ')
}

/** Returns the number of confirmed trades among the last ones that were sent. */
async function executedOf(connection: Connection, trades: readonly string[]): Promise<number> {
  const options = { searchTransactionHistory: true }
  const { value } = await connection.getSignatureStatuses(trades.slice(-SIGNATURES_MAX), options)
  const isExecuted = (status: (typeof value)[number]): boolean =>
    status !== null && status.err === null && status.confirmationStatus !== 'processed'
  return value.filter(isExecuted).length
}

/** Returns the number of transactions of each kind. */
function kindsIn(transactions: readonly Read[]): Record<string, number> {
  const count = (of: (each: Read) => boolean): number => transactions.filter(of).length
  return {
    legacy: count(({ version }) => version === 'legacy'),
    'with a lookup table': count(({ version }) => version === 0),
    'that move tokens': count(({ postTokenBalances }) => postTokenBalances.length > 0),
    'that failed': count(({ failed }) => failed)
  }
}

/** A transaction as readers print it. */
interface Read {
  readonly signature: string
  readonly version: unknown
  readonly failed: boolean
  readonly postTokenBalances: readonly unknown[]
}

const coverageFrom = (slot: number) => async (service: Indexing) => ({
  name: service.name,
  body: (await service.get(`/v1/admin/coverage?from_slot=${slot}`)).body
})
