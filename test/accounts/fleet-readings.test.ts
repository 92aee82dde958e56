import fc from 'fast-check'
import t from 'tap'
import { FRESH_MS, MintDirectory, REFRESH_MS } from '../../src/accounts/mint-directory.ts'
import { pubkeyToBase58 } from '../../src/chain/pubkey.ts'
import { TOKEN_PROGRAM_KEYS } from '../../src/accounts/token-program.ts'
import { READING_CLAIM_MS } from '../../storage/port/readings.ts'
import { randomRuns } from '../random-runs.ts'
import { settle, virtualClock, type VirtualClock } from '../virtual-time.ts'
import { key, mintData } from './account-data.ts'
import { FakeAccountNode } from './fake-account-node.ts'
import { FakeReadingServer } from './fake-shared-readings.ts'

const OWNER = TOKEN_PROGRAM_KEYS['spl-token']
const MINTS = [1, 2, 3].map(key)

/** Gateways with a node each, which share their readings. The supply of each mint is the slot of the node. */
function fleet(size: number, { notifies = true } = {}) {
  const clock = virtualClock()
  const server = new FakeReadingServer(clock)
  const gateways = Array.from({ length: size }, () => {
    const node = new FakeAccountNode()
    const shared = server.join({ notifies })
    const directory = new MintDirectory({ node, clock, bytesMax: 2 ** 20, shared })
    const at = (slot: number): void => {
      node.slot = slot
      for (const mint of MINTS)
        node.put(mint, { owner: OWNER, data: mintData({ supply: BigInt(slot), decimals: 6 }) })
    }
    at(1_000)
    return { node, shared, directory, at }
  })
  return { clock, server, gateways }
}

/** Lets the gateways do what they can do without a timer. */
async function idle(): Promise<void> {
  for (let turn = 0; turn < 12; turn++) await settle()
}

/** Moves the clock in steps until a promise settles. */
async function within<T>(clock: VirtualClock, work: Promise<T>, stepMs = 50): Promise<T> {
  let isOpen = true
  const done = work.finally(() => (isOpen = false))
  done.catch(() => undefined)
  for (let step = 0; isOpen && step < 200; step++) {
    await idle()
    if (isOpen) clock.increment(stepMs)
  }
  return done
}

const slotOf = async (gateway: ReturnType<typeof fleet>['gateways'][0], mint = MINTS[0]!) =>
  (await gateway.directory.read([mint]))[0]!

t.test('what one gateway has read, the others serve without a request to their nodes', async (t) => {
  const { clock, gateways } = fleet(4)
  const [first, ...others] = gateways
  const read = await slotOf(first!)
  for (const other of others) {
    other.at(1_005)
    t.same(await slotOf(other), read, 'the same slot, time and supply')
    t.equal(other.node.calls, 0)
  }
  clock.increment(FRESH_MS)
  const again = await slotOf(others[0]!)
  t.equal(again.slot, 1_005)
  await idle()
  for (const each of gateways) t.same(each.directory.peek(MINTS[0]!), again, 'it is heard at once')
  t.equal(first!.node.calls, 1)
})

t.test(
  'a gateway that wants a mint takes what another one has read of it, though nobody asked there',
  async (t) => {
    const { clock, server, gateways } = fleet(2)
    const facts: Uint8Array[] = []
    const wanting = new MintDirectory({
      ...{ node: new FakeAccountNode(), clock, bytesMax: 2 ** 20, shared: server.join() },
      isWanted: (mint) => pubkeyToBase58(mint) === pubkeyToBase58(MINTS[0]!),
      onFacts: ({ mint }) => facts.push(mint)
    })
    t.teardown(() => wanting.close())
    await gateways[0]!.directory.read([MINTS[0]!, MINTS[1]!])
    await idle()
    t.strictSame(facts.map(pubkeyToBase58), [pubkeyToBase58(MINTS[0]!)])
    t.equal(wanting.size, 1)
    t.equal(gateways[1]!.directory.size, 0, 'another one takes only what it caches')
  }
)

t.test('a mint that many gateways need at once is read once', async (t) => {
  const { gateways } = fleet(10)
  let open = (): void => undefined
  for (const { node } of gateways) node.gate = new Promise((resolve) => (open = resolveBoth(open, resolve)))
  const reads = gateways.map((gateway) => slotOf(gateway))
  await idle()
  open()
  const found = await Promise.all(reads)
  for (const each of found) t.same(each, found[0])
  t.equal(
    gateways.reduce((sum, { node }) => sum + node.calls, 0),
    1
  )
})

const resolveBoth = (one: () => void, other: () => void) => (): void => {
  one()
  other()
}

t.test('the mints of a gateway that dies while it reads are read by another within its claim', async (t) => {
  const { clock, gateways } = fleet(2)
  const [dying, other] = gateways
  dying!.node.gate = new Promise(() => undefined)
  const lost = slotOf(dying!)
  lost.catch(() => undefined)
  await idle()
  // Dead: it neither reads, nor releases what it has claimed.
  dying!.shared.isCutOff = true
  const startedMs = clock.now()
  const found = await within(clock, slotOf(other!))
  t.equal(found.slot, 1_000)
  const tookMs = clock.now() - startedMs
  t.ok(tookMs >= READING_CLAIM_MS / 2 && tookMs < 5_000, `${tookMs} ms`)
})

