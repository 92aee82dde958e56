import { Connection } from '@solana/web3.js'
import { pino } from 'pino'
import t from 'tap'
import { readConfig } from '../../src/configuration.ts'
import { WSOL } from '../../src/market/cash.ts'
import { ERRORS, ServiceError } from '../../src/kernel/errors.ts'
import { openCoordination } from '../../src/store/coordination.ts'
import { storeDirectory } from '../../src/store/opening.ts'
import { PRODUCTS } from '../products/loaded-products.ts'
import { startService } from '../../src/service.ts'
import type { DocumentStore } from '../../storage/document-store.ts'
import { openEmbeddedStorage } from '../../storage/embedded/store.ts'
import { closeConnection } from '../node/web3-flows.ts'
import { ownDirectory } from '../own-directory.ts'
import { until } from './asking.ts'
import { tradersOf } from './busiest-traders.ts'
import { ledgerSlotIn, unitOf } from './ledger-slot.ts'
import { makeBusyLocalnet } from './localnet-process.ts'
import { endAtBalances, followEachOther, RevenueUser, totalsEqual } from './revenue-user.ts'
import { ADMIN_KEY, type Body } from './service-process.ts'

/** Fails the writes of the ledger's documents while `error` returns one. */
function failingLedger(store: DocumentStore, error: () => Error | null): DocumentStore {
  const check = (kind: string): void => {
    const failure = kind.startsWith('ledger-') ? error() : null
    if (failure !== null) throw failure
  }
  return {
    get: (...args) => store.get(...args),
    owner: (...args) => store.owner(...args),
    list: (...args) => store.list(...args),
    fenced: (...args) => store.fenced(...args),
    append: (...args) => store.append(...args),
    newest: (...args) => store.newest(...args),
    deleteUpTo: (...args) => store.deleteUpTo(...args),
    async put(row, ...more) {
      check(row.address.kind)
      return store.put(row, ...more)
    },
    async delete(before) {
      check(before.address.kind)
      return store.delete(before)
    },
    async putFenced(document, ...more) {
      check(document.address.kind)
      return store.putFenced(document, ...more)
    },
    async fence(document, ...more) {
      check(document.address.kind)
      return store.fence(document, ...more)
    }
  }
}

t.test('writes of the ledger that fail disturb nothing else, and no row is missing afterwards', async (t) => {
  const dataDir = ownDirectory(t)
  await makeBusyLocalnet(dataDir)
  const reading = readConfig(
    ['--data-dir', dataDir, '--port', '0', '--rate-limit-per-minute', '1000000', '--localnet-slot-ms', '100'],
    { MILLRACE_ADMIN_KEY: ADMIN_KEY }
  )
  if (reading.kind === 'invalid') throw new Error(reading.problems.join())
  const { config } = reading
  const logger = pino({ enabled: false })
  const storage = await openEmbeddedStorage({ directory: storeDirectory(config) })
  let error: () => Error | null = () => null
  let failed = 0
  const documents = failingLedger(storage.documents, () => {
    const now = error()
    if (now !== null) failed++
    return now
  })
  const listening = Promise.withResolvers<number>()
  let nodeUrl = ''
  const service = startService({
    products: PRODUCTS,
    config,
    logger,
    version: 'test',
    opened: { storage: { ...storage, documents }, peers: await openCoordination(config, logger) },
    onFirstKeys: () => undefined,
    onListening: listening.resolve,
    onLocalnet: (url) => (nodeUrl = url)
  })
  t.teardown(() => service.drain())
  const url = `http://127.0.0.1:${await listening.promise}`
  const get = async (path: string, key: string | null = ADMIN_KEY) => {
    const headers = { connection: 'close', ...(key !== null && { 'x-api-key': key }) }
    const {
      status,
      headers: own,
      ...answer
    } = await fetch(url + path, { headers }).then(async (each) => ({
      status: each.status,
      headers: each.headers,
      body: (await each.json()) as Body
    }))
    return { status, headers: own, ...answer }
  }
  const slot = async (): Promise<number> => Number((await get('/v1/health', null)).body['slot'] ?? 0)
  const user = await RevenueUser.of(() => url, 'operator')
  const traders = await tradersOf({ get }, 6)
  for (const address of traders) await user.watch(address)
  const rowsCome = async (message: string): Promise<void> => {
    const before = (await user.rows()).length
    await until(async () => (await user.rows()).length > before + 10, message)
  }
  await rowsCome('rows before the failure')
  const heard = await user.hear(t, `trades:${WSOL}`)
  const ledger = await user.hear(t)

  const failures: readonly (() => Error)[] = [
    () => new ServiceError(ERRORS.STORAGE_UNAVAILABLE, 'on purpose'),
    () => new Error('a bug, on purpose')
  ]
  for (const [index, failure] of failures.entries()) {
    let left = index === 0 ? Infinity : 2
    error = () => (left-- > 0 ? failure() : null)
    failed = 0
    const [begun, events] = [await slot(), heard.length]
    await until(async () => (await slot()) > begun + 25 && failed > 1, 'ingest goes on')
    t.ok(heard.length > events, 'the stream goes on')
    t.equal((await get(`/v1/tokens/${WSOL}/trades?limit=5`)).status, 200)
    await user.rows()
    error = () => null
    await rowsCome(`rows after failure ${index}`)
    followEachOther(t, await user.rows(), [], `after failure ${index}`)
  }
  t.strictSame(await user.gaps(), [])
  const chain = new Connection(nodeUrl, 'confirmed')
  t.teardown(() => closeConnection(chain))
  for (const address of traders)
    await endAtBalances(t, user, chain, address, async () => ledgerSlotIn(service.tree()))
  await totalsEqual(t, user)
  t.equal(new Set(ledger.map(({ id }) => id)).size, ledger.length, 'each row is heard once')
  for (const name of ['service', 'chain', 'ingest', 'source', 'storage', 'edge', 'ledger'])
    t.equal(unitOf(service.tree(), name)?.restarts, 0, `no restart of ${name}`)
  t.match(unitOf(service.tree(), 'ledger')?.last_error, { message: 'a bug, on purpose' })
})
