import { join } from 'node:path'
import { Registry } from 'prom-client'
import type { Test } from 'tap'
import type { BlockFollower } from '../../actors/followers/block-follower.ts'
import type { LocalBank } from '../../src/localnet/bank/bank.ts'
import type { BlockQueue } from '../../src/ingest/block-queue.ts'
import { systemPorts, type Clock } from '../../src/ports.ts'
import { openEmbeddedStorage } from '../../storage/embedded/store.ts'
import type { Storage } from '../../storage/port.ts'
import { Choices } from '../../storage/test/choices.ts'
import { openBank } from '../localnet/bank/sending.ts'
import { ownDirectory } from '../own-directory.ts'
import { steadily as until } from '../until.ts'
import { blockOfText, textOfBlock } from './block-text.ts'
import { DyingStorage } from './dying-storage.ts'
import type { FollowedIndex } from './followed-index.ts'
import { TokenTraffic } from './token-traffic.ts'

/** A localnet with traffic of tokens, and a store. */
export interface WorldParts {
  readonly bank: LocalBank
  readonly traffic: TokenTraffic
  readonly choices: Choices
  readonly directory: string
  /** Whether the follower treats its store as one of several processes. */
  readonly isShared: boolean
}

/** A follower that runs. */
interface Running<Follower> {
  readonly follower: Follower
  readonly end: AbortController
  readonly ended: Promise<void>
}

/** Opens a localnet with traffic of tokens. */
export async function worldParts(
  t: Test,
  name: string,
  seed: number,
  isShared: boolean
): Promise<WorldParts> {
  const choices = new Choices(seed)
  const bank = await openBank({ seed: `${name} ${seed}` })
  const traffic = await TokenTraffic.open(bank, choices)
  return { bank, traffic, choices, directory: join(ownDirectory(t), 'store'), isShared }
}

/** A localnet with traffic, and a follower of its blocks on an embedded store. */
export abstract class FollowerWorld<
  Changes,
  Queue extends BlockQueue<Changes>,
  Follower extends BlockFollower<Changes>
