import fc from 'fast-check'
import { pubkeyToBase58 } from '../../src/chain/pubkey.ts'
import { cursorAt, SIDE_BY_SIDE_POSITIONS } from '../../src/market/cursor.ts'
import { blockOf, MINTS, POOLS, VENUES, WALLETS, type EventSpec } from './blocks.ts'
import { StreamClient, type Heard } from './stream-client.ts'
import { channelNamed, quiet, World, WorldStore } from './stream-world.ts'

/** A step of a schedule, followed by a number of turns of the event loop. */
export type Happening =
  | { readonly type: 'commit' | 'late'; readonly events: readonly EventSpec[]; readonly gap: number }
  | { readonly type: 'jump' | 'together'; readonly blocks: readonly (readonly EventSpec[])[] }
  | { readonly type: 'subscribe'; readonly names: readonly number[]; readonly since: number | null }
  | { readonly type: 'unsubscribe'; readonly names: readonly number[] }
  | { readonly type: 'read' | 'stall' }
  | {
      readonly type: 'fork'
      readonly lost: number
      readonly events: readonly EventSpec[]
      /** Turns between the fork's end and the next block, and whether the process is killed there. */
      readonly pause: number
      readonly isKilled: boolean
    }
  | { readonly type: 'delay'; readonly turns: readonly number[] }
  | { readonly type: 'reconnect'; readonly elsewhere: boolean }

export interface Step {
  readonly happening: Happening
  readonly turns: number
}

export const CHANNELS = [
  ...MINTS.flatMap((mint) => [`trades:${pubkeyToBase58(mint)}`, `price:${pubkeyToBase58(mint)}`]),
  ...POOLS.map((pool) => `pool:${pubkeyToBase58(pool)}`),
  ...WALLETS.map((wallet) => `wallet:${pubkeyToBase58(wallet)}`),
  ...VENUES.map((venue) => `venue:${venue}`),
  'pools'
]

const anySpecs = fc.array(fc.nat(69), { maxLength: 6 })
const anyNames = fc.uniqueArray(fc.nat(CHANNELS.length - 1), { minLength: 1, maxLength: 3 })
/** In thousandths of the way from the first slot to a slot beyond the head. */
const anySince = fc.option(fc.nat(1_100))

const anyHappening: fc.Arbitrary<Happening> = fc.oneof(
  { weight: 8, arbitrary: fc.record({ type: fc.constant('commit'), events: anySpecs, gap: fc.nat(1) }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('late'), events: anySpecs, gap: fc.nat(20) }) },
  {
    weight: 1,
    arbitrary: fc.record({ type: fc.constant('jump'), blocks: fc.array(anySpecs, { maxLength: 3 }) })
  },
  {
    weight: 2,
    arbitrary: fc.record({ type: fc.constant('together'), blocks: fc.array(anySpecs, { maxLength: 4 }) })
  },
  { weight: 4, arbitrary: fc.record({ type: fc.constant('subscribe'), names: anyNames, since: anySince }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('unsubscribe'), names: anyNames }) },
  { weight: 2, arbitrary: fc.record({ type: fc.constantFrom('read', 'stall') }) },
  {
    weight: 1,
    arbitrary: fc.record({
      type: fc.constant('fork'),
      lost: fc.integer({ min: 1, max: 3 }),
      events: anySpecs,
      pause: fc.nat(2),
      isKilled: fc.boolean()
    })
  },
  {
    weight: 2,
    arbitrary: fc.record({ type: fc.constant('delay'), turns: fc.array(fc.nat(3), { maxLength: 4 }) })
  },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('reconnect'), elsewhere: fc.boolean() }) }
)

export const anySchedule: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.record({ happening: anyHappening, turns: fc.nat(2) }),
  { maxLength: 40 }
)

/** Slots before the first one of a schedule are for blocks that come late. */
const FIRST_SLOT = 100
/** A small buffer, which is soon full. */
const ROOM = { events: 16, bytes: 2 ** 20 }
/** Bytes of a few events, of which a socket takes more than one batch before it reports backpressure. */
const SOCKET_BYTES = 2_000

