import { once } from 'node:events'
import type { AddressInfo, Socket } from 'node:net'
import t, { type Test } from 'tap'
import { WorkBudget } from '../../src/access/work-budget.ts'
import { pubkeyFromBase58 } from '../../src/chain/pubkey.ts'
import { EXAMPLE_PROGRAM } from '../../src/edge/routes/example-values.ts'
import { NO_PROGRESS, programsIn, PROGRAMS_PARTITION } from '../../src/program-accounts/program.ts'
import { Whitelist } from '../../src/program-accounts/whitelist.ts'
import { MirroredAccounts } from '../../src/rpc/mirrored-accounts.ts'
import { WORK_PRICES } from '../../src/kernel/work/work-units.ts'
import type { Storage } from '../../storage/port.ts'
import { ALL_FINALIZED, fakeRpc, fakeUpstreams } from '../rpc/fake-rpc.ts'
import { until } from '../until.ts'
import { marketApp } from './market-app.ts'

const PROGRAM = pubkeyFromBase58(EXAMPLE_PROGRAM)
/** Accounts of a piece that is read from disk, at least. */
const PIECE = 400
const REST = `/v1/programs/${EXAMPLE_PROGRAM}/accounts?memcmp=0:2`
const CALL = {
  jsonrpc: '2.0',
  id: 1,
  method: 'getProgramAccounts',
  params: [EXAMPLE_PROGRAM, { filters: [{ memcmp: { offset: 0, bytes: '2' } }] }]
}

/** The API with a program whose scan takes several pieces. The second piece waits for `goOn`. */
async function openHeldScan(t: Test) {
  const held = Promise.withResolvers<void>()
  const seen = { pages: 0, ends: 0 }
  let mirrored: MirroredAccounts | null = null
  const watched = (storage: Storage): Storage => {
    const { programAccounts } = storage
    const pages: typeof programAccounts.pages = async function* (...asked) {
      try {
        for await (const page of programAccounts.pages(...asked)) {
          if (++seen.pages === 2) await held.promise
          yield page
        }
      } finally {
        seen.ends++
      }
    }
    const proxy = new Proxy(programAccounts, {
      get(target, name) {
        const member: unknown = name === 'pages' ? pages : Reflect.get(target, name)
        return typeof member === 'function' ? (member as () => unknown).bind(target) : member
      }
    })
    const faulty = { ...storage, programAccounts: proxy }
    mirrored ??= new MirroredAccounts(faulty, () => undefined, ALL_FINALIZED)
    return faulty
  }
  const rpc = fakeRpc(fakeUpstreams(), [], { answer: (...asked) => mirrored!.answer(...asked) })
  const app = await marketApp(t, watched, { rpc })
  const { documents, programAccounts } = app.storage
  await new Whitelist(documents).add(EXAMPLE_PROGRAM, 0)
  const stored = (await programsIn(documents).get(PROGRAMS_PARTITION, [EXAMPLE_PROGRAM]))!
  const versions = Array.from({ length: 3_000 }, (_, n) => {
    const address = new Uint8Array(32)
    new DataView(address.buffer).setUint32(0, n)
    const data = Uint8Array.of(0)
    return { address, slot: 10, account: { lamports: 1n, executable: false, rentEpoch: 0n, data } }
  })
  await programAccounts.put(PROGRAM, versions, [])
  await programsIn(documents).putHot(stored, 1, { ...NO_PROGRESS, slot: 10, oldestSlot: 10, accounts: 3_000 })
  const key = await app.makeKey(['data:read', 'rpc:read'])
  const caller = app.keys.find(key)!
  const budget = new WorkBudget(app.deps.limits.work)
  /** Units that the key has used. */
  const used = (): number => caller.workPerMinute - budget.look(caller, app.nowMs).left
  const sockets: Socket[] = []
  app.app.server.on('connection', (socket) => void sockets.push(socket))
  await app.app.listen({ host: '127.0.0.1', port: 0 })
  const url = `http://127.0.0.1:${(app.app.server.address() as AddressInfo).port}`
  return { url, key, seen, sockets, used, goOn: () => held.resolve() }
}

const json = { 'content-type': 'application/json' }
for (const [name, path, init] of [
  ['the list over REST', REST, {}],
  ['a call over JSON-RPC', '/v1/rpc', { method: 'POST', body: JSON.stringify(CALL), headers: json }],
  [
    'a batch by the framework, which reads other URLs',
    '/v1/rpc?x=1',
    { method: 'POST', body: JSON.stringify([CALL, CALL]), headers: json }
  ]
] as const)
  t.test(`a client that leaves ends its scan: ${name}`, async (t) => {
    const { url, key, seen, sockets, used, goOn } = await openHeldScan(t)
    const left = new AbortController()
    const headers = { ...('headers' in init ? init.headers : {}), 'x-api-key': key }
    const answer = fetch(url + path, { ...init, headers, signal: left.signal })
    answer.catch(() => undefined)
    await until(() => seen.pages === 2)
    const closed = Promise.all(sockets.map(async (socket) => socket.destroyed || once(socket, 'close')))
    left.abort()
    await t.rejects(answer)
    await closed
    goOn()
    await until(() => seen.ends === 1)
    t.equal(seen.pages, 2, 'the piece under way is the last one')
    await until(() => used() >= PIECE * WORK_PRICES.account)
    t.ok(used() < 3_000 * WORK_PRICES.account, 'it pays for what was examined, not for the rest')
  })

t.test('a client that waits gets the answer of all pieces', async (t) => {
  const { url, key, seen, goOn } = await openHeldScan(t)
  goOn()
  const answer = await fetch(url + REST, { headers: { 'x-api-key': key } })
  t.match(await answer.json(), { data: [], selected_by: 'scan', nextCursor: null })
  t.ok(seen.pages > 2)
  t.equal(seen.ends, 1)
})
