import { isSameChange } from '../../../src/transactions/changes.ts'
import { TrackingWorld, type TestProcess } from './tracking-world.ts'

/** A step of a random run. Transactions are chosen by number among those that were submitted. */
export type Step =
  | { readonly kind: 'submit'; readonly isBegun: boolean }
  | { readonly kind: 'pass'; readonly ms: number }
  | { readonly kind: 'land'; readonly of: number; readonly failed: boolean }
  | { readonly kind: 'fork'; readonly slots: number }
  | { readonly kind: 'kill' }
  | { readonly kind: 'takeover' }
  | { readonly kind: 'drain' }
  | { readonly kind: 'store'; readonly isAway: boolean }
  | { readonly kind: 'node'; readonly isAway: boolean }
  | { readonly kind: 'refuse'; readonly refuses: boolean }
  | { readonly kind: 'lag'; readonly of: 'lag' | 'statusLag'; readonly slots: number }

/** A block that had a transaction, in a run's history. */
interface Landing {
  readonly slot: number
  readonly failed: boolean
}

const ERR = { InstructionError: [0, 'Custom'] }

/**
 * A random run of tracking next to a model of the chain. It throws if a published change contradicts the chain, or for a
 * send that should not be made.
 */
export class ModelRun {
  readonly world = new TrackingWorld()
  #process: TestProcess
  /** Processes by token, each with the time at which it lost the shard. */
  readonly #lostAtMs = new Map<number, number>()
  readonly #processes: TestProcess[] = []
  readonly #signatures: string[] = []
  readonly #landings = new Map<string, Landing[]>()
  readonly #valid = new Map<string, number>()
  readonly #endedAtMs = new Map<string, number>()
  /** Transactions that were tracked by a killed process: their last sends are possibly not stored. */
  readonly #unsure = new Set<string>()
  #publishedCount = 0

  constructor({ isShared, hasBlocks }: { readonly isShared: boolean; readonly hasBlocks: boolean }) {
    this.world.isShared = isShared
    this.world.chain.hasBlocks = hasBlocks
    this.#process = this.#start()
  }