t.test('a node that lags takes no gateway back', async (t) => {
  const { clock, gateways } = fleet(2)
  const [ahead, behind] = gateways
  ahead!.at(1_010)
  behind!.at(990)
  const newest = await slotOf(ahead!)
  clock.increment(FRESH_MS)
  t.same(await slotOf(behind!), newest, 'what it has read is older than what is stored')
  t.equal(behind!.node.calls, 1)
  t.same(ahead!.directory.peek(MINTS[0]!), newest)
})

t.test('a node that fails at one gateway leaves the read to the others', async (t) => {
  const { clock, gateways } = fleet(2)
  gateways[0]!.node.fault = { kind: 'unreachable', detail: 'gone' }
  await t.rejects(slotOf(gateways[0]!))
  const startedMs = clock.now()
  const found = await slotOf(gateways[1]!)
  t.equal(clock.now(), startedMs, 'its claim is released')
  t.same(await slotOf(gateways[0]!), found)
})

t.test('while the server is unreachable, each gateway reads for itself', async (t) => {
  const { clock, server, gateways } = fleet(2)
  await slotOf(gateways[0]!)
  server.isAway = true
  clock.increment(FRESH_MS)
  for (const gateway of gateways) {
    gateway.at(1_020)
    t.equal((await slotOf(gateway)).slot, 1_020)
  }
  t.equal(gateways[1]!.directory.counts.alone, 1)
  server.isAway = false
  clock.increment(FRESH_MS)
  gateways[0]!.at(1_030)
  const found = await slotOf(gateways[0]!)
  t.same(await slotOf(gateways[1]!), found, 'and shares again')
})

t.test('a lost notification is made up for, and a gateway without notifications compares', async (t) => {
  const { server, clock, gateways } = fleet(2)
  const [one, two] = gateways
  await slotOf(one!)
  await slotOf(two!)
  two!.shared.isDeaf = true
  clock.increment(FRESH_MS)
  one!.at(1_050)
  await slotOf(one!)
  await idle()
  t.equal(two!.directory.peek(MINTS[0]!)?.slot, 1_000)
  server.lose(two!.shared)
  await idle()
  t.equal(two!.directory.peek(MINTS[0]!)?.slot, 1_050)

  const polling = fleet(2, { notifies: false })
  const [writer, reader] = polling.gateways
  await slotOf(reader!)
  polling.clock.increment(FRESH_MS)
  writer!.at(1_060)
  await within(polling.clock, slotOf(writer!))
  t.equal((await slotOf(reader!)).slot, 1_060)
  t.equal(reader!.node.calls, 1)
  t.equal(reader!.directory.repeatMs, 1_000)
  t.equal(two!.directory.repeatMs, REFRESH_MS)
})

t.test('readings that are too large to share are read by each gateway', async (t) => {
  const { gateways } = fleet(2)
  for (const { node } of gateways) {
    const data = new Uint8Array(100_000)
    node.put(MINTS[0]!, { owner: key(9), data })
  }
  for (const gateway of gateways) {
    t.match(await slotOf(gateway), { reading: { kind: 'refused' } })
    t.equal(gateway.node.calls, 1)
  }
})

t.test(
  'whatever gateways ask, and whatever their nodes and notifications do, equal slots are equal readings, no slot falls, and each is read once in its time',
  async () => {
    const step = fc.record({
      at: fc.nat(2),
      mint: fc.nat(MINTS.length - 1),
      does: fc.constantFrom('read' as const, 'peek' as const),
      moves: fc.integer({ min: -4, max: 8 }),
      afterMs: fc.constantFrom(0, 1, 700, 2_500, 6_000),
      isDeaf: fc.boolean()
    })
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async (steps) => {
        const { clock, gateways } = fleet(3)
        const bySlot = new Map<string, unknown>()
        const newest = new Map<string, number>()
        const readAt = new Map<number, number>()
        for (const { at, mint, does, moves, afterMs, isDeaf } of steps) {
          clock.increment(afterMs)
          const gateway = gateways[at]!
          gateway.shared.isDeaf = isDeaf
          gateway.at(Math.max(1, gateway.node.slot + moves))
          const before = gateway.node.calls
          const subject = MINTS[mint]!
          if (does === 'read') await slotOf(gateway, subject)
          else {
            await gateway.directory.recall([subject])
            gateway.directory.refresh(subject)
          }
          await idle()
          if (gateway.node.calls > before) {
            const lastMs = readAt.get(mint)
            // A node that lags has read nothing that could be stored, so the next one may read at once.
            if (lastMs !== undefined && clock.now() - lastMs < FRESH_MS) return false
            if (gateway.directory.peek(subject)?.readAtMs === clock.now()) readAt.set(mint, clock.now())
          }
          const known = gateway.directory.peek(subject)
          if (known === null) return false
          const place = `${at} ${mint}`
          if (known.slot < (newest.get(place) ?? 0)) return false
          newest.set(place, known.slot)
          const facts = known.reading.kind === 'facts' ? known.reading.account.supply : null
          const id = `${mint} ${known.slot}`
          if ((bySlot.get(id) ?? facts) !== facts || facts !== BigInt(known.slot)) return false
          bySlot.set(id, facts)
        }
        return true
      }),
      randomRuns(60)
    )
  }
)
