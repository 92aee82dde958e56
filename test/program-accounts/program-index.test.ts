import t, { type Test } from 'tap'
import { encodeBase58 } from '../../src/chain/base58.ts'
import { pubkeyFromBase58 } from '../../src/chain/pubkey.ts'
import { EXAMPLE_PROGRAM } from '../../src/edge/routes/example-values.ts'
import { lookupsOf } from '../../src/program-accounts/indexed-filters.ts'
import {
  NO_PROGRESS,
  programsIn,
  PROGRAMS_PARTITION,
  type IndexProgress
} from '../../src/program-accounts/program.ts'
import { MirroredAccounts } from '../../src/rpc/mirrored-accounts.ts'
import { ALL_FINALIZED } from '../rpc/fake-rpc.ts'
import { contractOf } from '../http/checked-requests.ts'
import { marketApp } from '../http/market-app.ts'

const PROGRAM = pubkeyFromBase58(EXAMPLE_PROGRAM)
const PATH = `/v1/programs/${EXAMPLE_PROGRAM}/accounts`
const ADMIN = '/v1/admin/programs'
/** A program without known indexes. */
const OTHER_PROGRAM = 'whirLbMiicVdio4qvUfM5KAg6Ct8VwpYzGff3uctyCc'
const FIRST = { offset: 0, length: 2 }

const account = (n: number, data: readonly number[]) => ({
  address: new Uint8Array(32).fill(n),
  slot: 10,
  account: { lamports: 5n, executable: false, rentEpoch: 0n, data: Uint8Array.from(data) }
})

/** The API with an admin key, and a mirrored program whose accounts have an index of their first two bytes. */
async function openIndexed(t: Test) {
  /** Called when a page was read, before the reader continues. */
  let afterPage = async (): Promise<void> => undefined
  const app = await marketApp(t, (storage) => {
    const { programAccounts } = storage
    const pages: typeof programAccounts.pages = async function* (...asked) {
      for await (const page of programAccounts.pages(...asked)) {
        await afterPage()
        yield page
      }
    }
    const watched = new Proxy(programAccounts, {
      get(target, name) {
        const member: unknown = name === 'pages' ? pages : Reflect.get(target, name)
        return typeof member === 'function' ? (member as () => unknown).bind(target) : member
      }
    })
    return { ...storage, programAccounts: watched }
  })
  const key = await app.makeKey(['admin'])
  const contract = await contractOf(app)
  const post = async (body: object) => {
    const headers = { 'x-api-key': key, 'content-type': 'application/json' }
    const answer = await app.ask('POST', ADMIN, headers, JSON.stringify(body))
    t.equal(contract.breach({ method: 'POST', path: ADMIN, ...answer }), null)
    return answer
  }
  const save = async (...indexes: readonly IndexProgress[]): Promise<void> => {
    const documents = programsIn(app.storage.documents)
    const stored = (await documents.get(PROGRAMS_PARTITION, [EXAMPLE_PROGRAM]))!
    const progress = { ...NO_PROGRESS, slot: 10, oldestSlot: 10, accounts: 3, indexes: [...indexes] }
    await documents.putHot(stored, 1, progress)
  }
  const list = async (query: string) => {
    const answer = await app.get(`${PATH}?${query}`)
    t.equal(contract.breach({ method: 'GET', path: PATH, ...answer }), null)
    const { data, selected_by } = answer.body
    return `${String(selected_by)}: ${data.length}`
  }
  t.match(await post({ program: EXAMPLE_PROGRAM, index: [FIRST] }), { status: 201 })
  const versions = [account(1, [1, 2, 3]), account(2, [1, 2, 4]), account(3, [1]), account(4, [2, 2, 3])]
  await app.storage.programAccounts.put(PROGRAM, versions, [FIRST])
  return { app, post, save, list, onPage: (run: () => Promise<void>) => void (afterPage = run) }
}

const memcmp = (offset: number, ...bytes: readonly number[]): string =>
  `memcmp=${offset}:${encodeBase58(Uint8Array.from(bytes))}`

t.test('a memcmp that covers an indexed range is answered by the index once that is ready', async (t) => {
  const { app, save, list } = await openIndexed(t)
  await save({ ...FIRST, state: 'building', versions: 1 })
  t.equal(await list(memcmp(0, 1, 2)), 'scan: 2')
  await save({ ...FIRST, state: 'ready', versions: 4 })
  t.equal(await list(memcmp(0, 1, 2)), 'index: 2')
  t.equal(await list(memcmp(0, 1, 2, 4)), 'index: 1', 'it may compare more bytes')
  t.equal(await list(`${memcmp(0, 1, 2)}&${memcmp(2, 3)}`), 'index: 1', 'other filters hold too')
  t.equal(await list(`${memcmp(0, 1, 2)}&dataSize=4`), 'index: 0')
  t.equal(await list(memcmp(0, 1)), 'scan: 3', 'fewer bytes than the range has')
  t.equal(await list(memcmp(1, 2)), 'scan: 3', 'only its end')
  t.equal(await list(''), 'scan: 4')
  await save({ ...FIRST, state: 'removing', versions: 4 })
  t.equal(await list(memcmp(0, 1, 2)), 'scan: 2')
  const { values } = await app.deps.metrics.mirror.pages.get()
  t.strictSame(
    values.map(({ labels, value }) => [labels.selected_by, value]),
    [
      ['scan', 5],
      ['index', 4]
    ]
  )
})

