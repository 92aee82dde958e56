import { cp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { Keypair, LAMPORTS_PER_SOL, type Connection } from '@solana/web3.js'
import t, { type Test } from 'tap'
import { WebSocket } from 'ws'
import { encodeBase58 } from '../../src/chain/base58.ts'
import { RealPool, SWAP_PROGRAM } from '../node/real-pool.ts'
import { testWithValidator, type RealValidator } from '../node/real-validator.ts'
import { swapProgram } from '../node/swap-program.ts'
import { closeConnection, signed } from '../node/web3-flows.ts'
import { IS_LONG } from '../random-runs.ts'
import { ownDirectory } from '../own-directory.ts'
import { slotOf, until } from './asking.ts'
import { notShown } from '../servers/not-run.ts'
import { ADMIN_KEY, spawnMillrace, startProcess, type ServiceProcess } from './service-process.ts'
import { shownBy } from './shown-source.ts'

/** 50 ms a slot, if the machine keeps up. */
const TICKS_PER_SLOT = 8
/** Minimum number of slots that are lost with each restored state. */
const LOST_SLOTS = 60
/** Minimum number of trades that are sent before each kill. */
const TRADES = 40
/** Minimum pause between trades, in milliseconds. */
const PAUSE_MS = 100
const SIGNATURES_PER_ASK = 200

interface Indexing {
  readonly name: string
  readonly dataDir: string
  readonly flags: readonly string[]
  service: ServiceProcess
}

async function start(t: Test, name: string, flags: readonly string[]): Promise<Indexing> {
  const dataDir = join(t.testdirName, name)
  const indexing = { name, dataDir, flags, service: await startService(dataDir, flags) }
  t.teardown(async () => {
    const { child } = indexing.service
    if (child.exitCode === null && child.signalCode === null) await indexing.service.end('SIGKILL')
    if (!t.passing()) for (const line of indexing.service.stderr.slice(-20)) t.comment(`${name}: ${line}`)
  })
  return indexing
}

const startService = (dataDir: string, flags: readonly string[]): Promise<ServiceProcess> =>
  startProcess({ dataDir, recordedDir: null, more: flags })

/** Buys and sells until it is ended. Returns the signatures that it sent, landed or not. */
function trading(connection: Connection, payer: Keypair, pool: RealPool, nth: { value: number }) {
  const sent: string[] = []
  let isOver = false
  const run = async (): Promise<void> => {
    while (!isOver) {
      try {
        const { blockhash } = await connection.getLatestBlockhash('confirmed')
        const many = BigInt(++nth.value)
        for (const swap of [
          pool.swap('buy', 2_000_000n + many, 1_000_000n),
          pool.swap('sell', 1_000_000n + many, 2_000_000n)
        ]) {
          const transaction = signed([swap], [payer], blockhash)
          await connection.sendRawTransaction(transaction.serialize(), { skipPreflight: true })
          sent.push(encodeBase58(transaction.signatures[0]!))
        }
      } catch {
        // The node is starting or ending.
      }
      await delay(PAUSE_MS)
    }
  }
  const done = run()
  return {
    sent,
    async end(): Promise<void> {
      isOver = true
      await done
    }
  }
}

/** Returns those of some transactions that the node's chain has executed. */
async function executed(connection: Connection, signatures: readonly string[]): Promise<Set<string>> {
  const found = new Set<string>()
  for (let at = 0; at < signatures.length; at += SIGNATURES_PER_ASK) {
    const asked = signatures.slice(at, at + SIGNATURES_PER_ASK)
    const { value } = await connection.getSignatureStatuses([...asked], { searchTransactionHistory: true })
    for (const [i, status] of value.entries())
      if (status !== null && status.err === null && status.confirmationStatus !== 'processed')
        found.add(asked[i]!)
  }
  return found
}

/** A client of the stream that stays, and removes retracted events. */
function listening(service: ServiceProcess, channel: string) {
  const trades = new Map<number, string>()
  const retracted: string[] = []
  const faults: string[] = []
  const seen = { cursor: -1 }
  const socket = new WebSocket(`${service.url.replace('http', 'ws')}/v1/stream`, {
    headers: { 'x-api-key': ADMIN_KEY }
  })
  const open = new Promise<void>((resolve, reject) => {
    socket.on('message', (text) => {
      const message = JSON.parse((text as Buffer).toString()) as {
        type: string
        cursor: number
        data: { event: string; of?: number; signature: string }
      }
      if (message.type === 'subscribed') resolve()
      if (message.type !== 'event') return
      const { cursor, data } = message
      if (cursor <= seen.cursor) faults.push(`${cursor} comes after ${seen.cursor}`)
      seen.cursor = cursor
      if (data.event === 'retract') {
        retracted.push(data.signature)
        if (!trades.delete(data.of!)) faults.push(`${data.of} is taken back and was not told`)
      } else trades.set(cursor, data.signature)
    })
    socket.on('open', () => socket.send(JSON.stringify({ subscribe: [channel] })))
    socket.on('error', reject)
  })
  return { trades, retracted, faults, open, end: () => socket.terminate() }
}

async function servedTrades({ service }: Indexing, token: string): Promise<string[]> {
  const first = `/v1/tokens/${token}/trades?limit=1000&order=asc`
  const served: string[] = []
  for (let path: string | null = first; path !== null;) {
    const { body } = await service.get(path)
    served.push(...body.data.map(({ signature }) => String(signature)))
    path = typeof body.nextCursor === 'string' ? `${first}&after=${body.nextCursor}` : null
  }
  return served
}

/** Runs `millrace verify` on a store that no service has open. */
async function verified(
  { dataDir }: Indexing,
  url: string,
  from: number,
  to: number
): Promise<{ code: number; out: string }> {
  const child = spawnMillrace(['verify', `${from}..${to}`, '--data-dir', dataDir, '--rpc-url', url])
  let out = ''
  child.stdout!.on('data', (chunk: Buffer) => void (out += chunk.toString()))
  child.stderr!.on('data', (chunk: Buffer) => void (out += chunk.toString()))
  const code = await new Promise<number>((resolve) => child.on('close', (status) => resolve(status ?? -1)))
  return { code, out }
}

/** The second round takes as long again as the first; the long tier has it. */
const ROUNDS = ['with the service running', 'with the service started anew'].slice(0, IS_LONG ? 2 : 1)

testWithValidator(
  t,
  'a real node that is put back leaves no trade of a lost fork served and none of its chain missing',
  async (t, validator) => {
    ownDirectory(t)
    const { connection, url, grpcUrl } = validator
    t.teardown(() => closeConnection(connection))
    const startedMs = performance.now()
    const said = (what: string): void =>
      t.comment(`${what} after ${((performance.now() - startedMs) / 1_000).toFixed(1)} s`)
    const indexing = await Promise.all([
      start(t, 'rpc', ['--source', 'rpc', '--rpc-url', url]),
      start(t, 'yellowstone', ['--source', 'yellowstone', '--yellowstone-url', grpcUrl, '--rpc-url', url])
    ])
    const heads = (): Promise<number[]> => Promise.all(indexing.map(({ service }) => slotOf(service)))
    const reach = (slot: number): Promise<unknown> =>
      until(async () => Math.min(...(await heads())) >= slot, `all have slot ${slot}`)
    await reach(1)
    const first = Math.max(...(await heads()))
    const [payer, cash] = [Keypair.generate(), Keypair.generate()]
    await connection.requestAirdrop(payer.publicKey, 100 * LAMPORTS_PER_SOL)
    await until(async () => (await connection.getBalance(payer.publicKey)) > 0, 'the airdrop lands')
    const pool = await RealPool.open(connection, payer, cash)
    const token = pool.token.publicKey.toBase58()
    const clients = indexing.map(({ service }) => listening(service, `trades:${token}`))
    await Promise.all(clients.map(({ open }) => open))
    const nth = { value: 0 }
    const all: string[] = []
    const tradeUntil = async (slot: number): Promise<string[]> => {
      const market = trading(connection, payer, pool, nth)
      await reach(slot)
      await until(async () => market.sent.length >= TRADES, 'enough trades are sent')
      await market.end()
      all.push(...market.sent)
      // By then the last transactions are in a block, or never will be.
      await reach((await connection.getSlot('confirmed')) + 10)
      return market.sent
    }
    await tradeUntil(first + 40)
    await validator.server.kill()
    const copy = join(validator.folder, 'copy')
    await copied(ledgerOf(validator), copy)
    await validator.server.start()
    await validator.healthy()
    said('copied')

    for (const round of ROUNDS) {
      const before = Math.max(...(await heads()))
      const lostTrades = await executed(connection, await tradeUntil(before + LOST_SLOTS))
      const lostHead = Math.min(...(await heads()))
      if (round === 'with the service started anew')
        for (const each of indexing) await each.service.end('SIGKILL')
      await validator.server.kill()
      await rm(ledgerOf(validator), { recursive: true })
      await copied(copy, ledgerOf(validator))
      await validator.server.start()
      await validator.healthy()
      said(`put back, ${round}`)
      t.ok(lostTrades.size > 20, `${lostTrades.size} trades are lost`)
      for (const each of indexing)
        if (each.service.child.signalCode !== null)
          each.service = await startService(each.dataDir, each.flags)
      const market = trading(connection, payer, pool, nth)
      for (const { name, service } of indexing) {
        const isBelow = async () => (await slotOf(service)) > (await connection.getSlot('confirmed'))
        // It finds out with its next poll of the node.
        const outcome = await until(async () => {
          const state = (await shownBy(service))?.['state']
          if (!(await isBelow())) return 'passed'
          return state !== 'advancing' && 'said'
        }, `${name} does not advance below what is stored`)
        const says = `${name} says that the node stands below what is stored`
        if (outcome === 'said') t.pass(says)
        else notShown(t, says, 'the node had passed it by the time that it was asked')
      }
      await reach(lostHead + 40)
      await market.end()
      all.push(...market.sent)
      await reach((await connection.getSlot('confirmed')) + 10)
      // A starved process abandons blocks that it gets a little later, although their node is available.
      const isWhole = async ({ service }: Indexing): Promise<boolean> =>
        isDeepStrictEqual((await service.get(`/v1/admin/coverage?from_slot=${first}`)).body['gaps'], []) &&
        (await service.get('/v1/health', null)).body['status'] === 'ok'
      for (const each of indexing)
        await until(() => isWhole(each), `${each.name} has every block, and is well`)
      const real = [...(await executed(connection, all))].sort()
      for (const each of indexing) {
        const served = await servedTrades(each, token)
        t.same(
          served.toSorted(),
          real,
          `${each.name} serves the ${real.length} trades of the chain and no other`
        )
        t.equal(served.filter((signature) => lostTrades.has(signature)).length, 0)
      }
      if (round === 'with the service running')
        for (const [i, client] of clients.entries()) {
          const { name } = indexing[i] as Indexing
          await until(async () => client.trades.size === real.length, `${name}'s client has heard all`)
          t.same(client.faults, [], name)
          t.same([...client.trades.values()].sort(), real, `${name}'s client has the trades of the chain`)
          t.ok(new Set(client.retracted).size >= lostTrades.size, `${client.retracted.length} are taken back`)
          client.end()
        }
      said(`compared, ${round}`)
    }
    const last = Math.min(...(await heads()))
    for (const each of indexing) {
      t.match(await each.service.end('SIGTERM'), { code: 0 })
      t.match(
        await verified(each, url, last - 150, last),
        { code: 0 },
        `${each.name} has what follows from the node's blocks`
      )
    }
    said('verified')
  },
  { ticksPerSlot: TICKS_PER_SLOT, programs: { [SWAP_PROGRAM.toBase58()]: swapProgram() } }
)

const ledgerOf = ({ folder }: RealValidator): string => join(folder, 'node', 'ledger')

/** Copies a ledger without the socket that its node listened on. */
const copied = (from: string, to: string): Promise<void> =>
  cp(from, to, { recursive: true, filter: (path) => !path.endsWith('.rpc') })
