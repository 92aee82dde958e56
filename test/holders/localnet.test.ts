import t, { type Test } from 'tap'
import { pubkeyToBase58, type Pubkey } from '../../src/chain/pubkey.ts'
import { NATIVE_MINT } from '../../src/chain/token-accounts.ts'
import { USDC } from '../../src/localnet/programs.ts'
import { steadily as until } from '../until.ts'
import { HolderWorld } from './holder-world.ts'
import type { ListShape } from './list-shape.ts'
import { IS_LONG } from '../random-runs.ts'

/** Slots with faults, after each few of which all lists are compared. */
const SLOTS = Number(process.env['HOLDER_SLOTS'] ?? (IS_LONG ? 500 : 50))
/** Milliseconds for which versions of rows stay: longer than the test. */
const PINNED_MS = 86_400_000
/** Movements of tokens that have landed meanwhile; some are sure in a long run alone. */
const MOVEMENTS = [
  ...['mint', 'reopen', 'freeze'],
  ...(SLOTS < 500 ? [] : ['transfer', 'burn', 'close', 'thaw', 'wrap', 'unwrap', 'withdraw fees'])
]
/** Shapes of earlier slots, for the comparison at the end. */
const SEEN_MAX = 60

const mintsOf = ({ traffic }: HolderWorld): Pubkey[] => [
  NATIVE_MINT,
  USDC,
  traffic.classic.mint.toBytes(),
  traffic.fees.mint.toBytes()
]

async function equal(t: Test, world: HolderWorld, message: string): Promise<void> {
  await world.settled(message)
  const slot = world.bank.slot('processed')
  const mints = mintsOf(world)
  for (const [at, shape] of world.chains(mints).entries()) {
    const mint = mints[at]!
    t.strictSame(await world.stored(mint, slot), shape, `${message}: ${pubkeyToBase58(mint)}`)
  }
}

t.test(
  'every list equals the accounts of the chain, through forks, skipped slots and restarts',
  async (t) => {
    const world = await HolderWorld.open(t, 5, { pinnedMs: PINNED_MS })
    await world.slots(3)
    for (const mint of mintsOf(world)) await world.ask(mint)
    await world.slots(4)
    await equal(t, world, 'after the first reading')
    // A fork below the slot of a list's first reading makes the list be read again.
    await world.slots(8)
    await equal(t, world, 'before the forks')
    const { calls } = world
    /** Lists as they were at slots that are still on the chain. */
    const seen = new Map<number, ListShape>()
    const last = world.bank.slot('processed') + SLOTS
    for (let round = 0; world.bank.slot('processed') < last; round++) {
      const [head, { forks }] = [world.bank.slot('processed'), world.bank.faults.fired]
      const fault = world.choices.below(4)
      if (fault === 0) world.bank.faults.fork('drop')
      if (fault === 1) world.bank.faults.fork('replace')
      if (fault === 2) world.bank.faults.skip(1 + world.choices.below(3))
      await world.slots(1 + world.choices.below(6))
      await equal(t, world, `round ${round}`)
      // A fork undoes the newest block alone.
      if (world.bank.faults.fired.forks > forks) seen.delete(head)
      seen.set(world.bank.slot('processed'), world.chain(NATIVE_MINT))
      if (seen.size > SEEN_MAX) seen.delete(seen.keys().next().value!)
    }
    const landed = world.traffic.landed()
    for (const kind of MOVEMENTS) t.ok(landed[kind]! > 0, `${kind}: ${landed[kind]}`)
    t.ok(world.bank.faults.fired.forks > 3, `${world.bank.faults.fired.forks} forks`)
    t.ok((await world.counted('millrace_holder_rollbacks_total')) > 3)
    t.ok(seen.size > 5, `${seen.size} earlier slots`)
    for (const [slot, shape] of seen)
      t.strictSame(await world.stored(NATIVE_MINT, slot), shape, `wrapped SOL at slot ${slot}`)
    // A waiting fault would be a fork across the restart, which this index does not report.
    await world.slots(8)
    await equal(t, world, 'before the restarts')
    t.equal(world.calls, calls, 'no fork has asked the node')
    for (const lateSlots of [0, 1, 6]) {
      await world.restart(lateSlots, 3)
      await world.slots(3)
      await equal(t, world, `after a restart ${lateSlots} slots later`)
    }
    t.equal(world.calls, calls, 'the node was not asked again')
    t.strictSame(world.faults, [])
  }
)

t.test('a hole makes lists stale, and they are read again', async (t) => {
  const world = await HolderWorld.open(t, 6)
  for (const mint of mintsOf(world)) await world.ask(mint)
  await equal(t, world, 'after the first reading')
  const { calls } = world
  world.isNodeAway = true
  const before = world.chain(NATIVE_MINT)
  const slot = world.bank.slot('processed')
  world.index.hides = 2
  await world.slots(4)
  await until(async () => world.follower.lists.every(({ state }) => state.state === 'stale'), 'stale lists')
  for (const list of world.follower.lists) {
    t.match(list.state, { state: 'stale', slot })
    t.match(list.state.reason, /missing/)
  }
  t.strictSame(await world.stored(NATIVE_MINT, slot), before, 'what is stored can be read')
  world.isNodeAway = false
  await equal(t, world, 'after the second reading')
  t.ok(world.calls > calls)
})
