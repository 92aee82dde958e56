import assert from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import { POSITIONS_PER_SLOT } from '../../src/market/cursor.ts'
import type { LogEntry } from '../../src/market/log.ts'
import { logChannelCodes } from '../../storage/codec/codes.ts'
import { logAddressIn, logKey } from '../../storage/codec/keys.ts'
import { logEntryKind } from '../../storage/codec/log-entry.ts'
import { packRecord, unpackRecord } from '../../storage/codec/record.ts'
import { VENUE_IDS } from '../../src/chain/venue-id.ts'
import { sampleLogEntry } from '../../storage/test/sample-log.ts'
import { randomRuns } from '../random-runs.ts'
import { ERRORS } from '../../src/kernel/errors.ts'

/** Log entries of any channel and slot; bodies of any bytes, some of them similar. */
const anyPart: fc.Arbitrary<LogEntry> = fc
  .record({
    channel: fc.constantFrom(...logChannelCodes.words),
    slot: fc.nat(2 ** 33 - 1),
    positions: fc.uniqueArray(fc.nat(POSITIONS_PER_SLOT - 1), { minLength: 1, maxLength: 40 }),
    bodies: fc.array(
      fc.oneof(fc.uint8Array({ maxLength: 300 }), fc.constant(new Uint8Array(1_500).fill(65))),
      { minLength: 1, maxLength: 40 }
    )
  })
  .map(({ channel, slot, positions, bodies }) => ({
    channel,
    slot,
    events: positions
      .sort((a, b) => a - b)
      .map((position, i) => ({
        cursor: slot * POSITIONS_PER_SLOT + position,
        body: bodies[i % bodies.length]!
      }))
  }))

/** Returns the encoded bytes; the codec caches them for as long as the object exists. */
const packed = (entry: LogEntry): Uint8Array =>
  packRecord(logEntryKind, logKey(entry.channel, entry.slot), { ...entry }).slice()

const unpacked = ({ channel, slot }: LogEntry, bytes: Uint8Array): LogEntry =>
  unpackRecord(logEntryKind, logKey(channel, slot), bytes)

t.test('a part of any events reads back exactly, compressed and not', async (t) => {
  let smaller = 0
  fc.assert(
    fc.property(anyPart, (entry) => {
      const bytes = packed(entry)
      assert.deepStrictEqual(unpacked(entry, bytes), entry)
      if (bytes.length < entry.events.reduce((sum, { body }) => sum + body.length, 0)) smaller++
    }),
    randomRuns(200, 41)
  )
  t.ok(smaller > 50, `${smaller} are smaller than their bodies`)
})

t.test('the bytes of a part are the same each time that it is packed', async (t) => {
  const entry = sampleLogEntry('curves', 7, 90)
  const key = logKey('curves', 7)
  const first = packRecord(logEntryKind, key, entry).slice()
  t.strictSame(packRecord(logEntryKind, key, entry).slice(), first)
  t.strictSame(packed(entry), first)
})

t.test('every channel has a key of its own, in the order of slots', async (t) => {
  const channels = [
    'launches',
    'moves',
    'curves',
    'pools',
    'retractions',
    ...VENUE_IDS.map((venue) => `venue:${venue}`)
  ]
  t.strictSame(logChannelCodes.words.toSorted(), channels.toSorted())
  for (const channel of logChannelCodes.words) {
    const slots = [0, 1, 255, 256, 2 ** 32 - 1, 2 ** 32, 2 ** 33 - 1]
    const keys = slots.map((slot) => logKey(channel, slot))
    t.strictSame(
      keys.toSorted((a, b) => Buffer.compare(a, b)),
      keys
    )
    t.strictSame(
      keys.map(logAddressIn),
      slots.map((slot) => ({ channel, slot }))
    )
  }
})

t.test('an event of another slot has no place in a part', async (t) => {
  const { events } = sampleLogEntry('launches', 8, 2)
  t.throws(() => packed({ channel: 'launches', slot: 9, events }), RangeError)
})

t.test('a packed part with any byte changed is refused, as is one under the key of another', async (t) => {
  const entry = sampleLogEntry('venue:phoenix', 400_000_000, 60)
  const bytes = packed(entry)
  for (let at = 0; at < bytes.length; at += 7) {
    const damaged = bytes.slice()
    damaged[at]! ^= 1
    assert.throws(() => unpacked(entry, damaged), { name: 'ServiceError', kind: ERRORS.STORAGE_UNAVAILABLE })
  }
  t.throws(() => unpacked({ ...entry, slot: entry.slot + 1 }, bytes), {
    name: 'ServiceError',
    kind: ERRORS.STORAGE_UNAVAILABLE
  })
  t.throws(() => unpacked({ ...entry, channel: 'curves' }, bytes), {
    name: 'ServiceError',
    kind: ERRORS.STORAGE_UNAVAILABLE
  })
})
