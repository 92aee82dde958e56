import type { Test } from 'tap'
import { HEAP_ALLOCATOR } from '../../../src/kernel/memory/arena.ts'
import { BlockEvents } from '../../../src/stream/block-events.ts'
import type { Channel } from '../../../src/stream/channel.ts'
import { ChannelHistory } from '../../../src/stream/channel-history.ts'
import { MergedPast } from '../../../src/stream/merged-past.ts'
import { channelsOf } from '../../../src/stream/retractions.ts'
import type { BlockCommit, Storage } from '../../../storage/port.ts'
import { Choices } from '../../../storage/test/choices.ts'
import { CASH } from './put-back-chain.ts'

/** An event in the form in which a client receives it. */
interface SentEvent {
  readonly channel: string
  readonly cursor: number
  readonly text: string
}

const textOf = (body: Uint8Array): string => Buffer.from(body).toString()
const inOrder = (events: readonly SentEvent[]): SentEvent[] => events.toSorted((a, b) => a.cursor - b.cursor)

/** Returns all channels that carry an event of some blocks, each once. */
export function channelsIn(blocks: readonly BlockCommit[]): Channel[] {
  const all = blocks.flatMap((block) => [...channelsOf(block)])
  return [...new Map(all.map((channel) => [channel.name, channel])).values()]
}

/** Returns the events that the hub sends of some blocks on all of their channels, in cursor order. */
export function sentLive(blocks: readonly BlockCommit[]): SentEvent[] {
  const published = blocks.flatMap((block) => [...new BlockEvents(block, CASH).on(channelsOf(block))])
  return inOrder(
    published.flatMap(([{ name }, events]) =>
      events.map(({ cursor, body }) => ({ channel: name, cursor, text: textOf(body) }))
    )
  )
}

/** Returns the events that a client with some channels receives after one cursor and up to another, in small pages. */
export async function sentAfter(
  storage: Storage,
  channels: readonly Channel[],
  since: number,
  until: number,
  rowsHeld = 64
): Promise<SentEvent[]> {
  const past = new MergedPast(new ChannelHistory(storage, CASH), channels, since, { rowsHeld })
  const sent: SentEvent[] = []
  while (past.position < until) {
    const page = await past.next(until, HEAP_ALLOCATOR)
    const events = page.flatMap(({ channel, events }) =>
      events.map(({ cursor, body }) => ({ channel: channel.name, cursor, text: textOf(body) }))
    )
    sent.push(...inOrder(events))
  }
  return sent
}

/**
 * Cuts off a client of some channels after every event. Asserts that it then receives all events that follow, each once, and
 * that no two cursors are equal. Returns the events that it receives from the beginning.
 */
export async function assertResumable(
  t: Test,
  storage: Storage,
  channels: readonly Channel[],
  until: number,
  cuts: number
): Promise<SentEvent[]> {
  const all = await sentAfter(storage, channels, -1, until, 2_048)
  const isAscending = all.every(({ cursor }, i) => i === 0 || cursor > all[i - 1]!.cursor)
  t.ok(isAscending, `${all.length} events on ${channels.length} channels, each with a cursor of its own`)
  const choices = new Choices(cuts)
  for (let cut = 0; cut < cuts; cut++) {
    const from = choices.below(all.length - 1)
    // A client may also have a cursor from between two events, such as that of a channel that it has left.
    const since = all[from]!.cursor + choices.below(all[from + 1]!.cursor - all[from]!.cursor)
    const few = channels.filter(() => choices.chance(0.3))
    const names = new Set(few.map(({ name }) => name))
    t.strictSame(
      await sentAfter(storage, few, since, until, choices.of([16, 200])),
      all.slice(from + 1).filter(({ channel }) => names.has(channel)),
      `after ${since}`
    )
  }
  return all
}
