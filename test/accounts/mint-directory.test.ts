import t from 'tap'
import { METAPLEX_PROGRAM, metaplexAddress } from '../../src/accounts/metaplex.ts'
import { READ_MS } from '../../src/accounts/account-directory.ts'
import { FRESH_MS, MintDirectory, REFRESH_MS } from '../../src/accounts/mint-directory.ts'
import { CLOCK_SYSVAR, SYSVAR_OWNER } from '../../src/accounts/clock.ts'
import { TOKEN_PROGRAM_KEYS } from '../../src/accounts/token-program.ts'
import { NodeError } from '../../src/node/node-fault.ts'
import { settle, virtualClock } from '../virtual-time.ts'
import { extended, key, metaplexData, mintData, tokenMetadataValue } from './account-data.ts'
import { FakeAccountNode } from './fake-account-node.ts'

const CLASSIC = TOKEN_PROGRAM_KEYS['spl-token']
const NEW = TOKEN_PROGRAM_KEYS['token-2022']

function world(bytesMax = 2 ** 20) {
  const clock = virtualClock()
  const node = new FakeAccountNode()
  const directory = new MintDirectory({ node, clock, bytesMax })
  return { clock, node, directory }
}

/** Lets the directory start its reads and process their answers. */
async function reads(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await settle()
}

const faultOf = (asked: Promise<unknown>): Promise<unknown> =>
  asked.then(
    () => 'an answer',
    (error: unknown) => (error instanceof NodeError ? error.fault.kind : error)
  )

const mint = (supply: bigint) => ({ owner: CLASSIC, data: mintData({ supply, decimals: 6 }) })

t.test('mints that are asked for together are read in one request of 100 accounts, each once', async (t) => {
  const { node, directory } = world()
  const mints = Array.from({ length: 60 }, (_, at) => key(at + 1))
  for (const each of mints) node.put(each, mint(BigInt(each[0]!)))
  const [one, two] = await Promise.all([directory.read(mints), directory.read(mints)])
  t.same(
    one.map(({ reading, slot }) => [slot, reading.kind === 'facts' && reading.account.supply]),
    mints.map((each) => [1_000, BigInt(each[0]!)])
  )
  t.same(two, one)
  t.same(
    node.asked.map((each) => each.length),
    [100, 20]
  )
  await directory.read(mints)
  t.equal(node.asked.length, 2, 'a fresh reading costs no request')
})

t.test('a reading is fresh for its time, then read again; an older slot replaces no newer one', async (t) => {
  const { clock, node, directory } = world()
  node.put(key(1), mint(5n))
  await directory.read([key(1)])
  node.put(key(1), mint(6n))
  node.slot = 1_010
  clock.increment(FRESH_MS - 1)
  t.match(await directory.read([key(1)]), [{ slot: 1_000, reading: { account: { supply: 5n } } }])
  clock.increment(1)
  t.match(await directory.read([key(1)]), [{ slot: 1_010, reading: { account: { supply: 6n } } }])
  node.slot = 900
  node.put(key(1), mint(4n))
  clock.increment(FRESH_MS)
  t.match(await directory.read([key(1)]), [{ slot: 1_010, reading: { account: { supply: 6n } } }])
})

t.test(
  'while the node fails, what is cached is returned with its time, and the rest is a fault',
  async (t) => {
    const { clock, node, directory } = world()
    node.put(key(1), mint(5n))
    const [before] = await directory.read([key(1)])
    clock.increment(FRESH_MS)
    node.fault = { kind: 'unreachable', detail: 'gone' }
    t.same(await directory.read([key(1)]), [before])
    t.equal(await faultOf(directory.read([key(1), key(2)])), 'unreachable')
    node.fault = null
    t.match(await directory.read([key(2)]), [{ reading: { kind: 'refused', reason: 'does not exist' } }])
  }
)

t.test('a node that does not answer ends the read at its deadline, and a close ends all', async (t) => {
  const { clock, node, directory } = world()
  let open = (): void => undefined
  node.gate = new Promise((resolve) => (open = resolve))
  const late = faultOf(directory.read([key(1)]))
  await reads()
  clock.increment(READ_MS)
  open()
  t.equal(await late, 'timeout')
  node.gate = new Promise(() => undefined)
  directory.close()
  t.equal(await faultOf(directory.read([key(1)])), 'unreachable')
})

t.test(
  'a refresh reads in the background, no more often than its time, and rests after a fault',
  async (t) => {
    const { clock, node, directory } = world()
    node.put(key(1), mint(5n))
    t.equal(directory.peek(key(1)), null)
    directory.refresh(key(1))
    directory.refresh(key(1))
    t.equal(directory.waiting, 1)
    await reads()
    t.match(directory.peek(key(1)), { slot: 1_000 })
    clock.increment(REFRESH_MS - 1)
    directory.refresh(key(1))
    await reads()
    t.equal(node.calls, 1)
    node.fault = { kind: 'timeout', afterMs: 1 }
    clock.increment(1)
    directory.refresh(key(1))
    await reads()
    t.equal(node.calls, 2)
    directory.refresh(key(1))
    await reads()
    t.equal(node.calls, 2, 'nothing is asked just after a fault')
    t.match(directory.peek(key(1)), { slot: 1_000 }, 'and the cached reading stays')
    clock.increment(1_000)
    directory.refresh(key(1))
    await reads()
    t.equal(node.calls, 3)
  }
)

