/** An owner with its queued work. */
interface Owner<Work> {
  readonly name: string
  /** Queued work that continues work already begun. */
  readonly begun: Work[]
  readonly waiting: Work[]
  running: number
  /** Milliseconds that its work has taken, counted from the floor at its arrival. */
  usedMs: number
}

/**
 * Decides whose work runs next: start-time fair queueing over measured time.
 *
 * O1. Of the owners with queued work, those with the least running work come first, and among these the one that has used
 *     the least time.
 * O2. For two owners that always have queued work, the times used differ by at most the longest pieces of work that they had
 *     running.
 * O3. Idle time is not saved up: an arriving owner starts at the least used time of the owners with queued work.
 * O4. Work of one owner keeps its order, except that begun work comes before new work: of a thousand requests some are
 *     answered, instead of all of them late.
 */
export class TurnOrder<Work> {
  readonly #owners = new Map<string, Owner<Work>>()
  #waiting = 0
  /** The used time of the owner that was served last. */
  #floorMs = 0

  /** Number of owners with queued or running work, or with more used time than the others. */
  get owners(): number {
    return this.#owners.size
  }

  /** Number of queued pieces of work. */
  get waiting(): number {
    return this.#waiting
  }

  /** Number of running pieces of an owner's work. */
  runningOf(name: string): number {
    return this.#owners.get(name)?.running ?? 0
  }

  /** Number of queued pieces of an owner's work. */
  waitingOf(name: string): number {
    const owner = this.#owners.get(name)
    return owner === undefined ? 0 : waitingOf(owner)
  }

  /** Counts a piece of work as running that was not queued. */
  start(name: string): void {
    this.#ownerOf(name).running++
  }

  add(name: string, work: Work): void {
    this.#ownerOf(name).waiting.push(work)
    this.#waiting++
  }

  /** Queues a later piece of begun work. */
  addBegun(name: string, work: Work): void {
    this.#ownerOf(name).begun.push(work)
    this.#waiting++
  }

  /** Removes queued work; no effect if it is not queued. */
  remove(name: string, work: Work): void {
    const owner = this.#owners.get(name)
    if (owner === undefined || !(removeFrom(owner.begun, work) || removeFrom(owner.waiting, work))) return
    this.#waiting--
    this.#leave(owner)
  }

  /**
   * Takes the next work, which then counts as running; null if no queued work has an owner with less than
   * `runningMax` running.
   */
  next(runningMax: number): Work | null {
    let next: Owner<Work> | null = null
    for (const owner of this.#owners.values()) {
      if (waitingOf(owner) === 0 || owner.running >= runningMax) continue
      if (next === null || isBefore(owner, next)) next = owner
    }
    if (next === null) return null
    this.#floorMs = Math.max(this.#floorMs, next.usedMs)
    next.running++
    this.#waiting--
    return (next.begun.shift() ?? next.waiting.shift())!
  }

  /** Ends a piece of running work, which took `tookMs`. */
  end(name: string, tookMs: number): void {
    const owner = this.#owners.get(name)!
    owner.running--
    owner.usedMs += tookMs
    this.#leave(owner)
  }

  #ownerOf(name: string): Owner<Work> {
    let owner = this.#owners.get(name)
    if (owner === undefined) {
      owner = { name, begun: [], waiting: [], running: 0, usedMs: this.#floorMs }
      this.#owners.set(name, owner)
    } else if (owner.running === 0 && waitingOf(owner) === 0) {
      owner.usedMs = Math.max(owner.usedMs, this.#floorMs)
    }
    return owner
  }

  /** Forgets an owner without work, unless it has used more time than the others. When no owner has work, all are equal. */
  #leave(owner: Owner<Work>): void {
    if (owner.running > 0 || waitingOf(owner) > 0) return
    if (owner.usedMs <= this.#floorMs) this.#owners.delete(owner.name)
    for (const each of this.#owners.values()) if (each.running > 0 || waitingOf(each) > 0) return
    this.#owners.clear()
    this.#floorMs = 0
  }
}

const isBefore = <Work>(a: Owner<Work>, b: Owner<Work>): boolean =>
  a.running < b.running || (a.running === b.running && a.usedMs < b.usedMs)

const waitingOf = <Work>({ begun, waiting }: Owner<Work>): number => begun.length + waiting.length

/** Removes an element of a list. Returns whether the list contained it. */
function removeFrom<Work>(list: Work[], work: Work): boolean {
  const at = list.indexOf(work)
  if (at >= 0) list.splice(at, 1)
  return at >= 0
}
