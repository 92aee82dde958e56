import type { Unit } from './test-unit.ts'
import { isHeavy } from './tiers.ts'

/** Units that are still to run, by their kind of work, each list in the order to run them. */
export interface UnitLists {
  readonly starting: Unit[]
  readonly waiting: Unit[]
  readonly computing: Unit[]
}

/**
 * Decides which unit runs next. Starting and waiting units have a number of places; computing units have one more while
 * others are left, and all places after them. One waiting and one heavy unit run at a time as long as there are others.
 */
export class Places {
  readonly #lists: UnitLists
  readonly #places: number
  readonly #running = new Map<Unit, keyof UnitLists>()

  constructor(lists: UnitLists, places: number) {
    this.#lists = lists
    this.#places = places
  }

  /** Removes the next unit from its list and gives it a place. Returns null if no unit may run now. */
  take(): Unit | null {
    const isFirst = this.#running.size === 0
    const hasOwnPlace = this.#countOf('computing') === 0 && (isFirst || this.#places > 1)
    return (
      (hasOwnPlace ? this.#takeOf('computing') : null) ??
      this.#takeServed() ??
      (this.#running.size < this.#places ? this.#takeOf('computing') : null)
    )
  }

  /** Frees the place of a unit that has ended. */
  release(unit: Unit): void {
    this.#running.delete(unit)
  }

  #takeServed(): Unit | null {
    if (this.#countOf('computing') > 0 && this.#places === 1) return null
    return this.#countOf('waiting') === 0
      ? (this.#takeOf('waiting') ?? this.#takeOf('starting'))
      : (this.#takeOf('starting') ?? this.#takeOf('waiting'))
  }

  #takeOf(kind: keyof UnitLists): Unit | null {
    const list = this.#lists[kind]
    const at = list.findIndex((unit) => kind === 'computing' || this.#hasRoomFor(unit))
    if (at === -1) return null
    const [unit] = list.splice(at, 1)
    this.#running.set(unit!, kind)
    return unit!
  }

  #hasRoomFor(unit: Unit): boolean {
    if (isHeavyUnit(unit) && this.#running.keys().some(isHeavyUnit)) return false
    return this.#served() < this.#places
  }

  /** Returns the number of starting and waiting units that run. */
  #served(): number {
    return this.#running.size - this.#countOf('computing')
  }

  #countOf(kind: keyof UnitLists): number {
    return this.#running.values().reduce((count, each) => count + (each === kind ? 1 : 0), 0)
  }
}

const isHeavyUnit = (unit: Unit): boolean => unit.some(isHeavy)