t.test('the background queue is bounded, and the cache keeps to its bytes', async (t) => {
  const { node, directory } = world(10_000)
  const numbered = (at: number) => {
    const address = new Uint8Array(32)
    new DataView(address.buffer).setUint32(0, at + 1)
    return address
  }
  for (let at = 0; at < 1_005; at++) directory.refresh(numbered(at))
  t.equal(directory.dropped, 5)
  for (let turn = 0; turn < 30; turn++) await reads()
  t.equal(directory.waiting, 0)
  t.equal(node.calls, 20)
  t.ok(directory.bytes <= 10_000 && directory.size > 0)
})

const NAMED = { mint: key(1), name: 'A token', symbol: 'TKN', uri: 'https://example.org' }
const POINTER = (address: Uint8Array): [number, Uint8Array] => [18, Uint8Array.from([...key(9), ...address])]
const base = mintData({ supply: 1n, decimals: 0 })

t.test('names are those where the pointer leads, and only those that name the mint', async (t) => {
  const metaplex = (names = NAMED) => ({ owner: METAPLEX_PROGRAM, data: metaplexData(names) })
  const inside: [number, Uint8Array] = [19, tokenMetadataValue({ ...NAMED, name: 'Inside' })]
  const foreign: [number, Uint8Array] = [19, tokenMetadataValue({ ...NAMED, mint: key(8) })]
  const cases: readonly [string, [number, Uint8Array][], boolean, string | null, string | null][] = [
    ['without pointer, of Metaplex', [], true, 'A token', 'metaplex'],
    ['without any', [], false, null, null],
    ['inside, without pointer', [inside], true, 'Inside', 'token-2022'],
    ['inside, pointed to', [POINTER(key(1)), inside], true, 'Inside', 'token-2022'],
    ['inside, of another mint', [POINTER(key(1)), foreign], true, null, null],
    ['of Metaplex, pointed to', [POINTER(metaplexAddress(key(1))), inside], true, 'A token', 'metaplex'],
    ['elsewhere', [POINTER(key(5)), inside], true, 'Elsewhere', 'metaplex'],
    ['elsewhere, but nothing there', [POINTER(key(6)), inside], true, null, null]
  ]
  for (const [name, extensions, hasMetaplex, expected, from] of cases) {
    const { node, directory } = world()
    node.put(key(1), { owner: NEW, data: extended(base, 'mint', extensions) })
    node.put(key(5), metaplex({ ...NAMED, name: 'Elsewhere' }))
    if (hasMetaplex) node.put(metaplexAddress(key(1)), metaplex())
    const [known] = await directory.read([key(1)])
    t.match(
      known!.reading,
      { kind: 'facts', namesFrom: from, names: expected === null ? null : { name: expected } },
      name
    )
  }
  const { node, directory } = world()
  node.put(key(1), mint(1n))
  node.put(metaplexAddress(key(1)), metaplex({ ...NAMED, mint: key(7) }))
  t.match(await directory.read([key(1)]), [{ reading: { kind: 'facts', names: null } }])
})

t.test('a transfer fee that changes is the one of the epoch, which the clock tells', async (t) => {
  const fee = new Uint8Array(108)
  const view = new DataView(fee.buffer)
  view.setBigUint64(72, 100n, true)
  view.setUint16(88, 50, true)
  view.setBigUint64(90, 102n, true)
  view.setUint16(106, 70, true)
  const { clock, node, directory } = world()
  node.put(key(1), { owner: NEW, data: extended(base, 'mint', [[1, fee]]) })
  const bps = async (): Promise<unknown> => {
    clock.increment(FRESH_MS)
    const [known] = await directory.read([key(1)])
    return known!.reading.kind === 'facts' ? (known!.reading.transferFee?.basisPoints ?? null) : 'refused'
  }
  t.equal(await bps(), null, 'unknown without a clock')
  for (const [epoch, expected] of [
    [101n, 50],
    [102n, 70]
  ] as const) {
    const sysvar = new Uint8Array(40)
    new DataView(sysvar.buffer).setBigUint64(16, epoch, true)
    node.put(CLOCK_SYSVAR, { owner: SYSVAR_OWNER, data: sysvar })
    t.equal(await bps(), expected)
  }
  node.put(CLOCK_SYSVAR, { owner: key(3), data: new Uint8Array(40) })
  t.equal(await bps(), null, 'an account that is not the clock says nothing')
})
