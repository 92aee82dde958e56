import { systemPorts } from '../../src/ports.ts'
import type { SlotRow } from '../../src/market/rows.ts'
import { CommittedVersions } from '../../storage/scylla/base.ts'
import type { ScyllaBase } from '../../storage/scylla/base.ts'
import { CqlClient } from '../../storage/scylla/client.ts'
import { batchesOf } from '../../storage/scylla/row-write.ts'
import { Commit } from '../../storage/scylla/commit.ts'
import type { ScyllaStorageOptions } from '../../storage/scylla/store.ts'
import { mergedBlocks } from '../../storage/scylla/merged-blocks.ts'
import { Snapshot, Visibility } from '../../storage/scylla/visibility.ts'
import type { Watermarks as Known } from '../../storage/scylla/visibility.ts'
import type { BlockCommit } from '../../storage/port.ts'
import type { CqlServer } from '../servers/cql.ts'
import { lendKeyspace } from './scylla-keyspace.ts'
import type { Test } from 'tap'

type Stage = (commit: Commit) => Promise<unknown>

/** A keyspace with the store's empty tables, and connections to it, which end with the test. */
export async function newKeyspace(t: Test, server: CqlServer): Promise<NewKeyspace> {
  const options = await lendKeyspace(t, server)
  const connect = async (): Promise<CqlClient> => {
    const client = await CqlClient.connect(options, options.keyspace, systemPorts)
    t.teardown(() => client.close())
    return client
  }
  return { connect, options }
}

export interface NewKeyspace {
  readonly connect: () => Promise<CqlClient>
  readonly options: ScyllaStorageOptions
}

/**
 * The watermarks that writers and readers agree on, in memory. A test can stop a writer between any two of its steps, and
 * let a reader know less than is visible.
 */
export class Watermarks {
  readonly #client: CqlClient
  readonly #ended = new Map<number, number>()
  #epoch = 0
  #last = 0
  #head: SlotRow | null = null
  /** Number of requests by readers. */
  refreshes = 0

  constructor(client: CqlClient) {
    this.#client = client
  }

  get snapshot(): Snapshot {
    return new Snapshot({ epoch: this.#epoch, number: this.#last }, this.#head, new Map(this.#ended))
  }

  /** The state in which all commits are flushed to the tables. */
  get known(): Known {
    return { committed: this.snapshot, flushed: this.snapshot }
  }

  /** A process that knows the present watermarks, and later only those that it reads. */
  process(retentionSeconds: number | null = null, logTtlSeconds: number | null = null): ScyllaBase {
    const visibility = new Visibility()
    visibility.advance(this.known)
    return {
      client: this.#client,
      visibility,
      refresh: async () => {
        this.refreshes++
        visibility.advance(this.known)
      },
      isArchive: false,
      retentionSeconds,
      logTtlSeconds,
      indexBytesMax: 2 ** 20
    }
  }

  /** Claims the next epoch for a process. */
  claim(base: ScyllaBase = this.process()): Writer {
    this.#ended.set(this.#epoch, this.#last)
    this.#epoch++
    this.#last = Math.max(0, ...this.#ended.values())
    base.visibility.advance(this.known)
    return new Writer(this, base, this.#epoch)
  }

  publish({ epoch, number, blocks }: Commit): void {
    if (epoch !== this.#epoch) throw new Error('another process writes now')
    this.#last = number
    this.#head = blocks.newest
  }
}

/** Runs the steps of a commit one by one. */
export class Writer {
  readonly base: ScyllaBase
  readonly #watermarks: Watermarks
  readonly #epoch: number
  readonly #committed = new CommittedVersions(2 ** 20)

  constructor(watermarks: Watermarks, base: ScyllaBase, epoch: number) {
    this.#watermarks = watermarks
    this.base = base
    this.#epoch = epoch
  }

  /** Reads the records that a commit needs, and returns its writes. */
  async staged(block: BlockCommit, stage: Stage): Promise<Commit> {
    const before = this.base.visibility.snapshot
    const version = { epoch: this.#epoch, number: before.newest + 1 }
    const commit = new Commit(version, mergedBlocks([block]), before, this.#committed)
    await stage(commit)
    return commit
  }

  /** Sends all writes except the watermark. */
  async send(commit: Commit): Promise<void> {
    for (const batch of commit.writes.flatMap(batchesOf)) await this.base.client.writeThrough(batch)
  }

  publish(commit: Commit): void {
    this.#watermarks.publish(commit)
    this.base.visibility.advance(this.#watermarks.known)
    commit.becomeVisible()
  }

  async tidyUp(commit: Commit): Promise<void> {
    for (const row of commit.tidying) await this.base.client.writeThrough([row])
  }

  async written(block: BlockCommit, stage: Stage): Promise<Commit> {
    const commit = await this.staged(block, stage)
    await this.send(commit)
    return commit
  }

  async committed(block: BlockCommit, stage: Stage): Promise<Commit> {
    const commit = await this.written(block, stage)
    this.publish(commit)
    return commit
  }
}

/** Wraps a process so that each call on its connection is reported. */
export function watched(
  base: ScyllaBase,
  onCall: (method: string, args: readonly unknown[]) => void
): ScyllaBase {
  const client = new Proxy(base.client, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name)
      if (typeof member !== 'function') return member
      return (...args: unknown[]): unknown => {
        onCall(String(name), args)
        return Reflect.apply(member, target, args)
      }
    }
  })
  return { ...base, client }
}

type Pages = CqlClient['pages']

/** Wraps a process so that its answers pass page by page through a function of the test. */
export function withPages(
  base: ScyllaBase,
  pagesOf: (pages: Pages, ...args: Parameters<Pages>) => ReturnType<Pages>
): ScyllaBase {
  const client = new Proxy(base.client, {
    get(target, name) {
      const pages: Pages = (...args) => target.pages(...args)
      const member: unknown = name === 'pages' ? pagesOf.bind(null, pages) : Reflect.get(target, name)
      return typeof member === 'function' ? (member as () => unknown).bind(target) : member
    }
  })
  return { ...base, client }
}