  async step(step: Step): Promise<void> {
    const { world } = this
    const { chain, store } = world
    switch (step.kind) {
      case 'submit': {
        if (store.isAway) break
        const signature = `s${this.#signatures.length}`
        const height = chain.confirmed
        this.#signatures.push(signature)
        this.#valid.set(signature, height)
        const stored = await world.submit(signature, { blockhash: `hash-${height}` })
        if (step.isBegun) this.#process.shard.begin(stored)
        else this.#unsure.add(signature)
        break
      }
      case 'pass':
        await this.#pass(step.ms)
        break
      case 'land': {
        const signature = this.#signatures[step.of % Math.max(1, this.#signatures.length)]
        const isSent = signature !== undefined && chain.sendsOf(signature).length > 0
        if (!isSent || chain.landed.has(signature) || !chain.isValid(this.#valid.get(signature)!)) break
        const landings = this.#landings.get(signature) ?? []
        this.#landings.set(signature, landings)
        landings.push({ slot: chain.slot, failed: step.failed })
        chain.land(signature, step.failed ? ERR : null)
        break
      }
      case 'fork':
        chain.fork(chain.slot - step.slots)
        break
      case 'kill':
        for (const signature of this.#signatures) this.#unsure.add(signature)
        this.#end()
        this.#process = this.#start()
        break
      case 'takeover': {
        // The former process learns only later that it has lost the shard.
        const former = this.#process
        if (!world.isShared) break
        former.claim.held = false
        for (const signature of this.#signatures) this.#unsure.add(signature)
        this.#process = this.#start()
        break
      }
      case 'drain': {
        if (store.isAway || this.#process.node.isAway) break
        await this.#settled(this.#process.drain())
        this.#end()
        this.#process = this.#start()
        break
      }
      case 'store':
        store.isAway = step.isAway
        break
      case 'node':
        for (const { node } of this.#processes) node.isAway = step.isAway
        break
      case 'refuse':
        this.#process.node.refuses = step.refuses
        break
      case 'lag':
        this.#process.node[step.of] = step.slots
    }
    await world.settle()
    this.#check()
  }

  /** Ends all faults, and lets everything settle. */
  async finish(): Promise<void> {
    const { store } = this.world
    store.isAway = false
    for (const { node } of this.#processes) {
      node.isAway = false
      node.refuses = false
      node.lag = 0
      node.statusLag = 0
    }
    await this.#pass(100_000)
    const changes = await this.world.changes()
    for (const signature of this.#signatures) {
      await this.#checkEnd(signature)
      const own = changes.filter((each) => each.signature === signature)
      const twice = own.find((each, at) => at > 0 && isSameChange(own[at - 1]!, each))
      if (twice !== undefined) throw new Error(`${signature} is published twice: ${JSON.stringify(twice)}`)
      const { value } = await this.world.stored(signature)
      if (own.at(-1)?.event !== value.end?.state) throw new Error(`the end of ${signature} was not published`)
    }
    for (const each of this.#processes) each.kill()
    const faults = this.#processes.flatMap((each) => each.faults)
    if (faults.length > 0) throw faults[0]
    if (this.world.chain.watchedCount > 0) throw new Error('a signature is still watched')
  }

  #start(): TestProcess {
    const started = this.world.start()
    this.#processes.push(started)
    return started
  }

  #end(): void {
    this.#process.kill()
    this.#lostAtMs.set(this.#process.node.by, this.world.clock.now())
  }

  async #settled(work: Promise<void>): Promise<void> {
    let isOver = false
    const done = work.finally(() => (isOver = true))
    for (let passed = 0; !isOver && passed < 5_000; passed += 20) await this.world.pass(20)
    await done
  }

  /** Passes time, in which the present process lists its shard every second, as it does without hints. */
  async #pass(ms: number): Promise<void> {
    for (let left = ms; left > 0; left -= 1_000) {
      await this.#process.shard.sync().catch(() => undefined)
      await this.world.pass(Math.min(left, 1_000))
      this.#check()
    }
  }

  #check(): void {
    const published = this.#processes.flatMap((each) => each.published)
    if (published.length !== this.#publishedCount)
      for (const each of published) this.#checkPublished(each.signature, each.progress)
    this.#publishedCount = published.length
    const newest = new Map<string, number>()
    for (const { signature, atMs, by } of this.world.chain.received) {
      if (by < (newest.get(signature) ?? 0))
        throw new Error(`process ${by} sends ${signature} after a later owner`)
      newest.set(signature, by)
      if (atMs > (this.#endedAtMs.get(signature) ?? Infinity))
        throw new Error(`${signature} is sent at ${atMs}, after its end`)
      if (atMs > (this.#lostAtMs.get(by) ?? Infinity)) throw new Error(`process ${by} sends after its end`)
    }
  }

  #checkPublished(signature: string, progress: TestProcess['published'][number]['progress']): void {
    const { state, slot, err, updatedAtMs } = progress
    // Blocks of two forks may have one slot, with different outcomes.
    const inSlot = this.#landings.get(signature)?.filter((each) => each.slot === slot) ?? []
    const known = JSON.stringify(progress)
    if (state === 'expired') {
      if (this.world.chain.landed.has(signature)) throw new Error(`${signature} has landed: ${known}`)
      if (this.world.chain.isValid(this.#valid.get(signature)!))
        throw new Error(`${signature} can land: ${known}`)
    } else if (state !== 'sent') {
      if (inSlot.length === 0) throw new Error(`${signature} was not in that block: ${known}`)
      if (!inSlot.some(({ failed }) => failed === (err !== null)))
        throw new Error(`${signature} has another outcome: ${known}`)
    }
    if (['expired', 'finalized', 'failed'].includes(state))
      this.#endedAtMs.set(signature, Math.min(updatedAtMs, this.#endedAtMs.get(signature) ?? Infinity))
  }

  async #checkEnd(signature: string): Promise<void> {
    const { value } = await this.world.stored(signature)
    if (value.end === null || value.wire !== null) throw new Error(`${signature} is forgotten`)
    const { state, slot, rebroadcasts } = value.end
    const landed = this.world.chain.landed.get(signature)
    const expected = landed === undefined ? 'expired' : landed.err === null ? 'finalized' : 'failed'
    if (state !== expected || slot !== (landed?.slot ?? null))
      throw new Error(`${signature} is ${state} in ${slot}; on the chain ${expected} in ${landed?.slot}`)
    const sends = this.world.chain.sendsOf(signature)
    const counted = Math.max(0, sends.length - 1)
    if (this.#unsure.has(signature) ? rebroadcasts > counted : rebroadcasts !== counted)
      throw new Error(`${signature} has ${rebroadcasts} rebroadcasts of ${counted}`)
    if (this.#unsure.has(signature)) return
    const late = sends.map((atMs) => (atMs - sends[0]!) % 2_000).filter((ms) => ms > 60)
    if (late.length > 0) throw new Error(`${signature} is sent ${late.join()} ms after its instants`)
  }
}