> {
  readonly bank: LocalBank
  readonly traffic: TokenTraffic
  readonly choices: Choices
  /** All blocks of the chain, as a node has them. */
  readonly blocks: string[] = []
  readonly dying = new DyingStorage()
  readonly registry = new Registry()
  index: FollowedIndex<Queue>
  storage!: Storage
  /** Returns a block as its node has it. */
  textOf = textOfBlock
  readonly #parts: WorldParts
  readonly #openIndex: () => FollowedIndex<Queue>
  #running!: Running<Follower>
  readonly #paused: Running<Follower>[] = []
  /** Indexes of other processes, which hear of committed blocks. */
  readonly #hearing = new Set<FollowedIndex<Queue>>()

  protected constructor(parts: WorldParts, openIndex: () => FollowedIndex<Queue>) {
    this.#parts = parts
    this.bank = parts.bank
    this.traffic = parts.traffic
    this.choices = parts.choices
    this.#openIndex = openIndex
    this.index = openIndex()
    this.bank.listen((event) => {
      if (event.kind !== 'block' || event.commitment !== 'processed') return
      const { slot, parentSlot } = event.block
      const text = this.textOf(event.block)
      while (this.blocks.length > 0 && blockOfText(this.blocks.at(-1)!).slot > parentSlot) this.blocks.pop()
      this.blocks.push(text)
      this.produced?.(slot, parentSlot)
      this.index.take(blockOfText(text))
      for (const index of this.#hearing) index.hear(blockOfText(text))
    })
  }

  protected abstract followerOf(index: FollowedIndex<Queue>, storage: Storage, clock: Clock): Follower
  /** Whether a follower that stands by has begun. */
  protected abstract isStandingBy(follower: Follower): Promise<boolean>
  /** Called before the first follower on an open store. */
  protected async opened(): Promise<void> {}
  /** Called with each block, before its commit. */
  protected produced?(slot: number, parentSlot: number): void

  get follower(): Follower {
    return this.#running.follower
  }

  /** Makes the first slots, and starts the follower. */
  protected async begin(t: Test): Promise<void> {
    await this.slots(2)
    await this.start()
    t.teardown(async () => {
      await this.stop()
      await this.storage.close()
    })
  }

  async start(): Promise<void> {
    this.storage = await openEmbeddedStorage({ directory: this.#parts.directory })
    await this.opened()
    this.follow()
  }

  /** Starts a follower on the open store, as after a failure of the previous one. */
  follow(): void {
    this.#running = this.#run(this.index, systemPorts.clock)
  }

  /**
   * Starts a follower of another process on this store. The previous follower is paused: it gets no further blocks. Returns
   * the previous one.
   */
  takeOver(): Follower {
    const paused = this.#running
    this.#paused.push(paused)
    this.index = this.#indexAtHead()
    this.#running = this.#begun(
      this.followerOf(this.index, { ...this.storage, isShared: true }, systemPorts.clock)
    )
    return paused.follower
  }

  /**
   * Starts the follower of another process, which commits no blocks. It stands by before this resolves. The returned
   * function makes it the process that commits, after it has read some last blocks again; the follower before it ends.
   */
  async standBy(): Promise<(recalled: number) => Promise<void>> {
    const index = this.#indexAtHead()
    this.#hearing.add(index)
    let stoodStillMs: number | null = systemPorts.clock.now()
    const clock = { ...systemPorts.clock, now: () => stoodStillMs ?? systemPorts.clock.now() }
    const next = this.#run(index, clock)
    await until(async () => this.isStandingBy(next.follower), 'a follower that stands by')
    return async (recalled) => {
      await this.stop()
      this.#hearing.delete(index)
      this.index = index
      this.#running = next
      index.recall(this.blocks.slice(-recalled).map(blockOfText))
      stoodStillMs = null
    }
  }

  async stop(): Promise<void> {
    for (const { end, ended } of [this.#running, ...this.#paused.splice(0)]) {
      end.abort()
      await ended
    }
  }

  /** Makes slots until the process has died at a write. */
  async died(): Promise<void> {
    await until(async () => {
      if (!this.dying.isDead) await this.slots(1)
      return this.dying.isDead
    }, 'a death')
    const { follower, end, ended } = this.#running
    end.abort()
    await ended.catch(() => undefined)
    this.#running = { follower, end, ended: Promise.resolve() }
  }

  /**
   * Ends the follower and the store, and begins again with what is stored. `lateSlots` blocks come in between, which the
   * follower does not see, as before a kill. Some blocks of before it are read again too.
   */
  async restart(lateSlots: number, recalled: number): Promise<void> {
    await this.stop()
    await this.storage.close()
    const before = this.blocks.length
    await this.slots(lateSlots)
    this.index = this.#indexAtHead()
    await this.start()
    this.index.recall(this.blocks.slice(Math.max(0, before - recalled)).map(blockOfText))
  }

  /** Makes slots with traffic. */
  async slots(count: number): Promise<void> {
    for (let made = 0; made < count; made++) {
      this.traffic.send(this.choices.below(6))
      await this.bank.produceSlot()
      await new Promise((resolve) => setImmediate(resolve))
    }
  }

  async counted(name: string): Promise<number> {
    const { values } = await this.registry.getSingleMetric(name)!.get()
    return values.reduce((sum, { value }) => sum + value, 0)
  }

  #indexAtHead(): FollowedIndex<Queue> {
    const index = this.#openIndex()
    index.restore(blockOfText(this.blocks.at(-1)!))
    return index
  }

  #run(index: FollowedIndex<Queue>, clock: Clock): Running<Follower> {
    const storage = { ...this.storage, ...this.dying.of(this.storage), isShared: this.#parts.isShared }
    return this.#begun(this.followerOf(index, storage, clock))
  }

  #begun(follower: Follower): Running<Follower> {
    const end = new AbortController()
    const ended = follower.run(end.signal)
    // Awaited by `stop`.
    ended.catch(() => undefined)
    return { follower, end, ended }
  }
}
