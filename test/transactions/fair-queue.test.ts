import fc from 'fast-check'
import t from 'tap'
import { FairQueue, SEND_RANKS, type SendTurn } from '../../src/transactions/fair-queue.ts'
import { randomRuns } from '../random-runs.ts'

interface Sample extends SendTurn {
  readonly id: number
}

/** The order of service in the plainest form: a list of all items, and the tenants of each rank in the order of their turns. */
class Model {
  items: Sample[] = []
  readonly #turns = new Map<string, string[]>()

  push(item: Sample): void {
    this.items.push(item)
    const turns = this.#turnsOf(item)
    if (!turns.includes(item.tenant)) turns.push(item.tenant)
  }

  take(isReady: (item: Sample) => boolean): Sample | undefined {
    for (const rank of SEND_RANKS)
      for (const tenant of this.#turns.get(rank) ?? []) {
        const item = this.items.find((each) => each.rank === rank && each.tenant === tenant && isReady(each))
        if (item === undefined) continue
        this.delete(item)
        const turns = this.#turnsOf(item)
        if (turns.includes(tenant)) turns.push(turns.splice(turns.indexOf(tenant), 1)[0]!)
        return item
      }
    return undefined
  }

  delete(item: Sample): void {
    this.items = this.items.filter((each) => each !== item)
    const waits = this.items.some((each) => each.rank === item.rank && each.tenant === item.tenant)
    const turns = this.#turnsOf(item)
    if (!waits && turns.includes(item.tenant)) turns.splice(turns.indexOf(item.tenant), 1)
  }

  #turnsOf({ rank }: Sample): string[] {
    const turns = this.#turns.get(rank) ?? []
    this.#turns.set(rank, turns)
    return turns
  }
}

const turns = fc.record({
  tenant: fc.constantFrom('a', 'b', 'c', 'd'),
  rank: fc.constantFrom(...SEND_RANKS)
})
const steps = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: fc.record({ step: fc.constant('push' as const), turn: turns }) },
    { weight: 3, arbitrary: fc.constant({ step: 'take' as const }) },
    { weight: 1, arbitrary: fc.constant({ step: 'take odd' as const }) },
    { weight: 1, arbitrary: fc.record({ step: fc.constant('delete' as const), nth: fc.nat() }) },
    { weight: 1, arbitrary: fc.constant({ step: 'evict' as const }) }
  ),
  { maxLength: 120 }
)

t.test('items are served as in the model, in any order of pushes, takes, deletions and evictions', (t) => {
  fc.assert(
    fc.property(steps, (all) => {
      const queue = new FairQueue<Sample>()
      const model = new Model()
      let id = 0
      for (const each of all) {
        if (each.step === 'push') {
          const item = { ...each.turn, id: id++ }
          queue.push(item, item)
          queue.push(item, { tenant: 'd', rank: 'first' })
          model.push(item)
        } else if (each.step === 'take' || each.step === 'take odd') {
          const isReady = (item: Sample): boolean => each.step === 'take' || item.id % 2 === 1
          const taken = queue.take(isReady)
          const expected = model.take(isReady)
          if (taken !== expected) throw new Error(`took ${taken?.id} instead of ${expected?.id}`)
        } else if (each.step === 'delete') {
          const item = model.items[each.nth % Math.max(1, model.items.length)]
          if (item === undefined) continue
          if (!queue.delete(item) || queue.delete(item)) throw new Error('not deleted once')
          model.delete(item)
        } else {
          const lowest = SEND_RANKS.findLast((rank) => model.items.some((item) => item.rank === rank))
          const evicted = queue.evict()
          if (evicted?.rank !== lowest) throw new Error(`evicted one of rank ${evicted?.rank}`)
          if (evicted === undefined) continue
          const sizes = Map.groupBy(
            model.items.filter(({ rank }) => rank === lowest),
            ({ tenant }) => tenant
          )
          const longest = Math.max(...[...sizes.values()].map(({ length }) => length))
          const own = sizes.get(evicted.tenant)!
          if (own.length < longest || own.at(-1) !== evicted) throw new Error('evicted another one')
          model.delete(evicted)
        }
        if (queue.size !== model.items.length) throw new Error(`${queue.size} wait`)
      }
    }),
    randomRuns(300)
  )
  t.end()
})

t.test(
  'no send waits behind more of another tenant than it has before it itself, and behind no lower rank',
  (t) => {
    fc.assert(
      fc.property(fc.array(fc.option(turns, { nil: null, freq: 2 }), { maxLength: 200 }), (all) => {
        const queue = new FairQueue<Sample>()
        const served: Sample[] = []
        const pushed: { readonly item: Sample; readonly place: number; readonly servedBefore: number }[] = []
        const waiting = new Set<Sample>()
        const take = (): void => {
          const item = queue.take()
          if (item === undefined) return
          for (const each of waiting)
            if (SEND_RANKS.indexOf(each.rank) < SEND_RANKS.indexOf(item.rank))
              throw new Error(`${item.rank} before ${each.rank}`)
          waiting.delete(item)
          served.push(item)
        }
        for (const [id, turn] of all.entries()) {
          if (turn === null) {
            take()
            continue
          }
          const item = { ...turn, id }
          queue.push(item, item)
          waiting.add(item)
          const isOwn = (each: Sample): boolean => each.tenant === turn.tenant && each.rank === turn.rank
          pushed.push({ item, place: [...waiting].filter(isOwn).length, servedBefore: served.length })
        }
        while (queue.size > 0) take()
        for (const { item, place, servedBefore } of pushed) {
          const before = served
            .slice(servedBefore, served.indexOf(item))
            .filter(({ rank }) => rank === item.rank)
          for (const [tenant, { length }] of Map.groupBy(before, (each) => each.tenant))
            if (tenant !== item.tenant && length > place)
              throw new Error(`${length} of ${tenant} before ${place}`)
        }
      }),
      randomRuns(300)
    )
    t.end()
  }
)