/** Runs a schedule until no operation is in flight. Returns the faults: events that a client wrongly received or missed. */
export async function play(schedule: readonly Step[]): Promise<string[]> {
  const store = new WorldStore()
  let world = worldOn(store)
  let slot = FIRST_SLOT
  const lateSlots = new Set<number>()
  const everStored = new Map<string, Set<number>>(CHANNELS.map((name) => [name, new Set()]))
  let isSure = true
  const note = (): void => {
    for (const name of CHANNELS)
      for (const { cursor } of store.eventsOf(channelNamed(name), -1, Infinity))
        everStored.get(name)!.add(cursor)
  }
  const client = new StreamClient(world)
  for (const { happening, turns } of schedule) {
    const isReading = client.pipe.isReading
    switch (happening.type) {
      case 'commit':
        slot += 1 + happening.gap
        world.commit(blockOf(slot, happening.events))
        note()
        break
      case 'together':
        world.commitAll(happening.blocks.map((events) => blockOf((slot += 1), events)))
        note()
        break
      case 'jump':
        world.jump(happening.blocks.map((events) => blockOf((slot += 2), events)))
        note()
        break
      case 'late': {
        const free = slot - 1 - happening.gap
        const isFree = free >= FIRST_SLOT && store.blocks.every((block) => block.slot.slot !== free)
        if (!isFree || store.blocks.length === 0 || free > store.head!.slot) break
        lateSlots.add(free)
        world.insert(blockOf(free, happening.events))
        note()
        break
      }
      case 'fork':
        if (store.blocks.length === 0) break
        slot++
        world.rollBack(happening.lost, slot)
        await quiet(happening.pause)
        if (happening.isKilled) {
          world = worldOn(store)
          client.reconnect(world)
          isSure &&= isReading
          await quiet(happening.pause)
        }
        world.commit(blockOf(slot, happening.events))
        note()
        break
      case 'subscribe': {
        const since = happening.since === null ? null : sinceAt(happening.since, slot)
        client.subscribe(
          happening.names.map((index) => CHANNELS[index]!),
          since
        )
        break
      }
      case 'unsubscribe':
        client.unsubscribe(happening.names.map((index) => CHANNELS[index]!))
        break
      case 'stall':
        client.pipe.isReading = false
        break
      case 'read':
        resume(client)
        break
      case 'delay':
        store.delays.push(...happening.turns)
        break
      case 'reconnect':
        if (happening.elsewhere) world = worldOn(store)
        client.reconnect(world)
        isSure &&= isReading
        break
    }
    await quiet(turns)
    client.listen()
  }
  resume(client)
  // A `since` ahead of the head is reached.
  world.commit(blockOf(slot + 20, [0, 1, 2, 3, 4]))
  note()
  await quiet(60)
  client.listen()
  return [
    ...client.faults,
    ...world.faults.map(String),
    ...client.heard.flatMap((heard) => judge(heard, store, everStored.get(heard.channel)!, lateSlots)),
    ...(isSure ? judgeDropped(client, store, lateSlots) : [])
  ]
}

function worldOn(store: WorldStore): World {
  const world = new World(store)
  world.room = ROOM
  world.socketBytes = SOCKET_BYTES
  return world
}

function resume({ pipe, connection }: StreamClient): void {
  pipe.isReading = true
  pipe.read()
  connection.drained()
}

function sinceAt(thousandths: number, slot: number): number {
  const slots = ((slot - FIRST_SLOT + 1) * thousandths) / 1_000
  // The positions of six trades, then those of their copies on `wallet:`.
  const nth = Math.floor((slots % 1) * 30)
  return cursorAt(FIRST_SLOT + Math.floor(slots), nth < 24 ? nth : SIDE_BY_SIDE_POSITIONS + nth - 24)
}

const slotOf = (cursor: number): number => Math.floor(cursor / 2 ** 20)

/** Checks that a subscription received the store's events after its start, up to its end, and no others. */
function judge(
  { channel, since, cursors, holes, isOpen }: Heard,
  store: WorldStore,
  everStored: ReadonlySet<number>,
  lateSlots: ReadonlySet<number>
): string[] {
  const strangers = cursors.filter((cursor) => cursor <= since || !everStored.has(cursor))
  const end = isOpen ? Infinity : (cursors.at(-1) ?? -1)
  const heard = new Set(cursors)
  const missing = store
    .eventsOf(channelNamed(channel), since, Infinity)
    .map(({ cursor }) => cursor)
    .filter((cursor) => cursor <= end && !heard.has(cursor) && !lateSlots.has(slotOf(cursor)))
    .filter((cursor) => !holes.some(({ from, to }) => cursor > from && cursor <= to))
  return [
    ...strangers.map((cursor) => `${channel} since ${since}: ${cursor} was never stored, or is too old`),
    ...missing.map((cursor) => `${channel} since ${since}: ${cursor} is missing`)
  ]
}

/** Checks that at most as many events are missing as were reported as dropped. */
function judgeDropped(client: StreamClient, store: WorldStore, lateSlots: ReadonlySet<number>): string[] {
  let missing = 0
  for (const { channel, since, cursors, isOpen } of client.heard) {
    const heard = new Set(cursors)
    const end = isOpen ? Infinity : (cursors.at(-1) ?? -1)
    missing += store
      .eventsOf(channelNamed(channel), since, Infinity)
      .filter(({ cursor }) => cursor <= end && !heard.has(cursor) && !lateSlots.has(slotOf(cursor))).length
  }
  return missing > client.dropped
    ? [`${missing} events are missing and ${client.dropped} were said to be`]
    : []
}