t.test('getProgramAccounts is answered by the index, too', async (t) => {
  const { app, save } = await openIndexed(t)
  await save({ ...FIRST, state: 'ready', versions: 4 })
  const selected: string[] = []
  const accounts = new MirroredAccounts(app.storage, (by) => void selected.push(by), ALL_FINALIZED)
  const filters = [{ memcmp: { offset: 0, bytes: encodeBase58(Uint8Array.of(1, 2)) } }]
  const answer = await accounts.answer([EXAMPLE_PROGRAM, { filters }], new AbortController().signal)
  t.equal('result' in answer && (JSON.parse(Buffer.concat(answer.result).toString()) as unknown[]).length, 2)
  t.strictSame(selected, ['index'])
})

t.test('an index that is removed while it is read does not answer', async (t) => {
  const { app, save, list, onPage, post } = await openIndexed(t)
  await save({ ...FIRST, state: 'ready', versions: 4 })
  await app.storage.programAccounts.unindex(PROGRAM, FIRST)
  t.equal(await list(memcmp(0, 1, 2)), 'index: 0', 'without its entries it finds nothing')
  onPage(async () => void (await post({ program: EXAMPLE_PROGRAM, index: [] })))
  t.equal(await list(memcmp(0, 1, 2)), 'scan: 2')
})

t.test('lookups are of each ready range that a filter covers', async (t) => {
  const ranges = [FIRST, { offset: 1, length: 2 }, { offset: 3, length: 1 }]
  const program = { program: 'P', addedAtMs: 0, isRemoved: false, indexes: ranges }
  const states = ['ready', 'ready', 'building'] as const
  const indexes = ranges.map((range, i) => ({ ...range, state: states[i]!, versions: 0 }))
  const status = { program, progress: { ...NO_PROGRESS, indexes } }
  const filter = { memcmp: { offset: 0, bytes: Uint8Array.of(1, 2, 3, 4) } }
  t.strictSame(lookupsOf([{ dataSize: 4 }, filter], status), [
    { offset: 0, length: 2, value: Uint8Array.of(1, 2) },
    { offset: 1, length: 2, value: Uint8Array.of(2, 3) }
  ])
})

t.test('an operator declares indexes and changes them, and token programs have known ones', async (t) => {
  const { post } = await openIndexed(t)
  const building = (offset: number, length: number) => ({ offset, length, state: 'building', versions: 0 })
  t.match(await post({ program: EXAMPLE_PROGRAM }), { status: 200, body: { index: [building(0, 2)] } })
  const token = 'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb'
  const known = [building(0, 32), building(32, 32)]
  t.match(await post({ program: token }), { status: 201, body: { index: known } })
  t.strictSame((await post({ program: OTHER_PROGRAM })).body['index'], [])
  const index = [{ offset: 101, length: 32 }]
  t.match(await post({ program: OTHER_PROGRAM, index }), {
    status: 200,
    body: { index: [building(101, 32)] }
  })
})

t.test('declared indexes that cannot be are refused by their field', async (t) => {
  const { post } = await openIndexed(t)
  for (const [index, field] of [
    [5, 'index'],
    [[{ offset: 0 }], 'index.0.length'],
    [[{ offset: 0, length: 0 }], 'index.0.length'],
    [[{ offset: 0, length: 33 }], 'index.0.length'],
    [[{ offset: -1, length: 1 }], 'index.0.offset'],
    [[{ offset: 1.5, length: 1 }], 'index.0.offset'],
    [[{ offset: 10 * 1024 * 1024, length: 1 }], 'index.0'],
    [[{ offset: 0, length: 1, more: 1 }], 'more'],
    [[FIRST, FIRST], 'index'],
    [Array.from({ length: 5 }, (_, offset) => ({ offset, length: 1 })), 'index']
  ] as const) {
    const { status, body } = await post({ program: OTHER_PROGRAM, index })
    t.equal(status, 400, JSON.stringify(index))
    t.match(body, { code: 'invalid_parameter', detail: new RegExp(`^${field}\\b`) }, JSON.stringify(index))
  }
})
