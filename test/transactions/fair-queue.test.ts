import fc from 'fast-check'
import t from 'tap'
import { FairQueue, SEND_RANKS, type SendTurn } from '../../src/transactions/fair-queue.ts'
import { randomRuns } from '../random-runs.ts'

interface Sample extends SendTurn {
  readonly id: number
}

/**
 * The rule in the plainest form. In the highest queued rank, the tenant with the fewest turns is served. An idle tenant that
 * returns starts with as many turns as the tenant in service. Among equal tenants, the one served longest ago is next.
 */
class Model {
  items: Sample[] = []
  #ranks = new Map<string, { turns: Map<string, number>; served: string[]; round: number }>()

  push(item: Sample, isFirst = false): void {
    const rank = this.#ranks.get(item.rank) ?? { turns: new Map<string, number>(), served: [], round: 0 }
    this.#ranks.set(item.rank, rank)
    rank.turns.set(item.tenant, Math.max(rank.turns.get(item.tenant) ?? 0, rank.round))
    if (isFirst) this.items.unshift(item)
    else this.items.push(item)
  }

  take(isReady: (item: Sample) => boolean): Sample | undefined {
    for (const name of SEND_RANKS) {
      const rank = this.#ranks.get(name)
      const ready = this.items.filter((each) => each.rank === name && isReady(each))
      if (rank === undefined || ready.length === 0) continue
      const { turns, served } = rank
      // Those never served come in the order in which they came to the rank.
      const tenants = [...turns.keys()].filter((tenant) => ready.some((each) => each.tenant === tenant))
      const [tenant] = tenants.toSorted(
        (a, b) => turns.get(a)! - turns.get(b)! || served.lastIndexOf(a) - served.lastIndexOf(b)
      ) as [string]
      rank.round = Math.max(rank.round, turns.get(tenant)!)
      turns.set(tenant, turns.get(tenant)! + 1)
      served.push(tenant)
      const item = ready.find((each) => each.tenant === tenant)!
      this.delete(item)
      return item
    }
    return undefined
  }

  delete(item: Sample): void {
    this.items = this.items.filter((each) => each !== item)
    const own = this.items.filter(({ rank }) => rank === item.rank)
    const rank = this.#ranks.get(item.rank)!
    if (own.length === 0) this.#ranks.delete(item.rank)
    else if (
      own.every(({ tenant }) => tenant !== item.tenant) &&
      rank.turns.get(item.tenant)! <= rank.round
    ) {
      rank.turns.delete(item.tenant)
      rank.served = rank.served.filter((each) => each !== item.tenant)
    }
  }
}

const turns = fc.record({
  tenant: fc.constantFrom('a', 'b', 'c', 'd'),
  rank: fc.constantFrom(...SEND_RANKS)
})
const steps = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: fc.record({ step: fc.constant('push' as const), turn: turns }) },
    { weight: 1, arbitrary: fc.record({ step: fc.constant('restore' as const), turn: turns }) },
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
        } else if (each.step === 'restore') {
          const item = { ...each.turn, id: id++ }
          queue.restore(item, item)
          model.push(item, true)
        } else if (each.step === 'take' || each.step === 'take odd') {
          const isReady = (item: Sample): boolean => each.step === 'take' || item.id % 2 === 1
          const next = queue.peek()
          const taken = queue.take(isReady)
          if (each.step === 'take' && taken !== next)
            throw new Error(`${next?.id} was next, not ${taken?.id}`)
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
