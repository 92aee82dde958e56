import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import { pubkeyToBase58 } from '../../../src/chain/pubkey.ts'
import { cursorAt, endOfChainEvents, tenantCursorAfter } from '../../../src/market/cursor.ts'
import { ChangeLog } from '../../../actors/transactions/change-log.ts'
import { ChangeHistory } from '../../../src/transactions/change-history.ts'
import { UnsettledBatches } from '../../../src/transactions/unsettled-batches.ts'
import { changeBatches, type ChangeBatch } from '../../../src/transactions/change-batch.ts'
import { Documents } from '../../../storage/documents.ts'
import { advance, virtualClock } from '../../virtual-time.ts'
import { testClaim } from '../webhooks/delivery-world.ts'
import { MemoryDocuments } from '../webhooks/memory-documents.ts'
import { blockOf, MINTS } from '../../stream/blocks.ts'
import type { FakePipe } from '../../stream/fake-pipe.ts'
import { quiet, send, World, WorldStore } from '../../stream/stream-world.ts'
import { CHANGE } from '../../transactions/submission-change.ts'

const TRADES = `trades:${pubkeyToBase58(MINTS[0]!)}`
const TRADE = 0

const cursorsOf = ({ messages }: FakePipe) =>
  messages.filter(({ type }) => type === 'event').map(({ cursor }) => cursor!)

/** A store that reads a list at its request, and answers when the test lets it. */
class SlowLists extends MemoryDocuments {
  readonly #answers: (() => void)[] = []

  override async list(...asked: Parameters<MemoryDocuments['list']>): ReturnType<MemoryDocuments['list']> {
    const found = await super.list(...asked)
    await new Promise<void>((resolve) => this.#answers.push(resolve))
    return found
  }

  /** Answers the newest list request. */
  answerLast(): void {
    this.#answers.pop()!()
  }
}

/** A store that answers a write of a batch when the test lets it; the batch can be read before. */
class SlowAnswers extends MemoryDocuments {
  #answers: (() => void)[] = []

