import t, { type Test } from 'tap'
import { encodeBase58 } from '../../src/chain/base58.ts'
import { pubkeyFromBase58 } from '../../src/chain/pubkey.ts'
import { EXAMPLE_PROGRAM } from '../../src/edge/routes/example-values.ts'
import { programsIn, PROGRAMS_PARTITION, type MirrorProgress } from '../../src/program-accounts/program.ts'
import { Whitelist } from '../../src/program-accounts/whitelist.ts'
import { MirroredAccounts } from '../../src/rpc/mirrored-accounts.ts'
import { ALL_FINALIZED, fakeRpc } from '../rpc/fake-rpc.ts'
import { marketApp } from '../http/market-app.ts'

const PROGRAM = pubkeyFromBase58(EXAMPLE_PROGRAM)
/** More than two million versions would be, if each page of a thousand accounts counted as the most that it may examine. */
const MANY = 25_000
const PATH = `/v1/programs/${EXAMPLE_PROGRAM}/accounts`

const address = (n: number): Uint8Array => new Uint8Array(32).fill(n)
const account = (data: readonly number[]) => ({
  lamports: 5n,
  executable: false,
  rentEpoch: 2n ** 64n - 1n,
  data: Uint8Array.from(data)
})

/** The API with a mirrored program whose accounts are 1 and 2 at slot 10, and 1 alone with other data at slot 11. */
async function openMirror(t: Test, finalized = ALL_FINALIZED) {
  const app = await marketApp(t, undefined, { rpc: { ...fakeRpc(), finalized } })
  const { documents, programAccounts } = app.storage
  const get = async (path: string) => {
    const response = await app.app.inject({ url: path, headers: { 'x-api-key': app.key } })
    return { status: response.statusCode, body: response.json<Record<string, never>>() }
  }
  t.match(await get(PATH), { status: 403, body: { code: 'program_not_whitelisted' } })
  await new Whitelist(documents).add(EXAMPLE_PROGRAM, 0)
  t.match(await get(PATH), { status: 503, body: { code: 'index_loading' } })
  const stored = (await programsIn(documents).get(PROGRAMS_PARTITION, [EXAMPLE_PROGRAM]))!
  const save = (progress: Partial<MirrorProgress>) =>
    programsIn(documents).putHot(stored, 1, {
      slot: 10,
      oldestSlot: 10,
      accounts: 2,
      atMs: 0,
      reason: null,
      indexes: [],
      ...progress
    })
  await programAccounts.put(
    PROGRAM,
    [
      { address: address(1), slot: 10, account: account([1, 2, 3]) },
      { address: address(2), slot: 10, account: account(Array.from({ length: 200 }, () => 9)) },
      { address: address(1), slot: 11, account: account([4]) },
      { address: address(2), slot: 11, account: null }
    ],
    []
  )
  await save({})
  return { get, save }
}

t.test('a process without a node says so while nothing is mirrored', async (t) => {
  const app = await marketApp(t, undefined, { rpc: fakeRpc(null) })
  await new Whitelist(app.storage.documents).add(EXAMPLE_PROGRAM, 0)
  t.match(await app.get(PATH), {
    status: 501,
    body: { code: 'not_configured', detail: 'this service has no node to read accounts from' }
  })
})

t.test('pages of a paging run show one slot, until it can no longer be read', async (t) => {
  const { get, save } = await openMirror(t)
  const first = await get(`${PATH}?limit=1`)
  t.match(first, {
    status: 200,
    body: { slot: 10, data: [{ account: { data: ['AQID', 'base64'], space: 3 } }] }
  })
  await save({ slot: 11, accounts: 1 })
  const next = `${PATH}?limit=1&after=${first.body['nextCursor']}`
  t.match(await get(next), {
    status: 200,
    body: { slot: 10, data: [{ account: { space: 200 } }], nextCursor: null }
  })
  t.match((await get(PATH)).body, { slot: 11, data: [{ account: { data: ['BA==', 'base64'] } }] })
  t.match(await get(`${next}&dataSize=3`), { status: 400, body: { code: 'invalid_cursor' } })
  await save({ slot: 11, oldestSlot: 11 })
  t.match(await get(next), { status: 410, body: { code: 'cursor_expired' } })
})

t.test('a paging run at finalized begins at the newest finalized slot that is mirrored', async (t) => {
  const finalized = { slot: 10, newest: () => finalized.slot }
  const { get, save } = await openMirror(t, finalized)
  await save({ slot: 11, accounts: 1, exactFrom: 10 })
  t.match((await get(PATH)).body, { slot: 11, data: [{ account: { data: ['BA==', 'base64'] } }] })
  const first = await get(`${PATH}?commitment=finalized&limit=1`)
  t.match(first.body, { slot: 10, data: [{ account: { data: ['AQID', 'base64'] } }] })
  finalized.slot = 11
  const next = await get(`${PATH}?commitment=finalized&limit=1&after=${first.body['nextCursor']}`)
  t.match(next.body, { slot: 10, data: [{ account: { space: 200 } }] }, 'all pages show one slot')
  finalized.slot = 9
  t.match(await get(`${PATH}?commitment=finalized`), {
    status: 503,
    body: { code: 'index_loading', detail: /finalized/ }
  })
  t.match(await get(`${PATH}?commitment=processed`), { status: 400, body: { detail: /^commitment / } })
})

