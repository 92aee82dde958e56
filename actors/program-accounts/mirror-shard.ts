import { pubkeyFromBase58 } from '../../src/chain/pubkey.ts'
import {
  NO_PROGRESS,
  programsIn,
  PROGRAMS_PARTITION,
  type Program
} from '../../src/program-accounts/program.ts'
import type { DocumentStore } from '../../storage/document-store.ts'
import type { Stored } from '../../storage/documents.ts'
import type { OwnedShard } from '../shards/shard-owner.ts'
import type { ShardClaim } from '../shards/shard-claims.ts'
import { isOutage } from '../storage/retry.ts'
import type { DynamicSupervisor, Member, MemberPolicy } from '../supervision/dynamic-supervisor.ts'
import type { ProgramMirrorDeps } from './mirror-deps.ts'
import { MirrorStopped, ProgramMirror } from './program-mirror.ts'

/** A mirror begins with a snapshot, which is expensive for a node: one that fails again and again begins twice a minute. */
export const MIRROR_POLICY: MemberPolicy = {
  restart: 'transient',
  intensity: { crashes: 60, periodMs: 60_000 },
  backoff: { floorMs: 1_000, ceilingMs: 30_000 },
  stableAfterMs: 60_000
}

/** Tells whether a fault of a mirror is logged elsewhere. */
export const isFaultOfMirror = (fault: unknown): boolean => fault instanceof MirrorStopped || isOutage(fault)

/** Milliseconds in which a process that has lost the lease may still write: four times as long as a write is tried. */
const TAKEOVER_MS = 30_000

export interface MirrorShardDeps extends ProgramMirrorDeps {
  readonly documents: DocumentStore
  /** Whether other processes may write to the store. */
  readonly isShared: boolean
  /** Supervises the mirrors, and the deletions of removed ones. */
  readonly mirrors: DynamicSupervisor
}

interface Entry {
  readonly isRemoved: boolean
  /** The programs, as last read from the store. */
  indexes: Program['indexes']
  /** Null until its progress is read. */
  mirror: ProgramMirror | null
  member: Member | null
}

/** All mirrored programs, while this process has the lease: each has a mirror, and removed ones are deleted. */
export class MirrorShard implements OwnedShard {
  readonly name: string
  readonly claim: ShardClaim
  readonly #deps: MirrorShardDeps
  readonly #entries = new Map<string, Entry>()
  #syncing: Promise<void> | null = null
  readonly #buildFromMs: number
  #isStopping = false

  constructor(name: string, claim: ShardClaim, deps: MirrorShardDeps) {
    this.name = name
    this.claim = claim
    this.#deps = deps
    this.#buildFromMs = deps.clock.now() + (deps.isShared ? TAKEOVER_MS : 0)
  }

  get mirrors(): readonly ProgramMirror[] {
    return [...this.#entries.values()].flatMap(({ mirror }) => mirror ?? [])
  }

  /** Lists the programs, and begins and ends mirrors. Rejects with the store's error. */
  sync(): Promise<void> {
    this.#syncing ??= this.#sync().finally(() => (this.#syncing = null))
    return this.#syncing
  }

  async stop(): Promise<void> {
    this.#isStopping = true
    await Promise.all([...this.#entries.keys()].map(async (program) => this.#end(program)))
  }

  async #sync(): Promise<void> {
    const listed = await programsIn(this.#deps.documents).all(PROGRAMS_PARTITION)
    const names = new Set(listed.map(({ value }) => value.program))
    for (const program of this.#entries.keys()) if (!names.has(program)) await this.#end(program)
    for (const stored of listed) {
      const { program, isRemoved, indexes } = stored.value
      const running = this.#entries.get(program)
      if (running?.isRemoved === isRemoved) {
        running.indexes = indexes
        continue
      }
      await this.#end(program)
      if (!this.#isStopping) this.#begin(stored)
    }
  }

  async #end(program: string): Promise<void> {
    const entry = this.#entries.get(program)
    entry?.member?.kill()
    await entry?.member?.ended
    this.#entries.delete(program)
  }

  #begin(stored: Stored<Program>): void {
    const { program, isRemoved, indexes } = stored.value
    const entry: Entry = { isRemoved, indexes, mirror: null, member: null }
    this.#entries.set(program, entry)
    const { mirrors } = this.#deps
    entry.member = isRemoved
      ? mirrors.start(`the deletion of program ${program}`, async () => this.#remove(stored))
      : mirrors.start(`the mirror of program ${program}`, async ({ signal }) => {
          entry.mirror ??= await this.#mirrorOf(stored, () => entry.indexes)
          try {
            await entry.mirror.run(signal)
          } catch (fault) {
            // After a fault of the store its progress has to be read again.
            if (!(fault instanceof MirrorStopped)) entry.mirror = null
            throw fault
          }
        })
  }

  async #mirrorOf(stored: Stored<Program>, indexes: () => Program['indexes']): Promise<ProgramMirror> {
    const { documents: store } = this.#deps
    const { token } = this.claim
    const documents = programsIn(store)
    const { hot } = await documents.fenceHot(stored, token)
    const { program } = stored.value
    return new ProgramMirror(
      program,
      pubkeyFromBase58(program),
      indexes,
      hot ?? NO_PROGRESS,
      async (changed) => documents.putHot(stored, token, changed),
      { ...this.#deps, buildFromMs: this.#buildFromMs }
    )
  }

  /** Deletes the accounts of a program, and then its document, unless it was added again. */
  async #remove(stored: Stored<Program>): Promise<void> {
    const { documents: store, store: accounts, logger } = this.#deps
    const { program } = stored.value
    const documents = programsIn(store)
    // First, so that readers see no progress of deleted accounts if the program is added again.
    await documents.putHot(stored, this.claim.token, NO_PROGRESS)
    await accounts.clear(pubkeyFromBase58(program))
    if (await documents.delete(stored)) logger.info(`the mirrored accounts of program ${program} are deleted`)
  }
}