  override async put(...write: Parameters<MemoryDocuments['put']>): ReturnType<MemoryDocuments['put']> {
    const outcome = await super.put(...write)
    await new Promise<void>((resolve) => this.#answers.push(resolve))
    return outcome
  }

  async answer(): Promise<void> {
    for (const resolve of this.#answers.splice(0)) resolve()
    await quiet()
  }
}

t.test(
  'a batch that another process reads while its writer moves it behind a new block is sent once, at the place that it read',
  async (t) => {
    for (const isMovedFirst of [false, true]) {
      const documents = new SlowAnswers()
      let head = endOfChainEvents(100)
      const published: ChangeBatch[] = []
      const log = new ChangeLog(
        {
          documents,
          clock: { now: () => 0, setTimeout: () => 0, clearTimeout: () => undefined },
          isShared: true,
          ttlMs: null,
          head: () => head,
          unsettled: new UnsettledBatches(),
          publish: (batch) => published.push(batch),
          report: (fault) => t.error(fault)
        },
        new AbortController().signal
      )
      const reader = new ChangeHistory(documents, { isShared: true, ttlMs: null })
      const appended = log.append('acme', CHANGE, testClaim(1))
      await turn()
      head = endOfChainEvents(101)
      if (isMovedFirst) await documents.answer()
      const reading = reader.read('acme', -1, Number.MAX_SAFE_INTEGER, 10)
      for (let write = 0; write < 4; write++) await documents.answer()
      await appended
      const sent = (await reading).events.map(({ cursor }) => cursor)
      t.strictSame(sent, [tenantCursorAfter(-1, isMovedFirst ? 101 : 100)])
      t.strictSame(
        published.flatMap(({ changes }) => changes.map(({ cursor }) => cursor)),
        sent
      )
      const again = await reader.read('acme', sent[0]!, Number.MAX_SAFE_INTEGER, 10)
      t.strictSame(again.events, [], 'a client that resumes gets it once')
    }
  }
)

t.test(
  'a batch that the previous process stores after a takeover is published once, at its place',
  async (t) => {
    for (const isFirst of [false, true]) {
      const store = new MemoryDocuments()
      const documents = new Documents(store, changeBatches(null))
      const published: ChangeBatch[] = []
      const log = new ChangeLog(
        {
          documents: store,
          clock: { now: () => 0, setTimeout: () => 0, clearTimeout: () => undefined },
          isShared: true,
          ttlMs: null,
          head: () => endOfChainEvents(101),
          unsettled: new UnsettledBatches(),
          publish: (batch) => published.push(batch),
          report: (fault) => t.error(fault)
        },
        new AbortController().signal
      )
      let cursor = -1
      const batchOf = (number: number, slot: number, signatures: readonly string[]): ChangeBatch => ({
        tenant: 'acme',
        number,
        token: 1,
        after: cursor,
        changes: signatures.map((signature) => {
          cursor = tenantCursorAfter(cursor, slot)
          return { ...CHANGE, signature, cursor }
        })
      })
      if (!isFirst) await documents.insert(batchOf(1, 100, ['z']))
      await log.restore('acme')
      const number = isFirst ? 1 : 2
      const late = await documents.insert(batchOf(number, 100, ['a', 'b', 'c']))
      await Promise.all(
        ['a', 'b', 'c'].map((signature) => log.append('acme', { ...CHANGE, signature }, testClaim(2)))
      )
      if (!late.ok) throw new Error(late.reason)
      const moved = { ...late.stored.value, changes: batchOf(number, 101, ['a', 'b', 'c']).changes }
      t.match(
        await documents.update(late.stored, moved),
        { ok: false },
        'its writer does not move it any more'
      )
      await log.append('acme', { ...CHANGE, signature: 'b', event: 'processed', slot: 101 }, testClaim(2))
      const stored = (await documents.all('acme')).flatMap(({ value }) => value.changes)
      t.strictSame(
        stored.map(({ signature, event }) => `${signature} ${event}`),
        [...(isFirst ? [] : ['z sent']), 'a sent', 'b sent', 'c sent', 'b processed']
      )
      t.strictSame(
        published.flatMap(({ changes }) => changes),
        stored
      )
    }
  }
)

t.test(
  'a change that is stored while a takeover reads the last batches is followed by the next one',
  async (t) => {
    const documents = new SlowLists()
    const published: ChangeBatch[] = []
    const log = new ChangeLog(
      {
        documents,
        clock: { now: () => 0, setTimeout: () => 0, clearTimeout: () => undefined },
        isShared: false,
        ttlMs: null,
        head: () => endOfChainEvents(101),
        unsettled: new UnsettledBatches(),
        publish: (batch) => published.push(batch),
        report: (fault) => t.error(fault)
      },
      new AbortController().signal
    )
    const restored = log.restore('acme')
    await quiet()
    const first = log.append('acme', { ...CHANGE, signature: 'a' }, testClaim(2))
    await quiet()
    documents.answerLast()
    await first
    documents.answerLast()
    await restored
    await log.append('acme', { ...CHANGE, signature: 'b' }, testClaim(2))
    t.strictSame(
      published.map(({ number, changes }) => [number, ...changes.map(({ signature }) => signature)]),
      [
        [1, 'a'],
        [2, 'b']
      ]
    )
  }
)

t.test('a change waits for the first block, before which no replay begins', async (t) => {
  const clock = virtualClock()
  const published: ChangeBatch[] = []
  let head = -1
  const log = new ChangeLog(
    {
      documents: new MemoryDocuments(),
      clock,
      isShared: false,
      ttlMs: null,
      head: () => head,
      unsettled: new UnsettledBatches(),
      publish: (batch) => published.push(batch),
      report: (fault) => t.error(fault)
    },
    new AbortController().signal
  )
  // Its submission continues: a silent chain must not delay the storing of its end.
  await log.append('acme', CHANGE, testClaim(1))
  await advance(clock, 5_000)
  t.strictSame(published, [])
  head = endOfChainEvents(170)
  await advance(clock, 500)
  t.strictSame(
    published.flatMap(({ changes }) => changes.map(({ cursor }) => cursor)),
    [tenantCursorAfter(-1, 170)]
  )
})

t.test('a batch that is moved behind a new block is replayed at its last place alone', async (t) => {
  for (const isLive of [false, true]) {
    const documents = new SlowAnswers()
    const store = new WorldStore()
    store.blocks = [blockOf(99, [TRADE])]
    const world = new World(store, documents)
    world.commit(blockOf(100, [TRADE]))
    const clients = [world.connect()]
    const log = new ChangeLog(
      {
        documents,
        clock: { now: () => 0, setTimeout: () => 0, clearTimeout: () => undefined },
        isShared: false,
        ttlMs: null,
        head: () => world.hub.head,
        unsettled: world.changes.unsettled,
        publish: (batch) => clients.forEach(({ connection }) => connection.hear(batch)),
        report: (fault) => t.error(fault)
      },
      new AbortController().signal
    )
    const subscribe = { subscribe: [TRADES, 'tx'], since: isLive ? undefined : cursorAt(100, 0) - 1 }
    if (isLive) send(clients[0]!.connection, subscribe)
    await quiet()
    const appended = log.append('acme', CHANGE, testClaim(1))
    await turn()
    // The batch is in the store behind block 100, and its writer does not know yet.
    if (isLive) clients[0]!.connection.lookForChanges()
    else send(clients[0]!.connection, subscribe)
    await quiet()
    world.commit(blockOf(101, [TRADE]))
    await quiet()
    for (let write = 0; write < 2; write++) await documents.answer()
    await appended
    await quiet()
    const place = tenantCursorAfter(-1, 101)
    const trades = [...(isLive ? [] : [cursorAt(100, 0)]), cursorAt(101, 0)]
    t.strictSame(cursorsOf(clients[0]!.pipe), [...trades, place], isLive ? 'live' : 'replayed')
    clients.push(world.connect())
    send(clients[1]!.connection, { subscribe: ['tx'], since: 0 })
    await quiet()
    t.strictSame(cursorsOf(clients[1]!.pipe), [place])
    t.strictSame(world.faults, [])
  }
})