t.test('filters and slices select, and bad ones name their field', async (t) => {
  const { get } = await openMirror(t)
  const count = async (query: string): Promise<number> =>
    ((await get(`${PATH}?${query}`)).body['data'] as unknown as unknown[]).length
  t.equal(await count('dataSize=3'), 1)
  t.equal(await count(`memcmp=1:${encodeBase58(Uint8Array.of(2, 3))}`), 1)
  const filters = encodeURIComponent(
    JSON.stringify([{ memcmp: { offset: 1, bytes: 'CQ==', encoding: 'base64' } }])
  )
  t.equal(await count(`filters=${filters}`), 1)
  const sliced = await get(`${PATH}?dataSlice=1:2&encoding=base58`)
  t.match(sliced.body, {
    data: [{ account: { data: [encodeBase58(Uint8Array.of(2, 3)), 'base58'], space: 3 } }, {}]
  })
  const long = (bytes: number): string => encodeBase58(new Uint8Array(bytes).fill(255))
  for (const [query, field] of [
    [`memcmp=0:${long(129)}`, 'memcmp'],
    ['memcmp=0:0OIl', 'memcmp'],
    ['memcmp=x', 'memcmp'],
    ['memcmp=0:1&memcmp=0:1&memcmp=0:1&memcmp=0:1&memcmp=0:1', 'memcmp'],
    ['dataSize=3&memcmp=3:1', 'memcmp'],
    ['filters=5', 'filters'],
    [
      `filters=${encodeURIComponent('[{"dataSize":1},{"dataSize":1},{"dataSize":1},{"dataSize":1},{"dataSize":1}]')}`,
      'filters'
    ],
    ...(
      [
        ['[{"dataSize":1},{"memcmp":{"offset":"3","bytes":"1"}}]', 'filters.1.memcmp.offset'],
        ['[{"dataSize":"3"}]', 'filters.0.dataSize'],
        ['[{"memcmp":{"offset":-1,"bytes":"1"}}]', 'filters.0.memcmp.offset'],
        ['[{"memcmp":{"offset":1.5,"bytes":"1"}}]', 'filters.0.memcmp.offset'],
        ['[{"memcmp":{"offset":0}}]', 'filters.0.memcmp.bytes'],
        ['[{"memcmp":{"offset":0,"bytes":5}}]', 'filters.0.memcmp.bytes'],
        ['[{"memcmp":{"offset":0,"bytes":"0OIl"}}]', 'filters.0.memcmp.bytes'],
        ['[{"memcmp":{"offset":0,"bytes":"1","encoding":"hex"}}]', 'filters.0.memcmp.encoding'],
        ['[{"memcmp":{"offset":0,"bytes":"1","size":1}}]', 'filters.0.memcmp.size'],
        ['[{"memcmp":5}]', 'filters.0.memcmp'],
        ['[{"dataSize":1},{"size":1}]', 'filters.1'],
        ['[{"dataSize":1,"memcmp":{"offset":0,"bytes":"1"}}]', 'filters.0'],
        ['[{}]', 'filters.0'],
        ['[3]', 'filters.0']
      ] as const
    ).map(([filters, field]) => [`filters=${encodeURIComponent(filters)}`, field] as const),
    ['dataSlice=99999999:1', 'dataSlice'],
    ['encoding=hex', 'encoding'],
    ['encoding=base58', 'encoding'],
    ['limit=1001', 'limit']
  ] as const) {
    const { status, body } = await get(`${PATH}?${query}`)
    t.equal(status, 400, query)
    t.match(
      body,
      { code: 'invalid_parameter', detail: new RegExp(`^${field.replaceAll('.', '\\.')} `) },
      query
    )
  }
})

t.test('getProgramAccounts answers with many accounts, whose answer is within the limit', async (t) => {
  const app = await marketApp(t)
  const { documents, programAccounts } = app.storage
  await new Whitelist(documents).add(EXAMPLE_PROGRAM, 0)
  const stored = (await programsIn(documents).get(PROGRAMS_PARTITION, [EXAMPLE_PROGRAM]))!
  const versions = Array.from({ length: MANY }, (_, n) => {
    const bytes = new Uint8Array(32)
    new DataView(bytes.buffer).setUint32(0, n)
    return { address: bytes, slot: 10, account: account([1]) }
  })
  await programAccounts.put(PROGRAM, versions, [])
  const progress = { slot: 10, oldestSlot: 10, accounts: MANY, atMs: 0, reason: null, indexes: [] }
  await programsIn(documents).putHot(stored, 1, progress)
  const mirror = new MirroredAccounts(app.storage, () => undefined, ALL_FINALIZED)
  const answer = await mirror.answer([EXAMPLE_PROGRAM], new AbortController().signal)
  if (!('result' in answer)) return t.fail(JSON.stringify(answer))
  t.equal((JSON.parse(Buffer.concat(answer.result).toString()) as unknown[]).length, MANY)
})
