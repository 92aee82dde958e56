/** Work that waits, with those of its owner. */
interface Owner<Work> {
  readonly name: string
  /** Later pieces of work that has begun. */
  readonly begun: Work[]
  readonly waiting: Work[]
  running: number
  /** Milliseconds that its work has taken, counted from the floor at which it came. */
  usedMs: number
}

/**
 * Decides whose work runs next: start-time fair queueing over measured time.
 *
 * O1. Of the owners with waiting work, one with the least running work is next, and of these one that has used the least time.
 * O2. Between two owners that always wait, the times used differ by at most the longest pieces of work that they had running.
 * O3. Time without work is not saved up: an owner that comes counts from the least time of those who wait.
 * O4. Work of one owner keeps its order, except that later pieces of work that has begun come before work that has not: of a
 *     thousand requests some are answered, instead of all of them late.
 */
export class TurnOrder<Work> {
  readonly #owners = new Map<string, Owner<Work>>()
  #waiting = 0
  /** The time used of the owner that was next last. */
  #floorMs = 0

  /** Owners with work that waits or runs, or with time used beyond the others. */
  get owners(): number {
    return this.#owners.size
  }

  /** Pieces of work that wait. */
  get waiting(): number {
    return this.#waiting
  }

  /** Pieces of an owner's work that run. */
  runningOf(name: string): number {
    return this.#owners.get(name)?.running ?? 0
  }

  /** Pieces of an owner's work that wait. */
  waitingOf(name: string): number {
    const owner = this.#owners.get(name)
    return owner === undefined ? 0 : waitingOf(owner)
  }

  /** Counts a piece of work as running that did not wait. */
  start(name: string): void {
    this.#ownerOf(name).running++
  }

  add(name: string, work: Work): void {
    this.#ownerOf(name).waiting.push(work)
    this.#waiting++
  }

  /** Adds a later piece of work that has begun. */
  addBegun(name: string, work: Work): void {
    this.#ownerOf(name).begun.push(work)
    this.#waiting++
  }

  /** Removes work that waits; without effect if it does not. */
  remove(name: string, work: Work): void {
    const owner = this.#owners.get(name)
    if (owner === undefined || !(removeFrom(owner.begun, work) || removeFrom(owner.waiting, work))) return
    this.#waiting--
    this.#leave(owner)
  }

  /** Takes the next work, which counts as running; null if none waits whose owner has less than `runningMax` running. */
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

  /** Ends a piece of running work, which took this time. */
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

  /** Forgets an owner without work, unless it has used more than the others. Without any work, all owners are equal. */
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

/** Removes an element of a list. Returns whether the list had it. */
function removeFrom<Work>(list: Work[], work: Work): boolean {
  const at = list.indexOf(work)
  if (at >= 0) list.splice(at, 1)
  return at >= 0
}
