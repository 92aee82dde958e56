import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { ChangeLog } from '../../actors/transactions/change-log.ts'
import { endOfChainEvents } from '../../src/market/cursor.ts'
import { systemPorts } from '../../src/ports.ts'
import { changeBatches, type ChangeBatch, type PublishedChange } from '../../src/transactions/change-batch.ts'
import { ChangeHistory } from '../../src/transactions/change-history.ts'
import type { SubmissionChange } from '../../src/transactions/changes.ts'
import { UnsettledBatches } from '../../src/transactions/unsettled-batches.ts'
import type { DocumentStore } from '../../storage/document-store.ts'
import { Documents } from '../../storage/documents.ts'
import { Choices } from '../../storage/test/choices.ts'
import type { StorageUnderTest } from '../../storage/test/under-test.ts'
import { testClaim } from '../actors/webhooks/delivery-world.ts'
import { testWithCql } from '../servers/cql.ts'
import { ScyllaUnderTest } from '../storage/scylla-keyspace.ts'
import { CHANGE } from '../transactions/submission-change.ts'

const TENANT = 'acme'
const CHANGES = 30
/** Maximum block interval in milliseconds: about the time of a write, so that many batches are moved behind a new block. */
const BLOCK_MS = 12

/** A tenant's changes on one CQL server, which several processes store and read while blocks come. */
class SharedChanges {
  readonly choices = new Choices(7)
  readonly #end = new AbortController()
  #slot = 100
  /** Changes that a client of another process receives by replays, one after another, each from its last cursor. */
  readonly replayed: { readonly cursor: number; readonly signature: string }[] = []
  readonly #replaying: Promise<void>
  readonly #passing: Promise<void>

  constructor(reader: DocumentStore) {
    this.#passing = this.#pass()
    this.#replaying = this.#replay(new ChangeHistory(reader, { isShared: true, ttlMs: null }))
  }

  log(documents: DocumentStore, published: ChangeBatch[] = []): ChangeLog {
    return new ChangeLog(
      {
        documents,
        clock: systemPorts.clock,
        isShared: true,
        ttlMs: null,
        head: () => endOfChainEvents(this.#slot),
        unsettled: new UnsettledBatches(),
        publish: (batch) => published.push(batch),
        report: (fault) => {
          throw fault
        }
      },
      this.#end.signal
    )
  }

  /** Reads what is left, and ends. */
  async end(): Promise<void> {
    this.#end.abort()
    await Promise.all([this.#passing, this.#replaying])
  }

  async #pass(): Promise<void> {
    for (; !this.#end.signal.aborted; this.#slot++) await sleep(1 + this.choices.below(BLOCK_MS))
  }

  async #replay(history: ChangeHistory): Promise<void> {
    for (let isLast = false; !isLast;) {
      isLast = this.#end.signal.aborted
      const since = this.replayed.at(-1)?.cursor ?? -1
      const { events } = await history.read(TENANT, since, Number.MAX_SAFE_INTEGER, 10)
      for (const { cursor, body } of events) {
        const { signature } = JSON.parse(`${body.toString()}${cursor}}`) as PublishedChange
        this.replayed.push({ cursor, signature })
      }
      if (events.length > 0) isLast = false
    }
  }
}

const changeOf = (signature: string): SubmissionChange => ({ ...CHANGE, signature })

const SIGNATURES = Array.from({ length: CHANGES }, (_, at) => `signature-${at}`)

async function storedBatches(documents: DocumentStore): Promise<readonly ChangeBatch[]> {
  return (await new Documents(documents, changeBatches(null)).all(TENANT)).map(({ value }) => value)
}

/** Asserts that each change is stored once, and that the replays have sent each once, at the place that it has. */
async function assertReplayed(
  t: Test,
  { replayed }: SharedChanges,
  documents: DocumentStore,
  signatures: readonly string[] = SIGNATURES
): Promise<void> {
  const batches = await storedBatches(documents)
  const stored = batches.flatMap(({ changes }) => changes)
  t.strictSame(stored.map(({ signature }) => signature).toSorted(), signatures.toSorted())
  t.strictSame(
    replayed,
    stored.map(({ cursor, signature }) => ({ cursor, signature }))
  )
  t.comment(
    `${batches.length} batches, ${batches.filter(({ isSettled }) => isSettled).length} settled by a reader`
  )
}

testWithCql(t, 'changes of submissions on a CQL server', async (t, server) => {
  const under = await ScyllaUnderTest.make(server)
  t.teardown(() => under.end())
  const open = async (t: Test): Promise<StorageUnderTest & { readonly reader: DocumentStore }> => {
    const opened = await under.open(t)
    return { ...opened, reader: (await opened.join!()).documents }
  }

  t.test(
    'a replay of another process sends each once, whichever of the two writes of a batch comes first',
    async (t) => {
      const { storage, reader } = await open(t)
      const shared = new SharedChanges(reader)
      const published: ChangeBatch[] = []
      const log = shared.log(storage.documents, published)
      const claim = testClaim(1)
      const appended: Promise<void>[] = []
      for (const signature of SIGNATURES) {
        appended.push(log.append(TENANT, changeOf(signature), claim))
        // Some share a batch.
        if (shared.choices.below(3) > 0) await appended.at(-1)
      }
      await Promise.all(appended)
      await shared.end()
      await assertReplayed(t, shared, storage.documents)
      t.strictSame(
        published.flatMap(({ changes }) => changes.map(({ cursor }) => cursor)),
        shared.replayed.map(({ cursor }) => cursor),
        'connections that hear of them get the same cursors'
      )
    }
  )

  t.test('a process that takes over while its predecessor still writes tells each once', async (t) => {
    const { storage, reader } = await open(t)
    const shared = new SharedChanges(reader)
    const [before, after] = [testClaim(1), testClaim(2)]
    const first = shared.log(storage.documents)
    const told = SIGNATURES.map(async (signature, at) => {
      await sleep(at * BLOCK_MS)
      await first.append(TENANT, changeOf(signature), before)
    })
    const ended = Promise.allSettled(told)
    await told[CHANGES >> 1]
    const second = shared.log(reader)
    const known = await second.restore(TENANT)
    const own = [...SIGNATURES.filter((signature) => !known.has(signature)), 'its own']
    await Promise.all(own.map((signature) => second.append(TENANT, changeOf(signature), after)))
    await ended
    await t.rejects(first.append(TENANT, changeOf('too late'), before))
    await shared.end()
    await assertReplayed(t, shared, storage.documents, [...SIGNATURES, 'its own'])
  })
})
