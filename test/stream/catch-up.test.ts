import assert from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import { catchUp } from '../../actors/stream/catch-up.ts'
import { Replays } from '../../actors/stream/replays.ts'
import { copied } from '../../src/kernel/memory/arena.ts'
import { cursorAt } from '../../src/market/cursor.ts'
import type { EncodedEvent } from '../../src/market/log.ts'
import type { ReadLimits } from '../../src/stream/channel-history.ts'
import { channelOf, type Channel } from '../../src/stream/channel.ts'
import { mergedFrames, type Frames } from '../../src/stream/frames.ts'
import type { StreamHub } from '../../src/stream/hub.ts'
import { MergedPast } from '../../src/stream/merged-past.ts'
import { randomRuns } from '../random-runs.ts'
import { textsOf } from './fake-pipe.ts'
import { TURNS_AT_ONCE } from '../../src/kernel/work/turns.ts'

const NAMES = ['venue:pumpswap', 'launches', 'curves']
const SLOTS = 400
const HEAD = cursorAt(SLOTS + 1, 0) - 1
/** Up to more events than a page of any channel, so that some rows read of one channel wait for the others. */
const EVENTS = { minLength: 1, maxLength: 4_000, size: 'max' } as const

/** The places of each channel's events in the chain. */
const anyPast = fc.array(fc.array(fc.nat(SLOTS * 50), EVENTS), { minLength: 1, maxLength: NAMES.length })

function pastOf(places: readonly (readonly number[])[]): Map<string, EncodedEvent[]> {
  return new Map(
    places.map((ofChannel, n) => [
      NAMES[n]!,
      [...new Set(ofChannel)]
        .sort((a, b) => a - b)
        .map((place) => ({
          cursor: cursorAt(Math.floor(place / 50), (place % 50) * 4 + n),
          body: Buffer.from(`{"at":"${NAMES[n]} ${place} ${'x'.repeat(place % 90)}","cursor":`)
        }))
    ])
  )
}

/** Reads events after a cursor from the memory given, in the layout of the store. */
function historyOf(past: Map<string, EncodedEvent[]>) {
  return {
    async read({ name }: Channel, after: number, until: number, { rows, allocator }: ReadLimits) {
      const events = past
        .get(name)!
        .filter(({ cursor }) => cursor > after && cursor <= until)
        .slice(0, rows)
        .map(({ cursor, body }) => ({ cursor, body: copied(body, allocator!) }))
      return { events, to: events.length < rows ? until : events.at(-1)!.cursor }
    }
  }
}

/** Returns the messages to a client of some channels. Its socket now and then accepts a page and sends it later. */
async function sent(past: Map<string, EncodedEvent[]>, waits: Iterator<boolean>): Promise<string[]> {
  const texts: string[] = []
  let withSocket: Buffer[] = []
  const send = (): void => {
    texts.push(...withSocket.flatMap(textsOf))
    withSocket = []
  }
  const channels = [...past.keys()].map((name) => channelOf(name) as Channel)
  await catchUp(new MergedPast(historyOf(past), channels, -1), true, {
    hub: { head: HEAD, recentAfter: () => null } as unknown as StreamHub,
    replays: new Replays(TURNS_AT_ONCE),
    tenant: 'acme',
    retry: (ask) => ask(),
    join: () => undefined,
    room: async () => {
      if (waits.next().value !== true) send()
    },
    workLeft: () => null,
    charge: () => undefined,
    isSent: () => withSocket.length === 0,
    give: (parts: readonly Frames[]) => void withSocket.push(mergedFrames(parts).bytes),
    horizon: () => -1,
    beyond: () => assert.fail('nothing is beyond the horizon'),
    end: new AbortController().signal
  })
  send()
  return texts
}

t.test(
  'a replay of any channels gives each event once, in order, whole, however the socket takes it',
  async (t) => {
    let pages = 0
    await fc.assert(
      fc.asyncProperty(anyPast, fc.infiniteStream(fc.boolean()), async (places, waits) => {
        const past = pastOf(places)
        const texts = await sent(past, {
          next: () => {
            pages++
            return { value: waits.next().value as boolean, done: false }
          }
        })
        const expected = Array.from(past, ([channel, events]) =>
          events.map(({ cursor, body }) => ({ cursor, text: messageOf(channel, cursor, body) }))
        )
          .flat()
          .sort((a, b) => a.cursor - b.cursor)
          .map(({ text }) => text)
        assert.deepEqual(texts, expected)
      }),
      randomRuns(50)
    )
    t.ok(pages > 200, `${pages} pages`)
  }
)

function messageOf(channel: string, cursor: number, body: Uint8Array): string {
  const data = `${Buffer.from(body).toString()}${cursor}}`
  return `{"type":"event","channel":"${channel}","data":${data},"cursor":${cursor},"replay":true}`
}
