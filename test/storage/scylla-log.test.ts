import assert from 'node:assert/strict'
import t from 'tap'
import type { LogEntry } from '../../src/market/log.ts'
import type { BlockCommit } from '../../storage/port.ts'
import type { ScyllaBase } from '../../storage/scylla/base.ts'
import { logTable } from '../../storage/scylla/log.ts'
import { emptyBlock } from '../../storage/test/sample-blocks.ts'
import { sampleLogEntry } from '../../storage/test/sample-log.ts'
import { testWithCql } from '../servers/cql.ts'
import { newKeyspace, watched, Watermarks } from './scylla-writers.ts'

const DAY = 86_400
const SLOTS_A_DAY = 216_000

/** Returns the block of a slot with some log entries. */
function blockOf(slot: number, ...log: readonly LogEntry[]): BlockCommit {
  const block = emptyBlock(0)
  return { ...block, slot: { ...block.slot, slot }, log }
}

/** Records the statements of the pages that a process reads. */
function counted(base: ScyllaBase): { base: ScyllaBase; reads: string[] } {
  const reads: string[] = []
  const onCall = (method: string, args: readonly unknown[]): void => {
    if (method === 'pages') reads.push(args[0] as string)
  }
  return { base: watched(base, onCall), reads }
}

testWithCql(t, 'the log on a CQL server', async (t, server) => {
  const { connect } = await newKeyspace(t, server)
  const watermarks = new Watermarks(await connect())

  t.test('a day of a quiet channel is read without its empty buckets', async (t) => {
    const writer = watermarks.claim()
    const { stage } = logTable(writer.base)
    const slots = [0, 40_000, 40_001, 120_000, SLOTS_A_DAY].map((slot) => 400_000_000 + slot)
    const entries = slots.map((slot) => sampleLogEntry('launches', slot, 3))
    for (const entry of entries) await writer.committed(blockOf(entry.slot, entry), stage)
    const { base, reads } = counted(watermarks.process())
    const { port } = logTable(base)
    const range = { first: slots[0]!, last: slots.at(-1)! }
    assert.deepStrictEqual(await port.ofSlots('launches', { ...range, limit: 32 }), entries)
    t.equal(reads.length, 5, 'the index, and the buckets that have parts')
    reads.length = 0
    t.strictSame(await port.ofSlots('curves', { ...range, limit: 32 }), [])
    t.equal(reads.length, 1, 'of a channel without an event the index alone')
  })

  t.test('a part of hundreds of kilobytes is one row, and goes with others', async (t) => {
    const writer = watermarks.claim()
    const { stage } = logTable(writer.base)
    const slots = [0, 1, 2].map((n) => 401_000_000 + n)
    const entries = slots.map((slot) => sampleLogEntry('venue:pumpfun', slot, 6_000))
    const commit = await writer.committed(blockOf(slots[2]!, ...entries), stage)
    const sizes = commit.writes.flat().map(({ bytes }) => bytes)
    t.ok(Math.max(...sizes) > 200_000, `${Math.max(...sizes)} bytes`)
    const { port } = logTable(watermarks.process())
    const range = { first: slots[0]!, last: slots[2]!, limit: 9 }
    assert.deepStrictEqual(await port.ofSlots('venue:pumpfun', range), entries)
  })

  t.test('every row lives as long as the log does, whatever the retention of rows is', async (t) => {
    const left = async (logTtlSeconds: number | null): Promise<unknown> => {
      const writer = watermarks.claim(watermarks.process(90 * DAY, logTtlSeconds))
      const slot = 402_000_000 + watermarks.snapshot.newest
      const { stage } = logTable(writer.base)
      await writer.committed(blockOf(slot, sampleLogEntry('curves', slot, 1)), stage)
      const bucket = Math.floor(slot / 1_024)
      const select = 'SELECT TTL(row) AS ttl FROM log WHERE owner = ? AND bucket = ? AND cursor = ?'
      const params = [Buffer.of(1), bucket, BigInt(slot) * 2n ** 20n]
      const [row] = await writer.base.client.read(select, params)
      return row?.['ttl']
    }
    t.equal(await left(null), null)
    const seconds = (await left(DAY)) as number
    t.ok(seconds > DAY - 60 && seconds <= DAY, `${seconds} s`)
  })
})
